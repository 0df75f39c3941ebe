package timer_test

import (
	"bytes"
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	appender "github.com/wheelmq/wheelmq/broker/append"
	"github.com/wheelmq/wheelmq/health"
	"github.com/wheelmq/wheelmq/message"
	"github.com/wheelmq/wheelmq/store"
)

// TestService_OutlivesTheLog has messages and cancels pend for a year while the log's files are
// deleted, and the log is kept for what is due soon.
func TestService_OutlivesTheLog(t *testing.T) {
	t.Parallel()
	const year = 365 * 86_400_000
	l := newLabIn(t)
	l.file, l.pin, l.flushMs, l.saveMs = 256<<10, true, 1_000_000, 1_000_000
	l.open()
	for i := range 50 {
		l.send("T", fmt.Sprint(i), at(startMs+year+10+int64(i%7)*10), key(fmt.Sprint("K", i)))
	}
	for i := range 10 {
		l.send("T", "0", at(startMs+year+1), cancels(fmt.Sprint("K", i*5)))
	}
	l.send("Later", "hours", delay(5*3_600_000))
	l.settle()
	if err := l.service.Save(); err != nil {
		t.Fatal(err)
	}
	l.fill(3 << 20)
	l.forget(1 << 20)
	l.send("Soon", "x", delay(3_000_000))
	soon := l.store.MaxCommitLogOffset()
	// A round of deletion may still go on that was asked for before: its file must not be expired by then.
	l.settle()
	if err := l.service.Save(); err != nil {
		t.Fatal(err)
	}
	l.fill(3 << 20)
	if err := l.service.Save(); err != nil {
		t.Fatal(err)
	}
	l.forget(3 << 20)
	if begin := l.store.MinCommitLogOffset(); begin >= soon {
		t.Errorf("the log begins at %d: a record before %d that is due soon is gone", begin, soon)
	}
	l.close()
	l.open()
	defer func() { l.close() }()
	if n := l.service.Count(); n != 52 {
		t.Errorf("%d messages pend, want 52", n)
	}
	for next := l.settle(); next < math.MaxInt64; next = l.settle() {
		l.clock.Set(next)
	}
	if got := l.bodies("Soon") + l.bodies("Later"); got != "x+3000000 hours+18000000 " {
		t.Errorf("delivered %s", got)
	}
	var want strings.Builder
	for ms := range 7 {
		for i := ms; i < 50; i += 7 {
			if i%5 > 0 {
				fmt.Fprintf(&want, "%d+%d ", i, year+10+ms*10)
			}
		}
	}
	if got := l.bodies("T"); got != want.String() {
		t.Errorf("delivered %s, want %s", got, want.String())
	}
}

// fill writes other records to the log.
func (l *lab) fill(size int) {
	l.t.Helper()
	body := make([]byte, 16<<10)
	for n := 0; n < size; n += len(body) {
		rec := message.Record{Topic: "Other", Body: body}
		if _, _, err := l.appender.Put(&rec, appender.FromClient, nil); err != nil {
			l.t.Fatal(err)
		}
	}
}

// forget has the log's files deleted until it begins behind an offset, or nothing more goes.
func (l *lab) forget(at int64) {
	l.t.Helper()
	if err := l.store.Flush(); err != nil {
		l.t.Fatal(err)
	}
	for range 20 {
		before := l.store.MinCommitLogOffset()
		l.await("the deletion", func() bool {
			l.store.DeleteExpired() // what is asked for while one goes on may not count
			_, pinned := l.service.Pinned()
			return l.store.MinCommitLogOffset() > before || pinned && l.store.Stats().Pinned != nil
		})
		if l.store.MinCommitLogOffset() >= at || l.store.Stats().Pinned != nil {
			return
		}
	}
}

// TestService_DamagedFiles delivers what near files lost from the log, and tells.
func TestService_DamagedFiles(t *testing.T) {
	t.Parallel()
	l := newLabIn(t)
	l.saveMs = 1_000_000 // no block is written that another one replaces
	l.open()
	for i := range 100 {
		l.send("T", fmt.Sprint(i), at(startMs+60_000+int64(i)))
	}
	l.settle()
	l.close()
	damaged := 0
	for _, dir := range []string{"timer/absolute/timerlog", "timer/delay/timerlog"} {
		entries, err := l.disk.List(dir)
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range entries {
			r, err := l.disk.Open(dir+"/"+e.Name, 0)
			if err != nil {
				t.Fatal(err)
			}
			b := r.Bytes()
			if at := bytes.IndexFunc(b[:4096], func(c rune) bool { return c != 0 }); at >= 0 {
				b[at+200] ^= 1
				damaged++
			}
		}
	}
	if damaged == 0 {
		t.Fatal("there is nothing to damage")
	}
	l.open()
	defer l.close()
	for next := l.settle(); next < math.MaxInt64; next = l.settle() {
		l.clock.Set(next)
	}
	if n := l.count("T"); n != 100 {
		t.Errorf("%d messages, want 100", n)
	}
	l.awaitHealth(health.Degraded, "damaged")
}

