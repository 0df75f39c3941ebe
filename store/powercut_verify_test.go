package store_test

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"strconv"

	"github.com/wheelmq/wheelmq/message"
	"github.com/wheelmq/wheelmq/store"
	"github.com/wheelmq/wheelmq/store/region"
)

// verify checks a store that was just opened against the ledger, and makes the ledger say what
// survived: after a recovery that has ended, all of it is durable.
func (w *workload) verify() error {
	survived, err := w.verifyLog()
	if err != nil {
		return err
	}
	w.puts, w.durable, w.underway = w.puts[:survived:survived], survived, nil
	end := w.s.MaxCommitLogOffset()
	w.deletingAt = min(w.deletingAt, end)
	for topic, at := range w.deleted {
		w.deleted[topic] = min(at, end)
	}
	if w.deleting != "" {
		if w.units(w.deleting) == 0 {
			w.deleted[w.deleting] = w.deletingAt
		}
		w.deleting = ""
	}
	if err := w.verifyQueues(); err != nil {
		return err
	}
	if err := w.verifyIndex(); err != nil {
		return err
	}
	if err := w.verifyProgress(); err != nil {
		return err
	}
	if epoch := w.s.Epoch(); w.epoch != 0 && epoch != w.epoch {
		return fmt.Errorf("the epoch was %d, is %d", w.epoch, epoch)
	}
	w.epoch = w.s.Epoch()
	return nil
}

// verifyLog wants the log to hold the first puts, in order, each once, and no fewer than are
// durable.
func (w *workload) verifyLog() (n int, err error) {
	first := w.s.MinCommitLogOffset()
	if first != w.expired && first != w.expiring {
		return 0, fmt.Errorf("the log begins at %d, want %d or %d", first, w.expired, w.expiring)
	}
	w.expired = first
	for n < len(w.puts) && w.puts[n].at < first {
		n++
	}
	end := first
	err = w.s.Scan(0, func(v *message.View) error {
		if n == len(w.puts) && !w.adopt(v) {
			return fmt.Errorf("record %d at %d was never put", n, v.CommitLogOffset)
		}
		p := &w.puts[n]
		if v.CommitLogOffset != p.at || string(v.Topic) != p.topic || !bytes.Equal(v.Body, p.body) {
			return fmt.Errorf("record %d at %d is not the one that was put: %.20q, want %.20q at %d", n, v.CommitLogOffset, v.Body, p.body, p.at)
		}
		end = p.end()
		n++
		return nil
	})
	if err != nil {
		return n, err
	}
	if n < w.durable {
		return n, fmt.Errorf("%d of %d durable records survived, the log ends at %d", n, w.durable, end)
	}
	if flushed := w.s.FlushedOffset(); flushed != w.s.MaxCommitLogOffset() {
		return n, fmt.Errorf("flushed below %d of %d after a recovery", flushed, w.s.MaxCommitLogOffset())
	}
	return n, nil
}

// adopt takes in a record of a group that the power cut broke off.
func (w *workload) adopt(v *message.View) bool {
	if len(w.underway) == 0 || !bytes.Equal(v.Body, w.underway[0].Body) {
		return false
	}
	w.puts = append(w.puts, put{
		topic: w.underway[0].Topic, queueID: w.underway[0].QueueID, queueOffset: v.QueueOffset, at: v.CommitLogOffset,
		size: v.Size, body: w.underway[0].Body,
	})
	w.underway = w.underway[1:]
	return true
}

func (w *workload) units(topic string) (n int64) {
	for _, q := range w.s.Queues(topic) {
		n += q.Max()
	}
	return n
}

// verifyQueues wants the queues to hold a unit for each surviving put, in order, and no other.
func (w *workload) verifyQueues() error {
	type queue struct {
		topic string
		id    int32
	}
	next := make(map[queue]int64)
	for i, p := range w.puts {
		if p.half || p.at < w.deleted[p.topic] {
			continue
		}
		k := queue{p.topic, p.queueID}
		if p.queueOffset != next[k] {
			return fmt.Errorf("record %d has queue offset %d, want %d", i, p.queueOffset, next[k])
		}
		next[k]++
		if p.at < w.expired {
			continue
		}
		q := w.s.Queue([]byte(p.topic), p.queueID)
		if q == nil {
			return fmt.Errorf("queue %s/%d is missing", p.topic, p.queueID)
		}
		u, ok := q.Unit(p.queueOffset)
		if want := (store.Unit{CommitLogOffset: p.at, Size: p.size, TagsCode: message.TagsHash([]byte("TagA"))}); !ok || u != want {
			return fmt.Errorf("unit %d of %s/%d in [%d, %d) is %+v, want %+v", p.queueOffset, p.topic, p.queueID, q.Min(), q.Max(), u, want)
		}
	}
	for _, topic := range []string{"A", "B", "C"} {
		for _, q := range w.s.Queues(topic) {
			n := next[queue{topic, q.QueueID()}]
			if q.Max() != n || w.expired == 0 && q.Min() != 0 {
				return fmt.Errorf("queue %s/%d is [%d, %d), want [0, %d)", topic, q.QueueID(), q.Min(), q.Max(), n)
			}
		}
	}
	return nil
}

// verifyIndex wants records to be found by their keys, once: the last ones, and some of before.
func (w *workload) verifyIndex() error {
	w.s.IndexStep()
	if err := w.s.Stats().IndexError; err != nil {
		return err
	}
	for i, p := range w.puts {
		if p.at < w.expired || i < len(w.puts)-20 && i%7 != 0 {
			continue
		}
		res := w.s.Query(store.KeyQuery{Topic: p.topic, Key: uniqKey(p.body), MaxNum: 10, End: math.MaxInt64})
		if len(res.Records) != 1 || !bytes.Contains(res.Records[0].Bytes, p.body) {
			return fmt.Errorf("record %d at %d is found %d times by its key", i, p.at, len(res.Records))
		}
		res.Release()
	}
	return nil
}

// verifyProgress wants the saved progress to be no older than promised, and no copy that it
// stands for to be missing.
func (w *workload) verifyProgress() error {
	n := len(w.delivered)
	for n > 0 && w.delivered[n-1] >= len(w.puts) {
		n--
	}
	w.delivered = w.delivered[:n:n]
	b, err := w.disk.ReadFile(progressFile)
	if errors.Is(err, region.ErrNotExist) && w.progress == 0 {
		return nil
	}
	if err != nil {
		return err
	}
	n, err = strconv.Atoi(string(b))
	if err != nil {
		return fmt.Errorf("the saved progress is torn: %w", err)
	}
	if n < w.progress || n > len(w.delivered) {
		return fmt.Errorf("the saved progress is %d: %d was saved, %d copies survived", n, w.progress, len(w.delivered))
	}
	w.progress = n
	return nil
}
