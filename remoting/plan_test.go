package remoting_test

import (
	"testing"
	"time"

	"github.com/wheelmq/wheelmq/remoting"
)

// later keeps what is to be sent later.
type later struct {
	delay time.Duration
	send  func()
}

func (l *later) after(d time.Duration, send func()) { l.delay, l.send = d, send }

// A planned answer: what the client gets at once and later, and that its parts are given back
// exactly once, on the direct way and through a Pending.
func TestPlan(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		plan         func(*remoting.Plan, *later)
		oneway, gone bool
		now, later   int // frames
		sent, closed bool
	}{
		"only looked at":     {plan: func(*remoting.Plan, *later) {}, now: 1, sent: true},
		"dropped":            {plan: func(p *remoting.Plan, _ *later) { p.Drop = true }},
		"closed":             {plan: func(p *remoting.Plan, _ *later) { p.Close = true }, closed: true},
		"held back":          {plan: func(p *remoting.Plan, l *later) { p.Delay, p.After = time.Hour, l.after }, later: 1},
		"held back, gone":    {plan: func(p *remoting.Plan, l *later) { p.Delay, p.After = time.Hour, l.after }, gone: true},
		"oneway":             {plan: func(*remoting.Plan, *later) {}, oneway: true, sent: true},
		"oneway, dropped":    {plan: func(p *remoting.Plan, _ *later) { p.Drop = true }, oneway: true},
		"oneway, closed":     {plan: func(p *remoting.Plan, _ *later) { p.Close = true }, oneway: true, closed: true},
		"oneway, held back":  {plan: func(p *remoting.Plan, l *later) { p.Delay, p.After = time.Hour, l.after }, oneway: true, sent: true},
		"decided at the end": {plan: func(p *remoting.Plan, _ *later) { p.Decide = func(*remoting.Reply) { p.Drop = true } }},
		"held, then decided": {plan: func(p *remoting.Plan, l *later) { p.Decide = func(*remoting.Reply) { p.Delay, p.After = 1, l.after } }, later: 1},
	} {
		for _, deferred := range []bool{false, true} {
			t.Run(name+map[bool]string{true: ", deferred"}[deferred], func(t *testing.T) {
				t.Parallel()
				p := planned{t: t, deferred: deferred, oneway: c.oneway}
				p.serve(c.plan)
				if p.seen != 1 {
					t.Errorf("the answer was seen %d times", p.seen)
				}
				// What was not taken over is the server's to send and to release.
				if taken := deferred || !c.sent; p.ex.Deferred() != taken {
					t.Errorf("taken over: %v", p.ex.Deferred())
				}
				if !deferred && c.sent {
					return
				}
				now := c.now
				if len(p.conn.frames) != now || p.conn.shut != c.closed || p.released != 1 {
					t.Fatalf("%d frames, closed %v, released %d times", len(p.conn.frames), p.conn.shut, p.released)
				}
				p.conn.gone = c.gone
				if p.later.send != nil {
					p.later.send()
				}
				if got := len(p.conn.frames) - now; got != c.later || p.released != 1 {
					t.Fatalf("%d frames later, released %d times", got, p.released)
				}
				p.checkFrames()
			})
		}
	}
}

// planned is an exchange whose answer has a body of two parts.
type planned struct {
	t                *testing.T
	deferred, oneway bool
	ex               remoting.Exchange
	conn             planConn
	later            later
	seen, released   int
}

type planConn struct {
	conn
	gone, shut bool
}

func (c *planConn) Closed() bool { return c.gone }
func (c *planConn) Close(string) { c.shut = true }
func (c *planConn) Send(frame []byte) error {
	if c.gone {
		return nil
	}
	return c.conn.Send(frame)
}

func (p *planned) fill(r *remoting.Reply) {
	r.Body = []byte("bo")
	r.Parts = append(r.Parts, []byte("d"), []byte("y"))
	r.Release = func() { p.released++ }
}

