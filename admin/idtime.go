package admin

import (
	"encoding/binary"
	"encoding/hex"
	"time"
)

// idMillis is the time that the official clients put into a message id: ms since the month began, in
// the machine's time zone.
func idMillis(nowMs int64) int64 {
	now := time.UnixMilli(nowMs)
	return nowMs - time.Date(now.Year(), now.Month(), 1, 0, 0, 0, 0, now.Location()).UnixMilli()
}

// MadeAt is when an official client made a message id, ms since the epoch, as far as it tells: the id
// says it without the month, so that the last month that fits is meant. ok is false for what is no such
// id; whether another program made it is not to be seen.
func MadeAt(msgID string, nowMs int64) (ms int64, ok bool) {
	raw, err := hex.DecodeString(msgID)
	if err != nil || len(raw) != 16 && len(raw) != 28 {
		return 0, false
	}
	since := time.Duration(binary.BigEndian.Uint32(raw[len(raw)-6:])) * time.Millisecond
	now := time.UnixMilli(nowMs)
	month := time.Date(now.Year(), now.Month(), 1, 0, 0, 0, 0, now.Location())
	if month.Add(since).After(now) {
		month = month.AddDate(0, -1, 0)
	}
	at := month.Add(since)
	return at.UnixMilli(), since < 31*24*time.Hour && !at.After(now)
}
