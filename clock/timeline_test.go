package clock

import (
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/sirupsen/logrus"
	logtest "github.com/sirupsen/logrus/hooks/test"
)

// rig is a machine whose clocks a test turns. Its monotonic clock is the test bubble's.
type rig struct {
	t       *testing.T
	file    string
	start   time.Time
	boot    string
	asleep  duration // sum of the suspends of this boot
	wallOff duration // sum of the steps of the wall
	log     *logtest.Hook
	logger  logrus.FieldLogger
}

// duration is one that a test changes while a timeline reads it.
type duration struct{ atomic.Int64 }

func (d *duration) get() time.Duration  { return time.Duration(d.Load()) }
func (d *duration) add(n time.Duration) { d.Add(int64(n)) }
func (d *duration) set(n time.Duration) { d.Store(int64(n)) }

func newRig(t *testing.T) *rig {
	logger, hook := logtest.NewNullLogger()
	return &rig{t: t, file: filepath.Join(t.TempDir(), "config", "wheelmqClock.json"), start: time.Now(), boot: "boot-1", log: hook, logger: logger}
}

func (r *rig) sources() sources {
	mono := func() int64 { return int64(time.Since(r.start)) }
	return sources{
		mono: mono, bootID: r.boot,
		boot: func() int64 { return mono() + r.asleep.Load() + int64(time.Hour) },
		wall: func() int64 { return time.Now().Add(r.asleep.get() + r.wallOff.get()).UnixNano() },
	}
}

func (r *rig) open() *Timeline {
	r.t.Helper()
	l := openTimeline(TimelineOptions{File: r.file, Log: r.logger}, r.sources())
	l.Start()
	return l
}

func (r *rig) close(l *Timeline) {
	r.t.Helper()
	if err := l.Close(); err != nil {
		r.t.Fatal(err)
	}
}

// fires returns how long it takes until an armed timer fires, in time that passed for the
// machine, suspends included.
func (r *rig) fires(timer Timer, since time.Time) time.Duration {
	r.t.Helper()
	select {
	case <-timer.C():
		return time.Since(since) + r.asleep.get()
	case <-time.After(24 * time.Hour):
		r.t.Fatal("the timer did not fire")
		return 0
	}
}

func TestTimeline_StepsOfTheWallChangeNoDelay(t *testing.T) {
	t.Parallel()
	for _, step := range []time.Duration{time.Minute, -time.Minute, 24 * time.Hour, -24 * time.Hour} {
		for _, restart := range []bool{false, true} {
			synctest.Test(t, func(t *testing.T) {
				r := newRig(t)
				l := r.open()
				began, before := time.Now(), l.NowMillis()
				due := Ceil(l) + 10_000
				timer := l.NewTimer()
				timer.Arm(due)
				time.Sleep(3 * time.Second)
				r.wallOff.add(step)
				time.Sleep(2 * time.Second)
				if restart {
					timer.Disarm()
					r.close(l)
					r.wallOff.add(step)
					time.Sleep(time.Second)
					l = r.open()
					timer = l.NewTimer()
					timer.Arm(due)
				}
				if took := r.fires(timer, began); took != 10*time.Second {
					t.Errorf("step %v, restart %v: a delay of 10 s took %v", step, restart, took)
				}
				if went := l.NowMillis() - before; went != 10_000 {
					t.Errorf("step %v, restart %v: the timeline went %d ms in 10 s", step, restart, went)
				}
				want := r.wallOff.get()
				if got := l.WallOffset(); got != want {
					t.Errorf("the wall is %v ahead, want %v", got, want)
				}
				steps := 1
				if restart {
					steps = 2
				}
				if n := len(r.log.AllEntries()); n != steps {
					t.Errorf("step %v, restart %v: %d lines were logged, want one for each of %d steps", step, restart, n, steps)
				}
				r.close(l)
			})
		}
	}
}

func TestTimeline_GoesOnWhileTheMachineIsSuspended(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
		l := r.open()
		began, before := time.Now(), l.NowMillis()
		timer := l.NewTimer()
		timer.Arm(before + 60_000)
		time.Sleep(5500 * time.Millisecond)
		r.asleep.add(30 * time.Second)
		if took := r.fires(timer, began); took != time.Minute {
			t.Errorf("a minute, of which 30 s suspended, took %v", took)
		}
		timer.Arm(before + 65_000)
		r.asleep.add(time.Hour)
		// Noticed within a second.
		if took := r.fires(timer, began); took > time.Hour+time.Minute+time.Second {
			t.Errorf("an instant that came during a suspend fired only after %v", took)
		}
		if got, want := l.NowMillis()-before, (time.Since(began) + r.asleep.get()).Milliseconds(); got != want {
			t.Errorf("the timeline went %d ms, want %d", got, want)
		}
		if n := len(r.log.AllEntries()); n != 0 {
			t.Errorf("a suspend was logged as a step: %v", r.log.LastEntry())
		}
		r.close(l)
	})
}

