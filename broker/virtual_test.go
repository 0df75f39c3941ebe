package broker_test

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/wheelmq/wheelmq/broker/virtualtime"
	"github.com/wheelmq/wheelmq/config"
	"github.com/wheelmq/wheelmq/internal/await"
	"github.com/wheelmq/wheelmq/message"
)

func (l *lab) stored(topic string) (n int64) { return l.broker.Stored(topic) }

// TestVirtualTime_Advance delivers on the way, each at its instant, and the rest never.
func TestVirtualTime_Advance(t *testing.T) {
	t.Parallel()
	l := opened(t)
	l.send("T", 0, "2h", 18)
	l.send("T", 0, "1s", 1)
	l.send("T", 0, "1m", 5)
	ctx, cancel := within()
	defer cancel()
	e := l.broker.VirtualTime()
	m, err := e.Advance(ctx, time.Hour+time.Microsecond)
	if want := (virtualtime.Moved{From: startMs, Now: startMs + 3_600_000, Steps: 2, Delivered: 2}); m != want || err != nil {
		t.Fatalf("%+v, %v, want %+v", m, err, want)
	}
	var got []string
	if err := l.broker.EachMessage("T", func(v *message.View) error {
		got = append(got, string(v.Body)+" "+time.Duration(v.StoreTimestamp-startMs).String())
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	if all := strings.Join(got, ", "); all != "1s 1µs, 1m 60µs" {
		t.Errorf("delivered %s", all)
	}
	if m, err := e.Advance(ctx, 0); err != nil || m.Now != m.From || m.Steps != 0 {
		t.Errorf("advance by nothing: %+v, %v", m, err)
	}
	if _, err := e.Advance(ctx, -1); !errors.Is(err, virtualtime.ErrNegative) {
		t.Errorf("advance backwards: %v", err)
	}
	if m, err := e.AdvanceToNext(ctx); err != nil || m.Now != startMs+7_200_000 || m.Delivered != 1 {
		t.Errorf("to the next: %+v, %v", m, err)
	}
	if _, err := e.AdvanceToNext(ctx); !errors.Is(err, virtualtime.ErrNothingPending) {
		t.Errorf("with nothing pending: %v", err)
	}
	if m, err := e.Advance(ctx, 1<<62); err != nil || m.Now <= m.From {
		t.Errorf("advance by 146 years: %+v, %v", m, err)
	}
}

// TestVirtualTime_Until stops at the limit, at the condition, and at its error.
func TestVirtualTime_Until(t *testing.T) {
	t.Parallel()
	l := opened(t)
	for level := range 18 {
		l.send("T", 0, "x", level+1)
	}
	ctx, cancel := within()
	defer cancel()
	e := l.broker.VirtualTime()
	has := func(n int64) virtualtime.Condition { return func() (bool, error) { return l.stored("T") >= n, nil } }
	if m, err := e.AdvanceUntil(ctx, has(3), time.Hour); err != nil || m.Now != startMs+10_000 || m.Steps != 3 {
		t.Errorf("until there are three: %+v, %v", m, err)
	}
	if m, err := e.AdvanceUntil(ctx, has(18), time.Hour); !errors.Is(err, virtualtime.ErrLimit) || errors.Is(err, virtualtime.ErrNothingPending) || m.Now != startMs+3_600_000 {
		t.Errorf("at the limit: %+v, %v", m, err)
	}
	broken := errors.New("broken")
	if _, err := e.AdvanceUntil(ctx, func() (bool, error) { return false, broken }, time.Hour); !errors.Is(err, broken) {
		t.Errorf("with a broken condition: %v", err)
	}
	if _, err := e.AdvanceUntil(ctx, has(0), -1); !errors.Is(err, virtualtime.ErrNegative) {
		t.Errorf("with a negative limit: %v", err)
	}
	// What time cannot bring somebody else may.
	go func() {
		eventually(t, "the last delivery", func() bool { return l.stored("T") == 18 })
		l.send("T", 0, "y", 2)
	}()
	if m, err := e.AdvanceUntil(ctx, has(19), 3*time.Hour); err != nil || m.Now != startMs+7_205_000 {
		t.Errorf("until somebody has sent another: %+v, %v", m, err)
	}
}

// TestVirtualTime_Busy gives up when a consumer does not finish, and says who.
func TestVirtualTime_Busy(t *testing.T) {
	t.Parallel()
	l := opened(t)
	m := l.passively("G", "T")
	defer m.leave()
	l.send("T", 0, "x", 0)
	l.send("T", 0, "later", 1)
	m.consume("T", 0, 0)
	eventually(t, "the delivery", func() bool { return m.took("T", 0) == 1 })
	e := l.broker.VirtualTime()
	isBusy := func(advance func(ctx context.Context) error) {
		t.Helper()
		err := l.endsWith("group G, topic T, queue 0: done up to 0 of 1, client "+m.clientID, advance)
		if !errors.Is(err, virtualtime.ErrBusy) {
			t.Errorf("with a message in a handler: %v", err)
		}
		if e.Now() != startMs {
			t.Error("the clock overtook a consumer")
		}
	}
	isBusy(func(ctx context.Context) error {
		_, err := e.AdvanceUntil(ctx, func() (bool, error) { return false, nil }, time.Hour)
		return err
	})
	isBusy(func(ctx context.Context) error {
		_, err := e.AdvanceToNext(ctx)
		return err
	})
	// Advance does not wait.
	full, cancelFull := within()
	defer cancelFull()
	if m, err := e.Advance(full, time.Second); err != nil || m.Delivered != 1 {
		t.Errorf("advance: %+v, %v", m, err)
	}
}

// endsWith gives an attempt little time, and more as long as that was too little even to see what keeps it.
func (l *lab) endsWith(why string, attempt func(ctx context.Context) error) (err error) {
	l.t.Helper()
	for give := 50 * time.Millisecond; give < await.Patience; give *= 2 {
		ctx, cancel := context.WithTimeout(context.Background(), give)
		err = attempt(ctx)
		cancel()
		if err == nil || strings.Contains(err.Error(), why) {
			return err
		}
	}
	l.t.Fatalf("does not end with %q: %v", why, err)
	return nil
}

// TestVirtualTime_AutoSkip goes on by itself while it is on, and not past a consumer.
func TestVirtualTime_AutoSkip(t *testing.T) {
	t.Parallel()
	l := opened(t)
	e := l.broker.VirtualTime()
	l.send("T", 0, "before", 18)
	e.SetAutoSkip(true)
	eventually(t, "the delivery of what was pending", func() bool { return l.stored("T") == 1 })
	l.send("T", 0, "while it is on", 18)
	eventually(t, "the delivery of what came", func() bool { return l.stored("T") == 2 })
	m := l.passively("G", "T")
	defer m.leave()
	m.consume("T", 0, 0)
	eventually(t, "the consumption", func() bool { return m.took("T", 0) == 2 })
	l.send("T", 1, "to be overtaken", 1)
	// Nobody else is kept from the clock while it waits, which it does for 45 s.
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	if m, err := e.Advance(ctx, time.Millisecond); err != nil || m.Now != startMs+2*7_200_000+1 {
		t.Fatalf("advance: %+v, %v", m, err)
	}
	if l.stored("T") != 2 {
		t.Fatal("the clock overtook a consumer")
	}
	m.finish("T", 0, 2)
	eventually(t, "the next delivery", func() bool { return l.stored("T") == 3 })
	m.consume("T", 1, 0)
	eventually(t, "its consumption", func() bool { return m.took("T", 1) == 1 })
	m.finish("T", 1, 1)
	e.SetAutoSkip(false)
	l.send("T", 0, "when it is off", 1)
	l.settle()
	if l.stored("T") != 3 {
		t.Error("the clock goes on although it was told not to")
	}
}

func (l *lab) settle() {
	l.t.Helper()
	ctx, cancel := within()
	defer cancel()
	if _, err := l.broker.Settle(ctx); err != nil {
		l.t.Fatal(err)
	}
}

// TestVirtualTime_TakesTurns: concurrent calls each go their way.
func TestVirtualTime_TakesTurns(t *testing.T) {
	t.Parallel()
	l := opened(t)
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			ctx, cancel := within()
			defer cancel()
			if _, err := l.broker.VirtualTime().Advance(ctx, time.Second); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if now := l.broker.VirtualTime().Now(); now != startMs+8000 {
		t.Errorf("eight seconds took the clock %d ms", now-startMs)
	}
}

// TestVirtualTime_Close ends what waits.
func TestVirtualTime_Close(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	l.open(startMs)
	e := l.broker.VirtualTime()
	ended := make(chan error)
	waits := make(chan struct{})
	var once sync.Once
	go func() {
		_, err := e.AdvanceUntil(context.Background(), func() (bool, error) {
			once.Do(func() { close(waits) })
			return false, nil
		}, time.Hour)
		ended <- err
	}()
	<-waits
	l.close()
	if err := <-ended; !errors.Is(err, virtualtime.ErrClosed) {
		t.Errorf("what waited ended with %v", err)
	}
	if _, err := e.Advance(context.Background(), time.Second); !errors.Is(err, virtualtime.ErrClosed) {
		t.Errorf("after Close: %v", err)
	}
}

// TestVirtualTime_SyncFlush: a message whose group commit is under way is not passed by.
func TestVirtualTime_SyncFlush(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	l.config = config.Default()
	l.config.FlushDiskType = "SYNC_FLUSH"
	l.open(startMs)
	defer l.close()
	l.send("T", 0, "x", 0)
	var at int64
	if err := l.broker.EachMessage("T", func(v *message.View) error { at = v.CommitLogOffset; return nil }); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := within()
	defer cancel()
	for range 20 {
		// It is answered before it is durable, as by the real broker.
		l.sendBack("G", at)
		if m, err := l.broker.VirtualTime().AdvanceToNext(ctx); err != nil || m.Delivered != 1 {
			t.Fatalf("%+v, %v", m, err)
		}
	}
}
