// Package client knows who is connected: the producers and consumers that heartbeats
// announce, what each consumer group subscribes to, and whom to tell when a group's
// membership changes.
package client
