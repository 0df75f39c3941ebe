package message_test

import (
	"bytes"
	"errors"
	"net/netip"
	"strings"
	"testing"

	"github.com/wheelmq/wheelmq/message"
)

func addr(s string) netip.AddrPort { return netip.MustParseAddrPort(s) }

func record() message.Record {
	return message.Record{
		Topic: "Orders", QueueID: 3, Flag: -7, SysFlag: message.SysFlagCompressed, BornTimestamp: 1_796_000_000_000,
		BornHost: addr("10.1.2.3:4567"), StoreHost: addr("127.0.0.1:10911"), ReconsumeTimes: 2, PreparedTransactionOffset: 99,
		Body: []byte("body"), Properties: []byte("TAGS\x01A\x02"), QueueOffset: 5, CommitLogOffset: 4096, StoreTimestamp: 1_796_000_000_001,
	}
}

func TestEncodeParse(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(r *message.Record){
		"plain": func(*message.Record) {},
		"empty": func(r *message.Record) {
			*r = message.Record{BornHost: addr("0.0.0.0:0"), StoreHost: addr("0.0.0.0:0")}
		},
		"topic of 127":  func(r *message.Record) { r.Topic = strings.Repeat("t", 127) },
		"topic of 128":  func(r *message.Record) { r.Topic = strings.Repeat("t", 128) },
		"topic of 300":  func(r *message.Record) { r.Topic = strings.Repeat("t", 300) },
		"born host v6":  func(r *message.Record) { r.BornHost = addr("[2001:db8::1]:65535") },
		"store host v6": func(r *message.Record) { r.StoreHost = addr("[::1]:1") },
		"both hosts v6": func(r *message.Record) { r.BornHost, r.StoreHost = addr("[::2]:1"), addr("[::1]:2") },
		"large": func(r *message.Record) {
			r.Body, r.Properties = bytes.Repeat([]byte("x"), 1<<20), bytes.Repeat([]byte("p"), 32767)
		},
		"no properties":     func(r *message.Record) { r.Properties = nil },
		"negative numbers":  func(r *message.Record) { r.QueueID, r.PreparedTransactionOffset = -1, -1 },
		"stale family bits": func(r *message.Record) { r.SysFlag |= message.SysFlagBornHostV6 | message.SysFlagStoreHostV6 },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := record()
			change(&r)
			size := message.EncodedLen(&r)
			b := make([]byte, size+3)
			if n := message.Encode(b, &r); n != size {
				t.Fatalf("Encode = %d, want %d", n, size)
			}
			v, err := message.ParseVerify(b)
			if err != nil {
				t.Fatal(err)
			}
			wantView(t, &v, &r, size)
		})
	}
}

func wantView(t *testing.T, v *message.View, r *message.Record, size int) {
	t.Helper()
	family := message.SysFlagBornHostV6 | message.SysFlagStoreHostV6
	if int(v.Size) != size || string(v.Topic) != r.Topic || !bytes.Equal(v.Body, r.Body) || !bytes.Equal(v.Properties, r.Properties) {
		t.Fatalf("size %d of %d, topic %q, body %d, properties %q", v.Size, size, v.Topic, len(v.Body), v.Properties)
	}
	if v.QueueID != r.QueueID || v.Flag != r.Flag || v.SysFlag&^family != r.SysFlag&^family || v.ReconsumeTimes != r.ReconsumeTimes {
		t.Fatalf("got %+v, want %+v", v, r)
	}
	if (v.SysFlag&message.SysFlagBornHostV6 != 0) != r.BornHost.Addr().Is6() || (v.SysFlag&message.SysFlagStoreHostV6 != 0) != r.StoreHost.Addr().Is6() {
		t.Fatalf("SysFlag %#x for %s and %s", v.SysFlag, r.BornHost, r.StoreHost)
	}
	if v.BornHost != r.BornHost || v.StoreHost != r.StoreHost {
		t.Fatalf("hosts %s and %s, want %s and %s", v.BornHost, v.StoreHost, r.BornHost, r.StoreHost)
	}
	if v.BornTimestamp != r.BornTimestamp || v.StoreTimestamp != r.StoreTimestamp || v.PreparedTransactionOffset != r.PreparedTransactionOffset ||
		v.QueueOffset != r.QueueOffset || v.CommitLogOffset != r.CommitLogOffset {
		t.Fatalf("got %+v, want %+v", v, r)
	}
}

