package remoting_test

import (
	"bufio"
	"compress/gzip"
	"encoding/hex"
	"encoding/json"
	"os"
	"path/filepath"
	"sync"
	"testing"
)

// goldenFrame is one frame recorded between RocketMQ 5.5.0 clients and servers.
type goldenFrame struct {
	Scenario  string       `json:"scenario"`
	Peer      string       `json:"peer"` // who spoke to the real server
	Dir       string       `json:"dir"`  // c2s or s2c
	Kind      string       `json:"kind"` // request or response
	Code      int32        `json:"code"`
	Opaque    int32        `json:"opaque"`
	ReqCode   int32        `json:"reqCode"` // of the request that a response answers
	Serialize string       `json:"serialize"`
	Header    goldenHeader `json:"header"`
	BodyLen   int          `json:"bodyLen"`
	BodyUTF8  string       `json:"bodyUtf8"`
	RawHex    string       `json:"rawHex"`
	// RawTruncated frames are recorded by their beginning only.
	RawTruncated bool `json:"rawTruncated"`

	file string
	line int
	raw  []byte
}

type goldenHeader struct {
	Code      json.RawMessage            `json:"code"`
	Language  *string                    `json:"language"`
	Version   *int32                     `json:"version"`
	Opaque    *int32                     `json:"opaque"`
	Flag      *int32                     `json:"flag"`
	Remark    *string                    `json:"remark"`
	ExtFields map[string]json.RawMessage `json:"extFields"`
}

const goldenFramesDir = "../test/golden/frames"

var goldenOnce = sync.OnceValues(readGoldenFrames)

// goldenFrames are all frames that are recorded whole.
func goldenFrames(tb testing.TB) []*goldenFrame {
	tb.Helper()
	frames, err := goldenOnce()
	if err != nil {
		tb.Fatalf("golden frames: %v", err)
	}
	if len(frames) < 2800 {
		tb.Fatalf("%d golden frames, want the recorded 2807", len(frames))
	}
	return frames
}

func readGoldenFrames() ([]*goldenFrame, error) {
	files, err := filepath.Glob(goldenFramesDir + "/*.jsonl.gz")
	if err != nil {
		return nil, err
	}
	var all []*goldenFrame
	for _, file := range files {
		frames, err := readGoldenFile(file)
		if err != nil {
			return nil, err
		}
		all = append(all, frames...)
	}
	return all, nil
}

func readGoldenFile(file string) (frames []*goldenFrame, err error) {
	f, err := os.Open(file)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	unzipped, err := gzip.NewReader(f)
	if err != nil {
		return nil, err
	}
	lines := bufio.NewScanner(unzipped)
	lines.Buffer(nil, 16<<20)
	for n := 1; lines.Scan(); n++ {
		g := &goldenFrame{file: filepath.Base(file), line: n}
		if err := json.Unmarshal(lines.Bytes(), g); err != nil {
			return nil, err
		}
		if g.RawTruncated {
			continue
		}
		if g.raw, err = hex.DecodeString(g.RawHex); err != nil {
			return nil, err
		}
		frames = append(frames, g)
	}
	return frames, lines.Err()
}
