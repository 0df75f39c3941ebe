package broker_test

import (
	"context"
	"flag"
	"net/netip"
	"strconv"
	"sync/atomic"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/sirupsen/logrus"
	"github.com/sirupsen/logrus/hooks/test"
	"go.uber.org/goleak"

	"github.com/wheelmq/wheelmq/broker"
	"github.com/wheelmq/wheelmq/clock"
	"github.com/wheelmq/wheelmq/config"
	"github.com/wheelmq/wheelmq/difference"
	"github.com/wheelmq/wheelmq/health"
	"github.com/wheelmq/wheelmq/internal/await"
	"github.com/wheelmq/wheelmq/message"
	"github.com/wheelmq/wheelmq/remoting"
	"github.com/wheelmq/wheelmq/store/region"
)

func TestMain(m *testing.M) {
	// A check has a dozen restarts. -rapid.checks on the command line wins.
	if err := flag.Set("rapid.checks", "15"); err != nil {
		panic(err)
	}
	goleak.VerifyTestMain(m)
}

const startMs = 1_900_000_000_000

// reporter is what testing.TB and rapid.T have in common.
type reporter interface {
	Helper()
	Fatal(args ...any)
	Fatalf(format string, args ...any)
}

// lab is a broker on a virtual clock, with its store in memory and without sockets.
type lab struct {
	t      reporter
	disk   *region.Memory
	broker *broker.Broker
	config *config.Config
	log    logrus.FieldLogger
	conns  atomic.Uint64
	wire   clock.Clock // nil: the machine's

	metrics prometheus.Registerer
	health  *health.Registry
}

func newLab(t reporter) *lab {
	log, _ := test.NewNullLogger()
	l := &lab{t: t, disk: region.NewMemory(), config: config.Default(), log: log}
	// Nobody but the test writes to the disk at a power cut.
	l.config.MessageIndexEnable = false
	l.config.MappedFileSizeCommitLog = 8 << 20
	l.config.SyncFlushTimeout = await.Patience.Milliseconds()
	return l
}

// open starts the broker with a clock that stands somewhere.
func (l *lab) open(at int64) {
	l.t.Helper()
	l.assemble(at)
	l.start()
}

func (l *lab) start() {
	l.t.Helper()
	if err := l.broker.Start(); err != nil {
		l.t.Fatal(err)
	}
}

// assemble makes a broker that does nothing yet.
func (l *lab) assemble(at int64) {
	l.t.Helper()
	differences, err := difference.NewSet("")
	if err != nil {
		l.t.Fatal(err)
	}
	var wire clock.Clock = clock.Real{}
	if l.wire != nil {
		wire = l.wire
	}
	l.metrics, l.health = prometheus.NewRegistry(), health.NewRegistry()
	l.broker, err = broker.New(broker.Options{
		Config: l.config, Memory: l.disk, StoreHost: netip.MustParseAddrPort("127.0.0.1:10911"), Store: clock.NewVirtual(at), Wire: wire,
		Log: l.log, Metrics: l.metrics, Health: l.health, Differences: differences,
	})
	if err != nil {
		l.t.Fatal(err)
	}
}

func (l *lab) close() {
	l.t.Helper()
	if err := l.broker.Close(); err != nil {
		l.t.Fatal(err)
	}
}

func within() (context.Context, context.CancelFunc) {
	return await.Context()
}

// call sends a request and returns the answer, which must be a success.
func (l *lab) call(code int32, ext *remoting.ExtWriter, body []byte) *remoting.Command {
	l.t.Helper()
	reply := l.ask(code, ext, body)
	if reply.Code != remoting.Success {
		l.t.Fatalf("request %d: code %d: %s", code, reply.Code, reply.Remark)
	}
	return reply
}

// ask makes a request that may be refused.
func (l *lab) ask(code int32, ext *remoting.ExtWriter, body []byte) *remoting.Command {
	l.t.Helper()
	ctx, cancel := within()
	defer cancel()
	reply, err := l.broker.Call(ctx, code, ext, body)
	if err != nil {
		l.t.Fatal(err)
	}
	return reply
}

// send stores a message; level 0 has no delay.
func (l *lab) send(topic string, queueID int32, body string, level int) {
	l.t.Helper()
	var props []byte
	if level > 0 {
		props = message.PropertyAppend(props, message.PropertyDelay, strconv.Itoa(level))
	}
	var ext remoting.ExtWriter
	req := remoting.SendMessageRequest{
		ProducerGroup: []byte("P"), Topic: []byte(topic), DefaultTopic: []byte(message.TopicAutoCreate), DefaultTopicQueueNums: 2,
		QueueID: queueID, Properties: props,
	}
	req.EncodeV2(&ext)
	l.call(remoting.SendMessageV2, &ext, []byte(body))
}

// sendBack gives a message back that lies somewhere in the log, as one that a group fails at.
func (l *lab) sendBack(group string, commitLogOffset int64) {
	l.t.Helper()
	var ext remoting.ExtWriter
	req := remoting.ConsumerSendMsgBackRequest{Offset: commitLogOffset, Group: group, MaxReconsumeTimes: -1}
	req.Encode(&ext)
	l.call(remoting.ConsumerSendMsgBack, &ext, nil)
}
