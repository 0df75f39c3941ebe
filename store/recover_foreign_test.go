package store_test

import (
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/wheelmq/wheelmq/message"
	"github.com/wheelmq/wheelmq/store"
)

// asForeign makes of a directory what the real broker would have left: no notes of ours, its
// timer's checkpoint, and a checkpoint whose offset is not that of the log's end.
func asForeign(t *testing.T, dir string, clean bool, physic, logics int64) {
	t.Helper()
	remove(t, dir, "config/wheelmqStore.json")
	write(t, dir, "config/timercheck", string(make([]byte, 4096)))
	b := make([]byte, 4096)
	binary.BigEndian.PutUint64(b, uint64(physic))
	binary.BigEndian.PutUint64(b[8:], uint64(logics))
	write(t, dir, "checkpoint", string(b))
	if !clean {
		write(t, dir, "abort", "1")
	}
}

func putBody(t *testing.T, s *store.Store, topic, body string) store.PutResult {
	t.Helper()
	rec := record(0)
	rec.Topic, rec.Body = topic, []byte(body)
	res, _ := s.Put(rec, nil)
	if !res.OK() {
		t.Fatalf("%+v", res)
	}
	return res
}

// bodies are what a topic's queue 0 holds, in order.
func bodies(t *testing.T, s *store.Store, topic string) (list []string) {
	t.Helper()
	q := s.Queue([]byte(topic), 0)
	if q == nil {
		return nil
	}
	for at := q.Min(); at < q.Max(); at++ {
		u, _ := q.Unit(at)
		slice, err := s.Record(u.CommitLogOffset, u.Size)
		if err != nil {
			t.Fatal(err)
		}
		v, err := message.Parse(slice.Bytes)
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, string(v.Body))
		slice.Release()
	}
	return list
}

// TestOpen_ForeignDirectory_DeletedTopicsStayDeleted opens a directory in which the real broker
// deleted a topic, and deleted another and made it again: it leaves no note of that beside its
// queues.
func TestOpen_ForeignDirectory_DeletedTopicsStayDeleted(t *testing.T) {
	t.Parallel()
	for name, clean := range map[string]bool{"stopped": true, "killed": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			s := mustOpen(t, options(dir))
			for i := range 5 {
				putBody(t, s, "Gone", fmt.Sprint("gone ", i))
				putBody(t, s, "Again", fmt.Sprint("first life ", i))
			}
			fill(t, s, 0, 1000)
			for _, topic := range []string{"Gone", "Again"} {
				if err := s.DeleteTopic(topic); err != nil {
					t.Fatal(err)
				}
			}
			putBody(t, s, "Again", "second life")
			end := s.MaxCommitLogOffset()
			mustClose(t, s)
			asForeign(t, dir, clean, 1<<60, 1<<60)
			for range 2 {
				s = mustOpen(t, options(dir))
				if got := bodies(t, s, "Again"); len(got) != 1 || got[0] != "second life" {
					t.Errorf("the topic that was made again holds %q", got)
				}
				if got := bodies(t, s, "Gone"); len(got) != 0 {
					t.Errorf("the deleted topic holds %q", got)
				}
				verify(t, s, 1000)
				if got := s.MaxCommitLogOffset(); got != end {
					t.Errorf("the log ends at %d, want %d", got, end)
				}
				mustClose(t, s)
			}
		})
	}
}

// TestOpen_ForeignDirectory_QueuesBehindTheLog has records that the real broker did not dispatch
// before it was killed.
func TestOpen_ForeignDirectory_QueuesBehindTheLog(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s := mustOpen(t, options(dir))
	fill(t, s, 0, 1000)
	mustClose(t, s)
	asForeign(t, dir, false, 0, 0)
	// The last units of both queues were never written.
	for id := range 2 {
		f, err := os.OpenFile(filepath.Join(dir, fmt.Sprintf("consumequeue/T/%d/%020d", id, 400*20)), os.O_WRONLY, 0)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := f.WriteAt(make([]byte, 50*20), 50*20); err != nil {
			t.Fatal(err)
		}
		if err := f.Close(); err != nil {
			t.Fatal(err)
		}
	}
	s = mustOpen(t, options(dir))
	defer mustClose(t, s)
	verify(t, s, 1000)
}

