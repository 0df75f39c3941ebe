package timer_test

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/wheelmq/wheelmq/message"
)

func TestService_DeliversAtTheDueMillisecond(t *testing.T) {
	t.Parallel()
	for _, inOrder := range []bool{false, true} {
		l := newLabIn(t)
		l.inOrder = inOrder
		l.open()
		rec := l.send("T", "a", delay(1234), property{"TAGS", "TagA"})
		if next := l.settle(); inOrder && next != startMs+1234 {
			t.Fatalf("next at +%d", next-startMs)
		}
		l.clock.Set(startMs + 1233)
		if l.settle(); l.count("T") != 0 {
			t.Fatal("delivered a millisecond early")
		}
		l.clock.Set(startMs + 1234)
		if next := l.settle(); l.count("T") != 1 || next != math.MaxInt64 {
			t.Fatalf("%d messages, next %d", l.count("T"), next)
		}
		u, _ := l.store.Queue([]byte("T"), 2).Unit(0)
		slice, err := l.store.Record(u.CommitLogOffset, u.Size)
		if err != nil {
			t.Fatal(err)
		}
		v, err := message.Parse(slice.Bytes)
		if err != nil {
			t.Fatal(err)
		}
		for name, want := range map[string]string{
			"TAGS": "TagA", "REAL_TOPIC": "T", "REAL_QID": "2", "TIMER_OUT_MS": "1800000001000", "TIMER_DELIVER_MS": "1800000001234",
			message.PropertySource: fmt.Sprintf("%x:%d:0", l.store.Epoch(), rec.CommitLogOffset),
		} {
			if got, _ := message.PropertyGet(v.Properties, name); string(got) != want {
				t.Errorf("%s is %q, want %q", name, got, want)
			}
		}
		if _, own := message.PropertyGet(v.Properties, message.PropertyDueMs); own {
			t.Error("the copy carries this server's due instant")
		}
		if string(v.Body) != "a" || v.StoreTimestamp != startMs+1234 || u.TagsCode != message.TagsHash([]byte("TagA")) {
			t.Errorf("%q, stored at %d, tagsCode %d", v.Body, v.StoreTimestamp, u.TagsCode)
		}
		slice.Release()
		l.close()
	}
}

// TestService_Order sends at instants across second borders, out of order, many at one.
func TestService_Order(t *testing.T) {
	t.Parallel()
	for _, sync := range []bool{false, true} {
		l := newLabIn(t)
		l.sync = sync
		l.open()
		var want strings.Builder
		for _, ms := range []int64{2000, 999, 1000, 1001, 2001, 1000, 3500} {
			l.send("T", fmt.Sprint(ms), delay(ms))
		}
		for i := range 700 {
			l.send("T", fmt.Sprintf("many %d", i), at(startMs+4000))
		}
		for _, ms := range []int64{999, 1000, 1000, 1001, 2000, 2001, 3500} {
			fmt.Fprintf(&want, "%d+%d ", ms, ms)
		}
		for i := range 700 {
			fmt.Fprintf(&want, "many %d+4000 ", i)
		}
		for next := l.settle(); next < math.MaxInt64; next = l.settle() {
			l.clock.Set(next)
		}
		if got := l.bodies("T"); got != want.String() {
			t.Errorf("sync %v: delivered %s", sync, got)
		}
		l.close()
	}
}

func TestService_OverdueAfterDowntime(t *testing.T) {
	t.Parallel()
	for _, inOrder := range []bool{false, true} {
		l := newLabIn(t)
		l.inOrder = inOrder
		l.open()
		for _, ms := range []int64{5_000_000, 7000, 3000, 3_000_000} {
			l.send("T", fmt.Sprint(ms), delay(ms))
		}
		l.settle()
		l.close()
		l.clock.Set(startMs + 86_400_000)
		l.open()
		l.settle()
		if got := l.bodies("T"); got != "3000+86400000 7000+86400000 3000000+86400000 5000000+86400000 " {
			t.Errorf("delivered %s", got)
		}
		l.close()
	}
}
