package message_test

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/wheelmq/wheelmq/message"
)

// goldenRecords are the bodies of the recorded pulls: records as the real 5.5.0 stored them.
func goldenRecords(tb testing.TB) [][]byte {
	tb.Helper()
	files, err := filepath.Glob("../test/golden/frames/*.jsonl.gz")
	if err != nil || len(files) == 0 {
		tb.Fatalf("golden frames: %v, %v", files, err)
	}
	var all [][]byte
	for _, file := range files {
		f, err := os.Open(file)
		if err != nil {
			tb.Fatal(err)
		}
		defer f.Close()
		unzipped, err := gzip.NewReader(f)
		if err != nil {
			tb.Fatal(err)
		}
		lines := bufio.NewScanner(unzipped)
		lines.Buffer(nil, 16<<20)
		for lines.Scan() {
			var row struct {
				Kind                   string
				Code, ReqCode, BodyLen int
				RawHex                 string
				RawTruncated           bool
			}
			if err := json.Unmarshal(lines.Bytes(), &row); err != nil {
				tb.Fatal(err)
			}
			if row.Kind != "response" || row.ReqCode != 11 || row.Code != 0 || row.RawTruncated {
				continue
			}
			raw, err := hex.DecodeString(row.RawHex)
			if err != nil {
				tb.Fatal(err)
			}
			for rest := raw[len(raw)-row.BodyLen:]; len(rest) > 0; {
				n := int(binary.BigEndian.Uint32(rest))
				if n <= 0 || n > len(rest) {
					tb.Fatalf("%s: a record of %d bytes in %d", file, n, len(rest))
				}
				all = append(all, rest[:n])
				rest = rest[n:]
			}
		}
	}
	return all
}

// A record of the real broker parses, and laid out anew it is the same bytes.
func TestEncode_Golden(t *testing.T) {
	t.Parallel()
	records := goldenRecords(t)
	if len(records) < 50 {
		t.Fatalf("%d golden records", len(records))
	}
	for i, b := range records {
		v, err := message.ParseVerify(b)
		if err != nil {
			t.Errorf("record %d: %v", i, err)
			continue
		}
		r := message.Record{
			Topic: string(v.Topic), QueueID: v.QueueID, Flag: v.Flag, SysFlag: v.SysFlag, BornTimestamp: v.BornTimestamp,
			BornHost: v.BornHost, StoreHost: v.StoreHost, ReconsumeTimes: v.ReconsumeTimes,
			PreparedTransactionOffset: v.PreparedTransactionOffset, Body: v.Body, Properties: v.Properties,
			QueueOffset: v.QueueOffset, CommitLogOffset: v.CommitLogOffset, StoreTimestamp: v.StoreTimestamp,
		}
		out := make([]byte, message.EncodedLen(&r))
		message.Encode(out, &r)
		if !bytes.Equal(out, b) {
			t.Errorf("record %d:\n got %x\nwant %x", i, out, b)
		}
	}
}
