package processor_test

import (
	"strconv"
	"testing"

	"github.com/wheelmq/wheelmq/message"
	"github.com/wheelmq/wheelmq/remoting"
)

func TestViewOfARecord(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	l.put("T", 0, "", "first")
	place := l.put("T", 1, "a", "second")
	view := func(offset int64) *remoting.Command {
		return request(t, l.routes, &conn{}, remoting.ViewMessageByID, ext{"offset": strconv.FormatInt(offset, 10)}, "")
	}
	reply := view(place.CommitLogOffset)
	wantReply(t, reply, remoting.Success, "")
	got, err := message.ParseVerify(reply.Body)
	if err != nil || string(got.Body) != "second" || string(got.Topic) != "T" || got.QueueID != 1 {
		t.Errorf("viewed %+v, error %v", got, err)
	}
	wantReply(t, view(1<<50), remoting.SystemError, "can not find message by the offset, 1125899906842624")
	for _, offset := range []int64{-1, 7, place.CommitLogOffset + 7, place.CommitLogOffset - 1} {
		reply := view(offset)
		wantReply(t, reply, remoting.SystemError, "")
		if len(reply.Body) != 0 {
			t.Errorf("offset %d, where no record begins, gives %d bytes", offset, len(reply.Body))
		}
	}
	wantReply(t, request(t, l.routes, &conn{}, remoting.ViewMessageByID, nil, ""), remoting.SystemError, "the custom field <offset> is null")
}

// TestViewOfEveryOffset looks at every offset of a log with a message whose body is a stored
// record, the hardest thing to tell from a record.
func TestViewOfEveryOffset(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	first := l.put("T", 0, "", "first")
	slice, err := l.store.Record(first.CommitLogOffset, first.Size)
	if err != nil {
		t.Fatal(err)
	}
	starts := map[int64]bool{first.CommitLogOffset: true}
	starts[l.put("T", 1, "", string(slice.Bytes)).CommitLogOffset] = true
	slice.Release()
	starts[l.put("T", 0, "a", "last").CommitLogOffset] = true
	end := l.store.MaxCommitLogOffset()
	for offset := int64(-64); offset < end+64; offset++ {
		reply := request(t, l.routes, &conn{}, remoting.ViewMessageByID, ext{"offset": strconv.FormatInt(offset, 10)}, "")
		if starts[offset] {
			wantReply(t, reply, remoting.Success, "")
			continue
		}
		wantReply(t, reply, remoting.SystemError, "can not find message by the offset, "+strconv.FormatInt(offset, 10))
		if len(reply.Body) != 0 {
			t.Errorf("offset %d, where no record begins, gives %d bytes", offset, len(reply.Body))
		}
	}
}
