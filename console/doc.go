// Package console is the HTTP side of an instance: /health, one JSON health.Report of every
// part, /ready and /live of those that matter, and /metrics for Prometheus. It knows no part by name: they register their checks,
// metrics and handlers themselves.
package console
