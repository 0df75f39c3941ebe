package processor

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/wheelmq/wheelmq/broker/stats"
	"github.com/wheelmq/wheelmq/clock"
	"github.com/wheelmq/wheelmq/difference"
	"github.com/wheelmq/wheelmq/message"
	"github.com/wheelmq/wheelmq/remoting"
	"github.com/wheelmq/wheelmq/store/region"
)

// LevelProgress is how far one delay level is delivered.
type LevelProgress struct {
	Level          int
	Delivered, Max int64 // queue offsets
}

// RuntimeInfo serves GET_BROKER_RUNTIME_INFO (28) and GET_BROKER_CONFIG (26).
//
// Every key of the real 5.5.0 is there: mqadmin's columns fail on a missing one. So are two of RocketMQ
// 4, for exporters. What this server does not have, as a transient store pool, is shown as the real one
// shows it when it is off.
//
// Only the first group of fields is required.
type RuntimeInfo struct {
	Stats interface{ Totals() stats.Totals }
	Store logReader
	Wire  clock.Clock

	CommitLogDir string // of which the disk is shown
	// Space is how full that disk is, as the store measures it; nil: nobody knows.
	Space func() (region.Space, error)
	// Delays returns the levels that have an offset.
	Delays func() []LevelProgress
	// Timers returns how far any-time delays are, in MessageTime; nil: there are none.
	Timers      func() TimerState
	MessageTime clock.Clock
	// Waiting is how many requests of a class wait for a worker; nil: none ever does.
	Waiting func(remoting.Class) int
	// Unflushed is the bytes of the log that are not on disk yet.
	Unflushed func() int64
	// DispatchBehind is the bytes of the log that are not in the queues yet.
	DispatchBehind func() int64
	// Differences decides about keys that the real 5.5.0 no longer has; nil: all on.
	Differences *difference.Set
	// Config is the configuration in force as key=value lines and the JSON of its
	// version; nil refuses GET_BROKER_CONFIG.
	Config func() (properties, version string)
}

// Routes returns the table rows.
func (r *RuntimeInfo) Routes() []remoting.Route {
	const test = "broker/processor/runtime_info_test.go"
	return []remoting.Route{
		{Code: remoting.GetBrokerConfig, Class: remoting.Admin, Handler: r.config, Since: "3.0", Test: test},
		{Code: remoting.GetBrokerRuntimeInfo, Class: remoting.Admin, Handler: r.runtime, Since: "3.0", Test: test},
	}
}

func (r *RuntimeInfo) config(ex *remoting.Exchange) error {
	if r.Config == nil {
		return &remoting.Error{Code: remoting.SystemError, Remark: "the configuration is not shown"}
	}
	properties, version := r.Config()
	ex.Reply.Ext.String("version", version)
	ex.Reply.Body = []byte(properties)
	return nil
}

func (r *RuntimeInfo) runtime(ex *remoting.Exchange) error {
	ex.Reply.Body = encodeTable(r.table())
	return nil
}

// table is the answer's {"table":{…}}, all values as text.
func (r *RuntimeInfo) table() map[string]string {
	t := map[string]string{
		"brokerVersionDesc": "V5_5_0", "brokerActive": "true", "startAcceptSendRequestTimeStamp": "0",
		"pageCacheLockTimeMills": "0", "dispatchMaxBuffer": "0", "remainTransientStoreBufferNumbs": "2147483647",
		"EndTransactionQueueSize": "0", "EndTransactionThreadPoolQueueCapacity": "100000",
	}
	r.addTotals(t)
	r.addStore(t)
	r.addPools(t)
	r.addTimers(t)
	r.addOlder(t)
	if r.Delays != nil {
		for _, level := range r.Delays() {
			t["scheduleMessageOffset_"+strconv.Itoa(level.Level)] = fmt.Sprintf("%d,%d", level.Delivered, level.Max)
		}
	}
	return t
}

// addOlder adds what published exporters and consoles parse without asking whether it is there.
func (r *RuntimeInfo) addOlder(t map[string]string) {
	if d := r.Differences; d != nil && !d.Use(difference.OlderRuntimeKeys) {
		return
	}
	t["brokerVersion"] = decimal(int64(remoting.Version))
	t["getTransferedTps"] = t["getTransferredTps"]
}

