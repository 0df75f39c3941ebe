package broker_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/wheelmq/wheelmq/broker/park"
	"github.com/wheelmq/wheelmq/message"
	"github.com/wheelmq/wheelmq/remoting"
)

// TestParked_OutlivesTheLog has a delayed message come due after its topic was deleted, and then the log
// go that it lies in.
func TestParked_OutlivesTheLog(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	l.config.FlushCommitLogThoroughInterval, l.config.FileReservedTime = 50, 1
	l.open(startMs)
	l.send("gone", 0, "x", 3)
	ext := remoting.ExtWriter{}
	req := remoting.DeleteTopicRequest{Topic: "gone"}
	req.Encode(&ext)
	l.call(remoting.DeleteTopicInBroker, &ext, nil)
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	if _, err := l.broker.VirtualTime().Advance(ctx, 2*time.Hour); err != nil {
		t.Fatal(err)
	}
	if got := l.parked(); got != "0 x" {
		t.Fatalf("parked: %q", got)
	}
	for range 5 {
		l.send("other", 0, strings.Repeat("y", 4<<20), 0)
	}
	if _, err := l.broker.VirtualTime().Advance(ctx, 2*time.Hour); err != nil {
		t.Fatal(err)
	}
	for l.parked() != "1 x" {
		l.call(remoting.DeleteExpiredCommitLog, nil, nil)
		if ctx.Err() != nil {
			t.Fatalf("the log is to be deleted, and parked: %q", l.parked())
		}
		time.Sleep(time.Millisecond)
	}
	l.close()
	l.open(startMs)
	defer l.close()
	if got := l.parked(); got != "1 x" {
		t.Errorf("parked after a start: %q", got)
	}
}

// parked are the names and bodies of what is parked. Once it is stored anew, it is under both names for
// a moment.
func (l *lab) parked() string {
	l.t.Helper()
	var all []string
	err := l.broker.EachParked(0, func(p park.Parked, v *message.View) error {
		all = append(all, fmt.Sprint(p.QueueOffset, " ", string(v.Body)))
		return nil
	})
	if err != nil {
		l.t.Fatal(err)
	}
	return strings.Join(all, ", ")
}
