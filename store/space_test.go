package store

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/wheelmq/wheelmq/clock"
	"github.com/wheelmq/wheelmq/internal/await"
	"github.com/wheelmq/wheelmq/message"
	"github.com/wheelmq/wheelmq/store/region"
)

// eventually waits for something that another goroutine brings about.
func eventually(t *testing.T, what string, cond func() bool) {
	t.Helper()
	await.Until(t, what, cond)
}

func putTo(s *Store, queueID int32, internal bool) PutResult {
	rec := message.Record{Topic: "T", QueueID: queueID, Body: make([]byte, 1000), Internal: internal}
	res, _ := s.Put(&rec, nil)
	return res
}

// TestStore_FullDisk_KeepsRoomForTheBrokersOwnRecords fills a small disk. Clients are refused
// first; the broker's own records go on, in new queues too, until the reserve is used up; what
// was stored stays readable; with space everything goes on.
func TestStore_FullDisk_KeepsRoomForTheBrokersOwnRecords(t *testing.T) {
	t.Parallel()
	disk := region.NewMemory()
	disk.SetLimit(1 << 20)
	opts := quietOptions("")
	opts.Memory, opts.MaxMessageSize = disk, 16<<10
	opts.Retention = DefaultRetention()
	opts.Retention.WarnRatio, opts.Retention.ForceEnabled, opts.Retention.IntervalMs = 1, false, 20
	s := started(t, opts)
	defer s.Close()

	var res PutResult
	clients := 0
	for res = putTo(s, 0, false); res.OK(); res = putTo(s, 0, false) {
		clients++
	}
	if res.Status != ServiceNotAvailable || !strings.Contains(res.Reason, "full") {
		t.Fatalf("after %d records: %+v", clients, res)
	}
	if st := s.Stats(); st.DiskFull == "" {
		t.Errorf("Stats does not tell: %+v", st)
	}
	internal := 0
	for res = putTo(s, 1, true); res.OK(); res = putTo(s, int32(1+internal%20), true) {
		internal++
	}
	if res.Status != ServiceNotAvailable {
		t.Fatalf("after %d of its own: %+v", internal, res)
	}
	if fit := opts.CommitLogFileSize * 15 / 16 / 1100; internal < fit {
		t.Errorf("%d of the broker's own records went in, want nearly a log file's worth, %d", internal, fit)
	}
	if n := countRecords(t, s); n != clients+internal {
		t.Errorf("%d records are readable, want %d", n, clients+internal)
	}
	if putTo(s, 0, false).OK() {
		t.Error("a client's record was accepted on a full disk")
	}
	disk.SetLimit(4 << 20)
	eventually(t, "records are accepted again", func() bool { return putTo(s, 0, false).OK() })
	if st := s.Stats(); st.DiskFull != "" || st.ReserveBytes == 0 {
		t.Errorf("the reserve is not taken back: %+v", st)
	}
}

func countRecords(t *testing.T, s *Store) (n int) {
	t.Helper()
	if err := s.Scan(0, func(*message.View) error { n++; return nil }); err != nil {
		t.Fatal(err)
	}
	return n
}

// TestStore_UsedRatio_RefusesAndAcceptsByItself has diskSpaceWarningLevelRatio crossed both ways
// by something else that fills the disk.
func TestStore_UsedRatio_RefusesAndAcceptsByItself(t *testing.T) {
	t.Parallel()
	disk := region.NewMemory()
	disk.SetLimit(4 << 20)
	opts := quietOptions("")
	opts.Memory = disk
	opts.Retention = DefaultRetention()
	opts.Retention.WarnRatio, opts.Retention.ForceEnabled, opts.Retention.IntervalMs = 0.5, false, 20
	s := started(t, opts)
	defer s.Close()
	if res := putTo(s, 0, false); !res.OK() {
		t.Fatalf("%+v", res)
	}
	other, err := disk.Open("other", 3<<20)
	if err != nil {
		t.Fatal(err)
	}
	if err := other.Reserve(0, 3<<20); err != nil {
		t.Fatal(err)
	}
	eventually(t, "a refusal", func() bool { return !putTo(s, 0, false).OK() })
	res := putTo(s, 0, false)
	for _, want := range []string{"diskSpaceWarningLevelRatio 50 %", "is used to 8"} {
		if !strings.Contains(res.Reason, want) {
			t.Errorf("the reason %q does not name %q", res.Reason, want)
		}
	}
	if !putTo(s, 0, true).OK() {
		t.Error("the broker's own record was refused")
	}
	if err := disk.Remove("other"); err != nil {
		t.Fatal(err)
	}
	eventually(t, "an acceptance", func() bool { return putTo(s, 0, false).OK() })
}

