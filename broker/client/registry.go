package client

import (
	"slices"
	"sync"
	"sync/atomic"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/sirupsen/logrus"

	"github.com/wheelmq/wheelmq/broker/persist"
	"github.com/wheelmq/wheelmq/clock"
	"github.com/wheelmq/wheelmq/health"
	"github.com/wheelmq/wheelmq/remoting"
)

// defaultExpireMs is how long a client lives without a heartbeat (channelExpiredTimeout).
const defaultExpireMs = 120_000

// Options configure a Registry.
type Options struct {
	Wire     clock.Clock
	Log      logrus.FieldLogger
	ExpireMs int64                 // 0: 120,000
	Config   persist.Dir           // of wheelmqSubscriptions.json and wheelmqMembers.json; nil keeps both in memory
	Metrics  prometheus.Registerer // may be nil
	Health   *health.Registry      // may be nil
}

// Beat is a heartbeat (request code 34) in plain form.
type Beat struct {
	ClientID  string
	Language  remoting.Language
	Version   int32
	Producers []string // group names
	Consumers []Consumer
	// Fingerprint is the hash of the client's subscriptions, 0 from a client that sends
	// full heartbeats only. WithoutSub says that Consumers carry no subscriptions because
	// they have not changed.
	Fingerprint int32
	WithoutSub  bool
}

// Consumer is a heartbeat's entry about one consumer group.
type Consumer struct {
	Group            string
	ConsumeType      string
	MessageModel     string
	ConsumeFromWhere string
	Subscriptions    []*Subscription
	Notify           bool // the group's notifyConsumerIdsChangedEnable
}

// Registry is the clients of one broker. Its methods are safe for concurrent use; Group
// and Subscription do not allocate.
type Registry struct {
	opts Options

	mu        sync.RWMutex // guards consumers, producers, channels, expected and everything in them
	consumers map[string]*consumers
	producers map[string]map[uint64]*Member
	channels  map[string]map[uint64]*producerChannel // of clients that produce, by client ID
	expected  expected

	requesters requesters
	calls      calls
	memory     *memory
	conflicts  atomic.Int64 // that operators were warned of

	expireMs atomic.Int64  // as Options.ExpireMs
	idle     atomic.Bool   // nobody was there to expire
	kick     chan struct{} // somebody came
	stop     chan struct{}
	stopOnce sync.Once
	wg       sync.WaitGroup
}

// New returns an empty registry.
func New(opts Options) (*Registry, error) {
	if opts.ExpireMs <= 0 {
		opts.ExpireMs = defaultExpireMs
	}
	r := &Registry{
		opts:       opts,
		consumers:  make(map[string]*consumers),
		producers:  make(map[string]map[uint64]*Member),
		channels:   make(map[string]map[uint64]*producerChannel),
		requesters: newRequesters(),
		memory:     newMemory(&opts),
		kick:       make(chan struct{}, 1),
		stop:       make(chan struct{}),
	}
	r.expireMs.Store(opts.ExpireMs)
	r.calls.begin(opts.Log)
	if err := r.register(); err != nil {
		return nil, err
	}
	return r, nil
}

// Start begins to expire silent clients.
func (r *Registry) Start() {
	r.expect()
	r.wg.Add(1)
	go r.expireLoop()
	if r.opts.Config != nil {
		r.wg.Go(func() { r.memory.run(r.stop) })
	}
}

// Close stops; calls to clients end without an answer.
func (r *Registry) Close() error {
	r.stopOnce.Do(func() { close(r.stop) })
	r.calls.end()
	r.wg.Wait()
	r.memory.save()
	r.saveLeaving()
	return nil
}

// Heartbeat registers or refreshes a client in the groups it names. Every channel of a
// consumer group, the sender's too, is sent NOTIFY_CONSUMER_IDS_CHANGED (40) before this
// returns when a channel or a subscribed topic came or went. subChanged tells a client
// that saves on heartbeats to send its subscriptions in full.
func (r *Registry) Heartbeat(conn remoting.Conn, beat *Beat) (subChanged bool) {
	member := Member{
		Conn: conn, ClientID: beat.ClientID, Language: beat.Language, Version: beat.Version,
		LastUpdate: r.opts.Wire.NowMillis(),
	}
	var changes []change
	var conflicts []conflict
	r.mu.Lock()
	for _, group := range beat.Producers {
		r.addProducer(group, member)
	}
	for i := range beat.Consumers {
		group, changed, differs := r.addConsumer(member, beat, &beat.Consumers[i], &conflicts)
		subChanged = subChanged || differs
		if changed {
			changes = append(changes, change{group.name, group.conns()})
		}
	}
	r.mu.Unlock()
	// A closing connection is announced before or after; one that closed in between would
	// stay for ever.
	if conn.Closed() {
		r.ConnClosed(conn)
	}
	r.announce(changes)
	r.warn(conflicts)
	r.wakeExpiry()
	return subChanged || beat.Fingerprint == 0
}