func TestTimeline_FollowsDriftByAtMost500PPM(t *testing.T) {
	t.Parallel()
	for _, drift := range []time.Duration{400 * time.Millisecond, -400 * time.Millisecond} {
		synctest.Test(t, func(t *testing.T) {
			r := newRig(t)
			l := r.open()
			r.wallOff.set(drift)
			last := l.nanos()
			for range 10_000 {
				time.Sleep(100 * time.Millisecond)
				now := l.nanos()
				if went := now - last; went > 100_050_000 || went < 99_950_000 {
					t.Fatalf("100 ms of the machine were %d ns of the timeline", went)
				}
				last = now
			}
			if off := l.WallOffset(); off > 3*time.Millisecond || off < -3*time.Millisecond {
				t.Errorf("after 1,000 s the wall is still %v ahead of the timeline", off)
			}
			r.close(l)
		})
	}
}

// A timer must neither fire early nor much too late when the rate changes while it is armed.
func TestTimeline_TimersKeepToAChangedRate(t *testing.T) {
	t.Parallel()
	for _, drift := range []time.Duration{900 * time.Millisecond, -900 * time.Millisecond} {
		synctest.Test(t, func(t *testing.T) {
			r := newRig(t)
			l := r.open()
			timer := l.NewTimer()
			at := l.NowMillis() + 600_000
			timer.Arm(at)
			r.wallOff.set(drift)
			r.fires(timer, time.Now())
			if late := l.nanos() - at*int64(time.Millisecond); late < 0 || late > int64(time.Millisecond) {
				t.Errorf("fired %v after its instant", time.Duration(late))
			}
			r.close(l)
		})
	}
}

func TestTimeline_AfterAnotherBoot(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		step time.Duration // of the wall, before the reboot
		set  time.Duration // of the wall, while the machine is down
		want time.Duration // the timeline's way from the last to the first instant
	}{
		"the wall goes on":                  {want: 20 * time.Second},
		"the distance to the wall is kept":  {step: time.Hour, want: 20 * time.Second},
		"and that to a wall set back":       {step: -time.Hour, want: 20 * time.Second},
		"never before the last instant":     {set: -time.Hour, want: 0},
		"a wall set ahead cannot be told":   {set: time.Hour, want: time.Hour + 20*time.Second},
		"a machine that forgot the date":    {set: -50 * 365 * 24 * time.Hour, want: 0},
		"both":                              {step: time.Hour, set: -2 * time.Hour, want: 0},
		"back to where it had been stepped": {step: time.Hour, set: -time.Second, want: 19 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				r := newRig(t)
				l := r.open()
				r.wallOff.add(tc.step)
				time.Sleep(2 * time.Second)
				r.close(l)
				last := l.NowMillis()

				time.Sleep(20 * time.Second)
				r.boot, r.start = "boot-2", time.Now()
				r.asleep.set(0)
				r.wallOff.add(tc.set)
				l = r.open()
				if got := l.NowMillis() - last; got != tc.want.Milliseconds() {
					t.Errorf("the timeline went %d ms, want %d", got, tc.want.Milliseconds())
				}
				now := l.NowMillis()
				time.Sleep(5 * time.Second)
				if got := l.NowMillis() - now; got != 5000 {
					t.Errorf("5 s were %d ms", got)
				}
				r.close(l)
			})
		})
	}
}

// A killed process leaves what was kept at its start, at a step or in the last minute.
func TestTimeline_AfterAKill(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
		killed := r.open()
		before, began := killed.NowMillis(), time.Now()
		time.Sleep(90 * time.Second)
		r.wallOff.set(-24 * time.Hour)
		// Never closed properly: only its goroutine ends, with the file as it was.
		left, err := os.ReadFile(r.file)
		if err != nil {
			t.Fatal(err)
		}
		r.close(killed)
		if err := os.WriteFile(r.file, left, 0o600); err != nil {
			t.Fatal(err)
		}
		l := r.open()
		if got := l.NowMillis() - before; got != time.Since(began).Milliseconds() {
			t.Errorf("in the same boot the timeline went %d ms in %v", got, time.Since(began))
		}
		r.close(l)

		if err := os.WriteFile(r.file, left, 0o600); err != nil {
			t.Fatal(err)
		}
		r.boot = "boot-2"
		l = r.open()
		if got := l.NowMillis() - before; got < 60_000 || got > 90_000 {
			t.Errorf("after another boot with the wall set back the timeline begins %d ms after its first instant, want what was kept within the last minute", got)
		}
		r.close(l)
	})
}

