package filter_test

import (
	"errors"
	"fmt"
	"maps"
	"net/netip"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/wheelmq/wheelmq/broker/filter"
	"github.com/wheelmq/wheelmq/broker/filter/sql"
	"github.com/wheelmq/wheelmq/message"
	"github.com/wheelmq/wheelmq/remoting"
	"github.com/wheelmq/wheelmq/store"
)

func TestHashIsJavas(t *testing.T) {
	t.Parallel()
	// Values of java.lang.String.hashCode.
	for tag, want := range map[string]int32{
		"TagA": 2598919, "TagB": 2598920, "": 0, "Aa": 2112, "BB": 2112,
		"标签": 857175, "😀": 1772899, "polygenelubricants": -2147483648,
	} {
		if got := filter.Hash(tag); got != want {
			t.Errorf("Hash(%q) = %d, want %d", tag, got, want)
		}
	}
}

func TestCompile(t *testing.T) {
	t.Parallel()
	many := make([]string, 40)
	for i := range many {
		many[i] = fmt.Sprintf("tag%d", i)
	}
	tests := []struct {
		name, typ, expr string
		wants, refuses  []string
		code            int32
	}{
		{name: "no expression", wants: []string{"a", ""}},
		{name: "star", typ: "TAG", expr: "*", wants: []string{"a", ""}},
		{name: "one tag", typ: "TAG", expr: "a", wants: []string{"a"}, refuses: []string{"b", ""}},
		{name: "alternatives", expr: " a||b || c", wants: []string{"a", "b", "c"}, refuses: []string{"d", ""}},
		{name: "blank in a tag", expr: "C C", wants: []string{"C C"}, refuses: []string{"C"}},
		{name: "equal hash passes", expr: "Aa", wants: []string{"Aa", "BB"}},
		{name: "blank wants nothing", expr: "  ", refuses: []string{"a", ""}},
		{name: "many", expr: strings.Join(many, "||"), wants: many, refuses: []string{"tag40"}},
		{name: "no tag at all", expr: "||", code: remoting.SubscriptionParseFailed},
		{name: "SQL leaves it to the properties", typ: "SQL92", expr: "a > 1", wants: []string{"a", ""}},
		{name: "broken SQL", typ: "SQL92", expr: "a > ", code: remoting.SubscriptionParseFailed},
		{name: "empty SQL", typ: "SQL92", code: remoting.SubscriptionParseFailed},
		{name: "long SQL", typ: "SQL92", expr: "a" + strings.Repeat(" ", filter.MaxSQL), code: remoting.SubscriptionParseFailed},
		{name: "unknown type", typ: "REGEX", expr: "a", code: remoting.SubscriptionParseFailed},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			f, err := filter.Compile(tt.typ, tt.expr)
			if tt.code != 0 {
				var refused *remoting.Error
				if !errors.As(err, &refused) || refused.Code != tt.code {
					t.Fatalf("error %v, want code %d", err, tt.code)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			for _, tag := range tt.wants {
				if !f.Match(int64(filter.Hash(tag))) {
					t.Errorf("%q is refused", tag)
				}
			}
			for _, tag := range tt.refuses {
				if f.Match(int64(filter.Hash(tag))) {
					t.Errorf("%q is wanted", tag)
				}
			}
		})
	}
}

func TestCacheCompilesLikeCompile(t *testing.T) {
	t.Parallel()
	var cache filter.Cache
	for range 2 {
		f, err := cache.Compile(nil, []byte("a||b"))
		if err != nil || !f.Match(int64(filter.Hash("b"))) || f.Match(int64(filter.Hash("c"))) {
			t.Fatalf("filter %v, error %v", f, err)
		}
	}
	if f, err := cache.Compile([]byte("TAG"), []byte("*")); err != nil || !f.IsAll() {
		t.Errorf("star: %v, %v", f, err)
	}
	if _, err := cache.Compile([]byte("SQL92"), []byte("a||b")); err == nil {
		t.Error("SQL92 is served from the tags")
	}
	for range 2 {
		if f, err := cache.Compile([]byte("SQL92"), []byte("a IS NULL")); err != nil || !f.ByProperties() {
			t.Errorf("SQL92: %v, %v", f, err)
		}
	}
	if f, err := cache.Compile(nil, []byte("a IS NULL")); err != nil || f.ByProperties() {
		t.Errorf("tags are served from SQL92: %v, %v", f, err)
	}
	for i := range 10_000 {
		if _, err := cache.Compile(nil, fmt.Appendf(nil, "tag%d", i)); err != nil {
			t.Fatal(err)
		}
	}
}