// TestStore_Retention_DeletesWhatIsExpired turns the clock. Before the hour nothing goes; at the
// hour what is old enough goes, queues and all; a pin keeps what is pending.
func TestStore_Retention_DeletesWhatIsExpired(t *testing.T) {
	t.Parallel()
	start := time.Date(2026, 5, 1, 12, 0, 0, 0, time.Local)
	v := clock.NewVirtual(start.UnixMilli())
	opts := quietOptions(t.TempDir())
	opts.Clock, opts.Wire = v, clock.Real{}
	opts.FlushIntervalMs, opts.FlushThoroughMs = 5, 10
	opts.Retention = DefaultRetention()
	opts.Retention.IntervalMs, opts.Retention.ReservedMs = 20, 10*3_600_000
	opts.Retention.MaxRatio, opts.Retention.ForceRatio, opts.Retention.WarnRatio = 1, 1, 1
	var pin Pin
	opts.Pin = func() (Pin, bool) { return pin, pin.What != "" }
	s := started(t, opts)
	for range 300 { // more than two log files, several queue files
		if res := putTo(s, 0, false); !res.OK() {
			t.Fatalf("%+v", res)
		}
	}
	v.Set(start.Add(15 * time.Hour).UnixMilli()) // 03:00: expired, but not the hour
	pin = Pin{CommitLogOffset: s.log.fileSize + 10, What: "a pending message"}
	for range 3 {
		if res := putTo(s, 0, false); !res.OK() {
			t.Fatalf("%+v", res)
		}
	}
	eventually(t, "a checkpoint", func() bool { return s.checkpointed.Load() == s.MaxCommitLogOffset() })
	if min := s.MinCommitLogOffset(); min != 0 {
		t.Fatalf("deleted before the hour: the log begins at %d", min)
	}
	v.Set(start.Add(16*time.Hour + time.Minute).UnixMilli()) // 04:01
	eventually(t, "the first file goes", func() bool { return s.MinCommitLogOffset() == s.log.fileSize })
	eventually(t, "the pin shows", func() bool { return s.Stats().Pinned != nil })
	q := s.Queue([]byte("T"), 0)
	if u, ok := q.Unit(q.Min()); !ok || u.CommitLogOffset < s.log.fileSize || q.Min() == 0 {
		t.Errorf("the queue begins at %d: %+v", q.Min(), u)
	}
	first, minUnit, maxUnit := filepath.Join(opts.Dir, "commitlog", fmt.Sprintf("%020d", 0)), q.Min(), q.Max()
	if _, err := os.Stat(first); !os.IsNotExist(err) {
		t.Errorf("%s: %v", first, err)
	}
	eventually(t, "old queue files go", func() bool {
		_, err := os.Stat(filepath.Join(opts.Dir, "consumequeue", "T", "0", fmt.Sprintf("%020d", 0)))
		return os.IsNotExist(err)
	})
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}

	s = started(t, opts)
	defer s.Close()
	if q := s.Queue([]byte("T"), 0); q.Min() != minUnit || q.Max() != maxUnit {
		t.Errorf("after a restart the queue is [%d, %d), want [%d, %d)", q.Min(), q.Max(), minUnit, maxUnit)
	}
	if res := putTo(s, 0, false); res.QueueOffset != maxUnit {
		t.Errorf("the next offset is %d, want %d", res.QueueOffset, maxUnit)
	}
}

