package journal_test

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime"
	"strings"
	"sync"
	"testing"

	"github.com/sirupsen/logrus/hooks/test"
	"go.uber.org/goleak"

	"github.com/wheelmq/wheelmq/broker/pop/journal"
	"github.com/wheelmq/wheelmq/clock"
	"github.com/wheelmq/wheelmq/store/region"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// register is a state that a journal keeps: numbers under keys, with the file that tells of each.
type register struct {
	mu      sync.Mutex
	values  map[uint64]value
	subject journal.Subject
	journal *journal.Journal
	note    int64
}

type value struct {
	n    uint64
	file uint32
}

const (
	kindDeclared = 1
	kindSet      = 2
	fileSize     = 256
)

// open opens the journal of a disk, and returns what it tells.
func open(t *testing.T, disk region.FS, synchronous bool) (*register, journal.Found) {
	t.Helper()
	log, _ := test.NewNullLogger()
	r := &register{values: make(map[uint64]value), subject: journal.Subject{Kind: kindDeclared, Declaration: []byte("register")}}
	r.journal = journal.Open(journal.Options{
		FS: disk, Dir: "pop", FileSize: fileSize, Epoch: 7, Sync: synchronous, Wire: clock.Real{}, Log: log, Keeper: r,
	})
	found, err := r.journal.Replay(func(file uint32, kind byte, payload []byte) {
		switch {
		case kind == kindDeclared && string(payload) == "register":
		case kind == kindSet && len(payload) == 16:
			r.values[binary.BigEndian.Uint64(payload)] = value{binary.BigEndian.Uint64(payload[8:]), file}
		default:
			t.Errorf("a record of kind %d: %q", kind, payload)
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	r.journal.Start()
	return r, found
}

func (r *register) set(key, n uint64, urgent bool, done func(error)) (pending bool, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	end, err := r.put(key, n, urgent)
	if err != nil {
		return false, err
	}
	return r.journal.Wait(end, done), nil
}

func (r *register) put(key, n uint64, urgent bool) (end int64, err error) {
	var b [16]byte
	binary.BigEndian.PutUint64(b[:], key)
	binary.BigEndian.PutUint64(b[8:], n)
	file, end, err := r.journal.Append(&r.subject, kindSet, b[:], urgent)
	if err == nil {
		r.values[key] = value{n, file}
	}
	return end, err
}

// Keep implements journal.Keeper.
func (r *register) Keep(file uint32, kind byte, payload []byte) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if kind != kindSet {
		return nil
	}
	key := binary.BigEndian.Uint64(payload)
	if v := r.values[key]; v.file == file && v.n == binary.BigEndian.Uint64(payload[8:]) {
		_, err := r.put(key, v.n, true)
		return err
	}
	return nil
}

// KeepRest implements journal.Keeper.
func (r *register) KeepRest(uint32) error { return nil }

// Idle implements journal.Keeper.
func (r *register) Idle(uint32) bool { return false }

// Size implements journal.Keeper.
func (r *register) Size() int64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	return int64(len(r.values)) * 64
}

// Note implements journal.Keeper.
func (r *register) Note() int64 { return r.note }

// told is what the journal has told, and what was set since.
func (r *register) told() map[uint64]uint64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	got := map[uint64]uint64{}
	for key, v := range r.values {
		got[key] = v.n
	}
	return got
}

func (r *register) want(t *testing.T, values map[uint64]uint64) {
	t.Helper()
	if got := r.told(); fmt.Sprint(got) != fmt.Sprint(values) {
		t.Fatalf("the journal tells %v, want %v", got, values)
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// fill sets values at random, in far more files than are needed for them.
func (r *register) fill(t *testing.T, rng *rand.Rand, values map[uint64]uint64, n int) {
	t.Helper()
	for range n {
		key, v := rng.Uint64N(20), rng.Uint64()
		_, err := r.set(key, v, false, nil)
		must(t, err)
		values[key] = v
	}
}

func TestJournal_ARestartTellsAllThatWasSet(t *testing.T) {
	t.Parallel()
	disk, rng, values := region.NewMemory(), rand.New(rand.NewPCG(1, 2)), map[uint64]uint64{}
	for range 5 {
		r, found := open(t, disk, false)
		r.want(t, values)
		if len(values) > 0 && !found.Ended || found.Damage.Any() {
			t.Fatalf("found %+v", found)
		}
		r.note++
		r.fill(t, rng, values, 500)
		must(t, r.journal.Close())
	}
	r, _ := open(t, disk, false)
	r.fill(t, rng, values, 1)
	r.shrunk()
	must(t, r.journal.Close())
	r, _ = open(t, disk, false)
	r.want(t, values)
	must(t, r.journal.Close())
}

// shrunk waits until the journal is as small as it is to be.
func (r *register) shrunk() {
	for r.journal.Files() > 2+2*int(r.Size()/fileSize) {
		runtime.Gosched()
	}
}

func TestJournal_NothingIsMadeForNothing(t *testing.T) {
	t.Parallel()
	disk := region.NewMemory()
	r, _ := open(t, disk, false)
	must(t, r.journal.Sync())
	must(t, r.journal.Close())
	if names, err := disk.List("pop"); len(names) > 0 || err != nil {
		t.Errorf("%v, %v", names, err)
	}
}

func TestJournal_AKillAndAPowerCutLeaveWhatWasAnswered(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(3, 4))
	for range 60 {
		disk, values := region.NewMemory(), map[uint64]uint64{}
		for range 3 {
			r, found := open(t, disk, true)
			r.want(t, values)
			if found.Damage.Any() {
				t.Fatalf("damage: %+v", found.Damage)
			}
			for range rng.IntN(60) {
				key, v := rng.Uint64N(20), rng.Uint64()
				done := make(chan error, 1)
				pending, err := r.set(key, v, false, func(err error) { done <- err })
				must(t, err)
				if pending {
					must(t, <-done)
				}
				values[key] = v
			}
			var left *region.Memory
			r.journal.Hold(func() {
				if left = disk.PowerCut(rng); rng.IntN(2) == 0 {
					left = disk.Killed()
				}
			})
			must(t, r.journal.Close())
			disk = left
		}
	}
}

// TestJournal_APowerCutLeavesTheStateOfSomeInstant: what was not answered is there up to some record,
// and not behind it.
func TestJournal_APowerCutLeavesTheStateOfSomeInstant(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(5, 6))
	for range 100 {
		disk := region.NewMemory()
		r, _ := open(t, disk, false)
		for i := range uint64(rng.IntN(100)) {
			_, err := r.set(i%20, i, false, nil)
			must(t, err)
			if rng.IntN(10) == 0 {
				r.journal.Hold(func() { disk.WriteBack(rng) })
			}
		}
		var left *region.Memory
		r.journal.Hold(func() { left = disk.PowerCut(rng) })
		must(t, r.journal.Close())
		again, found := open(t, left, false)
		newest := uint64(0)
		told := again.told()
		for _, n := range told {
			newest = max(newest, n)
		}
		for key, n := range told {
			if n+20 <= newest || n%20 != key {
				t.Fatalf("%d is %d although %d is there; %+v", key, n, newest, found)
			}
		}
		if found.Damage.Any() {
			t.Fatalf("damage: %+v", found.Damage)
		}
		must(t, again.journal.Close())
	}
}

