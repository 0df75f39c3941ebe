package namesrv

import (
	"maps"
	"net/netip"
	"slices"
	"sync"

	"github.com/wheelmq/wheelmq/clock"
	"github.com/wheelmq/wheelmq/remoting"
)

// Permissions of a queue.
const (
	permWrite     int32 = 1 << 1
	permReadWrite int32 = 6
)

// Registration is what a broker tells of itself.
type Registration struct {
	remoting.BrokerIdentity
	HAServerAddr       string
	EnableActingMaster bool
	// KnowsActingMaster tells that the broker sent enableActingMaster at all: only then may
	// its smallest slave stand in for topics of a missing master.
	KnowsActingMaster bool
	ZoneName          string
	TimeoutMs         int64  // 0: 120,000
	ConnID            uint64 // connection it came over; 0 for the broker of this process
	Topics            remoting.TopicConfigWrapper
	// LocalPort is set for the broker of this process when its address was not configured:
	// clients are told the address they reached us by, with this port.
	LocalPort uint16
	// AdvertisedTo, when not nil, is what a client is told instead, which reached us at one address
	// and came from another; "" is nothing else.
	AdvertisedTo func(reached, client netip.Addr) string
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

// Result answers a registration: both are empty unless a slave has a living master.
type Result struct{ MasterAddr, HAServerAddr string }

// Register takes a registration. Topics count from the master, or from the smallest slave of
// brokers that know of acting masters, and only when the data version has changed, so that a
// wiped write permission outlives renewals. A registration of one topic from a broker that
// is not known is refused: it cannot be whole.
func (t *Table) Register(r Registration, nowMs int64, advertise Advertise) (Result, bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	ids := t.brokers[r.BrokerName]
	old := ids[r.BrokerID]
	if old == nil && len(r.Topics.TopicConfigTable) == 1 && r.ConnID != 0 {
		return Result{}, false
	}
	if old != nil && old.BrokerAddr != r.BrokerAddr &&
		old.Topics.DataVersion.StateVersion > r.Topics.DataVersion.StateVersion {
		return Result{}, true
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
	ids[r.BrokerID] = &broker{Registration: r, seenMs: nowMs}
	t.takeTopics(&r, old)
	return t.masterOf(&r, advertise), true
}

// takeTopics applies the topics of a registration that follows old. Caller holds mu.
func (t *Table) takeTopics(r *Registration, old *broker) {
	standIn := r.BrokerID != 0 && r.KnowsActingMaster && r.BrokerID == slices.Min(slices.Collect(maps.Keys(t.brokers[r.BrokerName])))
	if r.BrokerID != 0 && !standIn {
		return
	}
	changed := old == nil || old.BrokerAddr != r.BrokerAddr || old.Topics.DataVersion != r.Topics.DataVersion
	for name, config := range r.Topics.TopicConfigTable {
		if _, has := t.topics[name][r.BrokerName]; has && !changed {
			continue
		}
		if standIn && r.EnableActingMaster {
			config.Perm &^= permWrite
		}
		t.setQueues(name, r.BrokerName, config)
	}
}

func (t *Table) masterOf(r *Registration, advertise Advertise) Result {
	master := t.brokers[r.BrokerName][0]
	if r.BrokerID == 0 || master == nil {
		return Result{}
	}
	return Result{MasterAddr: advertise(&master.Registration), HAServerAddr: master.HAServerAddr}
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
func (t *Table) Unregister(id remoting.BrokerIdentity, connID uint64) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	b := t.brokers[id.BrokerName][id.BrokerID]
	if b == nil || b.BrokerAddr != id.BrokerAddr || b.ConnID != connID {
		return false
	}
	t.drop(b)
	return true
}

// ConnClosed forgets what was registered over a connection.
func (t *Table) ConnClosed(connID uint64) []remoting.BrokerIdentity {
	return t.dropIf(func(b *broker) bool { return b.ConnID == connID && connID != 0 })
}

// Expire forgets brokers not seen within their time and returns when the next one will be due,
// ms; clock.Never when there is none.
func (t *Table) Expire(nowMs int64) (next int64, gone []remoting.BrokerIdentity) {
	next = clock.Never
	gone = t.dropIf(func(b *broker) bool {
		due := b.seenMs + b.timeout()
		if b.ConnID == 0 {
			return false
		}
		if due > nowMs {
			next = min(next, due)
		}
		return due <= nowMs
	})
	return next, gone
}

func (b *broker) timeout() int64 {
	if b.TimeoutMs > 0 {
		return b.TimeoutMs
	}
	return 120_000
}

func (t *Table) dropIf(match func(*broker) bool) (gone []remoting.BrokerIdentity) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, ids := range t.brokers {
		for _, b := range ids {
			if match(b) {
				t.drop(b)
				gone = append(gone, b.BrokerIdentity)
			}
		}
	}
	return gone
}

// drop removes one address; with a broker name's last address its queues go. Caller holds mu.
func (t *Table) drop(b *broker) {
	ids := t.brokers[b.BrokerName]
	delete(ids, b.BrokerID)
	if len(ids) > 0 {
		if ids[0] == nil && b.EnableActingMaster {
			t.changePerm(b.BrokerName, func(perm int32) int32 { return perm &^ permWrite })
		}
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
// is the one it registered with. It is looked up by its address: a heartbeat (904) may carry
// no id.
func (t *Table) Seen(id remoting.BrokerIdentity, nowMs int64) (version remoting.DataVersion, known bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, b := range t.brokers[id.BrokerName] {
		if b.BrokerAddr == id.BrokerAddr {
			b.seenMs = nowMs
			return b.Topics.DataVersion, true
		}
	}
	return version, false
}

// Counts are the numbers of broker addresses and topics.
func (t *Table) Counts() (brokers, topics int) {
	t.mu.RLock()
	defer t.mu.RUnlock()
	for _, ids := range t.brokers {
		brokers += len(ids)
	}
	return brokers, len(t.topics)
}

// Group is one broker name's addresses; empty when it is not known.
func (t *Table) Group(brokerName string, advertise Advertise) remoting.BrokerData {
	t.mu.RLock()
	defer t.mu.RUnlock()
	data, _ := t.brokerData(brokerName, advertise)
	return data
}

// AddQueues is REGISTER_TOPIC_IN_NAMESRV (217): queues on brokers that are registered.
func (t *Table) AddQueues(topic string, queues []remoting.QueueData) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, q := range queues {
		if t.brokers[q.BrokerName] != nil {
			t.setQueues(topic, q.BrokerName, remoting.TopicConfig{Perm: q.Perm, ReadQueueNums: q.ReadQueueNums,
				WriteQueueNums: q.WriteQueueNums, TopicSysFlag: q.TopicSysFlag})
		}
	}
}

// Advertise maps a broker to the address that a client should use; "" leaves it out.
type Advertise func(r *Registration) string

// Route is the route of a topic; false when no living broker has it.
func (t *Table) Route(topic string, advertise Advertise) (remoting.TopicRouteData, bool) {
	t.mu.RLock()
	defer t.mu.RUnlock()
	route := remoting.TopicRouteData{FilterServerTable: map[string][]string{}, BrokerDatas: []remoting.BrokerData{}}
	for _, name := range slices.Sorted(maps.Keys(t.topics[topic])) {
		if data, ok := t.brokerData(name, advertise); ok {
			route.QueueDatas = append(route.QueueDatas, t.topics[topic][name])
			route.BrokerDatas = append(route.BrokerDatas, data)
		}
	}
	return route, len(route.BrokerDatas) > 0
}

func (t *Table) brokerData(name string, advertise Advertise) (remoting.BrokerData, bool) {
	data := remoting.BrokerData{BrokerName: name, BrokerAddrs: make(map[int64]string)}
	for id, b := range t.brokers[name] {
		addr := advertise(&b.Registration)
		if addr == "" {
			continue
		}
		data.BrokerAddrs[id] = addr
		data.Cluster, data.EnableActingMaster, data.ZoneName = b.ClusterName, b.EnableActingMaster, b.ZoneName
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
	return t.topicsWhere(func(name string, _ remoting.QueueData) bool {
		return cluster == "" || t.clusterOf(name) == cluster
	})
}

// TopicsByFlag lists the topics of which a queue's topicSysFlag matches.
func (t *Table) TopicsByFlag(match func(flag int32) bool) []string {
	return t.topicsWhere(func(_ string, q remoting.QueueData) bool { return match(q.TopicSysFlag) })
}

func (t *Table) topicsWhere(match func(brokerName string, q remoting.QueueData) bool) []string {
	t.mu.RLock()
	defer t.mu.RUnlock()
	list := []string{}
	for _, topic := range slices.Sorted(maps.Keys(t.topics)) {
		for name, q := range t.topics[topic] {
			if match(name, q) {
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

// SetWritable takes the write bit from every topic of a broker, or sets their permission to
// read and write as a whole, as the real server does: TBW102 loses its inherit bit. It
// counts the topics.
func (t *Table) SetWritable(brokerName string, writable bool) int {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.changePerm(brokerName, func(perm int32) int32 {
		if writable {
			return permReadWrite
		}
		return perm &^ permWrite
	})
}

// changePerm counts what it changes. Caller holds mu.
func (t *Table) changePerm(brokerName string, change func(int32) int32) int {
	n := 0
	for _, queues := range t.topics {
		if data, ok := queues[brokerName]; ok {
			data.Perm = change(data.Perm)
			queues[brokerName] = data
			n++
		}
	}
	return n
}