// TestService_FarFilesGone takes what far files had out of the log again, once, and tells.
func TestService_FarFilesGone(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	l.send("T", "first", delay(1000))
	for i := range 20 {
		l.send("T", fmt.Sprint(i), delay(100_000_000*int64(1+i%3)), key(fmt.Sprint(i)))
	}
	l.settle()
	l.clock.Set(startMs + 1000)
	l.settle()
	for p := range l.service.Pending() {
		if p.Due > startMs+100_000_000 {
			break
		}
		if err := l.service.Cancel(t.Context(), p.ID()); err != nil {
			t.Fatal(err)
		}
	}
	l.settle()
	l.close()
	entries, err := l.disk.List("timer/delay/far")
	if err != nil || len(entries) < 2 {
		t.Fatal(entries, err)
	}
	for i, e := range entries {
		if i == 0 {
			continue // of what is left nothing comes twice
		}
		if err := l.disk.Remove("timer/delay/far/" + e.Name); err != nil {
			t.Fatal(err)
		}
	}
	l.open()
	if l.settle(); l.service.Count() != 13 {
		t.Errorf("%d messages pend, want 13", l.service.Count())
	}
	l.awaitHealth(health.Degraded, "damaged")
	l.close()
	l.open() // by the checkpoint of what was made again
	defer l.close()
	for next := l.settle(); next < math.MaxInt64; next = l.settle() {
		l.clock.Set(next)
	}
	if n := l.count("T"); n != 14 {
		t.Errorf("%d messages, want 14: %s", n, l.bodies("T"))
	}
}

// TestService_AHugeSecondDoesNotHoldBackTheNext has both due at once after a jump of the clock.
func TestService_AHugeSecondDoesNotHoldBackTheNext(t *testing.T) {
	t.Parallel()
	l := newLabIn(t)
	l.inOrder = false
	l.open()
	defer l.close()
	const huge = 5000
	l.pend(huge, func(int) int64 { return 10_000 })
	l.send("Next", "x", delay(11_500))
	l.settle()
	l.clock.Set(startMs + 12_000)
	l.settle()
	if l.count("T") != huge || l.count("Next") != 1 {
		t.Fatalf("%d and %d messages", l.count("T"), l.count("Next"))
	}
	next, _ := l.store.Queue([]byte("Next"), 2).Unit(0)
	last, _ := l.store.Queue([]byte("T"), 2).Unit(huge - 1)
	if next.CommitLogOffset > last.CommitLogOffset {
		t.Error("a message waited for all of the second before it")
	}
}

// TestService_ArrivalsWhileAHugeSecondIsRead has messages come that are due before it while it is on
// its way into memory.
func TestService_ArrivalsWhileAHugeSecondIsRead(t *testing.T) {
	t.Parallel()
	l := newLabIn(t)
	l.inOrder = false
	l.open()
	defer l.close()
	const huge, others = 40_000, 300
	l.pend(huge, func(int) int64 { return 100_000 })
	l.settle()
	l.clock.Set(startMs + 97_000)
	for range others {
		l.send("Before", "x", delay(1500))
		time.Sleep(100 * time.Microsecond) // some come in the middle
	}
	l.settle()
	l.clock.Set(startMs + 98_500)
	if l.settle(); l.count("Before") != others {
		t.Errorf("%d messages before it, want %d", l.count("Before"), others)
	}
	l.clock.Set(startMs + 100_000)
	if l.settle(); l.count("T") != huge {
		t.Errorf("%d messages, want %d", l.count("T"), huge)
	}
}

// TestService_NoCheckpoint makes everything again from the log and the far files.
func TestService_NoCheckpoint(t *testing.T) {
	t.Parallel()
	for name, spoil := range map[string]func(l *lab) error{
		"deleted": func(l *lab) error { return l.disk.Remove("timer/checkpoint") },
		"damaged": func(l *lab) error {
			return l.disk.WriteFile("timer/checkpoint", []byte("WMQTIMER and so on, and so on"))
		},
		"near files gone": func(l *lab) error { return l.disk.Remove("timer/delay/timerlog") },
		"everything gone": func(l *lab) error { return l.disk.Remove("timer") },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := newLab(t)
			for _, ms := range []int64{1000, 2000, 60_000, 5_000_000, 400_000_000} {
				l.send("T", fmt.Sprint(ms), delay(ms))
			}
			for _, ms := range []int64{0, 1000, 2000} {
				l.clock.Set(startMs + ms)
				l.settle()
			}
			l.close()
			if err := spoil(l); err != nil {
				t.Fatal(err)
			}
			l.open()
			defer l.close()
			if l.settle(); l.service.Count() != 3 {
				t.Errorf("%d messages pend, want 3", l.service.Count())
			}
			for next := l.settle(); next < math.MaxInt64; next = l.settle() {
				l.clock.Set(next)
			}
			if got := l.bodies("T"); got != "1000+1000 2000+2000 60000+60000 5000000+5000000 400000000+400000000 " {
				t.Errorf("delivered %s", got)
			}
		})
	}
}

// pinner is the store's view of what the service needs of the log.
func (l *lab) pinner() (store.Pin, bool) {
	if !l.pin {
		return store.Pin{}, false
	}
	at, pending := l.service.Pinned()
	return store.Pin{CommitLogOffset: at, What: "a timer message"}, pending
}
