package wire

import (
	"bytes"
	"maps"
	"strings"
	"testing"
)

// record is one message in the binary layout, byte by byte: the decoder has to
// agree with the format and not with an encoder of its own.
var record = []byte{
	0, 0, 0, 101, // total size
	0xDA, 0xA3, 0x20, 0xA7, // magic of v1
	0x36, 0x10, 0xA6, 0x86, // CRC32 of "hello"
	0, 0, 0, 3, // queue id
	0, 0, 0, 7, // flag
	0, 0, 0, 0, 0, 0, 0, 5, // queue offset
	0, 0, 0, 0, 0, 0, 4, 0, // CommitLog offset
	0, 0, 0, 0, // sysFlag
	0, 0, 1, 0x8B, 0, 0, 0, 0, // born timestamp
	127, 0, 0, 1, 0, 0, 0, 80, // born host
	0, 0, 1, 0x8B, 0, 0, 0, 1, // store timestamp
	127, 0, 0, 1, 0, 0, 0x27, 0x6B, // store host
	0, 0, 0, 2, // reconsume times
	0, 0, 0, 0, 0, 0, 0, 0, // prepared offset
	0, 0, 0, 5, 'h', 'e', 'l', 'l', 'o', // body
	1, 'T', // topic
	0, 4, 'k', 1, 'v', 2, // properties
}

func TestMessages_ReadsEveryField(t *testing.T) {
	t.Parallel()
	list, err := Messages(bytes.Repeat(record, 2))
	if err != nil || len(list) != 2 {
		t.Fatalf("%d messages, %v", len(list), err)
	}
	m := list[1]
	if m.QueueID != 3 || m.Flag != 7 || m.QueueOffset != 5 || m.CommitLogOffset != 1024 || m.ReconsumeTimes != 2 ||
		string(m.Body) != "hello" || m.Topic != "T" || m.StoreHost.String() != "127.0.0.1:10091" ||
		m.StoreTimestamp-m.BornTimestamp != 1 || !maps.Equal(m.Properties, map[string]string{"k": "v"}) {
		t.Errorf("read %+v", m)
	}
}

func TestMessages_RefusesDamage(t *testing.T) {
	t.Parallel()
	for name, damage := range map[string]func([]byte) []byte{
		"body":           func(b []byte) []byte { b[bytes.Index(b, []byte("hello"))] = 'H'; return b },
		"magic":          func(b []byte) []byte { b[4]++; return b },
		"size too large": func(b []byte) []byte { b[3]++; return b },
		"cut":            func(b []byte) []byte { return b[:len(b)-1] },
		"bytes behind":   func(b []byte) []byte { return append(b, 0) },
	} {
		if _, err := Messages(damage(bytes.Clone(record))); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

func TestFrame_BothHeadersComeBack(t *testing.T) {
	t.Parallel()
	f := Frame{Code: 105, Flag: FlagOneway, Opaque: -7, Remark: "why", Ext: map[string]string{"k\x01": "v \"2\"", "n": ""}, Body: []byte("body")}
	encoded, err := f.Encode()
	if err != nil {
		t.Fatal(err)
	}
	for name, b := range map[string][]byte{"JSON": encoded, "binary": f.EncodeBinary()} {
		got, err := ReadFrame(bytes.NewReader(b))
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if got.Code != f.Code || got.Flag != f.Flag || got.Opaque != f.Opaque || got.Remark != f.Remark ||
			!maps.Equal(got.Ext, f.Ext) || !bytes.Equal(got.Body, f.Body) {
			t.Errorf("%s: %+v, want %+v", name, got, f)
		}
		if _, err := ReadFrame(bytes.NewReader(b[:len(b)-1])); err == nil {
			t.Errorf("%s: a cut frame is no error", name)
		}
	}
}

func TestParseMsgID(t *testing.T) {
	t.Parallel()
	const id = "7F0000010000276B0000000000000400"
	host, offset, err := ParseMsgID(id)
	if err != nil || host.String() != "127.0.0.1:10091" || offset != 1024 {
		t.Errorf("%v, %d, %v", host, offset, err)
	}
	host, offset, err = ParseMsgID(strings.Repeat("0", 31) + "1" + "0000276B" + "0000000000000400")
	if err != nil || host.String() != "[::1]:10091" || offset != 1024 {
		t.Errorf("IPv6: %v, %d, %v", host, offset, err)
	}
	for _, bad := range []string{"", strings.ToLower(id), id[1:], strings.Replace(id, "7", "G", 1)} {
		if _, _, err := ParseMsgID(bad); err == nil {
			t.Errorf("%q: no error", bad)
		}
	}
}
