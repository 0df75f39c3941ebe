package config

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
)

// SourceWire is the source of what was changed while the server ran (UPDATE_BROKER_CONFIG, 25).
const SourceWire = "updateBrokerConfig"

// Override is one key that was changed while the server ran. It applies over restarts too, until the
// key is configured otherwise: then the operator's file or command line is younger.
type Override struct {
	Value   string `json:"value"`
	Instead string `json:"instead"` // what was configured when it was changed
}

// Live is the configuration in force, of which some keys (Key.Live) may be changed. Its methods are
// safe for concurrent use; what Get returned does not change.
type Live struct {
	now atomic.Pointer[Config]

	mu        sync.Mutex // serialises changes; guards what follows
	base      *Config    // as configured
	overrides map[string]Override
	save      func(map[string]Override) error
	checks    []func(*Config) error
	followers []func(before, after *Config)
}

// NewLive applies overrides to what is configured; save keeps them and may be nil. What does not
// apply any more is dropped, and notes say so, as they say what applies.
func NewLive(configured *Config, overrides map[string]Override, save func(map[string]Override) error) (l *Live, notes []string) {
	l = &Live{base: configured, overrides: make(map[string]Override), save: save}
	c := configured.clone()
	for _, name := range slices.Sorted(maps.Keys(overrides)) {
		o := overrides[name]
		k, ok := byName[name]
		switch {
		case !ok || !k.Live:
			notes = append(notes, fmt.Sprintf("%s=%s of %s is dropped: the key cannot be changed that way", name, o.Value, SourceWire))
			continue
		case configured.text(k) != o.Instead:
			notes = append(notes, fmt.Sprintf("%s=%s of %s is dropped: the key was configured anew, %s", name, o.Value, SourceWire, configured.Source(name)))
			continue
		}
		if _, err := c.SetFrom(SourceWire, name, o.Value); err != nil {
			notes = append(notes, fmt.Sprintf("%s=%s of %s is dropped: %v", name, o.Value, SourceWire, err))
			continue
		}
		l.overrides[name] = o
		notes = append(notes, fmt.Sprintf("%s=%s instead of %q: changed while the server ran (%s)", name, o.Value, o.Instead, SourceWire))
	}
	l.now.Store(c)
	return l, notes
}

// Get is the configuration in force.
func (l *Live) Get() *Config { return l.now.Load() }

// Check makes every change from now on pass f, which sees the whole configuration as it would be.
func (l *Live) Check(f func(*Config) error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.checks = append(l.checks, f)
}

// Follow calls f after every change from now on, one after the other.
func (l *Live) Follow(f func(before, after *Config)) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.followers = append(l.followers, f)
}

// Change is one key that got another value.
type Change struct{ Key, Before, After string }

// Change sets all of the pairs or none. A pair that changes nothing is none. The error is a *Refusal,
// or says that the change cannot be kept.
func (l *Live) Change(pairs []Pair) ([]Change, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	before := l.now.Load()
	after, changes, err := before.changed(pairs)
	if err != nil || len(changes) == 0 {
		return nil, err
	}
	for _, check := range l.checks {
		if err := check(after); err != nil {
			return nil, &Refusal{Key: changes[0].Key, Text: err.Error()}
		}
	}
	overrides := l.with(changes)
	if l.save != nil {
		if err := l.save(overrides); err != nil {
			return nil, fmt.Errorf("config: keep the change: %w", err)
		}
	}
	l.overrides = overrides
	l.now.Store(after)
	for _, f := range l.followers {
		f(before, after)
	}
	return changes, nil
}

// with are the overrides after changes; one that goes back to what is configured is none.
func (l *Live) with(changes []Change) map[string]Override {
	overrides := maps.Clone(l.overrides)
	for _, change := range changes {
		configured := l.base.text(byName[change.Key])
		if overrides[change.Key] = (Override{change.After, configured}); change.After == configured {
			delete(overrides, change.Key)
		}
	}
	return overrides
}

// changed is a copy of c with the pairs, and what differs.
func (c *Config) changed(pairs []Pair) (*Config, []Change, error) {
	after := c.clone()
	for _, p := range pairs {
		if err := after.change(p); err != nil {
			return nil, nil, err
		}
	}
	var changes []Change
	for _, k := range keys {
		before, now := c.text(k), after.text(k)
		if before == now {
			continue
		}
		if !k.Live {
			return nil, nil, &Refusal{Key: k.Name, Text: fmt.Sprintf("%s needs a restart: set it in broker.conf or on the command line", k.Name)}
		}
		changes = append(changes, Change{k.Name, before, now})
	}
	return after, changes, nil
}

func (c *Config) change(p Pair) error {
	k, own := byName[p.Key]
	if forbidden(p.Key) || own && k.Local {
		return &Refusal{Key: p.Key, Forbidden: true, Text: fmt.Sprintf("%s is never set over the network", p.Key)}
	}
	if !own {
		return &Refusal{Key: p.Key, Text: withoutEffect(p.Key, p.Value)}
	}
	if _, err := c.SetFrom(SourceWire, p.Key, p.Value); err != nil {
		return &Refusal{Key: p.Key, Text: strings.TrimPrefix(err.Error(), "config: ")}
	}
	return nil
}

// Refusal says why a key is not changed.
type Refusal struct {
	Key       string
	Forbidden bool // nobody may change it over the network, whatever the value
	Text      string
}

// Error implements error.
func (r *Refusal) Error() string { return r.Text }

// forbidden tells keys of RocketMQ that name files, classes or commands: by such a key the real
// broker was made to run commands (CVE-2023-33246) and to write files (CVE-2023-37582).
func forbidden(key string) bool {
	return slices.Contains([]string{"abortFile", "configBlackList", "filterServerNums", "messageStorePlugIn", "rocketmqHome"}, key) ||
		strings.HasPrefix(key, "storePath") || strings.HasSuffix(strings.ToLower(key), "path")
}

func (c *Config) clone() *Config {
	copied := *c
	copied.sources = maps.Clone(c.sources)
	return &copied
}

func (c *Config) text(k Key) string { return fmt.Sprint(c.value(k).Interface()) }
