package message_test

import (
	"bytes"
	"testing"

	"github.com/wheelmq/wheelmq/message"
)

// FuzzParse: what is accepted says the same after another layout.
func FuzzParse(f *testing.F) {
	for i, b := range goldenRecords(f) {
		if i%20 == 0 {
			f.Add(b)
		}
	}
	r := record()
	b := make([]byte, message.EncodedLen(&r))
	message.Encode(b, &r)
	f.Add(b)
	r.StoreHost = addr("[::1]:1")
	b = make([]byte, message.EncodedLen(&r))
	message.Encode(b, &r)
	f.Add(b)
	f.Fuzz(func(t *testing.T, b []byte) {
		parsed, err := message.Parse(b)
		if props, ok := message.PropertiesOf(b); ok != (err == nil) || !bytes.Equal(props, parsed.Properties) {
			t.Fatalf("%v: properties are %q, %v, want %q", err, props, ok, parsed.Properties)
		}
		v, err := message.ParseVerify(b)
		if err != nil {
			return
		}
		again := message.Record{
			Topic: string(v.Topic), QueueID: v.QueueID, Flag: v.Flag, SysFlag: v.SysFlag, BornTimestamp: v.BornTimestamp,
			BornHost: v.BornHost, StoreHost: v.StoreHost, ReconsumeTimes: v.ReconsumeTimes,
			PreparedTransactionOffset: v.PreparedTransactionOffset, Body: v.Body, Properties: v.Properties,
			QueueOffset: v.QueueOffset, CommitLogOffset: v.CommitLogOffset, StoreTimestamp: v.StoreTimestamp,
		}
		out := make([]byte, message.EncodedLen(&again))
		message.Encode(out, &again)
		w, err := message.ParseVerify(out)
		if err != nil || !bytes.Equal(w.Body, v.Body) || !bytes.Equal(w.Properties, v.Properties) || !bytes.Equal(w.Topic, v.Topic) ||
			w.StoreTimestamp != v.StoreTimestamp || w.BornHost.Port() != v.BornHost.Port() {
			t.Fatalf("%v: got %+v, want %+v", err, w, v)
		}
	})
}

// FuzzNextInBatch: a batch body is cut into items or refused.
func FuzzNextInBatch(f *testing.F) {
	f.Add(append(batchItem(1, "one", "K\x01v\x02"), batchItem(2, "", "")...))
	f.Fuzz(func(t *testing.T, body []byte) {
		for len(body) > 0 {
			item, rest, err := message.NextInBatch(body)
			if err != nil {
				return
			}
			if len(body)-len(rest) != 22+len(item.Body)+len(item.Properties) {
				t.Fatalf("cut %d bytes off for %+v", len(body)-len(rest), item)
			}
			body = rest
		}
	})
}

func BenchmarkEncode(b *testing.B) {
	r := record()
	r.Body = make([]byte, 1024)
	dst := make([]byte, message.EncodedLen(&r))
	b.ReportAllocs()
	for b.Loop() {
		message.Encode(dst, &r)
	}
}

func BenchmarkParse(b *testing.B) {
	r := record()
	dst := make([]byte, message.EncodedLen(&r))
	message.Encode(dst, &r)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := message.Parse(dst); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkPropertyGet(b *testing.B) {
	props := []byte("MSG_REGION\x01DefaultRegion\x02UNIQ_KEY\x01FD00000000000000000000000000000268423094\x02CLUSTER\x01DefaultCluster\x02TAGS\x01TagA\x02WAIT\x01true\x02")
	b.ReportAllocs()
	for b.Loop() {
		if _, ok := message.PropertyGet(props, message.PropertyTags); !ok {
			b.Fatal("no tags")
		}
	}
}