// TestStore_Retention_ForcedByTheDisk deletes before its time what is oldest, down to the ratio.
func TestStore_Retention_ForcedByTheDisk(t *testing.T) {
	t.Parallel()
	disk := region.NewMemory()
	disk.SetLimit(2 << 20)
	opts := quietOptions("")
	opts.Memory, opts.FlushIntervalMs, opts.FlushThoroughMs = disk, 5, 10
	opts.Retention = DefaultRetention()
	opts.Retention.IntervalMs, opts.Retention.ForceRatio, opts.Retention.WarnRatio = 10, 0.5, 1
	s := started(t, opts)
	defer s.Close()
	for range 3000 { // 3 MB: more than the disk holds
		eventually(t, "an acceptance", func() bool { return putTo(s, 0, false).OK() })
	}
	eventually(t, "the disk is below the ratio", func() bool { space, _ := disk.Space(); return space.Ratio() <= 0.5 })
	if s.MinCommitLogOffset() == 0 {
		t.Error("nothing was deleted")
	}
	// A file less would not have been enough.
	if space, _ := disk.Space(); float64(space.Used+int64(opts.CommitLogFileSize)+64<<10)/float64(2<<20) < 0.5 {
		t.Errorf("more was deleted than the disk demands: %+v", space)
	}
	if q := s.Queue([]byte("T"), 0); q.Max() != 3000 || q.Min() == 0 {
		t.Errorf("the queue is [%d, %d)", q.Min(), q.Max())
	}
}

// TestStore_CutFile_StopsTheStoreNotTheProcess cuts the log file below a mapping, as an operator
// may by mistake: writing there is a bus error.
func TestStore_CutFile_StopsTheStoreNotTheProcess(t *testing.T) {
	t.Parallel()
	opts := quietOptions(t.TempDir())
	s := started(t, opts)
	if res := putTo(s, 0, false); !res.OK() {
		t.Fatalf("%+v", res)
	}
	if err := os.Truncate(filepath.Join(opts.Dir, "commitlog", fmt.Sprintf("%020d", 0)), 0); err != nil {
		t.Fatal(err)
	}
	res := putTo(s, 0, false)
	if res.Status != ServiceNotAvailable || !strings.Contains(res.Reason, errFault.Error()) {
		t.Errorf("%+v", res)
	}
	if s.Writable() == nil {
		t.Error("the store still takes records")
	}
	if err := s.Close(); err == nil {
		t.Error("Close does not tell")
	}
}

// fullForFiles is a disk without space for small files while full is set.
type fullForFiles struct {
	region.FS
	full atomic.Bool
}

func (d *fullForFiles) WriteFile(name string, b []byte) error {
	if d.full.Load() {
		return fmt.Errorf("write %s: %w", name, region.ErrNoSpace)
	}
	return d.FS.WriteFile(name, b)
}

// TestStore_NoSpaceForTheCheckpoint_IsNoFailure has a disk so full that not even the reserve
// helps: the checkpoint falls behind, nothing stops, and a start reads more of the log.
func TestStore_NoSpaceForTheCheckpoint_IsNoFailure(t *testing.T) {
	t.Parallel()
	memory := region.NewMemory()
	disk := &fullForFiles{FS: memory}
	opts := quietOptions("")
	opts.FS = disk
	opts.Retention = DefaultRetention()
	opts.Retention.IntervalMs = 10
	s := started(t, opts)
	disk.full.Store(true)
	if res := putTo(s, 0, true); !res.OK() {
		t.Fatalf("%+v", res)
	}
	if err := s.Flush(); err != nil {
		t.Errorf("Flush: %v", err)
	}
	if err := s.Writable(); err != nil {
		t.Errorf("the store stopped: %v", err)
	}
	if res := putTo(s, 0, true); !res.OK() {
		t.Errorf("%+v", res)
	}
	if s.Close() == nil {
		t.Error("Close is silent about the checkpoint")
	}
	disk.full.Store(false)
	s = started(t, opts)
	defer s.Close()
	if q := s.Queue([]byte("T"), 0); q == nil || q.Max() != 2 {
		t.Error("records are missing after the start")
	}
	eventually(t, "an acceptance", func() bool { return putTo(s, 0, false).OK() })
}
