package remoting_test

import (
	"bufio"
	"encoding/hex"
	"encoding/json"
	"os"
	"testing"

	"github.com/wheelmq/wheelmq/remoting"
)

// goldenAfterGood are the rows whose first frame is in order.
var goldenAfterGood = map[string]bool{"good-then-garbage": true}

// Whatever made the real server close the connection at once is no frame to us either, or
// not a whole one yet.
func TestDecode_GoldenMalformed(t *testing.T) {
	t.Parallel()
	f, err := os.Open("../test/golden/malformed.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	refused := 0
	for lines := bufio.NewScanner(f); lines.Scan(); {
		var row struct {
			Case          string          `json:"case"`
			SentHex       string          `json:"sentHex"`
			SentTruncated bool            `json:"sentTruncated"`
			FirstRead     string          `json:"firstRead"`
			Reply         json.RawMessage `json:"reply"`
		}
		if err := json.Unmarshal(lines.Bytes(), &row); err != nil {
			t.Fatal(err)
		}
		sent, err := hex.DecodeString(row.SentHex)
		if err != nil || row.SentTruncated || row.Case == "proxy-protocol-v1" { // no frame comes first
			continue
		}
		n, err := remoting.FrameLength(sent)
		if err == nil && (n == 0 || n > len(sent)) {
			continue
		}
		var cmd remoting.Command
		if err == nil {
			err = remoting.Decode(sent[:n], &cmd)
		}
		if row.FirstRead == "eof" && err == nil && !goldenAfterGood[row.Case] {
			t.Errorf("%s: decoded %s", row.Case, text(&cmd))
		}
		if row.FirstRead == "ok" && len(row.Reply) > 0 && row.Reply[0] == '{' && err != nil {
			t.Errorf("%s: %v, the real server answered it", row.Case, err)
		}
		if err != nil {
			refused++
		}
	}
	if refused < 10 {
		t.Errorf("refused %d rows", refused)
	}
}
