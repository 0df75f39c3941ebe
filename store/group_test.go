package store_test

import (
	"fmt"
	"testing"

	"github.com/wheelmq/wheelmq/message"
	"github.com/wheelmq/wheelmq/store"
)

func collect(t testing.TB, s *store.Store, g *store.Group, recs ...*message.Record) {
	t.Helper()
	for _, rec := range recs {
		if status := s.Collect(g, rec); status != store.PutOK {
			t.Fatalf("status %d", status)
		}
	}
}

// TestStore_PutGroup_IsLikeOnePutEach puts records of several queues and topics, half messages and
// puts of others between them.
func TestStore_PutGroup_IsLikeOnePutEach(t *testing.T) {
	t.Parallel()
	for name, synced := range map[string]bool{"ASYNC_FLUSH": false, "SYNC_FLUSH": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			opts := options(t.TempDir())
			opts.SyncFlush = synced
			var arrived []store.Arrival
			opts.OnArrival = func(a store.Arrival) { arrived = append(arrived, a) }
			s := mustOpen(t, opts)
			defer mustClose(t, s)
			var g store.Group
			for n := 0; n < 1000; g.Reset() {
				half := record(n)
				half.SysFlag, half.Topic = message.SysFlagPrepared, "H"
				for range 40 {
					collect(t, s, &g, record(n))
					n++
				}
				collect(t, s, &g, half)
				told := make(chan store.PutResult, 1)
				stored, res, pending := s.PutGroup(&g, completion(func(res store.PutResult) { told <- res }))
				if stored != 41 || !res.OK() || pending != synced {
					t.Fatalf("%d stored: %+v, pending %v", stored, res, pending)
				}
				if pending {
					<-told
				}
				if last := g.Result(39); last.QueueOffset != int64(n/2-1) || last.StoreTimestamp == 0 {
					t.Fatalf("the last: %+v", last)
				}
			}
			if s.Flush() != nil || len(arrived) != 1000 || arrived[999].Offset != 499 || arrived[999].QueueID != 1 {
				t.Fatalf("%d arrived", len(arrived))
			}
			verify(t, s, 1000)
		})
	}
}

// TestStore_PutGroup_StopsWhereThereIsNoRoom and has stored what went before, in a full disk's
// reserve.
func TestStore_PutGroup_StopsWhereThereIsNoRoom(t *testing.T) {
	t.Parallel()
	var why switches
	s := mustOpen(t, faulty("", &why))
	defer mustClose(t, s)
	why.full.Store(true)
	s.CheckSpace()
	var g store.Group
	collect(t, s, &g, record(0))
	if stored, res, _ := s.PutGroup(&g, nil); stored != 0 || res.Status != store.ServiceNotAvailable || res.Reason == "" {
		t.Fatalf("a client's: %d stored: %+v", stored, res)
	}
	put := 0
	for last := store.PutOK; last == store.PutOK; {
		g.Reset()
		for i := range 100 {
			rec := record(put + i)
			rec.Internal = true
			collect(t, s, &g, rec)
		}
		stored, res, _ := s.PutGroup(&g, nil)
		if put, last = put+stored, res.Status; stored < 100 && last != store.ServiceNotAvailable || put > 10_000 {
			t.Fatalf("%d stored of %d: %+v", stored, put, res)
		}
	}
	why.full.Store(false)
	s.CheckSpace()
	for ; put%2 > 0; put++ {
		if res, _ := s.Put(record(put), nil); !res.OK() {
			t.Fatalf("%+v", res)
		}
	}
	verify(t, s, put)
}

// TestStore_PutGroup_AfterItsTopicWasDeleted goes into a new queue of the name.
func TestStore_PutGroup_AfterItsTopicWasDeleted(t *testing.T) {
	t.Parallel()
	s := mustOpen(t, options(t.TempDir()))
	defer mustClose(t, s)
	fill(t, s, 0, 4)
	var g store.Group
	collect(t, s, &g, record(0), record(1), record(2))
	if err := s.DeleteTopic("T"); err != nil {
		t.Fatal(err)
	}
	if stored, res, _ := s.PutGroup(&g, nil); stored != 3 {
		t.Fatalf("%d stored: %+v", stored, res)
	}
	verify(t, s, 3)
}

// TestStore_Collect_RefusesWhatIsNeverStored and leaves the group as it was.
func TestStore_Collect_RefusesWhatIsNeverStored(t *testing.T) {
	t.Parallel()
	s := mustOpen(t, options(t.TempDir()))
	defer mustClose(t, s)
	var g store.Group
	collect(t, s, &g, record(0))
	long := record(1)
	long.Body = make([]byte, 40<<10)
	if status := s.Collect(&g, long); status != store.MessageIllegal || g.Len() != 1 {
		t.Errorf("status %d, %d in the group", status, g.Len())
	}
	if stored, _, _ := s.PutGroup(&g, nil); stored != 1 {
		t.Errorf("%d stored", stored)
	}
	g.Reset()
	if stored, _, pending := s.PutGroup(&g, nil); stored != 0 || pending {
		t.Errorf("%d stored of an empty group", stored)
	}
	verify(t, s, 1)
}

func BenchmarkPutGroup(b *testing.B) {
	opts := options(b.TempDir())
	opts.CommitLogFileSize, opts.ConsumeQueueFileSize = 64<<20, 30_000*20
	s := mustOpen(b, opts)
	defer mustClose(b, s)
	recs := make([]*message.Record, 8)
	for i := range recs {
		recs[i] = record(i)
		recs[i].Topic, recs[i].Body = fmt.Sprint("T", i%4), recs[i].Body[:128]
	}
	var g store.Group
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		collect(b, s, &g, recs[i%8])
		if g.Full() {
			s.PutGroup(&g, nil)
			g.Reset()
		}
	}
}
