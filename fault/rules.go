package fault

import (
	"slices"
	"strconv"
	"sync"
	"sync/atomic"

	"github.com/sirupsen/logrus"

	"github.com/wheelmq/wheelmq/clock"
)

// Options are what Rules need.
type Options struct {
	Wire clock.Clock // times delays
	Log  logrus.FieldLogger
}

// Rules are the faults of one instance; they outlive its restarts. Its methods are safe for
// concurrent use.
type Rules struct {
	opts Options
	list atomic.Pointer[[]*Fault] // those in force and spent, in the order of adding; never changed in place

	changing sync.Mutex // one change at a time is told to the watchers; taken before mu

	mu       sync.Mutex // guards what follows, and changes of list
	next     int        // of the last ID
	watchers map[int]func()
	watched  int

	held held
}

// New returns Rules with no rule in force. Close them.
func New(opts Options) *Rules {
	r := &Rules{opts: opts, watchers: make(map[int]func())}
	r.list.Store(&[]*Fault{})
	r.held.wire, r.held.stop = opts.Wire, make(chan struct{})
	return r
}

// Close drops the answers that are held back and waits for their goroutines.
func (r *Rules) Close() error {
	r.held.close()
	return nil
}

// Add puts a rule into force; when it returns, the rule applies. The error wraps ErrInvalid.
func (r *Rules) Add(rule Rule) (*Fault, error) {
	if err := rule.Check(); err != nil {
		return nil, err
	}
	r.changing.Lock()
	defer r.changing.Unlock()
	f, err := r.insert(rule)
	if err != nil {
		return nil, err
	}
	r.opts.Log.WithFields(f.fields()).Warn("a fault rule is in force")
	r.changed()
	return f, nil
}

func (r *Rules) insert(rule Rule) (*Fault, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if rule.ID == "" {
		rule.ID = r.freeID()
	} else if r.find(rule.ID) != nil {
		return nil, invalid("id %q: there is a rule of this name, remove it first", rule.ID)
	}
	f := &Fault{rule: rule, action: rule.actions()[0], rules: r, gone: make(chan struct{})}
	list := append(slices.Clip(*r.list.Load()), f)
	r.list.Store(&list)
	return f, nil
}

// freeID is the next of f1, f2 … that nobody has chosen. Caller holds mu.
func (r *Rules) freeID() string {
	for {
		r.next++
		if id := "f" + strconv.Itoa(r.next); r.find(id) == nil {
			return id
		}
	}
}

func (r *Rules) find(id string) *Fault {
	for _, f := range *r.list.Load() {
		if f.rule.ID == id {
			return f
		}
	}
	return nil
}

// Faults are the rules that are not removed, in the order of adding.
func (r *Rules) Faults() []*Fault { return slices.Clone(*r.list.Load()) }

// Fault finds a rule by its ID; nil when there is none.
func (r *Rules) Fault(id string) *Fault { return r.find(id) }

// Clear removes all rules.
func (r *Rules) Clear() {
	for _, f := range r.Faults() {
		f.Remove()
	}
}

func (r *Rules) remove(f *Fault) {
	r.changing.Lock()
	defer r.changing.Unlock()
	f.end()
	r.mu.Lock()
	old := *r.list.Load()
	list := slices.DeleteFunc(slices.Clone(old), func(other *Fault) bool { return other == f })
	r.list.Store(&list)
	r.mu.Unlock()
	if len(list) == len(old) {
		return
	}
	r.opts.Log.WithFields(f.fields()).WithField("hits", f.Hits()).Info("a fault rule is removed")
	r.changed()
}

// Watch has fn called after every change, before Add or Remove returns, until stop is called,
// which waits for a call that is under way. fn must not add or remove rules.
func (r *Rules) Watch(fn func()) (stop func()) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.watched++
	n := r.watched
	r.watchers[n] = fn
	return func() {
		r.changing.Lock()
		defer r.changing.Unlock()
		r.mu.Lock()
		defer r.mu.Unlock()
		delete(r.watchers, n)
	}
}

func (r *Rules) changed() {
	r.mu.Lock()
	all := make([]func(), 0, len(r.watchers))
	for _, fn := range r.watchers {
		all = append(all, fn)
	}
	r.mu.Unlock()
	for _, fn := range all {
		fn()
	}
}

func (f *Fault) fields() logrus.Fields {
	text, err := f.rule.MarshalJSON()
	if err != nil {
		// A struct of plain values always marshals.
		text = []byte(err.Error())
	}
	return logrus.Fields{"fault": f.rule.ID, "rule": string(text)}
}
