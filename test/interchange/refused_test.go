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

// TestStore_WithTimersLeftAlone has WheelMQ open a store of the real broker with its timers switched
// off: it names what it leaves undelivered, and the timers stay the real broker's. The half
// transaction waits for its end.
func TestStore_WithTimersLeftAlone(t *testing.T) {
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
	before := timerFiles(t, w.server.StoreDir)
	conf := configuration()
	conf["timerWheelEnable"] = "false"
	ours := peer.StartIn(t, peer.Ours, dir, conf)
	for _, want := range []string{"any-time delayed messages of RocketMQ are left undelivered", "transactions wait for their end", "open=1", "timers=2"} {
		if log := ours.Log(); !strings.Contains(log, want) {
			t.Errorf("%q is not told:\n%s", want, log)
		}
	}
	ours.Stop()
	if after := timerFiles(t, ours.StoreDir); after != before {
		t.Errorf("the timers' files were\n%s and are\n%s", before, after)
	}
}

// timerFiles lists the files of the real broker's timers with their contents.
func timerFiles(t *testing.T, store string) string {
	t.Helper()
	all := ""
	for _, name := range []string{"timerwheel", "timerlog", "config/timercheck"} {
		all += fingerprint(t, filepath.Join(store, name))
	}
	return all
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
