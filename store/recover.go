package store

import (
	"encoding/binary"
	"errors"

	"github.com/sirupsen/logrus"

	"github.com/wheelmq/wheelmq/message"
	"github.com/wheelmq/wheelmq/store/region"
)

// recover finds the end of the log, dispatches again what queues may lack, and cuts
// everything that goes past the end. Doing it twice changes nothing.
func (s *Store) recover() error {
	files := *s.log.files.Load()
	if len(files) == 0 {
		return s.cutQueues(0)
	}
	_, err := s.fs.ReadFile(abortFile)
	clean := errors.Is(err, region.ErrNotExist)
	start := s.recoverFrom()
	end, records, err := s.scan(start)
	if err != nil {
		return err
	}
	if !clean || records > 0 {
		s.opts.Log.WithFields(logrus.Fields{"from": start, "end": end, "records": records, "clean": clean}).
			Info("recovered the CommitLog")
	}
	if err := s.log.cut(end); err != nil {
		return err
	}
	if err := s.cutQueues(end); err != nil {
		return err
	}
	if err := s.log.sync(end); err != nil {
		return err
	}
	return nil
}

// recoverFrom is where scanning begins: at the start of the file of the checkpoint, or of
// the log when queues are missing.
func (s *Store) recoverFrom() int64 {
	queues, units := s.countUnits()
	offset := s.checkpointOffset()
	if f := s.log.file(max(offset-1, 0)); offset > 0 && f != nil && queues >= s.meta.Queues && units >= s.meta.Units && s.meta.Units >= 0 {
		return f.start
	}
	return s.log.min()
}

// scan reads records from start on, dispatches them and returns where they end.
func (s *Store) scan(start int64) (end int64, records int, err error) {
	at := start
	for {
		f := s.log.file(at)
		if f == nil {
			return at, records, nil
		}
		b := f.b[at-f.start:]
		if len(b) >= message.BlankLength && binary.BigEndian.Uint32(b[4:]) == message.MagicBlank &&
			int(binary.BigEndian.Uint32(b)) == len(b) {
			at = f.start + s.log.fileSize
			continue
		}
		v, bad := message.ParseVerify(b)
		if bad != nil || v.CommitLogOffset != at {
			return at, records, nil
		}
		if err := s.redispatch(&v); err != nil {
			return at, records, err
		}
		s.lastStamp = max(s.lastStamp, v.StoreTimestamp)
		records++
		at += int64(v.Size)
	}
}

// redispatch puts a record into its queue unless it is there. Half and rolled-back records
// of transactions have no queue of their own.
func (s *Store) redispatch(v *message.View) error {
	switch v.SysFlag & message.SysFlagTransactionMask {
	case message.SysFlagPrepared, message.SysFlagRollback:
		return nil
	}
	topic := string(v.Topic)
	q := s.queues.findOrCreate(topic, v.QueueID)
	if v.QueueOffset < q.Max() && q.Max() > 0 {
		return nil
	}
	unit := Unit{CommitLogOffset: v.CommitLogOffset, Size: v.Size, TagsCode: s.opts.TagsCode(topic, v.Properties)}
	if err := q.put(v.QueueOffset, unit); err != nil {
		return err
	}
	q.next = q.Max()
	return nil
}

func (s *Store) cutQueues(end int64) error {
	for _, q := range s.queues.all() {
		q.cut(end)
	}
	return nil
}
