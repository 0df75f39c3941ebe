// Package store is the CommitLog, its ConsumeQueues, the checkpoint, and their
// recovery, in the byte formats of RocketMQ's store directory.
//
// It knows neither topics' meaning nor clients: what a queue unit's tagsCode is, it is
// told by a function; when a record may be read, it decides by durability.
package store
