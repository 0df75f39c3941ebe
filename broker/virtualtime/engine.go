package virtualtime

import (
	"context"
	"errors"
	"fmt"
	"math"
	"sync"
	"sync/atomic"
	"time"

	"github.com/sirupsen/logrus"

	"github.com/wheelmq/wheelmq/broker/inflight"
	"github.com/wheelmq/wheelmq/clock"
)

// Errors that callers tell apart.
var (
	// ErrNegative is returned for a way back.
	ErrNegative = errors.New("virtualtime: the clock does not go back")
	// ErrNothingPending is wrapped when there is no due instant to go to.
	ErrNothingPending = errors.New("virtualtime: nothing is pending")
	// ErrLimit is wrapped when time went as far as allowed before the condition held.
	ErrLimit = errors.New("virtualtime: the condition does not hold within the limit")
	// ErrBusy is wrapped when what must be finished before time goes on was not finished in the
	// real time that a caller has, or defaultPatience.
	ErrBusy = errors.New("virtualtime: not finished in time")
	// ErrClosed is returned after Close.
	ErrClosed = errors.New("virtualtime: closed")
)

// defaultPatience is the real time for which nothing may change before an Engine gives up. Clients
// whose connection broke off are back after half a minute.
const defaultPatience = 45 * time.Second

type (
	// InFlight knows what consumers have not finished with.
	InFlight interface {
		Busy(ctx context.Context) ([]inflight.Work, error)
		// Changed receives when there may be less of it.
		Changed() <-chan struct{}
	}
	// Condition is what AdvanceUntil goes towards.
	Condition func() (bool, error)
)

// Options are what an Engine needs.
type Options struct {
	Clock *clock.Virtual
	Wire  clock.Clock // real time
	// Settle returns when everything due now is delivered, and the next due instant, ms;
	// math.MaxInt64 for none.
	Settle func(ctx context.Context) (next int64, err error)
	// Delivered counts the messages that came due since the start.
	Delivered func() int64
	// Keep notes durably where the clock stands.
	Keep     func() error
	InFlight InFlight
	Log      logrus.FieldLogger
	Patience time.Duration // 0: defaultPatience
}

// Moved is what turning the clock has done.
type Moved struct {
	From, Now int64 // ms since the Unix epoch
	Steps     int   // due instants that were stopped at
	Delivered int64 // messages that came due
}

// Engine turns a virtual clock. One call turns it at a time, others wait their turn.
type Engine struct {
	opts Options
	turn chan struct{} // holds a token while nobody turns the clock

	autoSkip atomic.Bool
	keepAt   int64           // when to keep the clock's place again, ms of real time; skip's
	kick     chan struct{}   // something may have become due, or finished
	ctx      context.Context // ends with Close
	cancel   context.CancelFunc
	wg       sync.WaitGroup
}

// New returns an Engine that turns nothing by itself.
func New(opts Options) *Engine {
	if opts.Patience <= 0 {
		opts.Patience = defaultPatience
	}
	e := &Engine{opts: opts, turn: make(chan struct{}, 1), kick: make(chan struct{}, 1)}
	e.ctx, e.cancel = context.WithCancel(context.Background())
	e.turn <- struct{}{}
	return e
}

// Start lets SetAutoSkip have an effect.
func (e *Engine) Start() { e.wg.Go(e.skip) }

// Close ends what is under way with ErrClosed.
func (e *Engine) Close() error {
	e.cancel()
	e.wg.Wait()
	return nil
}

// Now is where the clock stands, ms since the Unix epoch.
func (e *Engine) Now() int64 { return e.opts.Clock.NowMillis() }

// Kick tells that a message may have become pending, or that a client may have finished. It is
// quick.
func (e *Engine) Kick() {
	select {
	case e.kick <- struct{}{}:
	default:
	}
}

// begin waits for the caller's turn. The context ends with the engine, too.
func (e *Engine) begin(ctx context.Context) (_ context.Context, end func(), err error) {
	select {
	case <-e.turn:
	case <-e.ctx.Done():
		return nil, nil, ErrClosed
	case <-ctx.Done():
		return nil, nil, fmt.Errorf("%w: somebody else turns the clock: %w", ErrBusy, ctx.Err())
	}
	ctx, cancel := context.WithCancel(ctx)
	stop := context.AfterFunc(e.ctx, cancel)
	return ctx, func() {
		stop()
		cancel()
		e.turn <- struct{}{}
	}, nil
}

