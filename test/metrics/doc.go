// Package metrics holds what a scrape of /metrics must have: the names and labels of the real
// RocketMQ 5.5.0, which WHEELMQ_TARGET=peer scrapes too, and the figures after a known load.
package metrics
