package client

import (
	"errors"
	"io/fs"
	"sync"

	"github.com/sirupsen/logrus"

	"github.com/wheelmq/wheelmq/broker/persist"
	"github.com/wheelmq/wheelmq/clock"
)

// memoryFile is the file of what groups subscribed to, in the config directory.
const memoryFile = "wheelmqSubscriptions.json"

// maxRemembered bounds the subscriptions that are remembered: a hostile client names any number.
const maxRemembered = 100_000

// saveMs is how long a new subscription waits for its save, ms of the wire clock.
const saveMs = 1000

// memory is what every group subscribed to last, whether it is online or not, over restarts: by it
// a pull is served that comes before its group's heartbeat.
type memory struct {
	wire clock.Clock
	log  logrus.FieldLogger
	dir  persist.Dir // nil keeps the memory to itself

	mu     sync.RWMutex // guards groups, count and dirty
	groups map[string]map[string]*Subscription
	count  int
	dirty  bool
	kick   chan struct{} // dirty has become true
}

// rememberedFile is memoryFile: {"groups":{"group":{"topic":{…}}}}.
type rememberedFile struct {
	Groups map[string]map[string]rememberedSubscription `json:"groups"`
}

type rememberedSubscription struct {
	Type            string   `json:"type"`
	Expression      string   `json:"expression"`
	Version         int64    `json:"version"`
	Tags            []string `json:"tags,omitempty"`
	Codes           []int32  `json:"codes,omitempty"`
	ClassFilterMode bool     `json:"classFilterMode,omitempty"`
}

func newMemory(opts *Options) *memory {
	m := &memory{
		wire: opts.Wire, log: opts.Log, dir: opts.Config, groups: make(map[string]map[string]*Subscription), kick: make(chan struct{}, 1),
	}
	m.load()
	return m
}

func (m *memory) load() {
	if m.dir == nil {
		return
	}
	var file rememberedFile
	if err := m.dir.Load(memoryFile, &file); err != nil {
		if !errors.Is(err, fs.ErrNotExist) {
			m.log.WithError(err).Warn("remembered subscriptions cannot be read: pulls wait for their groups' heartbeats")
		}
		return
	}
	for group, topics := range file.Groups {
		for topic, r := range topics {
			s := &Subscription{
				Topic: topic, Expression: r.Expression, ExpressionType: r.Type, Version: r.Version, Tags: r.Tags, Codes: r.Codes,
				ClassFilterMode: r.ClassFilterMode,
			}
			s.Compile()
			m.put(group, s)
		}
	}
}

// put adds or replaces a subscription. m.mu is held, or nobody else has m yet.
func (m *memory) put(group string, s *Subscription) {
	topics := m.groups[group]
	if topics[s.Topic] == nil {
		if m.count >= maxRemembered {
			return
		}
		m.count++
	}
	if topics == nil {
		topics = make(map[string]*Subscription)
		m.groups[group] = topics
	}
	topics[s.Topic] = s
}

// note remembers what a group subscribes to from now on.
func (m *memory) note(group string, s *Subscription) {
	m.mu.Lock()
	defer m.mu.Unlock()
	old := m.groups[group][s.Topic]
	m.put(group, s)
	if old == nil || old.Version != s.Version || old.Expression != s.Expression || old.ExpressionType != s.ExpressionType {
		m.change()
	}
}

// forget drops a group that was deleted.
func (m *memory) forget(group string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.groups[group] == nil {
		return
	}
	m.count -= len(m.groups[group])
	delete(m.groups, group)
	m.change()
}

// change wakes the saver. m.mu is held.
func (m *memory) change() {
	m.dirty = true
	select {
	case m.kick <- struct{}{}:
	default:
	}
}

func (m *memory) subscription(group, topic []byte) *Subscription {
	m.mu.RLock()
	defer m.mu.RUnlock()
	return m.groups[string(group)][string(topic)]
}

// run saves what changes, saveMs after the first change, until stop.
func (m *memory) run(stop <-chan struct{}) {
	alarm := m.wire.NewTimer()
	defer alarm.Disarm()
	for {
		select {
		case <-stop:
			return
		case <-m.kick:
			alarm.Arm(m.wire.NowMillis() + saveMs)
		}
		select {
		case <-stop:
			return
		case <-alarm.C():
		}
		m.save()
	}
}

// save writes the file when something has changed. What cannot be written is written with the next
// change: without it a pull waits for its heartbeat.
func (m *memory) save() {
	m.mu.Lock()
	if !m.dirty || m.dir == nil {
		m.mu.Unlock()
		return
	}
	m.dirty = false
	file := rememberedFile{Groups: make(map[string]map[string]rememberedSubscription, len(m.groups))}
	for group, topics := range m.groups {
		rows := make(map[string]rememberedSubscription, len(topics))
		for topic, s := range topics {
			rows[topic] = rememberedSubscription{
				Type: s.ExpressionType, Expression: s.Expression, Version: s.Version, Tags: s.Tags, Codes: s.Codes,
				ClassFilterMode: s.ClassFilterMode,
			}
		}
		file.Groups[group] = rows
	}
	m.mu.Unlock()
	if err := m.dir.Save(memoryFile, &file); err != nil {
		m.log.WithError(err).Warn("remembered subscriptions cannot be saved")
	}
}