func TestTimeline_UnreadableFileIsSaidAndReplaced(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
		if err := os.MkdirAll(filepath.Dir(r.file), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(r.file, make([]byte, 100), 0o600); err != nil {
			t.Fatal(err)
		}
		l := r.open()
		if got, want := l.NowMillis(), time.Now().UnixMilli(); got != want {
			t.Errorf("the timeline begins at %d, want the wall's %d", got, want)
		}
		if e := r.log.LastEntry(); e == nil || e.Level != logrus.ErrorLevel {
			t.Errorf("logged %v, want an error", e)
		}
		r.close(l)
		r.log.Reset()
		r.close(r.open())
		if e := r.log.LastEntry(); e != nil {
			t.Errorf("the file was not replaced: %v", e)
		}
	})
}

// Opening must not write: whose directory it is turns out later.
func TestOpenTimeline_WritesNothing(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	openTimeline(TimelineOptions{File: r.file, Log: r.logger}, r.sources())
	if _, err := os.Stat(filepath.Dir(r.file)); !os.IsNotExist(err) {
		t.Errorf("there is a file: %v", err)
	}
}

func TestWallMillis(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
		l := r.open()
		r.wallOff.set(time.Minute)
		if got := WallMillis(l) - l.NowMillis(); got != time.Minute.Milliseconds() {
			t.Errorf("the wall is %d ms ahead, want a minute", got)
		}
		r.close(l)
		if v := NewVirtual(5); WallMillis(v) != 5 {
			t.Error("a virtual clock has another wall than itself")
		}
	})
}

// TestTimeline_OnThisMachine runs on the real clocks.
func TestTimeline_OnThisMachine(t *testing.T) {
	t.Parallel()
	log, _ := logtest.NewNullLogger()
	began := time.Now()
	l := OpenTimeline(TimelineOptions{File: filepath.Join(t.TempDir(), "clock.json"), Log: log})
	l.Start()
	// A machine that stalls between a look at one clock and a look at the other sees them that far apart.
	if off := l.WallOffset(); off.Abs() > time.Since(began)+50*time.Millisecond {
		t.Errorf("a new timeline is %v from the wall", off)
	}
	timer := l.NewTimer()
	last := l.NowMillis()
	for i := range 50 {
		at := Ceil(l) + int64(i%4)
		timer.Arm(at)
		<-timer.C()
		now := l.NowMillis()
		if now < at || now < last {
			t.Fatalf("fired at %d, armed for %d, was at %d before", now, at, last)
		}
		last = now
	}
	timer.Arm(last + 3_600_000)
	timer.Disarm()
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	again := OpenTimeline(l.opts)
	if now := again.NowMillis(); now < last {
		t.Errorf("opened again it reads %d, before %d", now, last)
	}
}

func BenchmarkTimeline_NowMillis(b *testing.B) {
	log, _ := logtest.NewNullLogger()
	l := OpenTimeline(TimelineOptions{Log: log})
	b.ReportAllocs()
	for b.Loop() {
		l.NowMillis()
	}
}

func BenchmarkReal_NowMillis(b *testing.B) {
	for b.Loop() {
		Real{}.NowMillis()
	}
}

// A store that was ahead takes the timeline along; delays from there have their length.
func TestTimeline_NotBefore(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
		l := openTimeline(TimelineOptions{Log: r.logger}, r.sources())
		now := l.NowMillis()
		for _, c := range []struct{ reached, want time.Duration }{
			{-time.Hour, 0}, {time.Hour, time.Hour}, {time.Minute, time.Hour}, {1000 * 24 * time.Hour, time.Hour},
		} {
			l.NotBefore(now + c.reached.Milliseconds())
			if got := l.NowMillis() - now; got != c.want.Milliseconds() {
				t.Errorf("not before %v: the timeline is %d ms ahead, want %v", c.reached, got, c.want)
			}
		}
		if got := l.WallOffset(); got > -time.Hour+time.Second || got < -time.Hour-time.Second {
			t.Errorf("the wall is %v ahead", got)
		}
	})
}
