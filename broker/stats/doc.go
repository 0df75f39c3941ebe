// Package stats counts what is put and got: per topic, per topic and group, and in
// total, with the averages that RocketMQ's tools read. Counting takes a few atomic
// additions; averages come from samples taken every second on the wire clock.
package stats
