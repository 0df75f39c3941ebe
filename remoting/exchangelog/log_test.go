package exchangelog_test

import (
	"io"
	"net/netip"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/sirupsen/logrus"

	"github.com/wheelmq/wheelmq/clock"
	"github.com/wheelmq/wheelmq/remoting"
	"github.com/wheelmq/wheelmq/remoting/exchangelog"
)

// peer is a client's connection.
type peer struct {
	id     uint64
	closed atomic.Bool
}

func (p *peer) ID() uint64 { return p.id }
func (p *peer) RemoteAddr() netip.AddrPort {
	return netip.AddrPortFrom(netip.MustParseAddr("127.0.0.1"), uint16(p.id))
}
func (*peer) LocalAddr() netip.AddrPort                { return netip.AddrPort{} }
func (p *peer) Closed() bool                           { return p.closed.Load() }
func (p *peer) Close(string)                           { p.closed.Store(true) }
func (*peer) Send([]byte) error                        { return nil }
func (*peer) SendParts([]byte, [][]byte, func()) error { return nil }

// rig is a router with a log; pulls of queue 9 are held.
type rig struct {
	wire   *clock.Virtual
	log    *exchangelog.Log
	router *remoting.Router
	mu     sync.Mutex // guards held
	held   []*remoting.Pending
}

func newRig(steps ...remoting.Step) *rig {
	silent := logrus.New()
	silent.SetOutput(io.Discard)
	r := &rig{wire: clock.NewVirtual(1_000_000)}
	r.log = exchangelog.New(exchangelog.Options{Wire: r.wire})
	pull := func(ex *remoting.Exchange) error {
		if q, _ := ex.Req.Ext.Get("queueId"); string(q) == "9" {
			r.mu.Lock()
			defer r.mu.Unlock()
			r.held = append(r.held, ex.Defer())
			return nil
		}
		ex.Reply.Code = remoting.PullNotFound
		return nil
	}
	send := func(ex *remoting.Exchange) error {
		ex.Reply.Ext.Plain("msgId", []byte("ID"))
		ex.Reply.Ext.Int("queueOffset", 41)
		return nil
	}
	fine := func(*remoting.Exchange) error { return nil }
	r.router = remoting.NewRouter([]remoting.Route{
		{Code: remoting.PullMessage, Handler: pull}, {Code: remoting.SendMessageV2, Handler: send}, {Code: remoting.HeartBeat, Handler: fine},
		{Code: remoting.UpdateConsumerOffset, Handler: fine}, {Code: remoting.GetRouteInfoByTopic, Handler: fine},
	}, remoting.RouterOptions{Log: silent, Before: append([]remoting.Step{r.log.Before("broker")}, steps...)})
	return r
}

func (r *rig) serve(p *peer, code int32, flag int32, body string, fields ...string) {
	ex := new(remoting.Exchange)
	ex.Begin(p)
	ex.Req.Code, ex.Req.Flag, ex.Req.Body = code, flag, []byte(body)
	for i := 0; i < len(fields); i += 2 {
		ex.Req.Ext.Set(fields[i], fields[i+1])
	}
	r.router.Serve(ex)
}

func (r *rig) send(p *peer, topic string) {
	r.serve(p, remoting.SendMessageV2, 0, "", "a", "P", "b", topic, "e", "3")
}

func (r *rig) pull(p *peer, queue string) {
	r.serve(p, remoting.PullMessage, 0, "", "consumerGroup", "G", "topic", "T", "queueId", queue, "queueOffset", "5")
}

func (r *rig) commit(p *peer, queue, offset string) {
	r.serve(p, remoting.UpdateConsumerOffset, remoting.FlagOneway, "", "consumerGroup", "G", "topic", "T", "queueId", queue, "commitOffset", offset)
}

