// Package docs generates the documents that follow from the code: docs/compat.md from the
// router tables, docs/differences.md from the register of differences.
package docs

import (
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/sirupsen/logrus"

	"github.com/wheelmq/wheelmq/broker"
	"github.com/wheelmq/wheelmq/clock"
	"github.com/wheelmq/wheelmq/config"
	"github.com/wheelmq/wheelmq/difference"
	"github.com/wheelmq/wheelmq/health"
	"github.com/wheelmq/wheelmq/namesrv"
	"github.com/wheelmq/wheelmq/remoting"
)

// Table is one server's router table.
type Table struct {
	Title  string
	Routes []*remoting.Route
}

// Tables assembles a broker on a temporary store and a name server and returns their tables.
func Tables() (tables []Table, err error) {
	log := logrus.New()
	log.SetOutput(io.Discard)
	dir, err := os.MkdirTemp("", "wheelmq-docs-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	cfg := config.Default()
	cfg.StorePathRootDir = dir
	differences, err := difference.NewSet("")
	if err != nil {
		return nil, err
	}
	b, err := broker.New(broker.Options{
		Config: cfg, Store: clock.Real{}, Wire: clock.Real{}, Log: log, Metrics: prometheus.NewRegistry(),
		Health: health.NewRegistry(), Differences: differences,
	})
	if err != nil {
		return nil, err
	}
	if err := b.Start(); err != nil {
		return nil, err
	}
	defer func() {
		if e := b.Close(); err == nil {
			err = e
		}
	}()
	ns := namesrv.New(namesrv.Options{Wire: clock.Real{}, Log: log, Differences: differences})
	return []Table{
		{"Name server", remoting.NewRouter(ns.Routes(), remoting.RouterOptions{Log: log}).Routes()},
		{"Broker", b.Router().Routes()},
	}, nil
}

// Compat renders docs/compat.md.
func Compat(tables []Table) string {
	var s strings.Builder
	s.WriteString("# Request codes\n\nGenerated from the router tables by `make docs`. A code that is refused is answered with the reason in the remark, with 3 (REQUEST_CODE_NOT_SUPPORTED) unless the real broker answers 1; one that is not listed with 3.\n")
	for _, t := range tables {
		fmt.Fprintf(&s, "\n## %s\n\n| code | name | status | since RocketMQ | tested by |\n|---|---|---|---|---|\n", t.Title)
		for _, r := range t.Routes {
			fmt.Fprintf(&s, "| %d | %s | %s | %s | %s |\n", r.Code, r.Name, status(r), r.Since, r.Test)
		}
	}
	s.WriteString(calls)
	s.WriteString(unsupported)
	return s.String()
}

// calls are the codes that are no requests to a server.
const calls = `
## To clients

| code | name | when | tested by |
|---|---|---|---|
| 39 | CHECK_TRANSACTION_STATE | a half message is asked about | broker/transaction_test.go |
| 40 | NOTIFY_CONSUMER_IDS_CHANGED | a group's members change | broker/sharing_test.go |
| 220 | RESET_CONSUMER_CLIENT_OFFSET | an offset is reset and useServerSideResetOffset=false | broker/processor/offset_reset_test.go |
| 221 | GET_CONSUMER_STATUS_FROM_CLIENT | 223 | broker/processor/relay_test.go |
| 307 | GET_CONSUMER_RUNNING_INFO | 307 | broker/processor/relay_test.go |
| 309 | CONSUME_MESSAGE_DIRECTLY | 309 | broker/processor/relay_test.go |
| 326 | PUSH_REPLY_MESSAGE_TO_CLIENT | a reply (324, 325) | broker/processor/reply_test.go |

RocketMQ itself does not serve 13, 22, 23, 27, 47, 209 to 214, 301 and 302, constants of earlier versions.
`

// unsupported are the features that have no request code of their own.
const unsupported = `
## What is not supported

A request that needs one of these is refused with a remark that names it; nothing of it is stored.

| feature | asked for by | answer |
|---|---|---|
| light queues (LMQ) | the message property INNER_MULTI_DISPATCH with %LMQ% names | 1, "light queues (INNER_MULTI_DISPATCH) are not supported" |
| compaction topics | the topic attribute cleanup.policy=COMPACTION | 1, "value COMPACTION of attribute cleanup.policy is not supported" |
| batch and RocksDB queues | the topic attribute queue.type=BatchCQ or RocksDBCQ | 1, "value … of attribute queue.type is not supported" |
| lite topics | the topic attribute message.type=LITE; 200070 to 200079 | 1, "value LITE of attribute message.type is not supported"; see the table above; 200074 tells that there are none |
| static topics (logical queues) | 513 | see the table above |
| access control | 3001 to 3010 | see the table above |
| replicas, controllers, slave acting as master | 905, 906, 1001 to 1018 | see the tables above; 43, 45, 907 and 908 are answered as by a master without replicas |
| queues and tables in RocksDB | 354, 355 | see the table above |
| flow control of cold reads | 2001, 2004 | see the table above; 2002 and 2003 are answered as by a server that holds back nothing |
| containers of brokers | 902, 903 | see the table above |
`

func status(r *remoting.Route) string {
	switch r.Status {
	case remoting.Refused:
		return "refused: " + r.Note
	case remoting.Partial:
		return "partial: " + r.Note
	default:
		return "full"
	}
}

// Differences renders docs/differences.md.
func Differences(list []difference.Difference) string {
	var s strings.Builder
	s.WriteString("# Differences from the real RocketMQ 5.5.0\n\n" +
		"Generated from the register in package `difference` by `make docs`. `profile=5.5.0` in broker.conf switches off those that can be; how often each was relied on is counted.\n\n" +
		"| name | the real 5.5.0 | this server | under profile=5.5.0 |\n|---|---|---|---|\n")
	for _, d := range list {
		off := "off"
		if d.Fixed {
			off = "stays: the real behaviour loses, delays or hides something"
		}
		fmt.Fprintf(&s, "| %s | %s | %s | %s |\n", d.Name, d.Real, d.Ours, off)
	}
	s.WriteString("\nDefaults that differ: `mappedFileSizeCommitLog` 64 MiB and `mappedFileSizeConsumeQueue` 600,000 bytes for new stores (an existing store keeps its own), store directory `./wheelmq-data`, `autoCreateTopicEnable=true`, every dirty byte of the log is synced after 500 ms at the latest.\n")
	return s.String()
}

// Configuration renders docs/configuration.md.
func Configuration(keys []config.Key) string {
	var s strings.Builder
	s.WriteString(configuration)
	for _, k := range keys {
		change := "needs a restart"
		switch {
		case k.Live:
			change = "at once"
		case k.Local:
			change = "needs a restart; never over the network"
		}
		fmt.Fprintf(&s, "| %s | %s | %s | %s |\n", k.Name, k.Default, change, k.Doc)
	}
	return s.String()
}

const configuration = `# Configuration

Generated from the keys in package ` + "`config`" + ` by ` + "`make docs`" + `. Keys are RocketMQ's, in broker.conf (` + "`-c`" + `) or as ` + "`--set key=value`" + `. A key
that RocketMQ knows and this server does not is a warning at the start, and so is one that is misspelt or that is told of in
articles and never did anything (` + "`scheduleInterval`, `maxDelayLevel`, `scheduleStorePath`" + `): the warning says what does.

## While the server runs

` + "`mqadmin updateBrokerConfig -b host:port -k key -v value`" + ` (request code 25) changes what the table says takes effect at once. It
holds over restarts, in ` + "`config/wheelmqConfig.json`" + `, until the key is configured otherwise in broker.conf or on the command line; the log of
a start tells of each. Everything else is refused, and nothing is changed: code 29 for an unknown key, a value that does not fit
and a key that needs a restart, 16 for one that names a place on the machine. ` + "`mqadmin getBrokerConfig`" + ` (26) shows what is in force.

A changed ` + "`messageDelayLevel`" + ` is for messages that come from then on; what waits keeps its instant. More levels than at the start,
and than 18, need a restart. A changed ` + "`brokerPermission`" + ` is told to name servers at once.

The name server's keys (318, 319) hold until the next start; ` + "`enableAllTopicList`, `orderMessageEnable` and\n`returnOrderTopicConfigToBroker`" + ` take effect at once, the others are refused.

## Mapped ports

Behind a container's mapped ports, clients reach the broker at an address and a port that it does not know. ` + "`advertise=localhost:20911`" + `
says what every client is told, and external name servers too; ` + "`advertise=172.17.0.0/16=broker:10911;localhost:20911`" + ` tells clients in that
network, or those that reach the server at an address in it, something else: the first that fits counts. Without it the built-in
name server tells each client the address that it reached, and the port of ` + "`listenPort`" + `. The address in message ids stays that
of ` + "`brokerIP1`" + ` and ` + "`listenPort`" + `.

## Keys

| key | default | a change takes effect | |
|---|---|---|---|
`
