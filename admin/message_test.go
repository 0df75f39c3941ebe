package admin

import (
	"bytes"
	"compress/zlib"
	"net/netip"
	"testing"

	"github.com/wheelmq/wheelmq/message"
)

func encoded(t *testing.T, rec *message.Record) []byte {
	t.Helper()
	b := make([]byte, message.EncodedLen(rec))
	return b[:message.Encode(b, rec)]
}

func TestMessagesOf(t *testing.T) {
	t.Parallel()
	var packed bytes.Buffer
	w := zlib.NewWriter(&packed)
	if _, err := w.Write([]byte("a long text")); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	host := netip.MustParseAddrPort("10.1.2.3:10911")
	plain := message.Record{Topic: "t", Body: []byte("plain"), StoreHost: host, CommitLogOffset: 7,
		Properties: message.PropertyAppend(message.PropertyAppend(nil, "KEYS", "a b"), "UNIQ_KEY", "ID")}
	inflated := message.Record{Topic: "t", Body: packed.Bytes(), SysFlag: message.SysFlagCompressed, StoreHost: host}
	kept := message.Record{Topic: "t", Body: []byte("?"), SysFlag: message.SysFlagCompressed | 0x100, StoreHost: host}
	list, err := messagesOf(bytes.Join([][]byte{encoded(t, &plain), encoded(t, &inflated), encoded(t, &kept)}, nil), "broker-a")
	if err != nil || len(list) != 3 {
		t.Fatalf("%d messages, %v", len(list), err)
	}
	if m := list[0]; string(m.Body) != "plain" || m.MsgID != "ID" || m.Keys != "a b" || m.OffsetMsgID != "0A01020300002A9F0000000000000007" {
		t.Errorf("got %+v", m)
	}
	if m := list[1]; string(m.Body) != "a long text" || m.Compressed != "" || m.MsgID != m.OffsetMsgID {
		t.Errorf("got %+v", m)
	}
	if m := list[2]; string(m.Body) != "?" || m.Compressed != "LZ4" {
		t.Errorf("got %+v", m)
	}
	if _, err := messagesOf([]byte("no record"), "broker-a"); err == nil {
		t.Error("nonsense was read")
	}
}

func TestIsOffsetID(t *testing.T) {
	t.Parallel()
	for id, want := range map[string]bool{
		"0A01020300002A9F0000000000000007":                         true,
		"000000000000000000000000000000010000271100000000000000AB": true,
		"7F00000191BC1B2C3D4E5F60718293A4":                         false, // a client's: its process is not 0
		"order-17":                                                 false,
		"":                                                         false,
	} {
		if got := IsOffsetID(id); got != want {
			t.Errorf("IsOffsetID(%q) = %v", id, got)
		}
	}
}

func TestHasKey(t *testing.T) {
	t.Parallel()
	for keys, want := range map[string]bool{"": false, "k": true, "a k": true, " k  a": true, "kk": false} {
		if got := hasKey(keys, "k"); got != want {
			t.Errorf("hasKey(%q) = %v", keys, got)
		}
	}
}
