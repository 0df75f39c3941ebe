package topic_test

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/sirupsen/logrus/hooks/test"

	"github.com/wheelmq/wheelmq/broker/persist"
	"github.com/wheelmq/wheelmq/broker/topic"
	"github.com/wheelmq/wheelmq/clock"
	"github.com/wheelmq/wheelmq/difference"
	"github.com/wheelmq/wheelmq/message"
	"github.com/wheelmq/wheelmq/remoting"
)

func newTable(t testing.TB, dir string, change func(*topic.Options)) *topic.Table {
	t.Helper()
	log, _ := test.NewNullLogger()
	differences, err := difference.NewSet("")
	if err != nil {
		t.Fatal(err)
	}
	opts := topic.Options{
		Store: clock.NewVirtual(1_800_000_000_000), Log: log, Differences: differences, Config: persist.At(dir), Cluster: "C",
		Broker: "B", AutoCreate: true, DefaultQueueNums: 8, ScheduleQueues: 18, ClusterTopicEnable: true,
		BrokerTopicEnable: true,
	}
	if change != nil {
		change(&opts)
	}
	table, err := topic.New(opts)
	if err != nil {
		t.Fatal(err)
	}
	return table
}

// TestNew_CreatesTheSystemTopics holds what a fresh 5.5.0 has in its topics.json.
func TestNew_CreatesTheSystemTopics(t *testing.T) {
	t.Parallel()
	table := newTable(t, "", nil)
	for name, want := range map[string][2]int32{
		"SCHEDULE_TOPIC_XXXX": {18, 6}, "SELF_TEST_TOPIC": {1, 6}, "rmq_sys_wheel_timer": {1, 6}, "C": {16, 7},
		"RMQ_SYS_ROCKSDB_TRANS_HALF_TOPIC": {1, 6}, "C_REPLY_TOPIC": {1, 6}, "rmq_sys_REVIVE_LOG_C": {8, 6},
		"RMQ_SYS_TRANS_HALF_TOPIC": {1, 6}, "rmq_sys_SYNC_BROKER_MEMBER_B": {1, 1}, "B": {1, 7},
		"RMQ_SYS_ROCKSDB_TRANS_OP_HALF_TOPIC": {1, 6}, "RMQ_SYS_TRANS_OP_HALF_TOPIC": {1, 6}, "TBW102": {8, 7},
		"BenchmarkTest": {1024, 6}, "OFFSET_MOVED_EVENT": {1, 6}, "rmq_sys_wheelmq_parked": {1, 4},
	} {
		config := table.GetString(name)
		if config == nil {
			t.Errorf("%s does not exist", name)
			continue
		}
		if config.ReadQueueNums != want[0] || config.WriteQueueNums != want[0] || config.Perm != want[1] {
			t.Errorf("%s: %d/%d queues, perm %d, want %d, perm %d", name, config.ReadQueueNums, config.WriteQueueNums,
				config.Perm, want[0], want[1])
		}
	}
	if n := len(table.All()); n != 16 {
		t.Errorf("%d topics at the start, want 16", n)
	}
}

func TestCreateOnSend(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		defaultTopic string
		queueNums    int32
		autoCreate   bool
		want         int32 // queues, 0 when nothing is created
	}{
		"the client's number":      {"TBW102", 4, true, 4},
		"capped":                   {"TBW102", 16, true, 8},
		"none named":               {"TBW102", 0, true, 8},
		"negative":                 {"TBW102", -3, true, 8},
		"auto-creation is off":     {"TBW102", 4, false, 0},
		"unknown default":          {"Nope", 4, true, 0},
		"default does not inherit": {"SELF_TEST_TOPIC", 4, true, 0},
	} {
		table := newTable(t, "", func(o *topic.Options) { o.AutoCreate = c.autoCreate })
		before := table.DataVersion()
		config, err := table.CreateOnSend("New", c.defaultTopic, c.queueNums, 0)
		if err != nil {
			t.Fatal(err)
		}
		if c.want == 0 {
			if config != nil || table.GetString("New") != nil || table.DataVersion() != before {
				t.Errorf("%s: created %+v", name, config)
			}
			continue
		}
		if config == nil || config.ReadQueueNums != c.want || config.WriteQueueNums != c.want || config.Perm != 6 {
			t.Errorf("%s: created %+v, want %d queues, perm 6", name, config, c.want)
		}
		if table.DataVersion().Counter != before.Counter+1 {
			t.Errorf("%s: the version did not move", name)
		}
	}
}

