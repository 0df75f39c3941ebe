package journal_test

import (
	"testing"

	"github.com/sirupsen/logrus/hooks/test"

	"github.com/wheelmq/wheelmq/broker/pop/journal"
	"github.com/wheelmq/wheelmq/clock"
	"github.com/wheelmq/wheelmq/store/region"
)

// keeper has nothing to keep.
type keeper struct{}

func (keeper) Keep(uint32, byte, []byte) error { return nil }
func (keeper) KeepRest(uint32) error           { return nil }
func (keeper) Idle(uint32) bool                { return true }
func (keeper) Size() int64                     { return 0 }
func (keeper) Note() int64                     { return 0 }

// What is saved last, the offsets, has the journal synced when it is closed already. Files are the
// machine's here: one that is unmapped cannot be synced.
func TestClose_NothingIsLeftToSync(t *testing.T) {
	t.Parallel()
	log, _ := test.NewNullLogger()
	j := journal.Open(journal.Options{FS: region.OS{Root: t.TempDir()}, Dir: "pop", FileSize: 64 << 10, Wire: clock.Real{}, Log: log, Keeper: keeper{}})
	if _, err := j.Replay(func(uint32, byte, []byte) {}); err != nil {
		t.Fatal(err)
	}
	j.Start()
	subject := journal.Subject{Kind: 1, Declaration: []byte("window")}
	for range 2 {
		if _, _, err := j.Append(&subject, 2, []byte("popped"), false); err != nil {
			t.Fatal(err)
		}
		if err := j.Sync(); err != nil {
			t.Fatal(err)
		}
	}
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
	if err := j.Sync(); err != nil {
		t.Fatal(err)
	}
}

// TestClose_ALostHeaderIsDamage: no other file tells that the only one was synced.
func TestClose_ALostHeaderIsDamage(t *testing.T) {
	t.Parallel()
	disk := region.NewMemory()
	r, _ := open(t, disk, false)
	_, err := r.set(1, 1, false, nil)
	must(t, err)
	must(t, r.journal.Close())
	spoil(t, disk, "pop/0000000001", 20)
	r, found := open(t, disk, false)
	if !found.Damage.Any() {
		t.Errorf("found %+v", found)
	}
	r.want(t, map[uint64]uint64{1: 1})
	must(t, r.journal.Close())
}

// TestReplay_ALostHeaderAfterAKillIsDamage: nothing was synced but the header of the only file, and what
// is behind it is used.
func TestReplay_ALostHeaderAfterAKillIsDamage(t *testing.T) {
	t.Parallel()
	disk := region.NewMemory()
	r, _ := open(t, disk, false)
	_, err := r.set(1, 1, false, nil)
	must(t, err)
	var left *region.Memory
	r.journal.Hold(func() { left = disk.Killed() })
	must(t, r.journal.Close())
	spoil(t, left, "pop/0000000001", 20)
	r, found := open(t, left, false)
	if found.Damage.Places != 1 {
		t.Errorf("found %+v", found)
	}
	r.want(t, map[uint64]uint64{1: 1})
	must(t, r.journal.Close())
}
