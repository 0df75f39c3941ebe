package remoting_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"sort"
	"strings"
	"testing"

	"github.com/wheelmq/wheelmq/remoting"
)

// Every recorded frame decodes to what was recorded beside it, and so does what either
// encoding makes of it.
func TestDecode_Golden(t *testing.T) {
	t.Parallel()
	for _, g := range goldenFrames(t) {
		var cmd remoting.Command
		if err := remoting.Decode(g.raw, &cmd); err != nil {
			t.Errorf("%s:%d: %v", g.file, g.line, err)
			continue
		}
		want := wantText(t, g)
		if got := text(&cmd); got != want {
			t.Errorf("%s:%d:\n got %s\nwant %s", g.file, g.line, got, want)
		}
		var again remoting.Command
		if err := remoting.Decode(remoting.AppendCommand(nil, &cmd), &again); err != nil || text(&again) != text(&cmd) {
			t.Errorf("%s:%d: as JSON:\n got %s, %v\nwant %s", g.file, g.line, text(&again), err, text(&cmd))
		}
		if cmd.Code != int32(int16(cmd.Code)) {
			continue // the binary header cannot carry it
		}
		if err := remoting.Decode(remoting.AppendCommandBinary(nil, &cmd), &again); err != nil || text(&again) != withoutEmpty(&cmd) {
			t.Errorf("%s:%d: as ROCKETMQ:\n got %s, %v\nwant %s", g.file, g.line, text(&again), err, withoutEmpty(&cmd))
		}
	}
}

// What the real server sent and our encoder makes of the same contents are the same bytes.
func TestAppendReplyHead_Golden(t *testing.T) {
	t.Parallel()
	replies, pushes := 0, 0
	for _, g := range goldenFrames(t) {
		if g.Dir != "s2c" {
			continue
		}
		var cmd remoting.Command
		if err := remoting.Decode(g.raw, &cmd); err != nil {
			t.Errorf("%s:%d: %v", g.file, g.line, err)
			continue
		}
		var reply remoting.Reply
		reply.Code, reply.Remark, reply.Body = cmd.Code, cmd.Remark, cmd.Body
		if g.Header.ExtFields != nil {
			reply.Ext.Open()
		}
		for _, f := range cmd.Ext.All() {
			reply.Ext.Bytes(string(f.Key), f.Value)
		}
		var got []byte
		if g.Kind == "request" {
			pushes++
			got = remoting.AppendRequest(nil, cmd.Code, cmd.Opaque, cmd.Flag, &reply.Ext, cmd.Body)
		} else {
			replies++
			got = remoting.AppendReplyHead(nil, cmd.Opaque, &reply)
		}
		want := g.raw
		if g.Header.Remark != nil && *g.Header.Remark == "" {
			// No client tells an empty remark from none, so a Reply has none.
			want, got = bytes.Replace(want[8:], []byte(`"remark":"",`), nil, 1), got[8:]
		}
		if !bytes.Equal(got, want) {
			t.Errorf("%s:%d:\n got %q\nwant %q", g.file, g.line, got, want)
		}
	}
	if replies < 1000 || pushes < 10 {
		t.Fatalf("compared %d replies and %d pushes", replies, pushes)
	}
}

// Parts are counted by the length word and written by the caller.
func TestAppendReplyHead_Parts(t *testing.T) {
	t.Parallel()
	r := remoting.Reply{Body: []byte("ab"), Parts: [][]byte{[]byte("cde"), []byte("f")}}
	frame := remoting.AppendReplyHead([]byte("before"), 7, &r)[len("before"):]
	length, err := remoting.FrameLength(frame)
	if err != nil || length != len(frame)+4 {
		t.Fatalf("FrameLength = %d, %v, want %d", length, err, len(frame)+4)
	}
	var cmd remoting.Command
	if err := remoting.Decode(append(frame, "cdef"...), &cmd); err != nil || string(cmd.Body) != "abcdef" || cmd.Opaque != 7 {
		t.Fatalf("body %q, opaque %d, %v", cmd.Body, cmd.Opaque, err)
	}
}

func text(c *remoting.Command) string {
	fields := make([]string, 0, c.Ext.Len())
	for _, f := range c.Ext.All() {
		fields = append(fields, fmt.Sprintf("%s=%q", f.Key, f.Value))
	}
	sort.Strings(fields)
	return fmt.Sprintf("code %d %s version %d opaque %d flag %d remark %q body %d %s",
		c.Code, c.Language, c.Version, c.Opaque, c.Flag, c.Remark, len(c.Body), strings.Join(fields, " "))
}

func withoutEmpty(c *remoting.Command) string {
	kept := *c
	kept.Ext = remoting.Fields{}
	for _, f := range c.Ext.All() {
		if len(f.Value) > 0 {
			kept.Ext.Add(f.Key, f.Value)
		}
	}
	return text(&kept)
}

// wantText is the text of the recorded header.
func wantText(t *testing.T, g *goldenFrame) string {
	t.Helper()
	h := g.Header
	var cmd remoting.Command
	cmd.Body = make([]byte, g.BodyLen)
	if _, err := fmt.Sscan(strings.Trim(string(h.Code), `"`), &cmd.Code); err != nil && len(h.Code) > 0 {
		t.Fatalf("%s:%d: code %s: %v", g.file, g.line, h.Code, err)
	}
	cmd.Language = wantLanguage(h.Language)
	cmd.Version, cmd.Opaque, cmd.Flag = value(h.Version), value(h.Opaque), value(h.Flag)
	if h.Remark != nil {
		cmd.Remark = *h.Remark
	}
	for key, raw := range h.ExtFields {
		v := string(raw)
		if strings.HasPrefix(v, `"`) {
			if err := json.Unmarshal(raw, &v); err != nil {
				t.Fatalf("%s:%d: %v", g.file, g.line, err)
			}
		}
		// The binary header knows no difference between an empty value and none.
		if v != "null" && (v != "" || g.Serialize != "ROCKETMQ") {
			cmd.Ext.Set(key, v)
		}
	}
	return text(&cmd)
}

func wantLanguage(name *string) remoting.Language {
	if name == nil {
		return remoting.LanguageJava
	}
	for l := remoting.LanguageJava; l < 20; l++ {
		if l.String() == *name {
			return l
		}
	}
	return remoting.LanguageOther
}

func value(v *int32) int32 {
	if v == nil {
		return 0
	}
	return *v
}
