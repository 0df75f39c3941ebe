// Package offset holds how far each consumer group has come in each queue, and keeps it
// in config/consumerOffset.json in RocketMQ's shape.
package offset
