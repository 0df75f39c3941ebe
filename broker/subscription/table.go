// Package subscription is the broker's table of subscription groups, persisted as
// subscriptionGroup.json in the real broker's shape.
package subscription

import (
	"errors"
	"io/fs"
	"maps"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/sirupsen/logrus"

	"github.com/wheelmq/wheelmq/broker/attribute"
	"github.com/wheelmq/wheelmq/broker/persist"
	"github.com/wheelmq/wheelmq/clock"
	"github.com/wheelmq/wheelmq/remoting"
)

// Config is a group's configuration. One that a Table hands out is immutable.
type Config = remoting.SubscriptionGroupConfig

// maxNameLength is the longest group name that the broker takes, characters.
const maxNameLength = 255

// Options are what a Table needs.
type Options struct {
	Store      clock.Clock
	Log        logrus.FieldLogger
	Config     persist.Dir // of subscriptionGroup.json; nil keeps the table to itself
	AutoCreate bool        // autoCreateSubscriptionGroup
}

// Table is the broker's groups. Its methods are safe for concurrent use; look-ups of groups
// that exist neither lock nor allocate.
type Table struct {
	opts       Options
	autoCreate atomic.Bool
	groups     atomic.Pointer[map[string]*Config]
	forbidden  atomic.Pointer[forbidden]

	mu      sync.Mutex // serialises changes; guards version
	version remoting.DataVersion
}

// fileName is the table's file.
const fileName = "subscriptionGroup.json"

// system are groups that exist from the start.
var system = []string{
	"TOOLS_CONSUMER", "FILTERSRV_CONSUMER", "SELF_TEST_C_GROUP", "CID_ONS-HTTP-PROXY",
	"CID_ONSAPI_PULL", "CID_ONSAPI_PERMISSION", "CID_ONSAPI_OWNER", "CID_RMQ_SYS_TRANS",
}

// New loads the table and creates the system groups that lack.
func New(opts Options) (*Table, error) {
	t := &Table{opts: opts}
	t.autoCreate.Store(opts.AutoCreate)
	bans := make(forbidden)
	groups := make(map[string]*Config)
	if opts.Config != nil {
		var w remoting.SubscriptionGroupWrapper
		switch err := opts.Config.Load(fileName, &w); {
		case err == nil:
			for name, config := range w.SubscriptionGroupTable {
				groups[name] = &config
			}
			t.version = w.DataVersion
			if w.ForbiddenTable != nil {
				bans = w.ForbiddenTable
			}
		case !errors.Is(err, fs.ErrNotExist):
			opts.Log.WithError(err).Warn("subscription groups cannot be read: those that are used again get defaults")
		}
	}
	for _, name := range system {
		if groups[name] == nil {
			config := remoting.DefaultSubscriptionGroupConfig(name)
			groups[name] = &config
		}
	}
	t.groups.Store(&groups)
	t.forbidden.Store(&bans)
	return t, t.save()
}

// System tells whether a group exists from the start.
func (t *Table) System(group string) bool { return slices.Contains(system, group) }

// Lookup returns a group, or nil; it never creates one.
func (t *Table) Lookup(group []byte) *Config { return (*t.groups.Load())[string(group)] }

// Get returns a group, or nil; it never creates one.
func (t *Table) Get(group string) *Config { return (*t.groups.Load())[group] }

// AutoCreate changes whether a group that is not known is created.
func (t *Table) AutoCreate(on bool) { t.autoCreate.Store(on) }

// Find returns a group, creating it when that is allowed and the name is valid.
func (t *Table) Find(group []byte) *Config {
	if config := t.Lookup(group); config != nil {
		return config
	}
	if !t.autoCreate.Load() || !validName(string(group)) {
		return nil
	}
	config := remoting.DefaultSubscriptionGroupConfig(string(group))
	if err := t.add(&config); err != nil {
		t.opts.Log.WithError(err).WithField("group", config.GroupName).Error("the subscription groups cannot be saved")
	}
	return t.Lookup(group)
}

func validName(name string) bool {
	return name != "" && len(name) <= maxNameLength && !strings.ContainsFunc(name, func(r rune) bool {
		return !(r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("%|_-", r))
	})
}

// Update creates or replaces a group; an illegal name is refused with code 29.
func (t *Table) Update(config Config) error {
	return t.UpdateAll([]Config{config})
}

// UpdateAll is Update for several groups (request code 225): all or none. Their attributes are edits of
// those that the groups have ("+priority.factor"), see package attribute.
func (t *Table) UpdateAll(configs []Config) error {
	for i := range configs {
		if name := configs[i].GroupName; !validName(name) {
			return remoting.Errorf(remoting.InvalidParameter,
				"The specified group: %s, contains illegal characters or is longer than %d, allowing only ^[%%|a-zA-Z0-9_-]+$",
				name, maxNameLength)
		}
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	groups := maps.Clone(*t.groups.Load())
	for i := range configs {
		config, err := edited(groups[configs[i].GroupName], configs[i])
		if err != nil {
			return err
		}
		groups[config.GroupName] = &config
	}
	t.groups.Store(&groups)
	return t.save()
}

// attributes are those of groups that have an effect here.
var attributes = attribute.Kinds{"priority.factor": {Max: 100}}

// edited is a new configuration with its edits of the old one's attributes done; old is nil when there
// is none.
func edited(old *Config, config Config) (Config, error) {
	var current map[string]string
	if old != nil {
		current = old.Attributes
	}
	var err error
	config.Attributes, err = attributes.Alter(old != nil, current, config.Attributes)
	return config, err
}

// add creates a group unless somebody else has.
func (t *Table) add(config *Config) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	groups := maps.Clone(*t.groups.Load())
	if groups[config.GroupName] != nil {
		return nil
	}
	groups[config.GroupName] = config
	t.groups.Store(&groups)
	return t.save()
}

// Delete forgets a group; false when it does not exist.
func (t *Table) Delete(group string) (bool, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	groups := maps.Clone(*t.groups.Load())
	if groups[group] == nil {
		return false, nil
	}
	delete(groups, group)
	t.groups.Store(&groups)
	t.forgive(group)
	return true, t.save()
}

// All returns every group by name.
func (t *Table) All() []*Config {
	groups := *t.groups.Load()
	list := make([]*Config, 0, len(groups))
	for _, name := range slices.Sorted(maps.Keys(groups)) {
		list = append(list, groups[name])
	}
	return list
}

// Wrapper is the whole table as tools read it.
func (t *Table) Wrapper() remoting.SubscriptionGroupWrapper {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.wrapper()
}

func (t *Table) wrapper() remoting.SubscriptionGroupWrapper {
	w := remoting.SubscriptionGroupWrapper{
		DataVersion: t.version, ForbiddenTable: *t.forbidden.Load(), SubscriptionGroupTable: map[string]Config{},
	}
	for name, config := range *t.groups.Load() {
		w.SubscriptionGroupTable[name] = *config
	}
	return w
}

// save writes the table. Caller holds mu, or nobody else has the table yet.
func (t *Table) save() error {
	t.version.Counter++
	t.version.Timestamp = t.opts.Store.NowMillis()
	if t.opts.Config == nil {
		return nil
	}
	return t.opts.Config.Save(fileName, t.wrapper())
}