// An IPv4 address in IPv6 form is an IPv4 address.
func TestEncode_MappedAddress(t *testing.T) {
	t.Parallel()
	r := record()
	r.BornHost = addr("[::ffff:10.0.0.1]:7")
	b := make([]byte, message.EncodedLen(&r))
	message.Encode(b, &r)
	v, err := message.Parse(b)
	if err != nil || v.BornHost != addr("10.0.0.1:7") {
		t.Fatalf("born host %s, %v", v.BornHost, err)
	}
}

func TestPatch(t *testing.T) {
	t.Parallel()
	for _, host := range []string{"10.1.2.3:4567", "[::1]:4567"} {
		r := record()
		r.BornHost = addr(host)
		b := make([]byte, message.EncodedLen(&r))
		message.Encode(b, &r)
		message.Patch(b, 11, 1<<40, 1_800_000_000_000)
		r.QueueOffset, r.CommitLogOffset, r.StoreTimestamp = 11, 1<<40, 1_800_000_000_000
		v, err := message.ParseVerify(b)
		if err != nil {
			t.Fatal(err)
		}
		wantView(t, &v, &r, len(b))
	}
}

func TestParse_Malformed(t *testing.T) {
	t.Parallel()
	for name, damage := range map[string]func(b []byte) []byte{
		"nothing":             func([]byte) []byte { return nil },
		"half a header":       func(b []byte) []byte { return b[:40] },
		"magic":               func(b []byte) []byte { b[4] = 0; return b },
		"blank magic":         func(b []byte) []byte { copy(b[4:], []byte{0xCB, 0xD4, 0x31, 0x94}); return b },
		"cut off":             func(b []byte) []byte { return b[:len(b)-1] },
		"size too large":      func(b []byte) []byte { b[3]++; return append(b, 0) },
		"size too small":      func(b []byte) []byte { b[3]--; return b },
		"negative size":       func(b []byte) []byte { b[0] = 0x80; return b },
		"size zero":           func(b []byte) []byte { copy(b, []byte{0, 0, 0, 0}); return b },
		"address family":      func(b []byte) []byte { b[39] |= 0x10; return b },
		"body too long":       func(b []byte) []byte { b[87]++; return b },
		"negative body":       func(b []byte) []byte { b[84] = 0xFF; return b },
		"v2 of a v1 record":   func(b []byte) []byte { b[7] = 0xAB; return b },
		"properties too long": func(b []byte) []byte { b[len(b)-len("TAGS\x01A\x02")-1]++; return b },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := record()
			b := make([]byte, message.EncodedLen(&r))
			message.Encode(b, &r)
			if v, err := message.Parse(damage(b)); !errors.Is(err, message.ErrMalformed) {
				t.Fatalf("Parse = %+v, %v, want ErrMalformed", v, err)
			}
		})
	}
}

func TestParseVerify_BodyChanged(t *testing.T) {
	t.Parallel()
	r := record()
	b := make([]byte, message.EncodedLen(&r))
	message.Encode(b, &r)
	b[bytes.Index(b, []byte("body"))] ^= 1
	if _, err := message.Parse(b); err != nil {
		t.Fatalf("Parse: %v", err)
	}
	if _, err := message.ParseVerify(b); !errors.Is(err, message.ErrMalformed) {
		t.Fatalf("ParseVerify = %v, want ErrMalformed", err)
	}
}

