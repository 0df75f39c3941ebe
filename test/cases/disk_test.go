package cases

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/wheelmq/wheelmq/test/peer"
	"github.com/wheelmq/wheelmq/test/suite"
	"github.com/wheelmq/wheelmq/test/wire"
)

const serviceNotAvailable = 14

// smallDisk mounts a tmpfs with a ballast on it, whose removal frees space.
func smallDisk(t *testing.T, megabytes, ballastMegabytes int) (dir, ballast string) {
	t.Helper()
	if peer.TargetKind() == peer.Real {
		t.Skip("a full disk kills the real broker's process")
	}
	dir = t.TempDir()
	if err := unix.Mount("tmpfs", dir, "tmpfs", 0, fmt.Sprintf("size=%dm", megabytes)); err != nil {
		t.Skipf("a small disk cannot be mounted here, which needs root: %v", err)
	}
	t.Cleanup(func() {
		if err := unix.Unmount(dir, 0); err != nil {
			t.Error(err)
		}
	})
	ballast = filepath.Join(dir, "ballast")
	if err := os.WriteFile(ballast, make([]byte, ballastMegabytes<<20), 0o600); err != nil {
		t.Fatal(err)
	}
	return dir, ballast
}

func onDisk(t *testing.T, dir string, conf map[string]string) (*peer.Target, *wire.Conn) {
	t.Helper()
	keys := map[string]string{
		"storePathRootDir": filepath.Join(dir, "store"), "mappedFileSizeCommitLog": "2097152", "maxMessageSize": "65536",
		"mappedFileSizeConsumeQueue": "200000", "maxIndexNum": "20000", "maxHashSlotNum": "5000",
		"cleanResourceInterval": "200", "cleanFileForciblyEnable": "false", "messageDelayLevel": "4s",
	}
	for key, value := range conf {
		keys[key] = value
	}
	target := peer.StartTarget(t, keys)
	return target, wire.Dial(t, target.BrokerAddr)
}

// TestFullDisk_SendsAreRefusedTheRestGoesOn fills a small disk. What was acknowledged is read
// from the full disk, delayed messages come on time, and with space everything goes on; a kill
// on the full disk changes nothing of that.
func TestFullDisk_SendsAreRefusedTheRestGoesOn(t *testing.T) {
	t.Parallel()
	dir, ballast := smallDisk(t, 40, 16)
	target, c := onDisk(t, dir, map[string]string{
		"diskSpaceWarningLevelRatio": "100", "diskMaxUsedSpaceRatio": "99",
		"flushCommitLogThoroughInterval": "200", // the kill comes after a checkpoint that found no room
	})
	topic, later := suite.Name(t, "topic"), suite.Name(t, "later")
	c.MustCreateTopic(t, topic, 1)
	c.MustCreateTopic(t, later, 1)
	const delayed = 50
	for i := range delayed {
		c.MustSend(t, wire.Send{Topic: later, Body: fmt.Appendf(nil, "due-%d", i), Properties: wire.Properties("DELAY", "1")})
	}
	body := bytes.Repeat([]byte("x"), 30_000)
	acknowledged := 0
	var refusal *wire.Frame
	for ; acknowledged < 5000; acknowledged++ {
		if refusal = c.Send(t, wire.Send{Topic: topic, Body: body}); refusal.Code != wire.Success {
			break
		}
	}
	wantCode(t, "a send to a full disk", refusal, serviceNotAvailable)
	if !strings.Contains(refusal.Remark, filepath.Join(dir, "store")) {
		t.Errorf("the remark %q does not name the directory", refusal.Remark)
	}
	if health := get(t, target.HTTPAddr, "/health"); !strings.Contains(health, "full") {
		t.Errorf("/health does not tell: %s", health)
	}
	// Nothing is left to others either.
	if err := os.WriteFile(filepath.Join(dir, "rest"), make([]byte, 40<<20), 0o600); err == nil {
		t.Error("the disk is not full")
	}
	read := func(c *wire.Conn) {
		t.Helper()
		if n := len(c.PullAll(t, wire.Pull{Group: "full", Topic: topic})); n != acknowledged {
			t.Errorf("%d messages are read from the full disk, %d were acknowledged", n, acknowledged)
		}
	}
	read(c)
	c.Settle(t, later, 0, delayed)
	time.Sleep(2 * time.Second) // some checkpoints
	target.Kill()
	target.Launch()
	c = wire.Dial(t, target.BrokerAddr)
	read(c)
	if n := c.MaxOffset(t, later, 0); n != delayed {
		t.Errorf("%d delayed messages were delivered, want %d", n, delayed)
	}
	wantCode(t, "a send after the kill", c.Send(t, wire.Send{Topic: topic, Body: body}), serviceNotAvailable)
	for _, name := range []string{ballast, filepath.Join(dir, "rest")} {
		if err := os.Remove(name); err != nil {
			t.Fatal(err)
		}
	}
	suite.Eventually(t, slow, "sends are accepted again", func() bool {
		return c.Send(t, wire.Send{Topic: topic, Body: body}).Code == wire.Success
	})
}

