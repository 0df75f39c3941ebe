package interchange

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/wheelmq/wheelmq/test/peer"
	"github.com/wheelmq/wheelmq/test/suite"
	"github.com/wheelmq/wheelmq/test/wire"
)

// delays are the delay levels of every server here. The first are over while one server stops
// and the other starts, the last are not.
var delays = []time.Duration{4 * time.Second, 20 * time.Second, 45 * time.Second, 60 * time.Second, 80 * time.Second}

// sizes make a store roll its files after a few hundred messages.
var sizes = map[string]string{
	"mappedFileSizeCommitLog": "262144", "mappedFileSizeConsumeQueue": "2000",
	"maxHashSlotNum": "1000", "maxIndexNum": "4000",
}

func configuration() map[string]string {
	conf := map[string]string{"maxMessageSize": "65536", "messageDelayLevel": delayLevels()}
	maps.Copy(conf, sizes)
	return conf
}

func delayLevels() string {
	items := make([]string, len(delays))
	for i, d := range delays {
		items[i] = strconv.Itoa(int(d.Seconds())) + "s"
	}
	return strings.Join(items, " ")
}

// limit is for failures only: a JVM on a busy machine starts slowly.
const limit = 180 * time.Second

// patience bounds what a server does within seconds.
const patience = 60 * time.Second

var (
	named  = []string{"Orders", "Payments", "Audit", again}
	queues = []queue{
		{"Orders", 0}, {"Orders", 1}, {"Orders", 2}, {"Payments", 0}, {"Payments", 1}, {"Audit", 0},
		{retryTopic, 0}, {deadTopic, 0}, {again, 0},
	}
	positions = []position{
		{group, queue{"Orders", 0}}, {group, queue{"Orders", 2}}, {group, queue{"Audit", 0}},
		{"Other", queue{"Orders", 0}}, {"Other", queue{"Payments", 1}},
	}
)

const (
	group      = "Shipping"
	retryTopic = "%RETRY%" + group
	deadTopic  = "%DLQ%" + group
	dropped    = "Dropped"
	again      = "Again"
)

// writer fills a server's store with a bit of everything.
type writer struct {
	server *peer.Target
	c      *wire.Conn
	sent   int
	keyed  []keyed // some of what was sent
}

func newWriter(t *testing.T, server *peer.Target) *writer {
	t.Helper()
	return &writer{server: server, c: wire.Dial(t, server.BrokerAddr)}
}

// createTopics makes the topics, the group and its retry topic.
func (w *writer) createTopics(t *testing.T) {
	t.Helper()
	w.c.MustCreateTopic(t, "Orders", 3)
	w.c.MustCreateTopic(t, "Payments", 2)
	w.c.MustCreateTopic(t, "Audit", 1)
	wire.Introduce(t, w.server.BrokerAddr, group, "Orders")
	wire.Introduce(t, w.server.BrokerAddr, "Other", "Orders")
	answer := w.c.Call(t, updateGroup, nil, []byte(`{"groupName":"Slow","consumeEnable":true,"consumeFromMinEnable":false,"consumeBroadcastEnable":false,`+
		`"retryQueueNums":2,"retryMaxTimes":3,"brokerId":0,"whichBrokerWhenConsumeSlowly":1,"notifyConsumerIdsChangedEnable":true,"consumeTimeoutMinute":7,"attributes":{}}`))
	if answer.Code != wire.Success {
		t.Fatalf("group: %v", answer)
	}
}

// plain sends n messages of a few kilobytes to every queue in turn, and a batch.
func (w *writer) plain(t *testing.T, n int) {
	t.Helper()
	for range n {
		q := queues[w.sent%6]
		key := fmt.Sprintf("key-%d", w.sent)
		sent := w.c.MustSend(t, wire.Send{
			Topic: q.topic, QueueID: q.id, Flag: w.sent, Body: w.body(),
			Properties: wire.Properties("UNIQ_KEY", fmt.Sprintf("%032X", w.sent), "KEYS", key+" order", "TAGS", "Tag"+strconv.Itoa(w.sent%3), "user", "ü"),
		})
		if w.sent%40 == 0 {
			w.keyed = append(w.keyed, keyed{q.topic, key, sent.CommitLogOffset})
		}
		w.sent++
	}
	answer := w.c.SendBatch(t, wire.Send{Topic: "Audit"},
		wire.BatchItem{Body: []byte("batch 1"), Properties: wire.Properties("TAGS", "B")},
		wire.BatchItem{Body: []byte("batch 2"), Properties: wire.Properties("k", "v")})
	if answer.Code != wire.Success {
		t.Fatalf("batch: %v", answer)
	}
}

func (w *writer) body() []byte {
	return fmt.Appendf(nil, "message %d of %s %s", w.sent, w.server.Kind, strings.Repeat("x", 500+w.sent%40*60))
}

