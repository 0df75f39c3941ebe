package processor_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/wheelmq/wheelmq/broker/client"
	"github.com/wheelmq/wheelmq/message"
	"github.com/wheelmq/wheelmq/remoting"
)

func TestQueueUnits(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	var units []string
	for range 100 {
		at := l.put("T", 0, "a", "x")
		units = append(units, fmt.Sprintf(`{"eval":false,"physicOffset":%d,"physicSize":%d,"tagsCode":%d}`, at.CommitLogOffset, at.Size, message.TagsHash([]byte("a"))))
	}
	fields := ext{"topic": "T", "queueId": "0", "index": "3", "count": "90"}
	want := `{"maxQueueIndex":100,"minQueueIndex":0,"queueData":[` + strings.Join(units[3:93], ",") + `]}`
	if got := string(l.admin(remoting.QueryConsumeQueue, fields).Body); got != want {
		t.Errorf("%s\nwant %s", got, want)
	}
	fields["consumerGroup"] = "g"
	if got := string(l.admin(remoting.QueryConsumeQueue, fields).Body); !strings.HasPrefix(got, `{"filterData":"g@T is not online!","maxQueueIndex"`) {
		t.Errorf("offline: %.100s", got)
	}
	l.join(client.Clustering, "T", "a", 7)
	got := string(l.admin(remoting.QueryConsumeQueue, fields).Body)
	if !strings.HasPrefix(got, `{"filterData":"null",`) || !strings.Contains(got, `"subscriptionData":{`) {
		t.Errorf("online: %.100s", got)
	}
	fields["index"], fields["count"] = "99", "2147483647"
	if got := string(l.admin(remoting.QueryConsumeQueue, fields).Body); strings.Count(got, "physicOffset") != 1 {
		t.Errorf("the last one: %s", got)
	}
	for _, index := range []string{"100", "-1"} {
		fields["index"] = index
		reply := l.admin(remoting.QueryConsumeQueue, fields)
		wantReply(t, reply, remoting.Success, "Index "+index+" of 0@T is not exist!")
		if len(reply.Body) > 0 {
			t.Errorf("index %s: %s", index, reply.Body)
		}
	}
	fields["queueId"] = "7"
	wantReply(t, request(t, l.routes, &conn{}, remoting.QueryConsumeQueue, fields, ""), remoting.SystemError, "7@T is not exist!")
}
