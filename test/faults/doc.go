// Package faults holds every fault rule against the official Go client (rocketmq-client-go/v2),
// with the server in the process of the test: what the application sees, and what whoever looks
// at the server sees.
//
// The client has data races of its own, so these tests run without the race detector.
package faults
