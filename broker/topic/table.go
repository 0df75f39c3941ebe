package topic

import (
	"errors"
	"io/fs"
	"maps"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/sirupsen/logrus"

	"github.com/wheelmq/wheelmq/broker/persist"
	"github.com/wheelmq/wheelmq/clock"
	"github.com/wheelmq/wheelmq/difference"
	"github.com/wheelmq/wheelmq/message"
	"github.com/wheelmq/wheelmq/remoting"
)

// Options are what a Table needs.
type Options struct {
	Store       clock.Clock
	Log         logrus.FieldLogger
	Differences *difference.Set
	Config      persist.Dir // of topics.json; nil keeps the table to itself

	Cluster, Broker    string
	AutoCreate         bool  // autoCreateTopicEnable
	DefaultQueueNums   int32 // defaultTopicQueueNums
	ScheduleQueues     int32 // number of delay levels
	TraceTopicEnable   bool
	ClusterTopicEnable bool
	BrokerTopicEnable  bool
}

// Table is the broker's topics. Its methods are safe for concurrent use; look-ups neither
// lock nor allocate.
type Table struct {
	opts   Options
	unread bool            // neither topics.json nor its .bak could be read
	own    map[string]bool // system topics named after this broker and its cluster
	topics atomic.Pointer[map[string]*Config]

	mu       sync.Mutex // serialises changes; guards version and onChange
	version  remoting.DataVersion
	onChange []func(changed []*Config, deleted []string)
}

// fileName is the table's file.
const fileName = "topics.json"

// file is topics.json.
type file struct {
	DataVersion      remoting.DataVersion `json:"dataVersion"`
	TopicConfigTable map[string]*Config   `json:"topicConfigTable"`
}

// New loads the table and creates the system topics that lack.
func New(opts Options) (*Table, error) {
	t := &Table{opts: opts}
	t.topics.Store(&map[string]*Config{})
	if opts.Config != nil {
		var f file
		switch err := opts.Config.Load(fileName, &f); {
		case err == nil:
			t.take(&f)
		case !errors.Is(err, fs.ErrNotExist):
			t.unread = true
			opts.Log.WithError(err).Error("topics cannot be read: only those that have messages or are used again will be there")
		}
	}
	t.createSystem()
	return t, t.save()
}

// take makes what the file holds the table. Nobody else has the table yet.
func (t *Table) take(f *file) {
	table := make(map[string]*Config, len(f.TopicConfigTable))
	for name, config := range f.TopicConfigTable {
		if config != nil {
			config.TopicName = name
			table[name] = config
		}
	}
	t.topics.Store(&table)
	t.version = f.DataVersion
}

// Unread tells that there is a file of the table and neither it nor the one before could be read.
func (t *Table) Unread() bool { return t.unread }

// OnChange adds a listener that is told of changes, with no lock held.
func (t *Table) OnChange(f func(changed []*Config, deleted []string)) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.onChange = append(t.onChange, f)
}

// Get returns a topic, or nil.
func (t *Table) Get(name []byte) *Config { return (*t.topics.Load())[string(name)] }

// GetString returns a topic, or nil.
func (t *Table) GetString(name string) *Config { return (*t.topics.Load())[name] }

// QueueFor is the function QueueFor for a topic of the table, !ok when it has no such topic.
func (t *Table) QueueFor(name string, queueID int32) (queue int32, ok bool) {
	c := t.GetString(name)
	if c == nil {
		return 0, false
	}
	return QueueFor(c, queueID), true
}

// All returns every topic by name.
func (t *Table) All() []*Config {
	table := *t.topics.Load()
	list := make([]*Config, 0, len(table))
	for _, name := range sortedNames(table) {
		list = append(list, table[name])
	}
	return list
}

// DataVersion is the table's version.
func (t *Table) DataVersion() remoting.DataVersion {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.version
}

func (t *Table) store(config *Config) {
	table := maps.Clone(*t.topics.Load())
	table[config.TopicName] = config
	t.topics.Store(&table)
}

func (t *Table) drop(name string) {
	table := maps.Clone(*t.topics.Load())
	delete(table, name)
	t.topics.Store(&table)
}

