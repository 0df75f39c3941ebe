package filter

import (
	"github.com/wheelmq/wheelmq/broker/filter/sql"
	"github.com/wheelmq/wheelmq/message"
	"github.com/wheelmq/wheelmq/store"
)

// Records are the stored records; store.Log is some.
type Records interface {
	Record(commitLogOffset int64, size int32) (store.Slice, error)
}

// ByProperties tells whether a record's properties decide and its tagsCode says nothing.
func (f *Filter) ByProperties() bool { return f.expr != nil }

// largeSQL is the size of an expression beyond what people write. A pull looks at 800 records.
const largeSQL = 200

// Slow tells whether looking at some hundred records takes too long for an event loop.
func (f *Filter) Slow() bool { return f.expr != nil && f.expr.Size() > largeSQL }

// Judge is what the filter says of a stored record whose tagsCode Match has let pass.
func (f *Filter) Judge(record []byte) sql.Verdict {
	if f.expr == nil {
		return sql.True
	}
	v, err := message.Parse(record)
	if err != nil {
		return sql.Failed
	}
	return f.expr.Evaluate(v.Properties)
}

// MatchRecord tells whether a stored record is wanted whose tagsCode Match has let pass.
func (f *Filter) MatchRecord(record []byte) bool { return f.Judge(record) == sql.True }

// MatchStored tells whether the record of a unit is wanted and reads it if its properties decide.
// One that cannot be read counts as wanted: whoever is to have it finds out why. So does every one
// for a slow filter, since whoever asks holds others up.
func (f *Filter) MatchStored(records Records, u store.Unit) bool {
	if f.expr == nil {
		return f.Match(u.TagsCode)
	}
	if f.Slow() {
		return true
	}
	record, err := records.Record(u.CommitLogOffset, u.Size)
	if err != nil {
		return true
	}
	defer record.Release()
	return f.MatchRecord(record.Bytes)
}
