package assignment

import (
	"errors"
	"io/fs"
	"maps"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/sirupsen/logrus"

	"github.com/wheelmq/wheelmq/broker/persist"
	"github.com/wheelmq/wheelmq/message"
	"github.com/wheelmq/wheelmq/remoting"
)

// Ways to consume (MessageRequestMode, RocketMQ 5.5.0).
const (
	ModePull = "PULL"
	ModePop  = "POP"
)

// modesFile is where the table is kept.
const modesFile = "messageRequestMode.json"

// ModesOptions are what a table of modes needs.
type ModesOptions struct {
	Config persist.Dir // of messageRequestMode.json; nil keeps the table to itself
	Log    logrus.FieldLogger
	// Default and DefaultShare are those of Standard at first.
	Default      string
	DefaultShare int32
}

// table is topic, group, mode. One that is published is immutable.
type table = map[string]map[string]remoting.MessageRequestMode

// Modes are how groups consume topics (request codes 400 to 402). Its methods are safe for
// concurrent use.
type Modes struct {
	opts     ModesOptions
	standard atomic.Pointer[standard]
	table    atomic.Pointer[table]
	mu       sync.Mutex // serialises changes
}

// NewModes loads the table. One that cannot be read is empty: it must not keep the broker from
// starting.
func NewModes(opts ModesOptions) *Modes {
	m := &Modes{opts: opts}
	m.table.Store(&table{})
	m.Standard(opts.Default, opts.DefaultShare)
	if opts.Config == nil {
		return m
	}
	var file remoting.MessageRequestModes
	switch err := opts.Config.Load(modesFile, &file); {
	case err == nil && file.Table != nil:
		m.table.Store(&file.Table)
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		opts.Log.WithError(err).Error("modes of consumption cannot be read: groups pull and pop as by default")
	}
	return m
}

// standard is how groups consume that nobody set.
type standard struct {
	mode  string
	share int32
}

// Standard changes how groups consume that nobody set (defaultMessageRequestMode), and how many members share a queue
// when they pop (defaultPopShareQueueNum).
func (m *Modes) Standard(mode string, share int32) { m.standard.Store(&standard{mode, share}) }

// Get is how a group consumes a topic. Retry topics are always pulled from: clients pop from them
// with the topic itself.
func (m *Modes) Get(topic, group string) remoting.MessageRequestMode {
	if mode, ok := (*m.table.Load())[topic][group]; ok {
		return mode
	}
	standard := m.standard.Load()
	mode := remoting.MessageRequestMode{ConsumerGroup: group, Topic: topic, Mode: standard.mode}
	if mode.Mode == "" || strings.HasPrefix(topic, message.PrefixRetry) {
		mode.Mode = ModePull
	}
	if mode.Mode == ModePop {
		mode.PopShareQueueNum = standard.share
	}
	return mode
}

// Set changes how a group consumes a topic.
func (m *Modes) Set(mode remoting.MessageRequestMode) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	all := maps.Clone(*m.table.Load())
	groups := maps.Clone(all[mode.Topic])
	if groups == nil {
		groups = make(map[string]remoting.MessageRequestMode)
	}
	groups[mode.ConsumerGroup], all[mode.Topic] = mode, groups
	m.table.Store(&all)
	if m.opts.Config == nil {
		return nil
	}
	return m.opts.Config.Save(modesFile, m.All())
}

// All is the whole table.
func (m *Modes) All() remoting.MessageRequestModes {
	return remoting.MessageRequestModes{Table: *m.table.Load()}
}
