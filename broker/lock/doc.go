// Package lock holds the queue locks of orderly consumers: which client of a group may
// consume a queue, in memory only, as RebalanceLockManager of RocketMQ does.
package lock
