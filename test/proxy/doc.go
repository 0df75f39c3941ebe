// Package proxy plays the official clients of RocketMQ's gRPC protocol (Java, Go, Python, Node)
// through the real, unchanged RocketMQ proxy in cluster mode in front of the selected server.
//
// A scenario is written once; what differs between the clients is in package clients below this
// directory. The proxy asks the broker for everything by pop: what these clients see is what the
// broker's pop, transactions, delays and retries are.
package proxy
