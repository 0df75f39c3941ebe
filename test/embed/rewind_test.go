package embed

import (
	"testing"

	"github.com/apache/rocketmq-client-go/v2/primitive"

	"github.com/wheelmq/wheelmq/test/goclient"
	"github.com/wheelmq/wheelmq/wheelmqtest"
)

// TestReset_UnderALiveConsumer sends to a consumer that has seen more than there is now.
func TestReset_UnderALiveConsumer(t *testing.T) {
	t.Parallel()
	mq := wheelmqtest.Start(t, wheelmqtest.Topic("orders", 1))
	p := goclient.Producer(t, mq.NameServerAddr())
	box := consume(t, mq, "billing", "orders", goclient.Succeeds)
	for range 3 {
		send(t, p, primitive.NewMessage("orders", []byte("before")))
	}
	box.await(t, 3)
	mq.Reset()
	// As many as there were: the consumer is where the queue ends.
	for range 3 {
		send(t, p, primitive.NewMessage("orders", []byte("after")))
	}
	for _, got := range box.await(t, 6)[3:] {
		if string(got.Body) != "after" {
			t.Errorf("after the reset came %q", got.Body)
		}
	}
}

func TestRestore_UnderALiveConsumer(t *testing.T) {
	t.Parallel()
	mq := wheelmqtest.Start(t, wheelmqtest.Topic("orders", 1))
	p := goclient.Producer(t, mq.NameServerAddr())
	box := consume(t, mq, "billing", "orders", goclient.Succeeds)
	send(t, p, primitive.NewMessage("orders", []byte("kept")))
	box.await(t, 1)
	mq.Snapshot("one")
	for range 3 {
		send(t, p, primitive.NewMessage("orders", []byte("taken back")))
	}
	box.await(t, 4)
	mq.Restore("one")
	send(t, p, primitive.NewMessage("orders", []byte("after")))
	// What the group had not committed by the snapshot comes again.
	for n := 5; ; n++ {
		got := box.await(t, n)[n-1]
		if string(got.Body) == "after" {
			return
		}
		if string(got.Body) != "kept" {
			t.Fatalf("after the restore came %q", got.Body)
		}
	}
}
