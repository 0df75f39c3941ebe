package embed

import (
	"strconv"
	"testing"
	"time"

	"github.com/apache/rocketmq-client-go/v2/primitive"

	"github.com/wheelmq/wheelmq/test/goclient"
	"github.com/wheelmq/wheelmq/wheelmqtest"
)

// TestAnyTimeDelay sends what no delay level is for, in the order in which it is not due.
func TestAnyTimeDelay(t *testing.T) {
	t.Parallel()
	mq := wheelmqtest.Start(t, wheelmqtest.VirtualClock(), wheelmqtest.Topic("orders", 1))
	p := goclient.Producer(t, mq.NameServerAddr())
	box := consume(t, mq, "cancel", "orders", goclient.Succeeds)
	for _, ms := range []int{259_200_000, 90_061_001, 1_500, 90_061_000} {
		m := primitive.NewMessage("orders", []byte(strconv.Itoa(ms)))
		m.WithProperty("TIMER_DELAY_MS", strconv.Itoa(ms))
		send(t, p, m)
	}
	if n := len(mq.Pending()); n != 4 {
		t.Errorf("%d are pending, want 4", n)
	}
	mq.Advance(1499 * time.Millisecond)
	if n := len(mq.Messages("orders")); n != 0 {
		t.Errorf("%d came a millisecond early", n)
	}
	mq.Advance(time.Millisecond)
	mq.Advance(90_059_499 * time.Millisecond)
	if n := len(mq.Messages("orders")); n != 1 {
		t.Errorf("%d are there after 90,060,999 ms, want one: another is due a millisecond later", n)
	}
	mq.Restart()
	mq.Advance(72 * time.Hour)
	var order []string
	for _, m := range mq.Messages("orders") {
		order = append(order, string(m.Body))
	}
	want := []string{"1500", "90061000", "90061001", "259200000"}
	if len(order) != len(want) {
		t.Fatalf("stored %q, want %q", order, want)
	}
	for i := range want {
		if order[i] != want[i] {
			t.Errorf("stored %q, want %q", order, want)
			break
		}
	}
	box.await(t, len(want))
}
