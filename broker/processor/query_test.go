package processor_test

import (
	"fmt"
	"maps"
	"strconv"
	"strings"
	"testing"

	"github.com/wheelmq/wheelmq/broker/processor"
	"github.com/wheelmq/wheelmq/difference"
	"github.com/wheelmq/wheelmq/message"
	"github.com/wheelmq/wheelmq/remoting"
)

func TestQueryByKey(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	differences, err := difference.NewSet("5.5.0")
	if err != nil {
		t.Fatal(err)
	}
	routes := (&processor.Query{Index: l.store, DefaultMaxNum: func() int { return 3 }, Differences: differences}).Routes()
	put := func(body, properties string) {
		t.Helper()
		rec := &message.Record{Topic: "T", Body: []byte(body), Properties: []byte(properties)}
		if res, _ := l.store.Put(rec, nil); !res.OK() {
			t.Fatalf("%+v", res)
		}
	}
	put("first", "UNIQ_KEY\x01u1\x02KEYS\x01a b\x02TAGS\x01T1\x02")
	put("second", "UNIQ_KEY\x01u2\x02KEYS\x01b\x02TAGS\x01T1\x02")
	put("third", "KEYS\x01AaAa T1\x02")
	for i := range 5 {
		put(fmt.Sprint("same", i), "UNIQ_KEY\x01same\x02")
	}
	newest := l.store.MaxCommitLogOffset()
	now := strconv.FormatInt(l.time.NowMillis(), 10)

	for name, c := range map[string]struct {
		fields ext
		want   string // bodies
	}{
		"key":             {ext{"key": "a"}, "first"},
		"several":         {ext{"key": "b"}, "first second"},
		"K":               {ext{"key": "b", "indexType": "K"}, "first second"},
		"the newest":      {ext{"key": "b", "maxNum": "1"}, "second"},
		"unique key":      {ext{"key": "u2", "indexType": "U", "_UNIQUE_KEY_QUERY": "true", "maxNum": "0"}, "second"},
		"not by its mark": {ext{"key": "u2", "_UNIQUE_KEY_QUERY": "false", "maxNum": "0"}, ""},
		"default maximum": {ext{"key": "same", "_UNIQUE_KEY_QUERY": "true", "maxNum": "32"}, "same2 same3 same4"},
		"tags":            {ext{"key": "T1", "indexType": "T"}, "first second"},
		"key not tags":    {ext{"key": "T1"}, "third"},
		"absent":          {ext{"key": "c"}, ""},
		"same hash only":  {ext{"key": "BBBB"}, ""},
		"unknown topic":   {ext{"key": "a", "topic": "U"}, ""},
		"earlier":         {ext{"key": "a", "endTimestamp": "1699999999999"}, ""},
		"its millisecond": {ext{"key": "a", "beginTimestamp": now, "endTimestamp": now}, "first"},
		"no time at all":  {ext{"key": "a", "beginTimestamp": "1", "endTimestamp": "0"}, ""},
	} {
		fields := ext{"topic": "T", "key": "", "maxNum": "32", "beginTimestamp": "0", "endTimestamp": "9223372036854775807"}
		maps.Copy(fields, c.fields)
		reply := request(t, routes, &conn{}, remoting.QueryMessage, fields, "")
		if c.want == "" {
			wantReply(t, reply, remoting.QueryNotFound, "can not find message, maybe time range not correct")
			if len(reply.Body) > 0 || field(reply, "indexLastUpdatePhyoffset") != "0" || field(reply, "indexLastUpdateTimestamp") != "0" {
				t.Errorf("%s: %d bytes, header %+v", name, len(reply.Body), reply.Ext)
			}
			continue
		}
		wantReply(t, reply, remoting.Success, "")
		var bodies []string
		for rest := reply.Body; len(rest) > 0; {
			v, err := message.ParseVerify(rest)
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			bodies, rest = append(bodies, string(v.Body)), rest[v.Size:]
		}
		if got := strings.Join(bodies, " "); got != c.want {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
		last, err := strconv.ParseInt(field(reply, "indexLastUpdatePhyoffset"), 10, 64)
		if err != nil || last <= 0 || last >= newest || field(reply, "indexLastUpdateTimestamp") != now {
			t.Errorf("%s: the index ends at %s of %s", name, field(reply, "indexLastUpdatePhyoffset"), field(reply, "indexLastUpdateTimestamp"))
		}
	}
	if used := differences.Used()["query-compares-keys"]; used != 1 {
		t.Errorf("a foreign message was left out %d times, want once", used)
	}
}

func TestQueryByKey_NamesTheMissingField(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	routes := (&processor.Query{Index: l.store}).Routes()
	fields := ext{"topic": "T", "key": "k", "maxNum": "1", "beginTimestamp": "0", "endTimestamp": "1"}
	for name := range fields {
		without := ext{}
		for k, v := range fields {
			if k != name {
				without[k] = v
			}
		}
		wantReply(t, request(t, routes, &conn{}, remoting.QueryMessage, without, ""), remoting.SystemError,
			"the custom field <"+name+"> is null")
	}
}

// TestQueryByKey_FitsAFrame stores more than a client would take in one answer.
func TestQueryByKey_FitsAFrame(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	differences, err := difference.NewSet("")
	if err != nil {
		t.Fatal(err)
	}
	routes := (&processor.Query{Index: l.store, DefaultMaxNum: func() int { return 32 }, Differences: differences}).Routes()
	rec := &message.Record{Topic: "T", Body: make([]byte, 3<<20), Properties: []byte("KEYS\x01large\x02")}
	for i := range 7 {
		rec.Body[0] = byte(i)
		if res, _ := l.store.Put(rec, nil); !res.OK() {
			t.Fatalf("%+v", res)
		}
	}
	reply := request(t, routes, &conn{}, remoting.QueryMessage,
		ext{"topic": "T", "key": "large", "maxNum": "64", "beginTimestamp": "0", "endTimestamp": "9223372036854775807"}, "")
	wantReply(t, reply, remoting.Success, "")
	var got []byte
	for rest := reply.Body; len(rest) > 0; {
		v, err := message.ParseVerify(rest)
		if err != nil {
			t.Fatal(err)
		}
		got, rest = append(got, v.Body[0]), rest[v.Size:]
	}
	if string(got) != "\x02\x03\x04\x05\x06" || len(reply.Body) > 16<<20 {
		t.Errorf("found %v in %d bytes, want the newest five", got, len(reply.Body))
	}
	if used := differences.Used()["query-fits-a-frame"]; used != 1 {
		t.Errorf("counted %d times, want once", used)
	}
}