// records is one record, or none.
type records []byte

func (r records) Record(int64, int32) (store.Slice, error) {
	if r == nil {
		return store.Slice{}, errors.New("gone")
	}
	return store.Slice{Bytes: r}, nil
}

func TestMatchStored(t *testing.T) {
	t.Parallel()
	record := message.Record{
		Topic: "T", Body: []byte("x"), Properties: message.PropertyAppend(nil, "a", "5"),
		BornHost: netip.MustParseAddrPort("127.0.0.1:1"), StoreHost: netip.MustParseAddrPort("127.0.0.1:2"),
	}
	stored := make([]byte, message.EncodedLen(&record))
	message.Encode(stored, &record)
	unit := store.Unit{TagsCode: int64(filter.Hash("t"))}
	for _, tt := range []struct {
		typ, expr string
		from      records
		want      bool
	}{
		{"SQL92", "a > 4", stored, true},
		{"SQL92", "a > 5", stored, false},
		{"SQL92", "a > 4", stored[:20], false},
		{"SQL92", "a > 5", nil, true},
		{"TAG", "t", nil, true},
		{"TAG", "u", nil, false},
	} {
		f, err := filter.Compile(tt.typ, tt.expr)
		if err != nil {
			t.Fatal(err)
		}
		if got := f.MatchStored(tt.from, unit); got != tt.want {
			t.Errorf("%s over %d bytes: %v", tt.expr, len(tt.from), got)
		}
	}
}

func TestVerdictsAreCounted(t *testing.T) {
	t.Parallel()
	var verdicts filter.Verdicts
	registry := prometheus.NewPedanticRegistry()
	if err := verdicts.Register(registry); err != nil {
		t.Fatal(err)
	}
	counts := filter.Counts{sql.False: 5, sql.True: 2, sql.Failed: 1}
	verdicts.Add(&counts)
	verdicts.Add(&counts)
	families, err := registry.Gather()
	if err != nil || len(families) != 1 {
		t.Fatalf("%v, %v", families, err)
	}
	got := map[string]float64{}
	for _, m := range families[0].GetMetric() {
		got[m.GetLabel()[0].GetValue()] = m.GetCounter().GetValue()
	}
	if want := (map[string]float64{"true": 4, "false": 10, "null": 0, "failed": 2}); !maps.Equal(got, want) {
		t.Errorf("counted %v, want %v", got, want)
	}
}

func BenchmarkMatchRecord(b *testing.B) {
	record := message.Record{Topic: "orders", Body: make([]byte, 128), BornHost: netip.MustParseAddrPort("127.0.0.1:1"), StoreHost: netip.MustParseAddrPort("127.0.0.1:2")}
	for _, pair := range [][2]string{
		{"MSG_REGION", "DefaultRegion"}, {"UNIQ_KEY", "7F00000100002A139A1500C4B0640000"}, {"region", "eu-west"}, {"price", "17"}, {"WAIT", "true"},
	} {
		record.Properties = message.PropertyAppend(record.Properties, pair[0], pair[1])
	}
	stored := make([]byte, message.EncodedLen(&record))
	message.Encode(stored, &record)
	f, err := filter.Compile(filter.TypeSQL92, "price > 20 AND region = 'eu-west'")
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		if f.MatchRecord(stored) {
			b.Fatal("matches")
		}
	}
}

func BenchmarkCacheAndMatch(b *testing.B) {
	var cache filter.Cache
	expression, code := []byte("TagA || TagB"), int64(filter.Hash("TagB"))
	b.ReportAllocs()
	for b.Loop() {
		f, err := cache.Compile(nil, expression)
		if err != nil || !f.Match(code) {
			b.Fatal("no match")
		}
	}
}