// TestOpen_ForeignDirectory_DamageInside_CostsOnlyWhatIsDamaged breaks a record in the first
// file: what is behind it must not be taken for garbage.
func TestOpen_ForeignDirectory_DamageInside_CostsOnlyWhatIsDamaged(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ clean, queues bool }{
		"stopped": {true, true}, "killed": {false, true}, "stopped, without queues": {true, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			s := mustOpen(t, options(dir))
			fill(t, s, 0, 100)
			hurt, _ := s.Put(record(100), nil)
			fill(t, s, 101, 900)
			end := s.MaxCommitLogOffset()
			mustClose(t, s)
			asForeign(t, dir, c.clean, 1<<60, 1<<60)
			if !c.queues {
				remove(t, dir, "consumequeue")
			}
			overwrite(t, filepath.Join(dir, "commitlog", fmt.Sprintf("%020d", 0)), hurt.CommitLogOffset+100, []byte{0xEE, 0xEE})
			s = mustOpen(t, options(dir))
			defer mustClose(t, s)
			if got := s.MaxCommitLogOffset(); got != end {
				t.Errorf("the log ends at %d, want %d", got, end)
			}
		})
	}
}

// TestOpen_AfterTheRealBroker adds to a directory of this server's as the real one does, with
// the notes of before still there.
func TestOpen_AfterTheRealBroker(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s := mustOpen(t, options(dir))
	fill(t, s, 0, 600)
	putBody(t, s, "Again", "first life")
	mustClose(t, s)
	notes, err := os.ReadFile(filepath.Join(dir, "config/wheelmqStore.json"))
	if err != nil {
		t.Fatal(err)
	}
	s = mustOpen(t, options(dir))
	fill(t, s, 600, 400)
	if err := s.DeleteTopic("Again"); err != nil {
		t.Fatal(err)
	}
	putBody(t, s, "Again", "second life")
	end := s.MaxCommitLogOffset()
	mustClose(t, s)
	asForeign(t, dir, true, 1<<60, 1<<60)
	write(t, dir, "config/wheelmqStore.json", string(notes))
	s = mustOpen(t, options(dir))
	defer mustClose(t, s)
	verify(t, s, 1000)
	if got := bodies(t, s, "Again"); len(got) != 1 || got[0] != "second life" {
		t.Errorf("the topic that was made again holds %q", got)
	}
	if got := s.MaxCommitLogOffset(); got != end {
		t.Errorf("the log ends at %d, want %d", got, end)
	}
}

// TestOpen_ForeignDirectory_QueueAheadOfTheLog has units of records that a power cut took: they
// make room for what is put next.
func TestOpen_ForeignDirectory_QueueAheadOfTheLog(t *testing.T) {
	t.Parallel()
	for name, offset := range map[string]int64{"in the last file": 0, "past the last file": 1 << 30} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			s := mustOpen(t, options(dir))
			fill(t, s, 0, 1010)
			ahead := offset + s.MaxCommitLogOffset() + 1000
			mustClose(t, s)
			asForeign(t, dir, false, 1<<60, 1<<60)
			unit := binary.BigEndian.AppendUint64(nil, uint64(ahead))
			unit = binary.BigEndian.AppendUint64(append(unit, 0, 0, 1, 0), 7)
			overwrite(t, filepath.Join(dir, "consumequeue/T/0", fmt.Sprintf("%020d", 500*20)), 5*20, unit)
			s = mustOpen(t, options(dir))
			defer mustClose(t, s)
			verify(t, s, 1010)
			fill(t, s, 1010, 10)
			verify(t, s, 1020)
		})
	}
}

// TestOpen_ForeignDirectory_IndexKeepsItsSizes drops an index file that was not closed, and makes
// the next of the same sizes: the real broker finds in no other.
func TestOpen_ForeignDirectory_IndexKeepsItsSizes(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	opts := options(dir)
	opts.MaxHashSlotNum, opts.MaxIndexNum = 100, 400
	s := mustOpen(t, opts)
	rec := record(0)
	rec.Properties = message.PropertyAppend(rec.Properties, message.PropertyKeys, "k")
	if res, _ := s.Put(rec, nil); !res.OK() {
		t.Fatal(res)
	}
	mustClose(t, s)
	asForeign(t, dir, false, 0, 0)
	mustClose(t, mustOpen(t, options(dir)))
	files, err := filepath.Glob(filepath.Join(dir, "index", "*"))
	if err != nil || len(files) != 1 {
		t.Fatal(files, err)
	}
	if info, err := os.Stat(files[0]); err != nil || info.Size() != 40+100*4+400*20 {
		t.Errorf("the index file has %d bytes, %v", info.Size(), err)
	}
}