// The hashes are Java's: "TagA".hashCode() and so on.
func TestTagsHash(t *testing.T) {
	t.Parallel()
	for tags, want := range map[string]int64{
		"": 0, "a": 97, "TagA": 2598919, "polygenelubricants": -2147483648, "é": 233, "😀": 1772899, "标签": 857175,
	} {
		if got := message.TagsHash([]byte(tags)); got != want {
			t.Errorf("TagsHash(%q) = %d, want %d", tags, got, want)
		}
	}
}

func TestOffsetID(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		host   string
		offset int64
		want   string
	}{
		{"127.0.0.1:24911", 0, "7F0000010000614F0000000000000000"},
		{"127.0.0.2:22911", 0x11B56, "7F0000020000597F0000000000011B56"},
		{"[2001:db8::1]:10911", 1 << 40, "20010DB800000000000000000000000100002A9F0000010000000000"},
	} {
		got := string(message.AppendOffsetID(nil, addr(c.host), c.offset))
		if got != c.want {
			t.Errorf("AppendOffsetID = %s, want %s", got, c.want)
		}
		for _, id := range []string{got, strings.ToLower(got)} {
			if host, offset, err := message.ParseOffsetID(id); err != nil || host != addr(c.host) || offset != c.offset {
				t.Errorf("ParseOffsetID(%s) = %s, %d, %v", id, host, offset, err)
			}
		}
	}
	for _, id := range []string{"", "7F", strings.Repeat("G", 32), strings.Repeat("0", 33), strings.Repeat("0", 55)} {
		if _, _, err := message.ParseOffsetID(id); err == nil {
			t.Errorf("ParseOffsetID(%q) accepted it", id)
		}
	}
}

func TestAppendUniqKey(t *testing.T) {
	t.Parallel()
	one := string(message.AppendUniqKey(nil, netip.MustParseAddr("10.0.0.1"), 5))
	two := string(message.AppendUniqKey(nil, netip.MustParseAddr("10.0.0.1"), 5))
	v6 := string(message.AppendUniqKey(nil, netip.MustParseAddr("::1"), 5))
	if len(one) != 32 || len(v6) != 56 || one == two || !strings.HasPrefix(one, "0A000001") || strings.Trim(one+v6, "0123456789ABCDEF") != "" {
		t.Fatalf("keys %s, %s, %s", one, two, v6)
	}
}

func batchItem(flag byte, body, properties string) []byte {
	b := []byte{0, 0, 0, byte(22 + len(body) + len(properties)), 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, flag, 0, 0, 0, byte(len(body))}
	b = append(append(b, body...), 0, byte(len(properties)))
	return append(b, properties...)
}

func TestNextInBatch(t *testing.T) {
	t.Parallel()
	batch := append(batchItem(1, "one", "K\x01v\x02"), batchItem(2, "", "")...)
	first, rest, err := message.NextInBatch(batch)
	if err != nil || first.Flag != 1 || string(first.Body) != "one" || string(first.Properties) != "K\x01v\x02" {
		t.Fatalf("first %+v, %v", first, err)
	}
	second, rest, err := message.NextInBatch(rest)
	if err != nil || second.Flag != 2 || len(second.Body) != 0 || len(rest) != 0 {
		t.Fatalf("second %+v, rest %d, %v", second, len(rest), err)
	}
	for name, damage := range map[string]func(b []byte){
		"size zero":       func(b []byte) { b[3] = 0 },
		"size too large":  func(b []byte) { b[3]++ },
		"negative size":   func(b []byte) { b[0] = 0xFF },
		"body too long":   func(b []byte) { b[19] = 200 },
		"body too short":  func(b []byte) { b[19] = 0 },
		"negative body":   func(b []byte) { b[16] = 0xFF },
		"properties long": func(b []byte) { b[24]++ },
	} {
		b := batchItem(1, "one", "K\x01v\x02")
		damage(b)
		if item, _, err := message.NextInBatch(b); !errors.Is(err, message.ErrMalformed) {
			t.Errorf("%s: %+v, %v, want ErrMalformed", name, item, err)
		}
	}
}