func (r *RuntimeInfo) addTotals(t map[string]string) {
	s := r.Stats.Totals()
	t["bootTimestamp"] = decimal(s.BootMs)
	t["runtime"] = span(r.Wire.NowMillis() - s.BootMs)
	for key, value := range map[string]int64{
		"msgPutTotalTodayNow": s.PutsToday, "msgPutTotalTodayMorning": s.PutsMorning, "msgPutTotalYesterdayMorning": s.PutsYesterday,
		"msgGetTotalTodayNow": s.GotsToday, "msgGetTotalTodayMorning": s.GotsMorning, "msgGetTotalYesterdayMorning": s.GotsYesterday,
		"putMessageTimesTotal": s.Puts, "putMessageSizeTotal": s.PutBytes, "putMessageFailedTimes": s.PutFailed,
		"putMessageEntireTimeMax": s.PutTookMax, "getMessageEntireTimeMax": s.GotTookMax,
	} {
		t[key] = decimal(value)
	}
	for key, value := range map[string][3]float64{
		"putTps": s.PutTPS, "getFoundTps": s.FoundTPS, "getMissTps": s.MissTPS,
		"getTransferredTps": s.TransferredTPS, "getTotalTps": s.TotalTPS,
	} {
		t[key] = javaDouble(value[0]) + " " + javaDouble(value[1]) + " " + javaDouble(value[2])
	}
	average := 0.0
	if s.Puts > 0 {
		average = float64(s.PutBytes) / float64(s.Puts)
	}
	t["putMessageAverageSize"] = javaDouble(average)
	t["putLatency99"] = strconv.FormatFloat(s.PutLatency99, 'f', 2, 64)
	t["putLatency999"] = strconv.FormatFloat(s.PutLatency999, 'f', 2, 64)
	t["putMessageDistributeTime"] = s.PutDistribution
}

func (r *RuntimeInfo) addStore(t map[string]string) {
	first, end := r.Store.MinCommitLogOffset(), r.Store.MaxCommitLogOffset()
	if first == end {
		first = -1
	}
	t["commitLogMinOffset"], t["commitLogMaxOffset"] = decimal(first), decimal(end)
	t["earliestMessageTimeStamp"] = decimal(r.earliest(first))
	t["dispatchBehindBytes"] = decimal(call(r.DispatchBehind))
	t["remainHowManyDataToFlush"] = humanBytes(call(r.Unflushed))

	space := r.space()
	shown := strconv.FormatFloat(space.Ratio(), 'f', 2, 64)
	t["commitLogDiskRatio"], t["consumeQueueDiskRatio"] = shown, shown
	t["commitLogDiskRatio_"+r.CommitLogDir] = shown
	t["commitLogDirCapacity"] = fmt.Sprintf("Total : %s, Free : %s.", humanBytes(space.Used+space.Free), humanBytes(space.Free))
}

// space is how full the disk is, zeros when that cannot be told.
func (r *RuntimeInfo) space() region.Space {
	if r.Space == nil {
		return region.Space{}
	}
	space, err := r.Space()
	if err != nil {
		return region.Space{}
	}
	return space
}

// earliest is when the first record of the log was stored, ms; -1 when that cannot be read.
func (r *RuntimeInfo) earliest(first int64) int64 {
	if first < 0 {
		return -1
	}
	record, err := r.Store.Record(first, 0)
	if err != nil {
		return -1
	}
	defer record.Release()
	view, err := message.Parse(record.Bytes)
	if err != nil {
		return -1
	}
	return view.StoreTimestamp
}

// pools are the real server's thread pools that are shown, and how many requests may wait for each.
var pools = []struct {
	name     string
	class    remoting.Class
	capacity int
}{
	{"send", remoting.Inline, 10_000}, {"pull", remoting.Pull, 100_000}, {"litePull", remoting.Inline, 100_000},
	{"query", remoting.Query, 20_000}, {"ack", remoting.Inline, 100_000},
}

// addPools shows the classes of requests under the names of the real server's thread pools. What runs on
// the event loop never waits.
func (r *RuntimeInfo) addPools(t map[string]string) {
	for _, pool := range pools {
		waiting := 0
		if r.Waiting != nil && pool.class != remoting.Inline {
			waiting = r.Waiting(pool.class)
		}
		t[pool.name+"ThreadPoolQueueSize"] = strconv.Itoa(waiting)
		t[pool.name+"ThreadPoolQueueCapacity"] = strconv.Itoa(pool.capacity)
		t[pool.name+"ThreadPoolQueueHeadWaitTimeMills"] = "0"
	}
}

func call(f func() int64) int64 {
	if f == nil {
		return 0
	}
	return f()
}

func decimal(n int64) string { return strconv.FormatInt(n, 10) }

// javaDouble is a number as Java prints a double.
func javaDouble(v float64) string {
	s := strconv.FormatFloat(v, 'f', -1, 64)
	if !strings.Contains(s, ".") {
		s += ".0"
	}
	return s
}

// humanBytes is a size as the real server prints it: "798 B", "236.5 GiB".
func humanBytes(n int64) string {
	if n < 1024 {
		return decimal(n) + " B"
	}
	v, unit := float64(n), -1
	for v >= 1024 && unit < 5 {
		v, unit = v/1024, unit+1
	}
	return fmt.Sprintf("%.1f %ciB", v, "KMGTPE"[unit])
}

// span is a duration as the real server prints it.
func span(ms int64) string {
	seconds := max(ms, 0) / 1000
	return fmt.Sprintf("[ %d days, %d hours, %d minutes, %d seconds ]",
		seconds/86400, seconds/3600%24, seconds/60%60, seconds%60)
}

// encodeTable is a KVTable body.
func encodeTable(table map[string]string) []byte {
	body := []byte(`{"table":{`)
	for i, key := range slices.Sorted(maps.Keys(table)) {
		if i > 0 {
			body = append(body, ',')
		}
		body = remoting.AppendJSONString(body, key)
		body = append(body, ':')
		body = remoting.AppendJSONString(body, table[key])
	}
	return append(body, "}}"...)
}
