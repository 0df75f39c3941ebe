package wheelmqtest_test

import (
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/wheelmq/wheelmq/health"
	"github.com/wheelmq/wheelmq/internal/await"
	"github.com/wheelmq/wheelmq/wheelmqtest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestStart_StoresAndLooks(t *testing.T) {
	t.Parallel()
	mq := wheelmqtest.Start(t, wheelmqtest.Topic("orders", 2), wheelmqtest.Group("shop", 3))
	if state := mq.Health(); state.State != health.Up {
		t.Errorf("health %+v", state)
	}
	if got := mq.Messages("orders"); len(got) != 0 {
		t.Errorf("a new topic has %d messages", len(got))
	}
	for _, body := range []string{"a", "b", "c"} {
		mq.Produce(wheelmqtest.ToProduce{Topic: "orders", Tags: "new", Keys: "k" + body, Properties: map[string]string{"p": body}, Body: []byte(body)})
	}
	got := mq.WaitMessages("orders", 3, await.Patience)
	for i, want := range []string{"a", "b", "c"} {
		m := got[i]
		if string(m.Body) != want || m.Tags != "new" || m.Keys != "k"+want || m.Properties["p"] != want || m.QueueID != int32(i%2) || m.MsgID == "" {
			t.Errorf("message %d: %+v", i, m)
		}
	}
	if lag := mq.Lag("shop", "orders"); lag != 3 {
		t.Errorf("lag %d, want 3", lag)
	}
	mq.Restart()
	if got := mq.Messages("orders"); len(got) != 3 {
		t.Errorf("%d messages after a restart", len(got))
	}
	mq.Reset()
	if got := mq.Messages("orders"); len(got) != 0 || len(mq.Control().Topics()) == 0 {
		t.Errorf("%d messages after a reset", len(got))
	}
}

func TestDir_KeepsTheStore(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for n := range 2 {
		t.Run("life", func(t *testing.T) {
			mq := wheelmqtest.Start(t, wheelmqtest.Dir(dir))
			mq.Produce(wheelmqtest.ToProduce{Topic: "T", Body: []byte("x")})
			if got := mq.Messages("T"); len(got) != n+1 {
				t.Errorf("life %d: %d messages", n, len(got))
			}
			mq.Kill()
			if got := mq.Messages("T"); len(got) != n+1 {
				t.Errorf("life %d: %d messages after a kill", n, len(got))
			}
		})
	}
}

func BenchmarkStart(b *testing.B) {
	for b.Loop() {
		mq := wheelmqtest.Start(b)
		b.StopTimer()
		_ = mq.Control().Reset
		b.StartTimer()
	}
}

func TestPending_AreInDueOrder(t *testing.T) {
	t.Parallel()
	mq := wheelmqtest.Start(t, wheelmqtest.VirtualClock(time.UnixMilli(1_900_000_000_000)))
	for _, level := range []int{18, 5, 1} {
		mq.Produce(wheelmqtest.ToProduce{Topic: "T", DelayLevel: level, Keys: "k", Body: []byte{byte('0' + level%10)}})
	}
	got := mq.Pending()
	if len(got) != 3 {
		t.Fatalf("%d pending, want 3", len(got))
	}
	for i, want := range []struct {
		body  string
		level int
		due   int64
	}{{"1", 1, 1_900_000_001_000}, {"5", 5, 1_900_000_060_000}, {"8", 18, 1_900_007_200_000}} {
		if p := got[i]; string(p.Body) != want.body || p.Level != want.level || p.DueMs != want.due || p.Topic != "T" || p.Keys != "k" {
			t.Errorf("pending %d: %+v", i, p)
		}
	}
	if got := mq.Messages("T"); len(got) != 0 {
		t.Errorf("%d messages although the clock stands", len(got))
	}
}
