package bench

import (
	"encoding/binary"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/panjf2000/gnet/v2"
	"github.com/panjf2000/gnet/v2/pkg/logging"
)

// nullEnv makes the test binary be the null server instead of running tests.
const nullEnv = "WHEELMQ_BENCH_NULL"

// nullReply is a send reply of usual size; the null server never looks at a header.
var nullReply = prepare(0, map[string]string{
	"MSG_REGION": "DefaultRegion", "TRACE_ON": "true", "msgId": "7F00000100002A9F0000000000000000",
	"queueId": "0", "queueOffset": "0", "transactionId": "7F0000010000000000000000000000000",
}, nil).frame

// nullServer answers every frame with nullReply: the floor that the network sets.
type nullServer struct {
	gnet.BuiltinEventEngine
	out []byte
}

func (s *nullServer) OnTraffic(c gnet.Conn) gnet.Action {
	in, _ := c.Peek(-1)
	at := 0
	s.out = s.out[:0]
	for len(in)-at >= 4 {
		size := 4 + int(binary.BigEndian.Uint32(in[at:]))
		if len(in)-at < size {
			break
		}
		s.out = append(s.out, nullReply...)
		at += size
	}
	_, _ = c.Discard(at)
	if _, err := c.Write(s.out); err != nil {
		return gnet.Close
	}
	return gnet.None
}

func runNullServer(addr string) {
	// One loop: the server's scratch is not shared.
	err := gnet.Run(&nullServer{}, "tcp://"+addr, gnet.WithNumEventLoop(1), gnet.WithLogLevel(logging.ErrorLevel))
	fmt.Fprintln(os.Stderr, err)
	os.Exit(1)
}

// startNull runs the null server as a process of its own and returns its pid.
func startNull(tb testing.TB, addr string) int {
	tb.Helper()
	self, err := os.Executable()
	if err != nil {
		tb.Fatal(err)
	}
	cmd := exec.Command(self)
	cmd.Env = append(os.Environ(), nullEnv+"="+addr)
	var log strings.Builder
	cmd.Stderr = &log
	if err := cmd.Start(); err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	return cmd.Process.Pid
}
