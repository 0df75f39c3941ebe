package timer_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/wheelmq/wheelmq/broker/redeliver"
	"github.com/wheelmq/wheelmq/broker/timer"
	"github.com/wheelmq/wheelmq/message"
)

// idOf is that of the pending message with a body.
func (l *lab) idOf(body string) timer.ID {
	l.t.Helper()
	for p := range l.service.Pending() {
		rec, err := l.service.Read(p)
		if err != nil {
			l.t.Fatal(err)
		}
		if string(rec.Body) == body {
			return p.ID()
		}
	}
	l.t.Fatalf("%s does not pend", body)
	return timer.ID{}
}

// runOut goes on until nothing pends.
func (l *lab) runOut() {
	l.t.Helper()
	for next := l.settle(); next < math.MaxInt64; next = l.settle() {
		l.clock.Set(max(next, l.clock.NowMillis()))
	}
}

const hour = 3_600_000

// TestService_Change cancels, fires and reschedules what is near, far, and loaded, over restarts.
func TestService_Change(t *testing.T) {
	t.Parallel()
	for name, due := range map[string]int64{"loaded": 2500, "near": 60_500, "in hours": 5*hour + 500, "in days": 200*hour + 500} {
		for _, restart := range []bool{false, true} {
			for wall, instant := range []func(int64) property{delay, func(ms int64) property { return at(startMs + ms) }} {
				t.Run(fmt.Sprintf("%s, wall %d, restart %v", name, wall, restart), func(t *testing.T) {
					t.Parallel()
					l := newLab(t)
					for _, body := range []string{"fired", "cancelled", "later", "sooner", "same", "twice", "left"} {
						l.send("T", body, instant(due), key(body))
					}
					if restart {
						l.close()
						l.open()
					}
					l.settle()
					change(t, l, due)
					if restart {
						l.close()
						l.open()
					}
					if _, n := l.service.Due(); n != 5 {
						t.Errorf("%d messages pend", n)
					}
					l.settle()
					if n := l.service.Count(); n != 5 {
						t.Errorf("%d messages count", n)
					}
					l.runOut()
					want := fmt.Sprintf("fired+0 sooner+%d left+%d same+%d later+%d twice+%d ", due-1200, due, due+7, due+5000, due+9000)
					if got := l.bodies("T"); got != want {
						t.Errorf("delivered %s, want %s", got, want)
					}
					if n := l.service.Count(); n != 0 {
						t.Errorf("%d messages count at the end", n)
					}
					l.close()
				})
			}
		}
	}
}

// change does what TestService_Change expects.
func change(t *testing.T, l *lab, due int64) {
	ctx := context.Background()
	fired, cancelled := l.idOf("fired"), l.idOf("cancelled")
	if err := errors.Join(l.service.FireNow(ctx, fired), l.service.Cancel(ctx, cancelled)); err != nil {
		t.Fatal(err)
	}
	for body, to := range map[string]int64{"later": due + 5000, "sooner": due - 1200, "same": due + 7} {
		if _, err := l.service.Reschedule(ctx, l.idOf(body), startMs+to); err != nil {
			t.Fatal(err)
		}
	}
	once, err := l.service.Reschedule(ctx, l.idOf("twice"), startMs+due+3000)
	if err != nil {
		t.Fatal(err)
	}
	l.settle()
	if id := l.idOf("twice"); id != once {
		t.Errorf("the ID is %s, told was %s", id, once)
	}
	twice, err := l.service.Reschedule(ctx, once, startMs+due+9000)
	if err != nil {
		t.Fatal(err)
	}
	if n := l.settle(); n <= startMs {
		t.Errorf("the next instant is %d", n)
	}
	for _, c := range []struct {
		id   timer.ID
		want error
	}{{cancelled, timer.ErrNotPending}, {once, timer.ErrNotPending}, {timer.ID{Wall: twice.Wall, Second: twice.Second, CommitLogOffset: twice.CommitLogOffset + 1}, timer.ErrNotPending}} {
		if err := l.service.Cancel(ctx, c.id); !errors.Is(err, c.want) {
			t.Errorf("cancel of %s: %v, want %v", c.id, err, c.want)
		}
	}
	if got := l.bodies("T"); got != "fired+0 " {
		t.Errorf("delivered %s at once", got)
	}
}

