package store_test

import (
	"bytes"
	"fmt"

	"github.com/wheelmq/wheelmq/message"
	"github.com/wheelmq/wheelmq/store"
)

func (w *workload) record(topic string) message.Record {
	size := 20 + w.rng.IntN(600)
	if w.rng.IntN(8) == 0 {
		size = w.rng.IntN(6 << 10)
	}
	body := fmt.Appendf(nil, "%05d-%010d.", len(w.puts), w.rng.Uint32())
	body = append(body, bytes.Repeat([]byte{'a' + byte(w.rng.IntN(26))}, size)...)
	if w.even {
		body = append(body, make([]byte, evenBody)...)[:evenBody]
	}
	rec := *record(0)
	rec.Topic, rec.QueueID, rec.Body = topic, int32(w.rng.IntN(2)), body[:min(len(body), 6<<10)]
	rec.Properties = message.PropertyAppend(rec.Properties, message.PropertyUniqKey, uniqKey(rec.Body))
	return rec
}

// uniqKey is the beginning of a body, which no other has.
func uniqKey(body []byte) string {
	return string(body[:bytes.IndexByte(body, '.')])
}

func (w *workload) put() error { return w.putTo([]string{"A", "B"}[w.rng.IntN(2)]) }

func (w *workload) putTo(topic string) error {
	rec := w.record(topic)
	if topic == "A" && w.rng.IntN(20) == 0 {
		rec.SysFlag = message.SysFlagPrepared
	}
	res, pending := w.s.Put(&rec, acknowledged{w, 1})
	return w.note([]message.Record{rec}, res, pending)
}

func (w *workload) putBatch() error {
	recs := []message.Record{w.record("A"), w.record("A"), w.record("A")}
	for i := range recs {
		recs[i].QueueID = recs[0].QueueID
		recs[i].Body = recs[i].Body[:min(len(recs[i].Body), 2<<10)]
	}
	res, pending := w.s.PutBatch(recs, acknowledged{w, len(recs)})
	return w.note(recs, res, pending)
}

// putGroup puts what a scheduler delivers at once.
func (w *workload) putGroup() error {
	recs := make([]message.Record, 1+w.rng.IntN(5))
	for i := range recs {
		recs[i] = w.record([]string{"A", "B"}[w.rng.IntN(2)])
		recs[i].Body = recs[i].Body[:min(len(recs[i].Body), 2<<10)]
		if status := w.s.Collect(&w.group, &recs[i]); status != store.PutOK {
			return fmt.Errorf("a record of a group: status %d", status)
		}
	}
	w.underway = recs
	stored, res, pending := w.s.PutGroup(&w.group, acknowledged{w, len(recs)})
	w.underway = nil
	if stored != len(recs) {
		return fmt.Errorf("%d of %d records of a group: %+v", stored, len(recs), res)
	}
	for i := range recs {
		at := w.group.Result(i)
		recs[i].QueueOffset, recs[i].CommitLogOffset = at.QueueOffset, at.CommitLogOffset
	}
	w.group.Reset()
	return w.note(recs, res, pending)
}

func (w *workload) note(recs []message.Record, res store.PutResult, pending bool) error {
	if !res.OK() || pending != w.syncFlush {
		return fmt.Errorf("a put: %+v, pending %v: %w", res, pending, w.s.Writable())
	}
	for i := range recs {
		r := &recs[i]
		w.puts = append(w.puts, put{
			topic: r.Topic, queueID: r.QueueID, queueOffset: r.QueueOffset, at: r.CommitLogOffset,
			size: int32(message.EncodedLen(r)), body: r.Body, half: r.SysFlag == message.SysFlagPrepared,
		})
	}
	return nil
}

// acknowledged counts the acknowledged puts, which come in the order of the log.
type acknowledged struct {
	w *workload
	n int
}

func (a acknowledged) PutDone(res store.PutResult) {
	if !res.OK() {
		a.w.failed = fmt.Errorf("a put was refused after it was accepted: %+v", res)
	}
	a.w.durable += a.n
}

// deliver puts a copy, as a scheduler does, which progress counts.
func (w *workload) deliver() error {
	w.delivered = append(w.delivered, len(w.puts))
	return w.putTo("C")
}
