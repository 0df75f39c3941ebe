package remoting_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/wheelmq/wheelmq/remoting"
)

// frameOf is a frame with a JSON header.
func frameOf(header, body string) []byte {
	n := 4 + len(header) + len(body)
	frame := []byte{byte(n >> 24), byte(n >> 16), byte(n >> 8), byte(n), 0, byte(len(header) >> 16), byte(len(header) >> 8), byte(len(header))}
	return append(append(frame, header...), body...)
}

// The real server is this tolerant.
func TestDecode_Tolerant(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ header, want string }{
		"nothing":            {`{}`, `code 0 JAVA version 0 opaque 0 flag 0 remark "" body 1 `},
		"code as text":       {`{"code":"105","opaque":3}`, `code 105 JAVA version 0 opaque 3 flag 0 remark "" body 1 `},
		"unknown language":   {`{"code":1,"language":"ZIG"}`, `code 1 OTHER version 0 opaque 0 flag 0 remark "" body 1 `},
		"null language":      {`{"code":1,"language":null}`, `code 1 JAVA version 0 opaque 0 flag 0 remark "" body 1 `},
		"unknown fields":     {`{"code":1,"x":{"y":["}"]},"z":null}`, `code 1 JAVA version 0 opaque 0 flag 0 remark "" body 1 `},
		"blanks":             {" {\t\"code\" : 1 ,\r\n\"flag\":2 } ", `code 1 JAVA version 0 opaque 0 flag 2 remark "" body 1 `},
		"negative":           {`{"code":-3,"opaque":-2147483648}`, `code -3 JAVA version 0 opaque -2147483648 flag 0 remark "" body 1 `},
		"null extFields":     {`{"extFields":null}`, `code 0 JAVA version 0 opaque 0 flag 0 remark "" body 1 `},
		"other values":       {`{"extFields":{"n":4,"b":false,"o":{"a":1},"z":null}}`, `code 0 JAVA version 0 opaque 0 flag 0 remark "" body 1 b="false" n="4" o="{\"a\":1}"`},
		"escapes":            {`{"extFields":{"k\u0041":"\"\\\/\b\f\n\r\t\u00e9"}}`, `code 0 JAVA version 0 opaque 0 flag 0 remark "" body 1 kA="\"\\/\b\f\n\r\té"`},
		"surrogates":         {`{"extFields":{"k":"\ud83d\ude00"}}`, `code 0 JAVA version 0 opaque 0 flag 0 remark "" body 1 k="😀"`},
		"half a pair":        {`{"extFields":{"k":"\ud83dx\ude00\ud83d\u0041"}}`, `code 0 JAVA version 0 opaque 0 flag 0 remark "" body 1 k="?x??A"`},
		"control bytes":      {"{\"extFields\":{\"i\":\"a\x01b\x02\"}}", `code 0 JAVA version 0 opaque 0 flag 0 remark "" body 1 i="a\x01b\x02"`},
		"escape in nested":   {`{"x":{"a":"\n"},"extFields":{"k":"\n"}}`, `code 0 JAVA version 0 opaque 0 flag 0 remark "" body 1 k="\n"`},
		"plain, then blanks": {`{"extFields":{"topic":"T_long_enough","b":"", "c" :"3","d":"\u0002" ,"e":"5"}}`, `code 0 JAVA version 0 opaque 0 flag 0 remark "" body 1 b="" c="3" d="\x02" e="5" topic="T_long_enough"`},
		"plain, then other":  {`{"extFields":{"a":"1","n":4,"k\u0041":"v","":"e","b\"":"q","c":"\\"}}`, `code 0 JAVA version 0 opaque 0 flag 0 remark "" body 1 ="e" a="1" b"="q" c="\\" kA="v" n="4"`},
		"several unescaped":  {`{"remark":"\t","extFields":{"a":"\n1","b":"\n2"}}`, `code 0 JAVA version 0 opaque 0 flag 0 remark "\t" body 1 a="\n1" b="\n2"`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var cmd remoting.Command
			if err := remoting.Decode(frameOf(c.header, "x"), &cmd); err != nil || text(&cmd) != c.want {
				t.Fatalf("Decode(%s):\n got %s, %v\nwant %s", c.header, text(&cmd), err, c.want)
			}
		})
	}
}

