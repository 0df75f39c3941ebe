package interchange

import (
	"crypto/sha256"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/wheelmq/wheelmq/test/peer"
	"github.com/wheelmq/wheelmq/test/wire"
)

// transactionPrepared is the sysFlag of a half message.
const transactionPrepared = 4

// TestStore_WithTimersOfTheRealBroker holds what WheelMQ does not serve: it refuses the store
// by the number of timers and changes nothing in it, until it is told to leave them alone; then
// it names the half transaction too.
func TestStore_WithTimersOfTheRealBroker(t *testing.T) {
	peer.RequireJava(t)
	t.Parallel()
	dir := peer.HomeDir(t)
	w := newWriter(t, peer.StartIn(t, peer.Real, dir, configuration()))
	w.createTopics(t)
	for _, seconds := range []string{"1", "3600", "7200"} {
		w.c.MustSend(t, wire.Send{Topic: "Orders", Body: []byte("timer"), Properties: wire.Properties(
			"UNIQ_KEY", "A"+seconds, "TIMER_DELAY_SEC", seconds)})
	}
	w.c.MustSend(t, wire.Send{Topic: "Orders", Body: []byte("half"), SysFlag: transactionPrepared, Properties: wire.Properties(
		"UNIQ_KEY", "H", "TRAN_MSG", "true", "PGROUP", "P")})
	// One timer is delivered and does not wait any more.
	w.c.Settle(t, "Orders", 0, 1)
	w.server.Stop()

	store := w.server.StoreDir
	before := fingerprint(t, store)
	_, errs, code := command(t, "serve", "-q", "--bind", peer.Loopback, "--listen-port", "0", "--namesrv-port", "0", "--http-port", "0",
		"--store", store, "--set", "maxMessageSize=65536")
	if code != 1 || !strings.Contains(errs, "2 any-time delayed messages wait in it") {
		t.Errorf("exit code %d: %s", code, errs)
	}
	if after := fingerprint(t, store); after != before {
		t.Errorf("the refused directory was\n%s and is\n%s", before, after)
	}
	conf := configuration()
	conf["timerWheelEnable"] = "false"
	ours := peer.StartIn(t, peer.Ours, dir, conf)
	if log := ours.Log(); !strings.Contains(log, "transactional messages wait") || !strings.Contains(log, "halfTransactions=1") {
		t.Errorf("the half transaction is not told:\n%s", log)
	}
}

// fingerprint lists every name below a directory with its size and content.
func fingerprint(t *testing.T, dir string) string {
	t.Helper()
	var all strings.Builder
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			fmt.Fprintln(&all, path)
			return err
		}
		content, err := os.ReadFile(path)
		fmt.Fprintf(&all, "%s %d %x\n", path, len(content), sha256.Sum256(content))
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all.String()
}