// TestService_Change_TooLate tells who was delivered, and who is on its way.
func TestService_Change_TooLate(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	defer l.close()
	l.send("T", "x", delay(1000))
	l.settle()
	id := l.idOf("x")
	l.clock.Set(startMs + 1000)
	l.settle()
	if _, err := l.service.Reschedule(context.Background(), id, startMs+9000); !errors.Is(err, timer.ErrTooLate) && !errors.Is(err, timer.ErrNotPending) {
		t.Errorf("in its second: %v", err)
	}
	l.clock.Set(startMs + 5000)
	l.settle()
	if err := l.service.FireNow(context.Background(), id); !errors.Is(err, timer.ErrTooLate) {
		t.Errorf("behind its second: %v", err)
	}
	if got := l.bodies("T"); got != "x+1000 " {
		t.Errorf("delivered %s", got)
	}
}

// TestService_Change_Crash kills the service, or cuts the power, between any two records, copies and
// syncs while messages are given other instants. Of every message whose records are left one copy is
// made, of the last; of a cancelled one none.
func TestService_Change_Crash(t *testing.T) {
	t.Parallel()
	histories := crashes(t)
	if raced {
		histories = 4
	}
	for seed := range uint64(histories) {
		for _, power := range []bool{false, true} {
			t.Run(fmt.Sprintf("%d, power cut %v", seed, power), func(t *testing.T) {
				t.Parallel()
				changeCrash(t, seed, power)
			})
		}
	}
}

func changeCrash(t *testing.T, seed uint64, power bool) {
	rng := rand.New(rand.NewPCG(seed, 11))
	p := &trap{after: 1 + rng.IntN(200)}
	if power {
		p.power = rand.New(rand.NewPCG(seed, 12))
	}
	l := newLabIn(t)
	p.lab = l
	l.sync, l.inOrder, l.saveMs = rng.IntN(2) == 0 && !raced, rng.IntN(2) == 0, math.MaxInt64/2
	l.door = func(a timer.Appender) timer.Appender { return trapped{a, p} }
	l.disk.OnSync(func() {
		if p.saving.Load() && !raced { // others write meanwhile
			p.moment()
		}
	})
	l.open()
	p.armed = true
	changes(l, p, rng)
	p.mu.Lock()
	left := p.left
	p.armed = false
	p.mu.Unlock()
	l.close()
	if left == nil {
		left = l.disk
	}
	l.disk = left
	l.inOrder = true
	l.open()
	l.runOut()
	chains(t, l)
	l.close()
}

// changes sends messages that are due within minutes or hours and gives others to them.
func changes(l *lab, p *trap, rng *rand.Rand) {
	ctx := context.Background()
	var ids []timer.ID
	for i := range 10 {
		for n := range rng.IntN(8) {
			ahead := 1 + rng.Int64N(9000)
			if rng.IntN(3) == 0 && !raced { // files are sorted while the disk is copied
				ahead = 2*hour + rng.Int64N(60*hour)
			}
			l.send("T", fmt.Sprintf("%d.%d", i, n), at(l.clock.NowMillis()+ahead))
		}
		l.settle()
		ids = ids[:0]
		for p := range l.service.Pending() {
			ids = append(ids, p.ID())
		}
		for range min(len(ids), rng.IntN(6)) {
			id := ids[rng.IntN(len(ids))]
			var err error
			switch rng.IntN(4) {
			case 0:
				err = l.service.Cancel(ctx, id)
			case 1:
				err = l.service.FireNow(ctx, id)
			case 2:
				_, err = l.service.Reschedule(ctx, id, l.clock.NowMillis()+rng.Int64N(9000))
			default:
				if !raced {
					_, err = l.service.Reschedule(ctx, id, l.clock.NowMillis()+rng.Int64N(40*hour))
				}
			}
			if err != nil && !errors.Is(err, timer.ErrNotPending) && !errors.Is(err, timer.ErrTooLate) {
				l.t.Error(err)
			}
		}
		if rng.IntN(3) == 0 {
			p.saving.Store(true)
			if err := l.service.Save(); err != nil {
				l.t.Fatal(err)
			}
			p.saving.Store(false)
		}
		l.clock.Set(l.clock.NowMillis() + rng.Int64N(4000))
		l.settle()
	}
}