func TestTable_SurvivesARestart(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	table := newTable(t, dir, nil)
	want := topic.Config{TopicName: "T", ReadQueueNums: 3, WriteQueueNums: 2, Perm: 4, TopicFilterType: "SINGLE_TAG",
		Order: true, Attributes: map[string]string{"+message.type": "DELAY"}}
	if changed, err := table.Update(want); !changed || err != nil {
		t.Fatal(changed, err)
	}
	if changed, err := table.Update(want); changed || err != nil {
		t.Errorf("the same configuration is a change: %v, %v", changed, err)
	}
	table.CreateRetry("%RETRY%g", 1, 6)
	if existed, err := table.Delete("%RETRY%g"); !existed || err != nil {
		t.Fatal(existed, err)
	}
	version := table.DataVersion()

	again := newTable(t, dir, nil)
	want.Attributes = map[string]string{"message.type": "DELAY"}
	if got := again.GetString("T"); got == nil || topic.Format(got) != topic.Format(&want) {
		t.Errorf("after a restart: %+v, want %+v", got, want)
	}
	if again.GetString("%RETRY%g") != nil {
		t.Error("a deleted topic is back")
	}
	if again.DataVersion().Counter <= version.Counter {
		t.Errorf("the version went from %+v to %+v", version, again.DataVersion())
	}
}

// TestNew_ReadsTheRealBrokersFile has a file as the real broker writes it: keys in its order,
// tabs, and .bak in place of a file that was cut.
func TestNew_ReadsTheRealBrokersFile(t *testing.T) {
	t.Parallel()
	const file = `{
	"dataVersion":{
		"counter":58,
		"stateVersion":0,
		"timestamp":1796003760585
	},
	"topicConfigTable":{
		"GT_List1":{
			"attributes":{},
			"order":false,
			"perm":6,
			"readQueueNums":2,
			"topicFilterType":"SINGLE_TAG",
			"topicName":"GT_List1",
			"topicSysFlag":0,
			"writeQueueNums":2
		}
	}
}`
	dir := t.TempDir()
	for name, content := range map[string]string{"topics.json": file[:100], "topics.json.bak": file} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	table := newTable(t, dir, nil)
	if config := table.GetString("GT_List1"); config == nil || config.WriteQueueNums != 2 {
		t.Errorf("read %+v", config)
	}
	if v := table.DataVersion(); v.Counter != 59 {
		t.Errorf("counter %d, want 59", v.Counter)
	}
}

func TestOnChange_TellsWithoutALock(t *testing.T) {
	t.Parallel()
	table := newTable(t, "", nil)
	var told []string
	table.OnChange(func(changed []*topic.Config, deleted []string) {
		table.DataVersion() // would deadlock under the table's lock
		for _, config := range changed {
			told = append(told, "+"+config.TopicName)
		}
		for _, name := range deleted {
			told = append(told, "-"+name)
		}
	})
	table.CreateRetry("%RETRY%g", 1, 6)
	table.CreateRetry("%RETRY%g", 1, 6)
	if _, err := table.Delete("%RETRY%g"); err != nil {
		t.Fatal(err)
	}
	if want := []string{"+%RETRY%g", "-%RETRY%g"}; !slices.Equal(told, want) {
		t.Errorf("told %v, want %v", told, want)
	}
}

