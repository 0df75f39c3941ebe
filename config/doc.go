// Package config is broker.conf: the keys that operators know from RocketMQ, their defaults
// and where each value came from.
package config