// chains counts the copies of every record that is left, by the records that supersede others.
func chains(t *testing.T, l *lab) {
	copies, messages, superseded := map[int64]int{}, map[int64]string{}, map[int64]bool{}
	if err := l.store.Scan(0, func(v *message.View) error {
		if source, ok := redeliver.SourceOf(v.Properties, l.store.Epoch()); ok {
			copies[source]++
			return nil
		}
		sup, changed := message.SupersedesOf(v.Properties)
		if changed {
			superseded[sup.LogOffset] = true
		}
		if !changed || sup.Generation > 0 {
			messages[v.CommitLogOffset] = string(v.Body)
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	for offset, body := range messages {
		want := 1
		if superseded[offset] {
			want = 0
		}
		if copies[offset] != want {
			t.Errorf("message %s at %d has %d copies, want %d", body, offset, copies[offset], want)
		}
	}
}

// TestService_Change_Meanwhile has something happen to a message in files while it is looked for.
func TestService_Change_Meanwhile(t *testing.T) {
	t.Parallel()
	const due = 200*hour + 500
	ctx := context.Background()
	for name, c := range map[string]struct {
		do   func(l *lab, id timer.ID) error
		want error
	}{
		"nothing": {func(*lab, timer.ID) error { return nil }, nil},
		"it is cancelled by its key": {func(l *lab, _ timer.ID) error {
			l.send("T", "0", at(startMs+due-200), cancels("K"))
			return nil
		}, timer.ErrNotPending},
		"another is cancelled": {func(l *lab, _ timer.ID) error {
			l.send("T", "0", at(startMs+due-200), cancels("L"))
			return nil
		}, nil},
		"it is cancelled":   {func(l *lab, id timer.ID) error { return l.service.Cancel(ctx, id) }, timer.ErrNotPending},
		"it is rescheduled": {func(l *lab, id timer.ID) error { _, err := l.service.Reschedule(ctx, id, startMs+hour); return err }, timer.ErrNotPending},
		"it is delivered": {func(l *lab, _ timer.ID) error {
			l.clock.Set(startMs + due)
			l.settle()
			return nil
		}, timer.ErrNotPending},
		"files go": {func(l *lab, _ timer.ID) error {
			l.clock.Set(startMs + due - 3*hour)
			l.settle()
			return errors.Join(l.service.Save(), l.service.Save())
		}, nil},
	} {
		for _, settle := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, settled %v", name, settle), func(t *testing.T) {
				t.Parallel()
				l := newLab(t)
				defer l.close()
				l.send("T", "x", delay(due), key("K"))
				l.settle()
				goOn := l.service.Look(l.idOf("x"))
				if err := c.do(l, l.idOf("x")); err != nil {
					t.Fatal(err)
				}
				if settle {
					l.settle()
				}
				if err := goOn(); !errors.Is(err, c.want) && !(c.want != nil && errors.Is(err, timer.ErrTooLate)) {
					t.Errorf("%v, want %v", err, c.want)
				}
			})
		}
	}
}

// TestService_Change_OldHandle cancels a message by the instant that it had when it was sent, or later
// on, over restarts with and without the checkpoint.
func TestService_Change_OldHandle(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	for name, to := range map[string][]int64{
		"near": {60_500}, "later": {300 * hour}, "sooner": {10_500}, "twice": {300 * hour, 90_500}, "far, then near": {20 * hour, 4500},
	} {
		for _, restart := range []string{"", "restart", "no checkpoint"} {
			t.Run(name+" "+restart, func(t *testing.T) {
				t.Parallel()
				l := newLab(t)
				const due = 5*hour + 500
				for _, body := range []string{"cancelled", "left"} {
					l.send("T", body, at(startMs+due), key(body))
					for _, ms := range to {
						if _, err := l.service.Reschedule(ctx, l.idOf(body), startMs+ms); err != nil {
							t.Fatal(err)
						}
						l.settle()
					}
				}
				if restart != "" {
					l.close()
					if restart == "no checkpoint" {
						if err := l.disk.Remove("timer/checkpoint"); err != nil {
							t.Fatal(err)
						}
					}
					l.open()
				}
				l.settle()
				l.send("T", "0", at(startMs+due-499), cancels("cancelled"))
				if got := l.listed(); got != "left " {
					t.Errorf("%s pend", got)
				}
				l.runOut()
				if got, want := l.bodies("T"), fmt.Sprintf("left+%d ", to[len(to)-1]); got != want {
					t.Errorf("delivered %s, want %s", got, want)
				}
				if err := l.service.Save(); err != nil {
					t.Fatal(err)
				}
				l.close()
			})
		}
	}
}
