package namesrv

import (
	"maps"
	"slices"
	"sync"

	"github.com/wheelmq/wheelmq/remoting"
)

const (
	permWrite = 2 // bit of a topic's perm
)

// Registration is what a broker tells of itself.
type Registration struct {
	remoting.BrokerIdentity
	HAServerAddr       string
	EnableActingMaster bool
	TimeoutMs          int64  // 0: 120,000
	ConnID             uint64 // connection it came over; 0 for the broker of this process
	Topics             remoting.TopicConfigWrapper
	// LocalPort is set for the broker of this process when its address was not configured:
	// clients are told the address they reached us by, with this port.
	LocalPort uint16
}

// broker is one living broker address.
type broker struct {
	Registration
	seenMs int64
}

// Table is the route table. It knows no clock and no connection; its methods are safe for
// concurrent use.
type Table struct {
	mu      sync.RWMutex                             // guards all below
	brokers map[string]map[int64]*broker             // by broker name and id
	topics  map[string]map[string]remoting.QueueData // by topic and broker name
}

// NewTable returns an empty Table.
func NewTable() *Table {
	return &Table{brokers: make(map[string]map[int64]*broker), topics: make(map[string]map[string]remoting.QueueData)}
}

// Register takes a registration. Only the master's topics count. A registration of one topic
// from a broker that is not known is refused: it cannot be whole.
func (t *Table) Register(r Registration, nowMs int64) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	ids := t.brokers[r.BrokerName]
	known := ids[r.BrokerID] != nil
	if !known && len(r.Topics.TopicConfigTable) == 1 && r.ConnID != 0 {
		return false
	}
	if ids == nil {
		ids = make(map[int64]*broker)
		t.brokers[r.BrokerName] = ids
	}
	for id, b := range ids {
		if b.BrokerAddr == r.BrokerAddr && id != r.BrokerID {
			delete(ids, id)
		}
	}
	if old := ids[r.BrokerID]; old != nil && old.BrokerAddr != r.BrokerAddr &&
		old.Topics.DataVersion.StateVersion > r.Topics.DataVersion.StateVersion {
		return true
	}
	ids[r.BrokerID] = &broker{Registration: r, seenMs: nowMs}
	if r.BrokerID == 0 {
		for name, config := range r.Topics.TopicConfigTable {
			t.setQueues(name, r.BrokerName, config)
		}
	}
	return true
}

func (t *Table) setQueues(topic, brokerName string, config remoting.TopicConfig) {
	if t.topics[topic] == nil {
		t.topics[topic] = make(map[string]remoting.QueueData)
	}
	t.topics[topic][brokerName] = remoting.QueueData{
		BrokerName: brokerName, Perm: config.Perm, ReadQueueNums: config.ReadQueueNums,
		WriteQueueNums: config.WriteQueueNums, TopicSysFlag: config.TopicSysFlag,
	}
}

// Unregister forgets a broker address, unless another connection has registered it since: a
// late farewell must not wipe a fresh registration.
func (t *Table) Unregister(id remoting.BrokerIdentity, connID uint64) {
	t.mu.Lock()
	defer t.mu.Unlock()
	b := t.brokers[id.BrokerName][id.BrokerID]
	if b == nil || b.BrokerAddr != id.BrokerAddr || b.ConnID != connID {
		return
	}
	t.drop(b)
}

// ConnClosed forgets what was registered over a connection.
func (t *Table) ConnClosed(connID uint64) {
	t.dropIf(func(b *broker) bool { return b.ConnID == connID && connID != 0 })
}

// Expire forgets brokers not seen within their time and returns when the next one will be due,
// ms; 0 when there is none.
func (t *Table) Expire(nowMs int64) (next int64) {
	t.dropIf(func(b *broker) bool {
		due := b.seenMs + b.timeout()
		if b.ConnID == 0 {
			return false
		}
		if due > nowMs && (next == 0 || due < next) {
			next = due
		}
		return due <= nowMs
	})
	return next
}

func (b *broker) timeout() int64 {
	if b.TimeoutMs > 0 {
		return b.TimeoutMs
	}
	return 120_000
}

func (t *Table) dropIf(gone func(*broker) bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, ids := range t.brokers {
		for _, b := range ids {
			if gone(b) {
				t.drop(b)
			}
		}
	}
}

// drop removes one address; with a broker name's last address its queues go. Caller holds mu.
func (t *Table) drop(b *broker) {
	ids := t.brokers[b.BrokerName]
	delete(ids, b.BrokerID)
	if len(ids) > 0 {
		return
	}
	delete(t.brokers, b.BrokerName)
	for topic, queues := range t.topics {
		delete(queues, b.BrokerName)
		if len(queues) == 0 {
			delete(t.topics, topic)
		}
	}
}

