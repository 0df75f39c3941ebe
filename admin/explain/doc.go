// Package explain says where a message is and why: what its records, the offsets and subscriptions of its
// topic's groups, and a broker's own figures tell, read over the RocketMQ protocol.
package explain