func TestDecode_Malformed(t *testing.T) {
	t.Parallel()
	frames := map[string][]byte{
		"too short":                    {0, 0, 0, 4, 0, 0, 0},
		"header longer than the frame": {0, 0, 0, 4, 0, 0, 0, 1},
		"serialize type 9":             {0, 0, 0, 4, 9, 0, 0, 0},
		"short ROCKETMQ header":        {0, 0, 0, 6, 1, 0, 0, 2, 0, 1},
		"no header":                    frameOf("", "x"),
	}
	for _, header := range []string{
		"null", "[]", `"x"`, "{", `{"code"}`, `{"code":}`, `{"code":1`, `{"code":1,}`, `{"code":1}{`, `{"code":99999999999}`,
		`{"code":1.5}`, `{"code":tru}`, `{"extFields":[1]}`, `{"extFields":{"a":"\u12`, `{"extFields":{"a":"\u12x4"}}`,
		`{"extFields":{"a":"b",}}`, `{"extFields":{"a":"b"x}}`, `{"extFields":{"a":"\n"x}}`, `{"extFields":{"a":"\n"`, `{"extFields":{""":"v"}}`,
		`{"opaque":1234567890123}`, `{"opaque":1x}`, `{"extFields":{"a":"b"}`, `{"x":[1}`, `{"extFields":{"a"`, `{"extFields":{"a":"b"`, `{code:1}`,
	} {
		frames[header] = frameOf(header, "")
	}
	for name, frame := range frames {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var cmd remoting.Command
			if err := remoting.Decode(frame, &cmd); !errors.Is(err, remoting.ErrFrame) {
				t.Fatalf("Decode = %v, %s, want ErrFrame", err, text(&cmd))
			}
		})
	}
}

func TestFrameLength(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		in   []byte
		want int
		bad  bool
	}{
		"too few":     {in: []byte{0, 0, 1}},
		"smallest":    {in: []byte{0, 0, 0, 4}, want: 8},
		"largest":     {in: []byte{0, 0xFF, 0xFF, 0xFC, 0}, want: remoting.MaxFrameLength},
		"over":        {in: []byte{0, 0xFF, 0xFF, 0xFD}, bad: true},
		"negative":    {in: []byte{0xFF, 0, 0, 0}, bad: true},
		"no room for": {in: []byte{0, 0, 0, 3}, bad: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := remoting.FrameLength(c.in)
			if got != c.want || (err != nil) != c.bad {
				t.Fatalf("FrameLength = %d, %v, want %d, an error %v", got, err, c.want, c.bad)
			}
		})
	}
}

// Whoever reads the log of a port that is probed, scraped or meant for TLS is told so.
func TestFrameLength_OfAnotherProtocol(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"GET / HTTP/1.1\r\n":       "it begins as an HTTP request",
		"\x16\x03\x01\x02\x00\x01": "it begins as a TLS connection",
	} {
		if _, err := remoting.FrameLength([]byte(in)); !errors.Is(err, remoting.ErrFrame) || !strings.Contains(err.Error(), want) {
			t.Errorf("FrameLength(%q): %v, want one that tells that %s", in, err, want)
		}
	}
}

// A command that is decoded into again keeps nothing of the frame before.
func TestDecode_Reused(t *testing.T) {
	t.Parallel()
	var cmd remoting.Command
	if err := remoting.Decode(frameOf(`{"code":7,"remark":"r","extFields":{"a":"\n"}}`, "body"), &cmd); err != nil {
		t.Fatal(err)
	}
	if err := remoting.Decode(frameOf(`{"code":8}`, ""), &cmd); err != nil {
		t.Fatal(err)
	}
	if got, want := text(&cmd), `code 8 JAVA version 0 opaque 0 flag 0 remark "" body 0 `; got != want || cmd.Body != nil {
		t.Fatalf("got %s, want %s", got, want)
	}
}

func TestAppendJSONString(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ in, want string }{
		{"", `""`},
		{`a"b\c`, `"a\"b\\c"`},
		{"\x01\x02\n\r\t\x1f", `"\u0001\u0002\n\r\t\u001f"`},
		{"é😀", `"é😀"`},
		{"a\xffb\xe2\x82", "\"a\uFFFDb\uFFFD\uFFFD\""},
		{"\uFFFD", "\"\uFFFD\""},
		{strings.Repeat("x", 100), `"` + strings.Repeat("x", 100) + `"`},
	} {
		if got := remoting.AppendJSONString(nil, c.in); string(got) != c.want {
			t.Errorf("of the string %q: %s, want %s", c.in, got, c.want)
		}
		if got := remoting.AppendJSONString(nil, []byte(c.in)); string(got) != c.want {
			t.Errorf("of the bytes %q: %s, want %s", c.in, got, c.want)
		}
	}
}

func TestRequestCodeName(t *testing.T) {
	t.Parallel()
	if got := remoting.RequestCodeName(remoting.SendMessageV2); got != "SEND_MESSAGE_V2" {
		t.Errorf("got %s", got)
	}
	if got := remoting.RequestCodeName(9999); got != "9999" {
		t.Errorf("got %s", got)
	}
}
