package message

import "net/netip"

// Record is a message to be appended to the CommitLog. The caller fills the first
// group, the store the second. Body and Properties are only read during the append;
// the store keeps no reference to them.
type Record struct {
	Topic                     string
	QueueID                   int32
	Flag                      int32 // the user's own flag, opaque to the broker
	SysFlag                   int32 // SysFlag* bits
	BornTimestamp             int64 // ms, the client's clock
	BornHost                  netip.AddrPort
	StoreHost                 netip.AddrPort
	ReconsumeTimes            int32
	PreparedTransactionOffset int64 // log offset of the half message of a committed transaction, else 0
	Body                      []byte
	Properties                []byte // name 0x01 value 0x02 …
	// Scratch is a buffer that whoever rewrites Properties may build them in. The owner of
	// the record reuses it; Properties it set itself must not alias it.
	Scratch []byte
	// Internal records are the broker's own: due messages, retries, dead letters. They may
	// use the space that is kept for them on a full disk.
	Internal bool
	// TagsKnown tells that TagsCode is set already: who made the record has come across its tags.
	TagsKnown bool
	// TimerOut is the TIMER_OUT_MS that was given to a record of rmq_sys_wheel_timer.
	TimerOut int64

	// Set by the store.
	QueueOffset     int64 // units, not bytes
	CommitLogOffset int64 // bytes
	StoreTimestamp  int64 // ms, taken inside the append lock
	TagsCode        int64 // of its queue unit; see TagsKnown
}

// View is a stored record read in place. Its slices alias the bytes it was parsed
// from and live as long as those.
type View struct {
	Size                      int32
	BodyCRC                   uint32
	QueueID                   int32
	Flag                      int32
	QueueOffset               int64
	CommitLogOffset           int64
	SysFlag                   int32
	BornTimestamp             int64
	BornHost                  netip.AddrPort
	StoreTimestamp            int64
	StoreHost                 netip.AddrPort
	ReconsumeTimes            int32
	PreparedTransactionOffset int64
	Body                      []byte
	Topic                     []byte
	Properties                []byte
}

// RecordFor is a record that stores the message in another place, with properties of its own. It
// aliases what v does.
func (v *View) RecordFor(topic string, queueID int32, properties []byte) Record {
	return Record{
		Topic: topic, QueueID: queueID, Flag: v.Flag, SysFlag: v.SysFlag, BornTimestamp: v.BornTimestamp, BornHost: v.BornHost,
		StoreHost: v.StoreHost, ReconsumeTimes: v.ReconsumeTimes, Body: v.Body, Properties: properties,
	}
}
