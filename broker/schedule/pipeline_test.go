package schedule_test

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/sirupsen/logrus"

	appender "github.com/wheelmq/wheelmq/broker/append"
	"github.com/wheelmq/wheelmq/health"
	"github.com/wheelmq/wheelmq/message"
	"github.com/wheelmq/wheelmq/store"
)

// heldDoor stores what schedulers put, but tells that it is durable only when it is let go.
type heldDoor struct {
	*lab
	mu   sync.Mutex // guards what follows
	held []store.Completion
	put  int64
	fail bool
}

func (d *heldDoor) Put(rec *message.Record, origin appender.Origin, done store.Completion) (store.PutResult, bool, error) {
	res, _, err := d.appender.Put(rec, origin, nil)
	d.mu.Lock()
	defer d.mu.Unlock()
	d.held = append(d.held, done)
	d.put++
	return res, true, err
}

// letGo tells the n oldest puts their result, in order; the rest with n < 0.
func (d *heldDoor) letGo(n int) {
	d.mu.Lock()
	if n < 0 {
		n = len(d.held)
	}
	told, res := d.held[:n], store.PutResult{}
	d.held = d.held[n:]
	if d.fail {
		res.Status = store.ServiceNotAvailable
	}
	d.mu.Unlock()
	for _, done := range told {
		done.PutDone(res)
	}
}

func (d *heldDoor) puts() int64 {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.put
}

func (d *heldDoor) delivered() int64 { return d.service.Offsets()[0].Delivered }

// heldLab has 1,000 messages of level 1 that are due, and one of level 2 behind them.
func heldLab(t *testing.T, window int) *heldDoor {
	l := newLabIn(t, t.TempDir())
	d := &heldDoor{lab: l}
	l.door, l.window = d, window
	l.open()
	for i := range 1000 {
		l.put("T", 1, strconv.Itoa(i))
	}
	l.put("Other", 2, "x")
	l.clock.Set(startMs + 3000)
	return d
}

// TestService_Window is how far deliveries run ahead of durability: one batch, or so many
// messages as are allowed on their way. Progress follows in order.
func TestService_Window(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		window int
		ahead  int64 // puts of level 1 before any is durable
	}{
		"sync":            {0, 256},
		"async":           {600, 600},
		"async, a batch":  {100, 100},
		"async, no bound": {5000, 1000},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := heldLab(t, c.window)
			defer d.close()
			d.await("what the window lets through", func() bool { return d.puts() == c.ahead+1 })
			if d.count("Other") != 1 {
				t.Error("a level that waits for durability delays another")
			}
			if n := d.delivered(); n != 0 {
				t.Errorf("progress is %d before anything is durable", n)
			}
			for d.delivered() < 1000 {
				d.letGo(-1)
			}
			if n := d.puts(); n != 1001 || d.count("T") != 1000 {
				t.Errorf("%d puts, %d messages: want each once", n, d.count("T"))
			}
		})
	}
}

// TestService_Window_PartOfABatch: progress does not pass a copy that is not durable.
func TestService_Window_PartOfABatch(t *testing.T) {
	t.Parallel()
	d := heldLab(t, 600)
	defer d.close()
	d.await("the first batches", func() bool { return d.puts() == 601 })
	d.letGo(300)
	d.await("progress past the first batch", func() bool { return d.delivered() == 256 })
	d.letGo(-1)
	d.await("progress", func() bool { d.letGo(-1); return d.delivered() == 1000 })
}

// TestService_FailedCopies are tried again, by a store that goes on after all.
func TestService_FailedCopies(t *testing.T) {
	t.Parallel()
	d := heldLab(t, 600)
	defer d.close()
	d.await("the first batches", func() bool { return d.puts() == 601 })
	d.mu.Lock()
	d.fail = true
	d.mu.Unlock()
	d.letGo(-1)
	d.await("a refusal", func() bool { d.clock.Set(d.clock.NowMillis() + 50); d.letGo(-1); return d.puts() > 601 })
	if n := d.delivered(); n != 0 {
		t.Fatalf("progress is %d though every copy failed", n)
	}
	d.mu.Lock()
	d.fail = false
	d.mu.Unlock()
	d.await("progress", func() bool {
		d.clock.Set(d.clock.NowMillis() + 50)
		d.letGo(-1)
		return d.delivered() == 1000
	})
}

// TestService_Refused_ShowsInHealth once it was refused too often, and no longer than that.
func TestService_Refused_ShowsInHealth(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	defer l.close()
	refused := "T"
	l.refuse.Store(&refused)
	l.put("T", 1, "x")
	l.clock.Set(startMs + 1000)
	l.await("a warning", func() bool { return l.says(logrus.WarnLevel, "a delay level waits") == 1 })
	for range 5 {
		l.clock.Set(l.clock.NowMillis() + 10_000)
	}
	part := func() health.Result { return l.health.Report().Parts["schedule"] }
	l.await("health to tell", func() bool { return strings.Contains(part().Reason, "level 1 has 1 messages past due: ") })
	l.refuse.Store(nil)
	l.clock.Set(l.clock.NowMillis() + 10_000)
	l.await("delivery", func() bool { return l.count("T") == 1 })
	l.await("health", func() bool { return part().State == health.Up })
	if n := l.says(logrus.WarnLevel, "a delay level waits"); n != 1 {
		t.Errorf("%d warnings, want one", n)
	}
}

// says is how often the log has a message of a level.
func (l *lab) says(level logrus.Level, part string) (n int) {
	for _, e := range l.said.AllEntries() {
		if e.Level == level && strings.Contains(e.Message, part) {
			n++
		}
	}
	return n
}

// TestService_OffsetsNotSaved: a full disk is told once, shows in health, and is tried again.
func TestService_OffsetsNotSaved(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	defer l.close()
	// No file can be made where a directory is, and one that is not empty stays.
	if err := os.MkdirAll(filepath.Join(l.file()+".tmp", "kept"), 0o755); err != nil {
		t.Fatal(err)
	}
	part := func() health.Result { return l.health.Report().Parts["schedule"] }
	for i := range 3 {
		l.put("T", 1, "x")
		l.clock.Set(l.clock.NowMillis() + 2000)
		l.await("delivery", func() bool { return l.count("T") == int64(i+1) })
		l.await("health to tell", func() bool {
			l.clock.Set(l.clock.NowMillis() + 500) // for the log's flush
			return strings.Contains(part().Reason, "cannot be saved")
		})
	}
	if n := l.says(logrus.ErrorLevel, "delay offsets cannot be saved"); n != 1 {
		t.Errorf("%d errors, want one", n)
	}
	if err := os.RemoveAll(l.file() + ".tmp"); err != nil {
		t.Fatal(err)
	}
	l.await("a save", func() bool {
		l.clock.Set(l.clock.NowMillis() + 500) // a save that has just failed is tried again later
		b, err := os.ReadFile(l.file())
		return err == nil && strings.Contains(string(b), `"1":3`) && part().State == health.Up
	})
}
