// Package admin asks name servers and brokers what operators want to know and does what they do by hand,
// over the RocketMQ protocol: it works with the real servers too.
package admin
