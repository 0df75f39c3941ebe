package doctor

import (
	"context"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/sirupsen/logrus"

	"github.com/wheelmq/wheelmq"
	"github.com/wheelmq/wheelmq/admin"
	"github.com/wheelmq/wheelmq/config"
	"github.com/wheelmq/wheelmq/internal/await"
	"github.com/wheelmq/wheelmq/internal/freeport"
)

// start runs a server in memory on free ports; change may alter its configuration.
func start(t *testing.T, change func(*wheelmq.Config)) *wheelmq.Instance {
	t.Helper()
	cfg := config.Default()
	cfg.BindAddress, cfg.ListenPort, cfg.NamesrvListenPort, cfg.HTTPPort = "127.0.0.1", 0, 0, 0
	log := logrus.New()
	log.SetOutput(t.Output())
	full := wheelmq.Config{Config: cfg, Log: log, Test: &wheelmq.TestConfig{Memory: true}}
	if change != nil {
		change(&full)
	}
	mq, err := wheelmq.Start(t.Context(), full)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := mq.Close(context.Background()); err != nil {
			t.Error(err)
		}
	})
	return mq
}

// greeter is the address of a server that says something else than a name server would.
func greeter(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			// Who does not read it finds a closed connection.
			_, _ = conn.Write([]byte("SSH-2.0-other\r\n"))
			conn.Close()
		}
	}()
	return l.Addr().String()
}

func TestExamine(t *testing.T) {
	t.Parallel()
	mq := start(t, nil)
	alone := start(t, func(c *wheelmq.Config) { c.WithoutBroker = true })
	elsewhere := start(t, func(c *wheelmq.Config) { c.BrokerIP1 = "127.0.0.2" })
	strict := start(t, func(c *wheelmq.Config) { c.AutoCreateTopicEnable = false })
	page := httptest.NewServer(http.NotFoundHandler())
	t.Cleanup(page.Close)
	silent, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { silent.Close() })
	hung := start(t, func(c *wheelmq.Config) { c.Advertise = silent.Addr().String() })
	stranger := greeter(t)

	_, unused, err := net.SplitHostPort(freeport.Addr(t))
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		nameServer, topic string
		fault             Fault
		says              string
	}{
		"nothing is wrong":        {mq.NameServerAddr(), "", None, "everything answers"},
		"a topic that is there":   {mq.NameServerAddr(), "SELF_TEST_TOPIC", None, "clients can use SELF_TEST_TOPIC"},
		"the broker's port":       {mq.BrokerAddr(), "", WrongPort, "is the port of a broker"},
		"an HTTP port":            {page.Listener.Addr().String(), "", WrongPort, "is an HTTP port"},
		"a port that is silent":   {silent.Addr().String(), "", NameServerDown, "nothing comes back"},
		"another protocol":        {stranger, "", WrongPort, "not in RocketMQ's protocol"},
		"a broker that hangs":     {hung.NameServerAddr(), "", Unreachable, "answers nothing"},
		"no name server":          {freeport.Addr(t), "", NameServerDown, "nothing listens at"},
		"no such host":            {"nowhere.invalid:9876", "", NotResolved, "nowhere.invalid"},
		"no broker":               {alone.NameServerAddr(), "", NotRegistered, "no broker is registered"},
		"an address out of reach": {elsewhere.NameServerAddr(), "", Unreachable, "clients are told that broker-a is at 127.0.0.2:"},
		"no topic":                {mq.NameServerAddr(), "none", TopicMissing, "the first send creates it"},
		"no topic, and no send":   {strict.NameServerAddr(), "none", TopicMissing, "wheelmq topics create none"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			// What is silent takes all of the time.
			var got Report
			for timeout := time.Second; timeout < await.Patience; timeout *= 4 {
				got = Examine(t.Context(), Options{NameServers: []string{c.nameServer}, Topic: c.topic, Timeout: timeout, usualPort: unused})
				if got.Fault == c.fault {
					break
				}
			}
			if got.Fault != c.fault || !strings.Contains(got.Sentence, c.says) {
				t.Errorf("found %+v, want %q and %q", got, c.fault, c.says)
			}
		})
	}
}

func TestExamine_ANameServerAtTheUsualPort(t *testing.T) {
	t.Parallel()
	_, usual, err := net.SplitHostPort(start(t, nil).NameServerAddr())
	if err != nil {
		t.Fatal(err)
	}
	got := Examine(t.Context(), Options{NameServers: []string{freeport.Addr(t)}, usualPort: usual})
	if got.Fault != WrongPort || !strings.Contains(got.Sentence, ":"+usual+": the port is wrong") {
		t.Errorf("found %+v", got)
	}
}

// Clients go on with the other, so the doctor does too.
func TestExamine_OneOfTwoNameServersIsDown(t *testing.T) {
	t.Parallel()
	mq := start(t, nil)
	down := freeport.Addr(t)
	_, unused, err := net.SplitHostPort(down)
	if err != nil {
		t.Fatal(err)
	}
	got := Examine(t.Context(), Options{NameServers: []string{down, mq.NameServerAddr()}, usualPort: unused})
	if last := got.Steps[len(got.Steps)-1]; got.Fault != NameServerDown || !last.OK || !strings.Contains(last.Says, "broker-a answers") {
		t.Errorf("found %+v", got)
	}
}

func TestExamine_ATopicThatMayNotBeWrittenTo(t *testing.T) {
	t.Parallel()
	mq := start(t, func(c *wheelmq.Config) { c.BrokerPermission = 4 })
	c := admin.New(admin.Options{NameServers: []string{mq.NameServerAddr()}})
	t.Cleanup(func() { c.Close() })
	if err := c.CreateTopic(t.Context(), "orders", 2, ""); err != nil {
		t.Fatal(err)
	}
	got := Examine(t.Context(), Options{NameServers: []string{mq.NameServerAddr()}, Topic: "orders"})
	if got.Fault != TopicNotUsable || !strings.Contains(got.Sentence, "may be written to") {
		t.Errorf("found %+v", got)
	}
}