// Advance lets d of virtual time pass, in whole milliseconds. When it returns everything that
// became due on the way is in its topic and can be pulled, in the order in which it came due. It
// does not wait for consumers.
func (e *Engine) Advance(ctx context.Context, d time.Duration) (m Moved, err error) {
	if d < 0 {
		return m, fmt.Errorf("%w: %v", ErrNegative, d)
	}
	ctx, end, err := e.begin(ctx)
	if err != nil {
		return m, err
	}
	defer end()
	defer e.note(&m, &err)()
	target := e.after(d)
	next, err := e.settle(ctx)
	for err == nil && next <= target {
		next, err = e.goTo(ctx, next, &m)
	}
	if err != nil {
		return m, err
	}
	if e.opts.Clock.NowMillis() < target {
		e.opts.Clock.Set(target)
		// What was sent meanwhile with a short delay is due, too.
		_, err = e.settle(ctx)
	}
	return m, err
}

// AdvanceToNext goes to the next due instant, once consumers have finished with what they were
// given: what they fail at may be due before all else. With nothing pending then it is
// ErrNothingPending.
func (e *Engine) AdvanceToNext(ctx context.Context) (m Moved, err error) {
	ctx, end, err := e.begin(ctx)
	if err != nil {
		return m, err
	}
	defer end()
	defer e.note(&m, &err)()
	if _, err := e.settle(ctx); err != nil {
		return m, err
	}
	if _, err := e.rest(ctx, never); err != nil {
		return m, err
	}
	next, err := e.settle(ctx)
	switch {
	case err != nil:
		return m, err
	case next == math.MaxInt64:
		return m, ErrNothingPending
	}
	_, err = e.goTo(ctx, next, &m)
	return m, err
}

// AdvanceUntil goes from due instant to due instant until a condition holds, at most as far as
// limit from now. At each it waits until consumers have finished with what they were given: time
// does not overtake them. When nothing is pending that time could bring, it waits for somebody to
// act; when nobody does, the error wraps ErrLimit and ErrNothingPending.
func (e *Engine) AdvanceUntil(ctx context.Context, cond Condition, limit time.Duration) (m Moved, err error) {
	if limit < 0 {
		return m, fmt.Errorf("%w: %v", ErrNegative, limit)
	}
	ctx, end, err := e.begin(ctx)
	if err != nil {
		return m, err
	}
	defer end()
	defer e.note(&m, &err)()
	last := e.after(limit)
	if _, err := e.settle(ctx); err != nil {
		return m, err
	}
	for {
		if holds, err := e.rest(ctx, cond); holds || err != nil {
			return m, err
		}
		next, err := e.settle(ctx)
		if err == nil && next == math.MaxInt64 {
			var holds bool
			if holds, next, err = e.wait(ctx, cond); holds {
				return m, nil
			}
		}
		if err != nil {
			return m, err
		}
		if next > last {
			return m, fmt.Errorf("%w: the next message is due at %s", ErrLimit, text(next))
		}
		if _, err := e.goTo(ctx, next, &m); err != nil {
			return m, err
		}
	}
}

// after is the instant d from now, ms.
func (e *Engine) after(d time.Duration) int64 {
	now := e.opts.Clock.NowMillis()
	return now + min(d.Milliseconds(), math.MaxInt64-1-now)
}

// note fills in at the end of a call what it has done, and keeps where the clock stands.
func (e *Engine) note(m *Moved, err *error) func() {
	m.From = e.opts.Clock.NowMillis()
	before := e.opts.Delivered()
	return func() {
		m.Now, m.Delivered = e.opts.Clock.NowMillis(), e.opts.Delivered()-before
		if m.Now == m.From {
			return
		}
		*err = errors.Join(*err, e.keep())
	}
}

func (e *Engine) keep() error {
	if err := e.opts.Keep(); err != nil {
		return fmt.Errorf("virtualtime: the clock's place is not kept: %w", err)
	}
	return nil
}

// goTo moves the clock to a due instant and returns the next one when all of this one is
// delivered.
func (e *Engine) goTo(ctx context.Context, at int64, m *Moved) (next int64, err error) {
	e.opts.Clock.Set(at)
	m.Steps++
	return e.settle(ctx)
}

// settle waits, as long as patience lasts, until what is due is delivered.
func (e *Engine) settle(ctx context.Context) (next int64, err error) {
	bounded, cancel := context.WithTimeout(ctx, e.opts.Patience)
	defer cancel()
	if next, err = e.opts.Settle(bounded); err != nil {
		return next, e.gaveUp(ctx, fmt.Errorf("what is due is not delivered: %w", err))
	}
	return next, nil
}

// gaveUp is the error of a wait that ended for a reason.
func (e *Engine) gaveUp(ctx context.Context, why error) error {
	if e.ctx.Err() != nil {
		return ErrClosed
	}
	if err := ctx.Err(); err != nil {
		return fmt.Errorf("%w: %w: %w", ErrBusy, why, err)
	}
	return fmt.Errorf("%w: %w", ErrBusy, why)
}

func text(ms int64) string { return time.UnixMilli(ms).UTC().Format(time.RFC3339Nano) }
