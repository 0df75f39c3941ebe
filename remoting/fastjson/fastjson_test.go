package fastjson_test

import (
	"strings"
	"testing"

	"github.com/wheelmq/wheelmq/remoting/fastjson"
)

func TestStrict(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ in, want string }{
		"strict":                  {`{"a":[1,true,null,"x\"y"]}`, `{"a":[1,true,null,"x\"y"]}`},
		"integer keys":            {`{0:"127.0.0.1:10911",-1:2}`, `{"0":"127.0.0.1:10911","-1":2}`},
		"object keys":             {`{{"q":3,"t":"T"}:{"o":5}}`, `{"{\"q\":3,\"t\":\"T\"}":{"o":5}}`},
		"tabs and lines":          {"{\n\t\"a\":{0:1}\n}", `{"a":{"0":1}}`},
		"single in single quotes": {`{'a':'it\'s "b"'}`, `{"a":"it's \"b\""}`},
		"control characters":      {"[\"a\tb\"]", `["a\u0009b"]`},
		"unknown escape":          {`["\q"]`, `["q"]`},
		"single quotes":           {`{'a':'b'}`, `{"a":"b"}`},
		"trailing commas":         {`{"a":[1,],}`, `{"a":[1]}`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := fastjson.Strict([]byte(c.in))
			if err != nil || string(got) != c.want {
				t.Fatalf("Strict(%s) = %s, %v, want %s", c.in, got, err, c.want)
			}
		})
	}
}

func TestStrict_Broken(t *testing.T) {
	t.Parallel()
	for _, in := range []string{"", "{", `{"a"}`, `{"a":}`, "[1", `"x`, `{"a":1}}`, "{:1}", `["\`, `{{{"a":1}:2}:3}`} {
		if got, err := fastjson.Strict([]byte(in)); err == nil {
			t.Errorf("Strict(%s) = %s, want an error", in, got)
		}
	}
}

func FuzzStrict(f *testing.F) {
	f.Add([]byte(`{0:{"a":[1,{2:3}]}}`))
	f.Add([]byte(`{{"q":3}:{}}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		strict, err := fastjson.Strict(data)
		if err != nil {
			return
		}
		again, err := fastjson.Strict(strict)
		if err != nil || string(again) != string(strict) {
			t.Fatalf("not stable: %q became %q, %v", strict, again, err)
		}
	})
}

// Object keys inside object keys would double the text at every level.
func TestStrict_NestedObjectKeys(t *testing.T) {
	t.Parallel()
	in := strings.Repeat("{", 150) + strings.Repeat("}:1", 149) + "}"
	if got, err := fastjson.Strict([]byte(in)); err == nil {
		t.Fatalf("Strict = %d bytes, want an error", len(got))
	}
}

func TestUnmarshal_ObjectKeys(t *testing.T) {
	t.Parallel()
	var got struct{ OffsetTable map[string]int64 }
	err := fastjson.Unmarshal([]byte(`{"offsetTable":{{"brokerName":"a","queueId":1,"topic":"T"}:7}}`), &got)
	if want := `{"brokerName":"a","queueId":1,"topic":"T"}`; err != nil || got.OffsetTable[want] != 7 {
		t.Fatalf("got %v, %v", got, err)
	}
}

func TestAppendObjectKeyed(t *testing.T) {
	t.Parallel()
	got := fastjson.AppendObjectKeyed(nil, []fastjson.Entry{
		{Key: []byte(`{"q":0}`), Value: []byte("1")}, {Key: []byte(`{"q":1}`), Value: []byte("2")},
	})
	if want := `{{"q":0}:1,{"q":1}:2}`; string(got) != want {
		t.Fatalf("got %s, want %s", got, want)
	}
}
