package redeliver

import (
	"bytes"
	"strconv"

	"github.com/wheelmq/wheelmq/message"
)

// SourceText writes the identities of copies: the store's epoch, the log offset of the record that
// a copy was made from, and a generation.
type SourceText struct {
	b     []byte
	epoch int // length of the part that all identities share
}

// NewSourceText returns a SourceText of a store.
func NewSourceText(epoch uint64) SourceText {
	b := append(strconv.AppendUint(nil, epoch, 16), ':')
	return SourceText{b: b, epoch: len(b)}
}

// Of is the identity of a record's copy, valid until the next call.
func (t *SourceText) Of(commitLogOffset int64) []byte {
	t.b = append(strconv.AppendInt(t.b[:t.epoch], commitLogOffset, 10), ":0"...)
	return t.b
}

// OfSuperseding is the identity of the copy of a record that has taken another one's place, valid
// until the next call.
func (t *SourceText) OfSuperseding(s *message.Supersedes, commitLogOffset int64) []byte {
	t.b = strconv.AppendInt(t.b[:t.epoch], s.Root, 10)
	for _, n := range [...]int64{s.Generation, commitLogOffset} {
		t.b = strconv.AppendInt(append(t.b, ':'), n, 10)
	}
	return t.b
}

// SourceOf is the log offset of the record that a copy was made from, and false for what is no
// copy of a record of this store.
func SourceOf(props []byte, epoch uint64) (commitLogOffset int64, ok bool) {
	id, ok := message.PropertyGet(props, message.PropertySource)
	if !ok {
		return 0, false
	}
	first, rest, _ := bytes.Cut(id, []byte(":"))
	second, rest, ok := bytes.Cut(rest, []byte(":"))
	if !ok {
		return 0, false
	}
	if _, last, superseding := bytes.Cut(rest, []byte(":")); superseding {
		second = last
	}
	if e, err := strconv.ParseUint(string(first), 16, 64); err != nil || e != epoch {
		return 0, false
	}
	commitLogOffset, err := strconv.ParseInt(string(second), 10, 64)
	return commitLogOffset, err == nil
}
