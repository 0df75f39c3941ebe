package timer_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/wheelmq/wheelmq/message"
	"github.com/wheelmq/wheelmq/store/timer/rocketmq"
)

// TestService_Export hands everything that pends to the real broker, and takes it back from there.
func TestService_Export(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	l.send("T", "past", delay(100), key("P"))
	l.send("T", "relative", delay(5_001), key("R"))
	l.send("T", "absolute", at(startMs+7_000), key("A"))
	l.send("T", "cancelled", at(startMs+9_500), key("K"))
	l.send("T", "0", at(startMs+9_001), cancels("T+K"))
	l.send("T", "0", at(startMs+8_001), cancels("later"))
	l.send("T", "day", at(startMs+5*86_400_000), key("D"))
	l.send("T", "0", at(startMs+5*86_400_000-500), cancels("F"))
	l.send("T", "not this day", at(startMs+5*86_400_000-1), key("F"))
	l.settle()
	l.clock.Set(startMs + 100)
	l.settle()
	l.close()
	l.off = true
	l.open()
	from := l.store.Queue([]byte(message.TopicTimer), 0).Max()
	got := ""
	done, err := l.service.Export(func(rec *message.Record) error {
		out, _ := message.TimerOutOf(rec.Properties)
		deliver, _ := message.PropertyGet(rec.Properties, "TIMER_DELIVER_MS")
		cancels, _ := message.PropertyGet(rec.Properties, "TIMER_DEL_UNIQKEY")
		unique, _ := message.PropertyGet(rec.Properties, "UNIQ_KEY")
		got += fmt.Sprintf("%s+%d %s%s %s|", unique, out-startMs, deliver, cancels, rec.Body)
		if _, own := message.PropertyGet(rec.Properties, message.PropertyDueMs); own || rec.Topic != message.TopicTimer {
			t.Errorf("%s: %q", rec.Topic, rec.Properties)
		}
		if res, _ := l.store.Put(rec, nil); !res.OK() {
			t.Errorf("%+v", res)
		}
		return nil
	})
	want := "R+5000 1800000005001 relative|A+6000 1800000007000 absolute|+8000 1800000008001later 0|K+9000 1800000009500 cancelled|+9000 1800000009001K 0|" +
		"D+431999000 1800432000000 day|+431999000 1800431999001F 0|F+431999000 1800431999999 not this day|"
	if err != nil || done.Messages != 5 || done.Cancels != 3 || done.Lost != 0 || len(got) != len(want) {
		t.Errorf("%+v, %v: %s\nwant %s", done, err, got, want)
	}
	l.close()
	if err := l.disk.Remove("timer"); err != nil {
		t.Fatal(err)
	}
	if err := rocketmq.Release(l.disk, startMs+100, from); err != nil {
		t.Fatal(err)
	}
	l.off = false
	l.open()
	for next := l.settle(); next < never; next = l.settle() {
		l.clock.Set(next)
	}
	if got, want := l.bodies("T"), "past+100 relative+5001 absolute+7000 day+432000000 "; got != want {
		t.Errorf("%s\nwant %s", got, want)
	}
	l.close()
}

// TestService_Export_Changed gives what was rescheduled with its last instant, what was cancelled not
// at all, and what is near of an hour that is not sorted too.
func TestService_Export_Changed(t *testing.T) {
	t.Parallel()
	if raced {
		t.Skip("files are written while the disk is copied")
	}
	l, stop, release := unsorted(t)
	for body, ms := range map[string]int64{"far": 3*hour + 1_000_500, "moved": 3*hour + 2_000_500, "gone": 3*hour + 3_000_500} {
		l.send("T", body, delay(ms), key(body))
	}
	ctx := context.Background()
	if _, err := l.service.Reschedule(ctx, l.idOf("moved"), startMs+50*hour); err != nil {
		t.Fatal(err)
	}
	if err := l.service.Cancel(ctx, l.idOf("gone")); err != nil {
		t.Fatal(err)
	}
	l.settle()
	stop()
	l.clock.Set(startMs + hour*2)
	l.settle()
	l.send("T", "near", delay(hour+500), key("near"))
	l.settle()
	disk := l.disk.PowerCut(rand.New(all{}))
	release()
	l.close()
	l.disk, l.off = disk, true
	l.open()
	defer l.close()
	var got []string
	if _, err := l.service.Export(func(rec *message.Record) error {
		if _, own := message.SupersedesOf(rec.Properties); own {
			t.Errorf("%s names what it superseded", rec.Body)
		}
		got = append(got, string(rec.Body))
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	slices.Sort(got)
	if fmt.Sprint(got) != "[far moved near]" {
		t.Errorf("exported %v", got)
	}
}
