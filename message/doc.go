// Package message is the message model and its one binary layout.
//
// A Record is a message on its way into the CommitLog; a View is a stored record
// read in place. Properties stay in their wire encoding (name 0x01 value 0x02 …)
// from the client's frame to the disk and back; PropertyGet and its companions work
// on those bytes, so that no map is built on a hot path.
//
// The package imports nothing of this module.
package message
