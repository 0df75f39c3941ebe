package processor_test

import (
	"maps"
	"testing"

	"github.com/wheelmq/wheelmq/broker/client"
	"github.com/wheelmq/wheelmq/broker/processor"
	"github.com/wheelmq/wheelmq/difference"
	"github.com/wheelmq/wheelmq/remoting"
)

// TestPullBeforeItsHeartbeat: "me" left the group, whose last subscription to T is of version 7.
func TestPullBeforeItsHeartbeat(t *testing.T) {
	t.Parallel()
	real, err := difference.NewSet("5.5.0")
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		name       string
		remembered string // the expression of version 7; "": nobody told
		change     ext
		prepare    func(*processor.PullOptions)
		refuse     func(*lab)
		code       int32
		bodies     []string
	}{
		{name: "its version is remembered", remembered: "b", change: ext{"subVersion": "7"}, bodies: []string{"1"}},
		{name: "its version is remembered, whatever its type", remembered: "b", change: ext{"subVersion": "7", "expressionType": "SQL92"}, bodies: []string{"1"}},
		{name: "newer, by tag", remembered: "b", change: ext{"subVersion": "8"}, bodies: []string{"0", "1"}},
		{name: "newer, of another type", remembered: "b", change: ext{"subVersion": "8", "expressionType": "SQL92"}, code: remoting.SubscriptionNotExist},
		{name: "nothing is remembered, by tag", change: ext{"subVersion": "8"}, bodies: []string{"0", "1"}},
		{name: "nothing is remembered, of another type", change: ext{"subVersion": "8", "expressionType": "SQL92"}, code: remoting.SubscriptionNotExist},
		{name: "a Go client that is remembered", remembered: "b", bodies: []string{"0", "1"}},
		{name: "a Go client that nobody knows", code: remoting.SubscriptionNotExist},
		{name: "it might broadcast", remembered: "b", change: ext{"subVersion": "7"}, code: remoting.SubscriptionNotExist,
			refuse: func(l *lab) { l.groups["g"].ConsumeBroadcastEnable = false }},
		{name: "as the real broker", remembered: "b", change: ext{"subVersion": "7"}, code: remoting.SubscriptionNotExist,
			prepare: func(o *processor.PullOptions) { o.Differences = real }},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			l := newLab(t)
			if tt.prepare != nil {
				l.serve(tt.prepare)
			}
			if tt.refuse != nil {
				tt.refuse(l)
			}
			l.put("T", 0, "a", "0")
			l.put("T", 0, "b", "1")
			if tt.remembered != "" {
				l.join(client.Clustering, "T", tt.remembered, 7)
				l.clients.ConnClosed(&conn{id: 99})
			}
			change := ext{"sysFlag": "0", "subscription": ""}
			maps.Copy(change, tt.change)
			reply := l.pull(&conn{}, 0, change)
			if tt.code != 0 {
				wantReply(t, reply, tt.code, "")
				return
			}
			wantPulled(t, reply, remoting.Success, "FOUND", 2, 0, 2, tt.bodies...)
		})
	}
}
