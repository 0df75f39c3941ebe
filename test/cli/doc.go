// Package cli runs the commands that ask servers, as an operator does, against the server under test:
// they speak RocketMQ's protocol, so the real broker answers them too.
package cli