func TestValidateName(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"a|b%c-d_", strings.Repeat("t", 127), "%RETRY%" + strings.Repeat("g", 248), "%DLQ%g"} {
		if err := topic.ValidateName(name); err != nil {
			t.Errorf("%q: %v", name, err)
		}
	}
	long := strings.Repeat("t", 128)
	for name, remark := range map[string]string{
		"":        "The specified topic is blank.",
		"bad^top": "The specified topic: bad^top, contains illegal characters, allowing only ^[%|a-zA-Z0-9_-]+$",
		"a.b":     "", "a b": "", "中文": "", "a+b": "", "%RETRY%" + strings.Repeat("g", 249): "",
		long: "The specified topic: " + long + ", is longer than topic max length: 127",
	} {
		var refusal *remoting.Error
		err := topic.ValidateName(name)
		if !errors.As(err, &refusal) || refusal.Code != remoting.InvalidParameter || remark != "" && refusal.Remark != remark {
			t.Errorf("%q: %v, want code 29 %q", name, err, remark)
		}
	}
}

// TestSystemTopics is the table of who may do what.
func TestSystemTopics(t *testing.T) {
	t.Parallel()
	table := newTable(t, "", nil)
	for name, noSend := range map[string]bool{
		message.TopicSchedule: true, message.TopicTimer: true, message.TopicParked: true, message.TopicTransHalf: true,
		message.TopicTransOpHalf: true, message.TopicTransCheckMax: true, message.TopicSelfTest: true,
		message.TopicOffsetMoved: true, message.TopicAutoCreate: false, message.TopicBenchmark: false, "C": false, "B": false,
		"C_REPLY_TOPIC": false, "rmq_sys_anything": false,
	} {
		if got := topic.Rule([]byte(name)).NoSend; got != noSend {
			t.Errorf("%s: sends are refused: %v, want %v", name, got, noSend)
		}
		if table.CheckChange(name) == nil {
			t.Errorf("%s can be changed", name)
		}
	}
	if err := table.CheckChange("T"); err != nil {
		t.Errorf("an ordinary topic: %v", err)
	}
}

func TestFormat_IsTheRealBrokersText(t *testing.T) {
	t.Parallel()
	const want = "TopicConfig [topicName=GT_Normal, readQueueNums=4, writeQueueNums=4, perm=RW-, " +
		"topicFilterType=SINGLE_TAG, topicSysFlag=0, order=false, attributes={}]"
	got := topic.Format(&topic.Config{TopicName: "GT_Normal", ReadQueueNums: 4, WriteQueueNums: 4, Perm: 6, TopicFilterType: "SINGLE_TAG"})
	if got != want {
		t.Errorf("%s\nwant %s", got, want)
	}
}

// TestLookUps_DoNotAllocate is for the paths of sends and pulls.
func TestLookUps_DoNotAllocate(t *testing.T) {
	table := newTable(t, "", nil)
	name := []byte("rmq_sys_" + strings.Repeat("t", 80))
	if n := testing.AllocsPerRun(100, func() {
		table.Get(name)
		topic.Rule(name)
	}); n != 0 {
		t.Errorf("%v allocations per look-up", n)
	}
}

func TestQueueFor(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ read, write, meant, want int32 }{
		{4, 4, 3, 3}, {2, 2, 2, 0}, {2, 2, 5, 1}, {2, 4, 3, 3}, {4, 2, 3, 3}, {2, 3, 3, 1},
		{0, 2, 3, 1}, {2, 0, 3, 1}, {0, 0, 3, 3}, {1, 1, 1<<31 - 1, 0},
	} {
		if got := topic.QueueFor(&topic.Config{ReadQueueNums: c.read, WriteQueueNums: c.write}, c.meant); got != c.want {
			t.Errorf("queue %d of %d to read and %d to write: %d, want %d", c.meant, c.read, c.write, got, c.want)
		}
	}
}
