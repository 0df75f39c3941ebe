// Package compat lets the official Go client (rocketmq-client-go/v2) use a
// server as an application would: producers of every kind, push and pull
// consumers, retries, rebalancing, delay levels, a restart. The same tests pass
// against the real RocketMQ 5.5.0 (WHEELMQ_TARGET=peer).
//
// The client has data races of its own, so the race detector belongs into the
// server's binary (go build -race, WHEELMQ_BIN) and not into these tests.
//
// TestDelayLevelsUnderLoad takes its size from the environment:
// WHEELMQ_LOAD_RATE (messages per second, default 200) and WHEELMQ_LOAD_SECONDS
// (default 5).
package compat
