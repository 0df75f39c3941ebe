package interchange

import (
	"testing"
	"time"

	"github.com/wheelmq/wheelmq/test/peer"
	"github.com/wheelmq/wheelmq/test/suite"
	"github.com/wheelmq/wheelmq/test/wire"
)

// TestStore_HalfMessagesThroughTheOther has transactions wait while the other server takes the store
// over: what has ended stays ended, what is open is asked for there, and its commit counts.
func TestStore_HalfMessagesThroughTheOther(t *testing.T) {
	peer.RequireJava(t)
	for _, c := range []struct{ writer, reader string }{{peer.Ours, peer.Real}, {peer.Real, peer.Ours}} {
		t.Run(c.writer+", "+c.reader, func(t *testing.T) {
			t.Parallel()
			const topic, producers = "Orders", "dealers"
			dir := peer.HomeDir(t)
			first := peer.StartIn(t, c.writer, dir, askingConf(configuration()))
			w := wire.Dial(t, first.BrokerAddr)
			w.MustCreateTopic(t, topic, 1)
			yes, no := w.Prepare(t, topic, producers, "yes"), w.Prepare(t, topic, producers, "no")
			w.Prepare(t, topic, producers, "open")
			for h, how := range map[wire.Half]int{yes: wire.CommitTransaction, no: wire.RollbackTransaction} {
				if answer := w.End(t, h, how, false); answer.Code != wire.Success {
					t.Fatalf("end of %s: %v", h.UniqKey, answer)
				}
			}
			w.Settle(t, topic, 0, 1)
			// The real broker writes ends down three seconds later.
			suite.Eventually(t, patience, "the ends are written down", func() bool { return w.MaxOffset(t, wire.OpTopic, 0) > 0 })
			first.Stop()

			second := peer.StartIn(t, c.reader, dir, askingConf(brokerConf(t, first.StoreDir)))
			r := wire.Dial(t, second.BrokerAddr)
			r.HeartbeatProducer(t, "dealer", producers)
			q, ok := r.Question(t, producers, patience)
			if !ok || q.Half.UniqKey != "open" {
				t.Fatalf("asked about %q, %v, want the open one", q.Half.UniqKey, ok)
			}
			if answer := r.End(t, q.Half, wire.CommitTransaction, true); answer.Code != wire.Success {
				t.Fatalf("commit: %v", answer)
			}
			r.Settle(t, topic, 0, 2)
			// The real broker may ask once more before it has written the commit down.
			if q, ok := r.Question(t, producers, 5*time.Second); ok && (q.Half.UniqKey != "open" || c.reader == peer.Ours) {
				t.Errorf("asked about %s, too", q.Half.UniqKey)
			}
		})
	}
}

// askingConf has a server ask soon, but not before the real broker has written down what has ended:
// it would take that for open.
func askingConf(conf map[string]string) map[string]string {
	conf["transactionTimeOut"], conf["transactionCheckInterval"] = "5000", "3000"
	return conf
}