// Seen refreshes a broker's liveness; known is false for one that is not registered, version
// is the one it registered with.
func (t *Table) Seen(id remoting.BrokerIdentity, nowMs int64) (version remoting.DataVersion, known bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	b := t.brokers[id.BrokerName][id.BrokerID]
	if b == nil || b.BrokerAddr != id.BrokerAddr {
		return version, false
	}
	b.seenMs = nowMs
	return b.Topics.DataVersion, true
}

// Advertise maps the broker of this process to the address that a client should use.
type Advertise func(r *Registration) string

// Route is the route of a topic; false when no living broker has it.
func (t *Table) Route(topic string, advertise Advertise) (remoting.TopicRouteData, bool) {
	t.mu.RLock()
	defer t.mu.RUnlock()
	route := remoting.TopicRouteData{FilterServerTable: map[string][]string{}, BrokerDatas: []remoting.BrokerData{}}
	for _, name := range slices.Sorted(maps.Keys(t.topics[topic])) {
		route.QueueDatas = append(route.QueueDatas, t.topics[topic][name])
		if data, ok := t.brokerData(name, advertise); ok {
			route.BrokerDatas = append(route.BrokerDatas, data)
		}
	}
	return route, len(route.BrokerDatas) > 0
}

func (t *Table) brokerData(name string, advertise Advertise) (remoting.BrokerData, bool) {
	data := remoting.BrokerData{BrokerName: name, BrokerAddrs: make(map[int64]string)}
	for id, b := range t.brokers[name] {
		data.BrokerAddrs[id] = advertise(&b.Registration)
		data.Cluster, data.EnableActingMaster = b.ClusterName, b.EnableActingMaster
	}
	return data, len(data.BrokerAddrs) > 0
}

// Cluster is every cluster and broker.
func (t *Table) Cluster(advertise Advertise) remoting.ClusterInfo {
	t.mu.RLock()
	defer t.mu.RUnlock()
	info := remoting.ClusterInfo{BrokerAddrTable: map[string]remoting.BrokerData{}, ClusterAddrTable: map[string][]string{}}
	for _, name := range slices.Sorted(maps.Keys(t.brokers)) {
		if data, ok := t.brokerData(name, advertise); ok {
			info.BrokerAddrTable[name] = data
			info.ClusterAddrTable[data.Cluster] = append(info.ClusterAddrTable[data.Cluster], name)
		}
	}
	return info
}

// Topics lists the topics, all or those of one cluster.
func (t *Table) Topics(cluster string) []string {
	t.mu.RLock()
	defer t.mu.RUnlock()
	list := []string{}
	for _, topic := range slices.Sorted(maps.Keys(t.topics)) {
		for name := range t.topics[topic] {
			if cluster == "" || t.clusterOf(name) == cluster {
				list = append(list, topic)
				break
			}
		}
	}
	return list
}

func (t *Table) clusterOf(brokerName string) string {
	for _, b := range t.brokers[brokerName] {
		return b.ClusterName
	}
	return ""
}

// SystemNames lists cluster and broker names, which are topics too, and any broker's address.
func (t *Table) SystemNames(advertise Advertise) remoting.TopicList {
	info := t.Cluster(advertise)
	list := remoting.TopicList{TopicList: []string{}}
	for _, cluster := range slices.Sorted(maps.Keys(info.ClusterAddrTable)) {
		list.TopicList = append(append(list.TopicList, cluster), info.ClusterAddrTable[cluster]...)
	}
	for _, name := range slices.Sorted(maps.Keys(info.BrokerAddrTable)) {
		for _, addr := range info.BrokerAddrTable[name].BrokerAddrs {
			list.BrokerAddr = addr
			return list
		}
	}
	return list
}

// DeleteTopic forgets a topic, everywhere or in one cluster.
func (t *Table) DeleteTopic(topic, cluster string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for name := range t.topics[topic] {
		if cluster == "" || t.clusterOf(name) == cluster {
			delete(t.topics[topic], name)
		}
	}
	if len(t.topics[topic]) == 0 {
		delete(t.topics, topic)
	}
}

// SetWritable sets or clears the write bit of every topic of a broker and counts them. It
// touches nothing but that bit; the real server sets the permission to 6 as a whole.
func (t *Table) SetWritable(brokerName string, writable bool) int {
	t.mu.Lock()
	defer t.mu.Unlock()
	n := 0
	for _, queues := range t.topics {
		if data, ok := queues[brokerName]; ok {
			data.Perm &^= permWrite
			if writable {
				data.Perm |= permWrite
			}
			queues[brokerName] = data
			n++
		}
	}
	return n
}
