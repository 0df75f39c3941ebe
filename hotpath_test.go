package wheelmq_test

import (
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/wheelmq/wheelmq/internal/await"
	"github.com/wheelmq/wheelmq/message"
	"github.com/wheelmq/wheelmq/remoting"
)

// hotLoad is what TestHotPath_SkipsNothing sends through one connection, in flight together.
type hotLoad struct {
	frames []byte
	sent   int // requests
}

func (l *hotLoad) add(code int32, fields map[string]string, body []byte) {
	var ext remoting.ExtWriter
	for key, value := range fields {
		ext.String(key, value)
	}
	l.frames = remoting.AppendRequest(l.frames, code, int32(l.sent), 0, &ext, body)
	l.sent++
}

func (l *hotLoad) send(props string, body []byte) {
	l.add(remoting.SendMessageV2, map[string]string{
		"a": "P", "b": "T", "c": "TBW102", "d": "4", "e": "0", "f": "0", "g": "1", "h": "0", "i": props, "j": "0", "k": "false", "m": "false",
	}, body)
}

// run writes everything at once and returns the replies by opaque.
func (l *hotLoad) run(t *testing.T, addr string) []*remoting.Command {
	t.Helper()
	c, err := net.Dial("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if err := c.SetDeadline(time.Now().Add(await.Patience)); err != nil {
		t.Fatal(err)
	}
	go func() { _, _ = c.Write(l.frames) }()
	replies := make([]*remoting.Command, l.sent)
	for range replies {
		frame := make([]byte, 4)
		if _, err := io.ReadFull(c, frame); err != nil {
			t.Fatal(err)
		}
		frame = append(frame, make([]byte, binary.BigEndian.Uint32(frame))...)
		if _, err := io.ReadFull(c, frame[4:]); err != nil {
			t.Fatal(err)
		}
		reply := new(remoting.Command)
		if err := remoting.Decode(frame, reply); err != nil {
			t.Fatal(err)
		}
		replies[reply.Opaque] = reply
	}
	return replies
}

// metrics reads what the console shows, by name and labels.
func metrics(t *testing.T, addr string) map[string]float64 {
	t.Helper()
	reply, err := http.Get("http://" + addr + "/metrics")
	if err != nil {
		t.Fatal(err)
	}
	defer reply.Body.Close()
	text, err := io.ReadAll(reply.Body)
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]float64{}
	for line := range strings.SplitSeq(string(text), "\n") {
		// What all of a broker's metrics have is left out.
		line = strings.NewReplacer(`{cluster="DefaultCluster",node_id="broker-a",node_type="broker",otel_scope_name="broker-meter"}`, "").Replace(line)
		if name, value, ok := strings.Cut(line, " "); ok && name != "#" {
			if n, err := strconv.ParseFloat(value, 64); err == nil {
				all[name] = n
			}
		}
	}
	return all
}

// The figures of docs/benchmarks.md mean nothing if the fast path saves a hook or a counter:
// every message of a pipelined load meets every hook and is counted exactly once.
func TestHotPath_SkipsNothing(t *testing.T) {
	const n, inBatch = 200, 5
	i := start(t, t.TempDir())
	var load hotLoad
	var item []byte
	for k := range n {
		body := fmt.Appendf(nil, "body-%04d", k)
		load.send(string(message.PropertyAppend(nil, message.PropertyTags, "A")), body)
		load.send(string(message.PropertyAppend(nil, message.PropertySource, "1:2:3")), body)       // stripped
		load.send(string(message.PropertyAppend(nil, message.PropertyDelay, "18")), body)           // rewritten
		load.send(string(message.PropertyAppend(nil, message.PropertyTimerDelaySec, "9000")), body) // rewritten, too
		item = item[:0]
		for range inBatch {
			props := message.PropertyAppend(nil, message.PropertySource, "1:2:3")
			item = binary.BigEndian.AppendUint32(item, uint32(4+4+4+4+4+len(body)+2+len(props)))
			item = append(item, make([]byte, 12)...) // magic, CRC, flag
			item = append(binary.BigEndian.AppendUint32(item, uint32(len(body))), body...)
			item = append(binary.BigEndian.AppendUint16(item, uint16(len(props))), props...)
		}
		load.add(remoting.SendBatchMessage, map[string]string{
			"a": "P", "b": "T", "c": "TBW102", "d": "4", "e": "0", "f": "0", "g": "1", "h": "0", "i": "", "j": "0", "k": "false", "m": "true",
		}, item)
	}
	before := metrics(t, i.HTTPAddr())
	replies := load.run(t, i.BrokerAddr())
	for _, reply := range replies {
		if reply.Code != remoting.Success {
			t.Fatalf("a send was refused: code %d %s", reply.Code, reply.Remark)
		}
	}

	var pulls hotLoad
	const inQueue = n * (2 + inBatch)
	got, gotBytes := 0, 0
	for offset := 0; offset < inQueue; {
		pulls = hotLoad{}
		pulls.add(remoting.PullMessage, map[string]string{
			"consumerGroup": "g", "topic": "T", "queueId": "0", "queueOffset": strconv.Itoa(offset), "maxMsgNums": "32", "sysFlag": "4",
			"commitOffset": "0", "suspendTimeoutMillis": "0", "subVersion": "0", "subscription": "*", "expressionType": "TAG",
		}, nil)
		reply := pulls.run(t, i.BrokerAddr())[0]
		if reply.Code != remoting.Success {
			t.Fatalf("pull at %d: code %d %s", offset, reply.Code, reply.Remark)
		}
		for body := reply.Body; len(body) > 0; offset++ {
			v, err := message.ParseVerify(body)
			if err != nil {
				t.Fatal(err)
			}
			if source, ok := message.PropertyGet(v.Properties, message.PropertySource); ok {
				t.Fatalf("message %d kept the source %q that a client set", offset, source)
			}
			got, gotBytes, body = got+1, gotBytes+int(v.Size), body[v.Size:]
		}
	}

	// The last frames are counted when their replies have left.
	const frames = `wheelmq_frames_total{port="broker",server="broker"}`
	var after map[string]float64
	await.Until(t, "all frames are counted", func() bool {
		after = metrics(t, i.HTTPAddr())
		return after[frames]-before[frames] >= 5*n+(inQueue+31)/32
	})
	for queueID, topicName := range map[string]string{"17": message.TopicSchedule, "0": message.TopicTimer} {
		end := call(t, i.BrokerAddr(), remoting.GetMaxOffset, map[string]string{"topic": topicName, "queueId": queueID}, "")
		if text, _ := end.Ext.Get("offset"); string(text) != strconv.Itoa(n) {
			t.Errorf("%s messages are in %s, want %d", text, topicName, n)
		}
	}
	if got != inQueue {
		t.Errorf("%d readable, want %d", got, inQueue)
	}
	for name, want := range map[string]int{
		"wheelmq_messages_put_total": n * (4 + inBatch),
		"wheelmq_puts_failed_total":  0,
		"wheelmq_messages_got_total": inQueue,
		"wheelmq_got_bytes_total":    gotBytes,
		"wheelmq_pulls_missed_total": 0,
		frames:                       5*n + (inQueue+31)/32,
	} {
		if _, ok := after[name]; !ok {
			t.Errorf("no metric %s", name)
		}
		if diff := after[name] - before[name]; diff != float64(want) {
			t.Errorf("%s grew by %v, want %d", name, diff, want)
		}
	}
	if err := i.Close(context.Background()); err != nil {
		t.Fatal(err)
	}
}