func TestLog_Rows(t *testing.T) {
	t.Parallel()
	r := newRig(func(ex *remoting.Exchange, route *remoting.Route) error {
		switch topic, _ := ex.Req.Ext.Get("b"); string(topic) {
		case "busy":
			ex.Plan().Rule = "f1"
			return remoting.Errorf(remoting.SystemBusy, "by f1")
		case "drop":
			ex.Plan().Rule, ex.Plan().Drop = "f2", true
		case "close":
			ex.Plan().Rule, ex.Plan().Close = "f3", true
		case "slow":
			ex.Plan().Rule, ex.Plan().Delay, ex.Plan().After = "f4", time.Second, func(time.Duration, func()) {}
		}
		return nil
	})
	a, b := &peer{id: 1}, &peer{id: 2}
	r.serve(a, remoting.HeartBeat, 0, `{"clientID":"c@1","producerDataSet":[]}`)
	for _, topic := range []string{"T", "busy", "drop", "close", "slow"} {
		r.send(a, topic)
	}
	r.pull(b, "9")
	r.wire.Set(1_000_250)
	r.held[0].Reply.Ext.Int("nextBeginOffset", 7)
	r.held[0].Reply.Parts = [][]byte{{1}, {2}}
	r.held[0].Reply.Remark = "FOUND"
	r.held[0].Send()
	r.commit(b, "3", "7")
	r.serve(b, 999, 0, "")
	r.pull(b, "9")
	r.wire.Set(1_001_000)
	want := []exchangelog.Exchange{
		{Client: "127.0.0.1:1 c@1", Code: 34, Name: "HEART_BEAT", Result: "SUCCESS"},
		{Client: "127.0.0.1:1 c@1", Code: 310, Name: "SEND_MESSAGE_V2", Topic: "T", Group: "P", QueueID: "3", Offset: "41", Result: "SUCCESS"},
		{Client: "127.0.0.1:1 c@1", Code: 310, Name: "SEND_MESSAGE_V2", Topic: "busy", Group: "P", QueueID: "3", Result: "SYSTEM_BUSY", Remark: "by f1", Fault: "f1"},
		{Client: "127.0.0.1:1 c@1", Code: 310, Name: "SEND_MESSAGE_V2", Topic: "drop", Group: "P", QueueID: "3", Offset: "41", Result: "dropped", Remark: "executed: SUCCESS", Fault: "f2"},
		{Client: "127.0.0.1:1 c@1", Code: 310, Name: "SEND_MESSAGE_V2", Topic: "close", Group: "P", QueueID: "3", Offset: "41", Result: "closed", Fault: "f3"},
		{Client: "127.0.0.1:1 c@1", Code: 310, Name: "SEND_MESSAGE_V2", Topic: "slow", Group: "P", QueueID: "3", Offset: "41", Result: "SUCCESS", Remark: "held back 1s", Fault: "f4"},
		{Client: "127.0.0.1:2", Code: 11, Name: "PULL_MESSAGE", Topic: "T", Group: "G", QueueID: "9", Offset: "5->7", Result: "SUCCESS", Remark: "2 messages, FOUND", Duration: 250 * time.Millisecond},
		{Client: "127.0.0.1:2", Code: 15, Name: "UPDATE_CONSUMER_OFFSET", Topic: "T", Group: "G", QueueID: "3", Offset: "7", Result: "oneway"},
		{Client: "127.0.0.1:2", Code: 999, Name: "999", Result: "REQUEST_CODE_NOT_SUPPORTED", Remark: " request type 999 not supported"},
		{Client: "127.0.0.1:2", Code: 11, Name: "PULL_MESSAGE", Topic: "T", Group: "G", QueueID: "9", Offset: "5", Result: "held", Duration: 750 * time.Millisecond},
	}
	got := r.log.Last()
	if len(got) != len(want) {
		t.Fatalf("%d rows: %+v", len(got), got)
	}
	for i := range got {
		if got[i].At.Before(time.UnixMilli(1_000_000)) {
			t.Errorf("row %d is of %v", i, got[i].At)
		}
		got[i].At, want[i].Server = time.Time{}, "broker"
		if got[i] != want[i] {
			t.Errorf("row %d is\n%+v, want\n%+v", i, got[i], want[i])
		}
	}
	a.Close("")
	b.Close("")
	if got := r.log.Last(); len(got) != len(want)-1 {
		t.Errorf("%d rows with a pull that nobody will answer", len(got))
	}
	r.held[1].Send()
	r.log.Clear()
	if got := r.log.Last(); len(got) != 0 {
		t.Errorf("%d rows after Clear", len(got))
	}
}