// TestDiskRatio_RefusesAndAcceptsByItself is case BR-69.
func TestDiskRatio_RefusesAndAcceptsByItself(t *testing.T) {
	t.Parallel()
	dir, ballast := smallDisk(t, 64, 1)
	_, c := onDisk(t, dir, map[string]string{"diskSpaceWarningLevelRatio": "60"})
	topic := suite.Name(t, "topic")
	c.MustSend(t, wire.Send{Topic: topic, Body: []byte("before")})
	if err := os.WriteFile(ballast, make([]byte, 40<<20), 0o600); err != nil {
		t.Fatal(err)
	}
	var refusal *wire.Frame
	suite.Eventually(t, slow, "a refusal", func() bool {
		refusal = c.Send(t, wire.Send{Topic: topic, Body: []byte("while")})
		return refusal.Code != wire.Success
	})
	wantCode(t, "above the ratio", refusal, serviceNotAvailable)
	for _, part := range []string{dir, "diskSpaceWarningLevelRatio 60 %", "used to"} {
		if !strings.Contains(refusal.Remark, part) {
			t.Errorf("the remark %q lacks %q", refusal.Remark, part)
		}
	}
	if n := len(c.PullAll(t, wire.Pull{Group: "ratio", Topic: topic})); n == 0 {
		t.Error("nothing can be read above the ratio")
	}
	if err := os.Remove(ballast); err != nil {
		t.Fatal(err)
	}
	suite.Eventually(t, slow, "an acceptance", func() bool {
		return c.Send(t, wire.Send{Topic: topic, Body: []byte("after")}).Code == wire.Success
	})
}

func get(t *testing.T, addr, path string) string {
	t.Helper()
	answer, err := http.Get("http://" + addr + path)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// TestCutLogFile_TheServerLives cuts the log below a running server, as an operator may by
// mistake. Reading and writing there are bus errors: the server refuses, says so, and lives.
func TestCutLogFile_TheServerLives(t *testing.T) {
	t.Parallel()
	if peer.TargetKind() == peer.Real {
		t.Skip("the real broker's process ends")
	}
	target := peer.StartTarget(t, map[string]string{"messageDelayLevel": "2s 30s"})
	c := wire.Dial(t, target.BrokerAddr)
	topic := suite.Name(t, "topic")
	c.MustCreateTopic(t, topic, 1)
	// The second is for a machine that stalls until the first is delivered.
	for _, level := range []string{"1", "2"} {
		c.MustSend(t, wire.Send{Topic: topic, Body: []byte("delayed"), Properties: wire.Properties("DELAY", level)})
	}
	if err := os.Truncate(filepath.Join(target.StoreDir, "commitlog", fmt.Sprintf("%020d", 0)), 0); err != nil {
		t.Fatal(err)
	}
	suite.Eventually(t, wire.Timeout, "the lost delayed message shows", func() bool {
		return strings.Contains(get(t, target.HTTPAddr, "/health"), "could not be read")
	})
	wantCode(t, "a send", c.Send(t, wire.Send{Topic: topic, Body: []byte("x")}), serviceNotAvailable)
	if health := get(t, target.HTTPAddr, "/health"); !strings.Contains(health, "a mapped file cannot be written: commitlog/") {
		t.Errorf("/health does not tell: %s", health)
	}
	target.Kill() // which fails the test when the process has ended by itself
}
