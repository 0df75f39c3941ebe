package compat

import (
	"context"
	"strings"
	"sync"
	"testing"
	"time"

	rocketmq "github.com/apache/rocketmq-client-go/v2"
	"github.com/apache/rocketmq-client-go/v2/consumer"
	"github.com/apache/rocketmq-client-go/v2/primitive"
)

// TestRequest_GetsItsAnswer over the topic of replies. The client's own maker of replies leaves the body
// out: a broker refuses such a reply, and says so.
func TestRequest_GetsItsAnswer(t *testing.T) {
	t.Parallel()
	l := newLab(t, 1)
	replier := l.producer(t)
	var mu sync.Mutex
	var empty error
	box := newInbox()
	box.decide = func(ctx context.Context, m *primitive.MessageExt) consumer.ConsumeResult {
		reply, err := consumer.CreateReplyMessage(m, []byte("lost"))
		if err != nil {
			return consumer.ConsumeRetryLater
		}
		if len(reply.Body) == 0 {
			_, err := replier.SendSync(ctx, reply)
			mu.Lock()
			empty = err
			mu.Unlock()
		}
		reply.Body = []byte("answer to " + string(m.Body))
		answer(t.Context(), replier, reply)
		return consumer.ConsumeSuccess
	}
	l.push(t, box, consumer.MessageSelector{})
	asking := l.producer(t)
	for _, body := range numbered("question", 3) {
		got, err := asking.Request(t.Context(), limit, primitive.NewMessage(l.topic, []byte(body)))
		if err != nil {
			t.Fatal(err)
		}
		if want := "answer to " + body; string(got.Body) != want {
			t.Errorf("the answer is %q, want %q", got.Body, want)
		}
	}
	mu.Lock()
	defer mu.Unlock()
	if empty == nil {
		t.Error("a reply without a body was taken")
	} else if strings.Contains(empty.Error(), "CODE: 0 ") {
		t.Errorf("a reply without a body was answered with %v", empty)
	}
}

// answer sends a reply until it is taken, or the test is over: the question is answered before its
// sender hears so, and a test that has ended must not be failed from here.
func answer(ctx context.Context, p rocketmq.Producer, reply *primitive.Message) {
	for ctx.Err() == nil {
		if _, err := p.SendSync(ctx, reply); err == nil {
			return
		}
		time.Sleep(20 * time.Millisecond)
	}
}

// TestRequestThatNobodyAnswers_EndsInTime.
func TestRequestThatNobodyAnswers_EndsInTime(t *testing.T) {
	t.Parallel()
	l := newLab(t, 1)
	_, err := l.producer(t).Request(t.Context(), time.Second, l.message("anybody?"))
	if err == nil {
		t.Error("a request that nobody reads was answered")
	}
	l.settle(t, 1)
}