// What idle clients repeat is counted, and leaves the other rows where they are.
func TestLog_IdleClientsPushNothingOut(t *testing.T) {
	t.Parallel()
	r := newRig()
	p := &peer{id: 1}
	for i := range 60 {
		r.send(p, "T"+strconv.Itoa(i))
	}
	for range 100 {
		for q := range 40 {
			r.pull(p, strconv.Itoa(q%9))
			r.commit(p, strconv.Itoa(q), "7")
		}
		r.serve(p, remoting.HeartBeat, 0, `{}`)
		r.serve(p, remoting.GetRouteInfoByTopic, 0, "", "topic", "T")
	}
	sends, routine := 0, map[string]bool{}
	list := r.log.Last()
	for i := range list {
		if x := &list[i]; x.Name == "SEND_MESSAGE_V2" {
			sends++
		} else {
			routine[x.Name+" "+x.Result] = true
		}
	}
	if len(list) != exchangelog.DefaultSize || sends != 40 || !routine["HEART_BEAT SUCCESS ×100"] ||
		!routine["GET_ROUTEINFO_BY_TOPIC SUCCESS ×100"] || !routine["UPDATE_CONSUMER_OFFSET oneway ×100"] {
		t.Fatalf("%d rows, %d sends, %v", len(list), sends, routine)
	}
}

// With little to tell, what is routine has the room.
func TestLog_RoomForRoutine(t *testing.T) {
	t.Parallel()
	r := newRig()
	p := &peer{id: 1}
	r.send(p, "T")
	for q := range 9 {
		r.pull(p, strconv.Itoa(q))
		r.pull(p, strconv.Itoa(q))
	}
	for range 8 {
		r.pull(p, "9")
	}
	if list := r.log.Last(); len(list) != 18 || list[0].Name != "SEND_MESSAGE_V2" || list[1].Result != "PULL_NOT_FOUND ×2" || list[17].Result != "held" {
		t.Fatalf("%d rows: %+v", len(list), list)
	}
}

func TestLog_Concurrency(t *testing.T) {
	t.Parallel()
	r := newRig()
	var all sync.WaitGroup
	for id := range uint64(6) {
		all.Go(func() {
			p := &peer{id: id}
			for i := range 300 {
				r.serve(p, remoting.HeartBeat, 0, `{"clientID":"c"}`)
				r.send(p, "T")
				r.pull(p, strconv.Itoa(i%10))
				if i%50 == 0 && len(r.log.Last()) > exchangelog.DefaultSize {
					t.Error("too many rows")
				}
			}
			p.Close("")
		})
	}
	all.Wait()
	for _, p := range r.held {
		p.Send()
	}
	if got := len(r.log.Last()); got != exchangelog.DefaultSize {
		t.Fatalf("%d rows", got)
	}
}

func BenchmarkLog_Send(b *testing.B) {
	r := newRig()
	p := &peer{id: 1}
	ex := new(remoting.Exchange)
	b.ReportAllocs()
	for b.Loop() {
		ex.Begin(p)
		ex.Req.Code = remoting.SendMessageV2
		ex.Req.Ext.Reset()
		ex.Req.Ext.Add([]byte("a"), []byte("P"))
		ex.Req.Ext.Add([]byte("b"), []byte("T"))
		ex.Req.Ext.Add([]byte("e"), []byte("3"))
		r.router.Serve(ex)
	}
}
