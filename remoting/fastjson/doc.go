// Package fastjson reads and writes the JSON dialect of Java's fastjson, which RocketMQ's
// clients and files use: object keys without quotes, or that are objects themselves.
package fastjson