// save writes the table. Caller holds mu, or nobody else has the table yet.
func (t *Table) save() error {
	t.version.Counter++
	t.version.Timestamp = t.opts.Store.NowMillis()
	if t.opts.Config == nil {
		return nil
	}
	return t.opts.Config.Save(fileName, file{t.version, *t.topics.Load()})
}

// change runs f under the lock; when it returns a config that is stored, saved and told.
func (t *Table) change(f func() *Config) (*Config, error) {
	t.mu.Lock()
	config := f()
	if config == nil {
		t.mu.Unlock()
		return nil, nil
	}
	t.store(config)
	err := t.save()
	t.mu.Unlock()
	t.tell([]*Config{config}, nil)
	return config, err
}

func (t *Table) tell(changed []*Config, deleted []string) {
	t.mu.Lock()
	listeners := t.onChange
	t.mu.Unlock()
	for _, f := range listeners {
		f(changed, deleted)
	}
}

// CreateOnSend returns the topic of a send, creating it by the rules of the real broker: the
// topic named as default must pass its configuration on, and the client's number of queues
// counts up to the default's. queueNums ≤ 0 means that the client named none.
func (t *Table) CreateOnSend(name, defaultTopic string, queueNums int32, sysFlag int32) (*Config, error) {
	if config := t.GetString(name); config != nil {
		return config, nil
	}
	created, err := t.change(func() *Config {
		parent := t.GetString(defaultTopic)
		if t.GetString(name) != nil || parent == nil || parent.Perm&PermInherit == 0 {
			return nil
		}
		n := parent.WriteQueueNums
		if queueNums > 0 {
			n = min(n, queueNums)
		} else {
			t.opts.Differences.Use(difference.DefaultQueueNums)
		}
		config := newConfig(name, n, n, parent.Perm&^PermInherit)
		config.TopicSysFlag = sysFlag
		return config
	})
	if err != nil {
		return nil, err
	}
	if created == nil {
		created = t.GetString(name)
	}
	return created, nil
}

// CreateRetry returns a topic named after a group, creating it when needed.
func (t *Table) CreateRetry(name string, queueNums, perm int32) *Config {
	if config := t.GetString(name); config != nil {
		return config
	}
	_, err := t.change(func() *Config {
		if t.GetString(name) != nil {
			return nil
		}
		return newConfig(name, queueNums, queueNums, perm)
	})
	if err != nil {
		t.opts.Log.WithError(err).WithField("topic", name).Error("the topic table cannot be saved")
	}
	return t.GetString(name)
}

// Update creates or replaces a topic; false when nothing changes. Its attributes are edits of those that
// the topic has ("+message.type"), see package attribute.
func (t *Table) Update(config Config) (changed bool, err error) {
	var refused error
	stored, err := t.change(func() *Config {
		old := t.GetString(config.TopicName)
		var current map[string]string
		if old != nil {
			current = old.Attributes
		}
		if config.Attributes, refused = attributes.Alter(old != nil, current, config.Attributes); refused != nil {
			return nil
		}
		if old != nil && equal(old, &config) {
			return nil
		}
		return &config
	})
	if refused != nil {
		return false, refused
	}
	return stored != nil, err
}

// Delete forgets a topic; false when it does not exist.
func (t *Table) Delete(name string) (bool, error) {
	t.mu.Lock()
	if t.GetString(name) == nil {
		t.mu.Unlock()
		return false, nil
	}
	t.drop(name)
	err := t.save()
	t.mu.Unlock()
	t.tell(nil, []string{name})
	return true, err
}

// Wrapper is the whole table as brokers register it and tools read it.
func (t *Table) Wrapper() remoting.TopicConfigWrapper {
	t.mu.Lock()
	version := t.version
	t.mu.Unlock()
	w := remoting.TopicConfigWrapper{
		DataVersion: version, TopicConfigTable: make(map[string]remoting.TopicConfig),
		TopicQueueMappingDetailMap: map[string]any{}, TopicQueueMappingInfoMap: map[string]any{},
	}
	for name, config := range *t.topics.Load() {
		w.TopicConfigTable[name] = *config
	}
	return w
}

// GroupOf returns the group that a %RETRY% or %DLQ% topic is named after.
func GroupOf(name string) (group string, derived bool) {
	if rest, ok := strings.CutPrefix(name, message.PrefixRetry); ok {
		return rest, true
	}
	return strings.CutPrefix(name, message.PrefixDLQ)
}
