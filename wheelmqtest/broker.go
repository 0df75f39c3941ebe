package wheelmqtest

import (
	"context"
	"fmt"
	"time"

	"github.com/wheelmq/wheelmq"
	"github.com/wheelmq/wheelmq/control"
	"github.com/wheelmq/wheelmq/health"
)

// startLimit bounds a start, and what is done to a server in one go.
const startLimit = 2 * time.Minute

// Broker is a running server: name server and broker. Its methods are safe for concurrent use
// and end the test with Fatalf when something goes wrong, so they belong to its goroutine.
type Broker struct {
	t        TB
	setup    *setup
	instance *wheelmq.Instance
	logs     logs
}

// Start starts a server that lives as long as the test.
func Start(t TB, opts ...Option) *Broker {
	t.Helper()
	s, err := newSetup(opts)
	if err != nil {
		t.Fatalf("wheelmqtest: %v", err)
	}
	mq := &Broker{t: t, setup: s}
	ctx, cancel := context.WithTimeout(context.Background(), startLimit)
	defer cancel()
	// Tests come in many processes: one goroutine for the sockets of each server is plenty.
	mq.instance, err = wheelmq.Start(ctx, wheelmq.Config{Config: s.config, Log: newLogger(&mq.logs), Test: &s.test, EventLoops: 1})
	if err != nil {
		t.Fatalf("wheelmqtest: %v\n%s", err, mq.logs.String())
	}
	t.Cleanup(mq.finish)
	if err := mq.create(ctx); err != nil {
		t.Fatalf("wheelmqtest: %v", err)
	}
	return mq
}

// create makes the topics and groups of the options.
func (mq *Broker) create(ctx context.Context) error {
	for _, topic := range mq.setup.topics {
		if err := mq.Control().CreateTopic(ctx, topic.name, topic.queues); err != nil {
			return err
		}
	}
	for _, group := range mq.setup.groups {
		if err := mq.Control().CreateGroup(ctx, group.name, group.maxRetry); err != nil {
			return err
		}
	}
	return nil
}

// finish closes the server and tells what a failure needs.
func (mq *Broker) finish() {
	mq.t.Helper()
	differences := mq.Differences()
	exchanges := control.ExchangeTable(mq.Exchanges())
	ctx, cancel := context.WithTimeout(context.Background(), startLimit)
	defer cancel()
	if err := mq.instance.Close(ctx); err != nil {
		mq.t.Logf("wheelmqtest: close: %v", err)
	}
	if len(differences) > 0 {
		mq.t.Logf("wheelmqtest: the test relied on what RocketMQ 5.5.0 does not do:\n%s", differenceTable(differences))
	}
	if mq.t.Failed() {
		mq.t.Logf("wheelmqtest: the last exchanges:\n%s", exchanges)
		mq.t.Logf("wheelmqtest: the server's log:\n%s", mq.logs.String())
	}
}

// NameServerAddr is what clients set as their name server, host:port.
func (mq *Broker) NameServerAddr() string { return mq.instance.NameServerAddr() }

// BrokerAddr is the broker's address, which clients get from the name server.
func (mq *Broker) BrokerAddr() string { return mq.instance.BrokerAddr() }

// HTTPAddr is where /test/, /health and /metrics are, host:port.
func (mq *Broker) HTTPAddr() string { return mq.instance.HTTPAddr() }

// Health is the state of the server and its parts.
func (mq *Broker) Health() health.Report { return mq.instance.Health() }

// Control is what the methods here are made of; its methods return errors instead of ending
// the test.
func (mq *Broker) Control() *control.Control { return mq.instance.Control() }

// must ends the test when something has gone wrong.
func (mq *Broker) must(what string, err error) {
	if err != nil {
		mq.t.Helper()
		mq.t.Fatalf("wheelmqtest: %s: %v", what, err)
	}
}

// within runs a step with a bound of real time.
func (mq *Broker) within(what string, limit time.Duration, step func(context.Context) error) {
	mq.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	mq.must(what, step(ctx))
}

// Restart stops the server as SIGTERM would and starts it again on the same ports. Clients
// connect again by themselves.
func (mq *Broker) Restart() {
	mq.t.Helper()
	mq.within("restart", startLimit, mq.instance.Restart)
}

// Kill takes the power away and starts the server again on the same ports: connections break
// off without an answer, and messages that were not durable are lost although they were
// acknowledged, as with RocketMQ's ASYNC_FLUSH; with SyncFlush none are.
func (mq *Broker) Kill() {
	mq.t.Helper()
	mq.within("kill", startLimit, mq.instance.Kill)
}

// Reset makes the server as it was at its start: empty but for the topics and groups of the
// options. Clients connect again by themselves.
func (mq *Broker) Reset() {
	mq.t.Helper()
	mq.within("reset", startLimit, func(ctx context.Context) error {
		if err := mq.instance.Reset(ctx); err != nil {
			return err
		}
		return mq.create(ctx)
	})
}

// Snapshot keeps what the server holds under a name: messages, topics, groups, offsets, and
// where a virtual clock stands.
func (mq *Broker) Snapshot(name string) {
	mq.t.Helper()
	mq.within(fmt.Sprintf("snapshot %q", name), startLimit, func(ctx context.Context) error { return mq.instance.Snapshot(ctx, name) })
}

// Restore makes the server hold what a snapshot does, as often as wanted.
func (mq *Broker) Restore(name string) {
	mq.t.Helper()
	mq.within(fmt.Sprintf("restore %q", name), startLimit, func(ctx context.Context) error { return mq.instance.Restore(ctx, name) })
}