// addConsumer applies one entry of a heartbeat. r.mu is held.
func (r *Registry) addConsumer(member Member, beat *Beat, c *Consumer, conflicts *[]conflict) (group *consumers, changed, differs bool) {
	group = r.consumers[c.Group]
	if group == nil {
		group = newConsumers(c.Group)
		r.consumers[c.Group] = group
	}
	r.expected.back(c.Group, member.ClientID)
	changed = group.join(member, c)
	differs = group.fingerprint != beat.Fingerprint
	if !beat.WithoutSub {
		*conflicts = append(*conflicts, group.disagree(member.ClientID, c.Subscriptions)...)
		changed = group.subscribe(c.Subscriptions, func(s *Subscription) { r.memory.note(c.Group, s) }) || changed
		group.fingerprint = beat.Fingerprint
	}
	if group.view == nil {
		group.view = group.snapshot()
	}
	return group, changed, differs
}

// Unregister takes a client out of a producer and a consumer group; either may be empty
// (request code 35). The rest of the group is told at once.
func (r *Registry) Unregister(conn remoting.Conn, clientID, producerGroup, consumerGroup string) {
	var changes []change
	gone := func(m *Member) bool { return m.Conn.ID() == conn.ID() }
	r.mu.Lock()
	if producerGroup != "" {
		r.leaveProducers(producerGroup, gone)
	}
	if consumerGroup != "" {
		changes = r.unregisterConsumer(consumerGroup, clientID, gone)
	}
	r.mu.Unlock()
	r.announce(changes)
}

// unregisterConsumer takes a client out of a group, which may know of it from before a restart only.
// r.mu is held.
func (r *Registry) unregisterConsumer(name, clientID string, gone func(*Member) bool) []change {
	expected := r.expected.groups[name][clientID]
	r.expected.back(name, clientID)
	changes := r.leaveConsumers(nil, name, gone)
	if group := r.consumers[name]; expected && group != nil && len(changes) == 0 {
		changes = append(changes, change{name, group.conns()})
	}
	return changes
}

// ConnClosed takes a connection out of all its groups and tells the rest at once.
func (r *Registry) ConnClosed(conn remoting.Conn) {
	r.requesters.gone(conn)
	r.leaveAll(func(m *Member) bool { return m.Conn.ID() == conn.ID() })
}

func (r *Registry) leaveAll(gone func(*Member) bool) {
	var changes []change
	r.mu.Lock()
	for group := range r.producers {
		r.leaveProducers(group, gone)
	}
	for group := range r.consumers {
		changes = r.leaveConsumers(changes, group, gone)
	}
	if r.expected.leaving != nil {
		changes = nil
	}
	r.mu.Unlock()
	r.announce(changes)
}

func (r *Registry) leaveConsumers(changes []change, name string, gone func(*Member) bool) []change {
	group := r.consumers[name]
	if group == nil {
		return changes
	}
	before := len(group.members)
	for id, m := range group.members {
		if gone(m) {
			delete(group.members, id)
		}
	}
	switch {
	case len(group.members) == before:
		return changes
	case len(group.members) == 0:
		delete(r.consumers, name)
		return changes
	}
	group.view = group.snapshot()
	return append(changes, change{name, group.conns()})
}

// Group returns a consumer group that is online, or nil.
func (r *Registry) Group(name []byte) *ConsumerGroup {
	r.mu.RLock()
	defer r.mu.RUnlock()
	if group := r.consumers[string(name)]; group != nil {
		return group.view
	}
	return nil
}

// Remembered returns what a group subscribed to last, whether it is online or not, since it was
// created; nil when nobody has told.
func (r *Registry) Remembered(group, topic []byte) *Subscription {
	return r.memory.subscription(group, topic)
}

// DeleteGroup forgets what a group that was deleted subscribed to, and who is expected back in it.
func (r *Registry) DeleteGroup(group string) {
	r.memory.forget(group)
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.expected.groups, group)
}

// Groups returns the names of the consumer groups that are online and subscribe to a
// topic, sorted; "" means any topic.
func (r *Registry) Groups(topic string) []string {
	r.mu.RLock()
	defer r.mu.RUnlock()
	names := []string{}
	for name, group := range r.consumers {
		if topic == "" || group.subscriptions[topic] != nil {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}
