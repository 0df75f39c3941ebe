// Package interchange shows that a store directory belongs to no server: the real RocketMQ
// 5.5.0 opens one that WheelMQ wrote and serves all of it, pending delayed messages at their
// time included, and the other way round; after a clean end and after kill -9, and several
// times there and back.
package interchange