// drop sends to two topics, deletes them, and makes one of them anew.
func (w *writer) drop(t *testing.T) {
	t.Helper()
	for _, topic := range []string{dropped, again} {
		w.c.MustCreateTopic(t, topic, 1)
		from := w.c.MaxOffset(t, topic, 0)
		for range 5 {
			w.c.MustSend(t, wire.Send{Topic: topic, Body: []byte("first life")})
		}
		w.c.Settle(t, topic, 0, from+5)
		if answer := w.c.Call(t, deleteTopicInBroker, map[string]string{"topic": topic}, nil); answer.Code != wire.Success {
			t.Fatalf("delete topic: %v", answer)
		}
	}
	w.c.MustCreateTopic(t, again, 1)
	w.c.MustSend(t, wire.Send{Topic: again, Body: []byte("second life")})
	w.c.Settle(t, again, 0, 1)
}

// consume commits offsets, sends one message back for a retry and one to the dead letters, and
// waits until all of it has reached its queues and files.
func (w *writer) consume(t *testing.T) {
	t.Helper()
	retries, dead := w.c.MaxOffset(t, retryTopic, 0), w.c.MaxOffset(t, deadTopic, 0)
	first := w.c.MustPull(t, wire.Pull{Group: group, Topic: "Orders", QueueID: 0, MaxMsgNums: 2}).Messages
	for i, level := range []int{1, -1} {
		if answer := w.c.SendBack(t, group, "Orders", first[i].CommitLogOffset, level); answer.Code != wire.Success {
			t.Fatalf("send back: %v", answer)
		}
	}
	want := make(map[position]int64)
	for i, p := range positions {
		want[p] = w.c.MaxOffset(t, p.topic, p.id) - int64(i)
		if answer := w.c.Commit(t, p.group, p.topic, p.id, want[p]); answer.Code != wire.Success {
			t.Fatalf("commit: %v", answer)
		}
	}
	suite.Eventually(t, patience, "the retry is delivered", func() bool { return w.c.MaxOffset(t, retryTopic, 0) == retries+1 })
	suite.Eventually(t, patience, "the dead letter is stored", func() bool { return w.c.MaxOffset(t, deadTopic, 0) == dead+1 })
	suite.Eventually(t, patience, "consumer offsets are saved", func() bool {
		saved := table(t, w.server.StoreDir, "consumerOffset.json")
		for p, offset := range want {
			if saved[p.topic+"@"+p.group][strconv.Itoa(p.id)] != float64(offset) {
				return false
			}
		}
		return true
	})
	w.delivered(t)
}

// delivered waits until every delay level has been delivered to its end, and its offset saved.
func (w *writer) delivered(t *testing.T) {
	t.Helper()
	suite.Eventually(t, patience, "delay offsets are saved", func() bool {
		saved := offsets(t, w.server.StoreDir, "delayOffset.json")
		for i := range delays {
			if saved[strconv.Itoa(i+1)] != float64(w.c.MaxOffset(t, wire.ScheduleTopic, i)) {
				return false
			}
		}
		return true
	})
}

// pending sends n messages of every delay level up to the highest, which must not come before
// their time, and returns their bodies with their levels.
func (w *writer) pending(t *testing.T, n, highest int) map[string]int {
	t.Helper()
	sent := make(map[string]int)
	for level := highest; level > 0; level-- {
		for i := range n {
			q := queues[(level+i)%6]
			body := fmt.Sprintf("pending %d-%d of %s, message %d", level, i, w.server.Kind, w.sent)
			w.c.MustSend(t, wire.Send{Topic: q.topic, QueueID: q.id, Body: []byte(body), Properties: wire.Properties(
				"UNIQ_KEY", fmt.Sprintf("%032X", w.sent), "DELAY", strconv.Itoa(level), "TAGS", "Late")})
			sent[body] = level
			w.sent++
		}
	}
	return sent
}

// bareKey is a number as a key without quotes, as the real broker writes it.
var bareKey = regexp.MustCompile(`([{,]\s*)(\d+)\s*:`)

func read(t *testing.T, store, name string, v any) {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(store, "config", name))
	if os.IsNotExist(err) {
		return
	}
	if err != nil {
		t.Fatal(err)
	}
	// Half written at this moment, or not what was expected: the caller asks again.
	_ = json.Unmarshal(bareKey.ReplaceAll(b, []byte(`$1"$2":`)), v)
}

func table(t *testing.T, store, name string) map[string]map[string]float64 {
	t.Helper()
	var file struct{ OffsetTable map[string]map[string]float64 }
	read(t, store, name, &file)
	return file.OffsetTable
}

func offsets(t *testing.T, store, name string) map[string]float64 {
	t.Helper()
	var file struct{ OffsetTable map[string]float64 }
	read(t, store, name, &file)
	return file.OffsetTable
}