func (p *planned) serve(plan func(*remoting.Plan, *later)) {
	p.t.Helper()
	var pending *remoting.Pending
	router := remoting.NewRouter([]remoting.Route{{Code: remoting.PullMessage, Handler: func(ex *remoting.Exchange) error {
		if p.deferred {
			pending = ex.Defer()
			p.fill(&pending.Reply)
		} else {
			p.fill(&ex.Reply)
		}
		return nil
	}}}, remoting.RouterOptions{Log: quiet(), Before: []remoting.Step{func(ex *remoting.Exchange, _ *remoting.Route) error {
		plan(ex.Plan(), &p.later)
		ex.Plan().OnReply = func(*remoting.Reply) { p.seen++ }
		return nil
	}}})
	p.ex.Begin(&p.conn)
	p.ex.Req.Code, p.ex.Req.Opaque = remoting.PullMessage, 9
	if p.oneway {
		p.ex.Req.Flag = remoting.FlagOneway
	}
	router.Serve(&p.ex)
	if p.deferred {
		if p.seen != 0 {
			p.t.Error("a deferred answer was seen before it was there")
		}
		pending.Send()
	}
}

func (p *planned) checkFrames() {
	p.t.Helper()
	for _, frame := range p.conn.frames {
		var cmd remoting.Command
		if err := remoting.Decode(frame, &cmd); err != nil || cmd.Opaque != 9 || string(cmd.Body) != "body" {
			p.t.Errorf("%s, %v", text(&cmd), err)
		}
	}
}

// Steps see a code that has no row, and may answer it.
func TestRouter_StepsSeeUnknownCodes(t *testing.T) {
	t.Parallel()
	seen := int32(0)
	ex := serve(t, 999, remoting.RouterOptions{Before: []remoting.Step{func(_ *remoting.Exchange, route *remoting.Route) error {
		seen = route.Code
		return remoting.Errorf(remoting.SystemBusy, "busy")
	}}}, nil)
	if seen != 999 || ex.Reply.Code != remoting.SystemBusy {
		t.Fatalf("seen %d, answered %d", seen, ex.Reply.Code)
	}
}

func TestTarget(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		code         int32
		fields       map[string]string
		body         string
		topic, group string
	}{
		{remoting.SendMessageV2, map[string]string{"a": "P", "b": "T", "c": "TBW102"}, "", "T", "P"},
		{remoting.SendBatchMessage, map[string]string{"a": "P", "b": "T"}, "", "T", "P"},
		{remoting.SendMessage, map[string]string{"producerGroup": "P", "topic": "T", "defaultTopic": "TBW102"}, "", "T", "P"},
		{remoting.PullMessage, map[string]string{"consumerGroup": "G", "topic": "T", "a": "no", "b": "no"}, "", "T", "G"},
		{remoting.ConsumerSendMsgBack, map[string]string{"group": "G", "originTopic": "T"}, "", "T", "G"},
		{remoting.GetConsumerListByGroup, map[string]string{"consumerGroup": "G"}, "", "", "G"},
		{remoting.UnregisterClient, map[string]string{"producerGroup": "", "consumerGroup": "G", "clientID": "c"}, "", "", "G"},
		{remoting.GetRouteInfoByTopic, map[string]string{"topic": "T"}, "", "T", ""},
		{remoting.LockBatchMQ, nil, `{"clientId":"c","consumerGroup":"G","mqSet":[]}`, "", "G"},
		{remoting.LockBatchMQ, nil, `{`, "", ""},
		{remoting.HeartBeat, nil, `{"clientID":"c"}`, "", ""},
	} {
		cmd := remoting.Command{Code: c.code, Body: []byte(c.body)}
		for key, value := range c.fields {
			cmd.Ext.Set(key, value)
		}
		if topic, group := remoting.Target(&cmd); string(topic) != c.topic || string(group) != c.group {
			t.Errorf("code %d: topic %q, group %q", c.code, topic, group)
		}
	}
}

func servePull(tb testing.TB) func() {
	tb.Helper()
	router := remoting.NewRouter([]remoting.Route{{Code: remoting.PullMessage, Handler: func(ex *remoting.Exchange) error {
		ex.Reply.Code = remoting.PullNotFound
		return nil
	}}}, remoting.RouterOptions{})
	ex, to := new(remoting.Exchange), new(conn)
	return func() {
		ex.Begin(to)
		ex.Req.Code = remoting.PullMessage
		router.Serve(ex)
		if ex.Deferred() {
			tb.Fatal("deferred")
		}
	}
}

// A server whose answers nobody plans pays nothing for it.
func TestRouter_ServeAllocatesNothing(t *testing.T) {
	if allocs := testing.AllocsPerRun(100, servePull(t)); allocs != 0 {
		t.Errorf("%v allocations", allocs)
	}
}

func BenchmarkRouter_Serve(b *testing.B) {
	run := servePull(b)
	b.ReportAllocs()
	for b.Loop() {
		run()
	}
}