// spoil changes a byte of a file.
func spoil(t *testing.T, disk *region.Memory, name string, at int) {
	t.Helper()
	r, err := disk.Open(name, 0)
	must(t, err)
	r.Bytes()[at] ^= 0xFF
	must(t, r.Sync(0, len(r.Bytes())))
}

func TestJournal_DamageIsToldAndCostsWhatItHits(t *testing.T) {
	t.Parallel()
	for name, harm := range map[string]func(disk *region.Memory, file string) (most int){
		"a record": func(disk *region.Memory, file string) int { spoil(t, disk, file, 100); return 1 },
		"a header": func(disk *region.Memory, file string) int { spoil(t, disk, file, 20); return 0 },
		"a file":   func(disk *region.Memory, file string) int { must(t, disk.Remove(file)); return 10 },
	} {
		disk := region.NewMemory()
		r, _ := open(t, disk, false)
		for key := range uint64(40) {
			_, err := r.set(key, key, false, nil)
			must(t, err)
		}
		must(t, r.journal.Close())
		names, err := disk.List("pop")
		must(t, err)
		most := harm(disk, "pop/"+names[1].Name)
		r, found := open(t, disk, false)
		values := r.told()
		if lost := 40 - len(values); !found.Damage.Any() || lost == 0 && most > 0 || lost > most {
			t.Errorf("%s: %d of 40 values are lost: %+v", name, lost, found.Damage)
		}
		r.fill(t, rand.New(rand.NewPCG(7, 8)), values, 200)
		r.shrunk()
		must(t, r.journal.Close())
		r, found = open(t, disk, false)
		r.want(t, values)
		if found.Damage.Any() {
			t.Errorf("%s: it is told again, when all is written anew: %+v", name, found.Damage)
		}
		must(t, r.journal.Close())
	}
}

func TestJournal_OfAnotherStoreIsDamage(t *testing.T) {
	t.Parallel()
	disk := region.NewMemory()
	r, _ := open(t, disk, false)
	_, err := r.set(1, 1, false, nil)
	must(t, err)
	must(t, r.journal.Close())
	names, err := disk.List("pop")
	must(t, err)
	if len(names) == 0 || !strings.HasPrefix(names[0].Name, "000") {
		t.Fatalf("%v", names)
	}
	log, _ := test.NewNullLogger()
	j := journal.Open(journal.Options{FS: disk, Dir: "pop", FileSize: fileSize, Epoch: 8, Wire: clock.Real{}, Log: log, Keeper: &register{}})
	if _, err := j.Replay(func(uint32, byte, []byte) { t.Error("a record of another store") }); err != nil {
		t.Fatal(err)
	}
	must(t, j.Close())
}

func TestJournal_OnAFullDiskRoomIsLeftForUrgentRecords(t *testing.T) {
	t.Parallel()
	disk := region.NewMemory()
	r, _ := open(t, disk, false)
	values := map[uint64]uint64{}
	r.fill(t, rand.New(rand.NewPCG(9, 10)), values, 1)
	for r.journal.Files() == 0 || !spareThere(t, disk, r) {
	}
	disk.SetLimit(1)
	var refused error
	for range 1000 {
		if _, refused = r.set(1, 1, false, nil); refused != nil {
			break
		}
	}
	if !errors.Is(refused, region.ErrNoSpace) {
		t.Fatalf("refused: %v", refused)
	}
	if err := r.journal.Trouble(); !errors.Is(err, region.ErrNoSpace) {
		t.Errorf("trouble: %v", err)
	}
	if _, err := r.set(1, 2, true, nil); err != nil {
		t.Errorf("an urgent record is refused: %v", err)
	}
	disk.SetLimit(0)
	must(t, r.journal.Close())
	r, _ = open(t, disk, false)
	if told := r.told(); told[1] != 2 {
		t.Errorf("1 is %d", told[1])
	}
	must(t, r.journal.Close())
}

func spareThere(t *testing.T, disk *region.Memory, r *register) bool {
	t.Helper()
	names, err := disk.List("pop")
	must(t, err)
	return len(names) > r.journal.Files()
}
