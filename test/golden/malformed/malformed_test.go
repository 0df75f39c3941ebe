// Package malformed replays broken input against a server. The rows of
// ../malformed.jsonl hold the bytes and what the real RocketMQ 5.5.0 did with
// them; a server may answer with an error or close the connection, and has to
// serve everybody else as before.
package malformed

import (
	"bufio"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io"
	"net"
	"os"
	"testing"
	"time"

	"github.com/wheelmq/wheelmq/test/peer"
	"github.com/wheelmq/wheelmq/test/suite"
	"github.com/wheelmq/wheelmq/test/wire"
)

func TestMain(m *testing.M) { suite.Main(m, nil) }

// row is one line of malformed.jsonl.
type row struct {
	Case    string `json:"case"`
	Target  string `json:"target"` // broker or namesrv
	SentHex string `json:"sentHex"`
	// FirstRead is eof (closed), ok (answered) or timeout (neither).
	FirstRead string `json:"firstRead"`
	// Reply is null, a decoded header, or text about a reply that is no frame.
	Reply    json.RawMessage `json:"reply"`
	FollowUp *struct {
		Result string `json:"result"`
	} `json:"followUpGoodRequest"`
}

// code is the code of the recorded reply; ok is false when there was none.
func (r row) code() (code int, ok bool) {
	var reply struct {
		Code *int `json:"code"`
	}
	if json.Unmarshal(r.Reply, &reply) != nil || reply.Code == nil {
		return 0, false
	}
	return *reply.Code, true
}

// valid are the rows that are odd but in order; the answer has to be the real one.
var valid = map[string]bool{
	"header-code-as-string": true, "rocketmq-header-good-minimal": true, "two-frames-one-segment": true,
}

// goodFirst is the row that begins with a good request. The real server closes before it has
// answered; an answer to the good part is right too.
const goodFirst = "good-then-garbage"

// closedByOurs are the rows with a good request behind them that the real server answers and
// ours does not serve: it closes the connection, for a proxy's greeting is no frame to it.
var closedByOurs = map[string]bool{"proxy-protocol-v1": true}

// quiet is how long a server may be silent on an incomplete frame in this test.
const quiet = 300 * time.Millisecond

func TestBrokenInput_IsAnsweredOrClosed(t *testing.T) {
	for _, r := range rows(t) {
		t.Run(r.Target+"/"+r.Case, func(t *testing.T) {
			t.Parallel()
			replay(t, r)
			wantAlive(t, r.Target)
		})
	}
}

// TestFollowUp_AfterBrokenInput sends a good request behind the broken one on
// the same connection: it is answered, or the connection is closed; silence
// would leave a client waiting.
func TestFollowUp_AfterBrokenInput(t *testing.T) {
	for _, r := range rows(t) {
		if r.FollowUp == nil {
			continue
		}
		t.Run(r.Target+"/"+r.Case, func(t *testing.T) {
			t.Parallel()
			conn := dial(t, r)
			write(t, conn, sent(t, r))
			good, err := goodRequest(r.Target).Encode()
			if err != nil {
				t.Fatal(err)
			}
			write(t, conn, good)
			deadline(t, conn, wire.Timeout)
			answered, err := readUntil(conn, goodOpaque)
			if isTimeout(err) {
				t.Error("neither answered nor closed")
			}
			if r.FollowUp.Result == "ok" && !answered && !(peer.TargetKind() == peer.Ours && closedByOurs[r.Case]) {
				t.Errorf("the good request was not answered: %v", err)
			}
		})
	}
}

func rows(t *testing.T) []row {
	t.Helper()
	f, err := os.Open("../malformed.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var list []row
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var r row
		if err := json.Unmarshal(lines.Bytes(), &r); err != nil {
			t.Fatal(err)
		}
		list = append(list, r)
	}
	if err := lines.Err(); err != nil || len(list) == 0 {
		t.Fatalf("%d rows: %v", len(list), err)
	}
	return list
}

// replay sends a row's bytes and looks at the first reaction.
func replay(t *testing.T, r row) {
	t.Helper()
	conn := dial(t, r)
	write(t, conn, sent(t, r))
	if r.Case == "partial-frame-then-half-close" {
		if err := conn.(*net.TCPConn).CloseWrite(); err != nil {
			t.Fatal(err)
		}
	}
	limit := wire.Timeout
	if r.FirstRead == "timeout" {
		limit = quiet
	}
	deadline(t, conn, limit)
	answer, err := wire.ReadFrame(conn)
	code, replied := r.code()
	switch {
	case valid[r.Case]:
		if !replied || err != nil || answer.Code != code {
			t.Errorf("got %v, %v; want code %d", answer, err, code)
		}
	case isTimeout(err) && r.FirstRead != "timeout":
		t.Errorf("neither answered nor closed within %v", limit)
	case err == nil && answer.Code == wire.Success && r.Case != goodFirst && (!replied || code != wire.Success):
		t.Errorf("answered with success: %v", answer)
	}
}

// wantAlive asks a good question on a new connection.
func wantAlive(t *testing.T, target string) {
	t.Helper()
	request := goodRequest(target)
	answer := wire.Dial(t, address(target)).Call(t, request.Code, request.Ext, nil)
	if answer.Code != wire.Success {
		t.Errorf("the server does not serve others any more: %v", answer)
	}
}

// goodOpaque is the opaque of the good request; no row uses it.
const goodOpaque = 424242

func goodRequest(target string) *wire.Frame {
	if target == "namesrv" {
		return &wire.Frame{Code: wire.GetRouteByTopic, Opaque: goodOpaque, Ext: map[string]string{"topic": "TBW102"}}
	}
	return &wire.Frame{Code: wire.GetMaxOffset, Opaque: goodOpaque, Ext: map[string]string{"topic": "TBW102", "queueId": "0"}}
}

// readUntil reads answers until the one with the opaque.
func readUntil(r io.Reader, opaque int32) (bool, error) {
	for {
		f, err := wire.ReadFrame(r)
		if err != nil {
			return false, err
		}
		if f.Opaque == opaque {
			return true, nil
		}
	}
}

func address(target string) string {
	if target == "namesrv" {
		return suite.Server().NameServerAddr
	}
	return suite.Server().BrokerAddr
}

func dial(t *testing.T, r row) net.Conn {
	t.Helper()
	conn, err := net.DialTimeout("tcp", address(r.Target), wire.Timeout)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	return conn
}

func sent(t *testing.T, r row) []byte {
	t.Helper()
	b, err := hex.DecodeString(r.SentHex)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// write tolerates a server that has closed already: that is one of the allowed
// reactions, and the read that follows sees it.
func write(t *testing.T, conn net.Conn, b []byte) {
	t.Helper()
	deadline(t, conn, wire.Timeout)
	if _, err := conn.Write(b); isTimeout(err) {
		t.Fatal(err)
	}
}

func deadline(t *testing.T, conn net.Conn, d time.Duration) {
	t.Helper()
	if err := conn.SetDeadline(time.Now().Add(d)); err != nil {
		t.Fatal(err)
	}
}

func isTimeout(err error) bool {
	var timeout net.Error
	return errors.As(err, &timeout) && timeout.Timeout()
}
