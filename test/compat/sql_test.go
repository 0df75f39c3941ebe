package compat

import (
	"fmt"
	"testing"

	"github.com/apache/rocketmq-client-go/v2/consumer"
)

// TestPushWithSQL_GetsWhatTheExpressionTakes of what was stored before and of what arrives.
func TestPushWithSQL_GetsWhatTheExpressionTakes(t *testing.T) {
	t.Parallel()
	l := newLab(t, 2)
	p := l.producer(t)
	var want []string
	sendAll := func(when string) {
		for i := range 12 {
			m := l.message("%s %d", when, i).WithTag("T")
			m.WithProperty("n", fmt.Sprint(i))
			if i%2 == 0 {
				m.WithProperty("color", "blue")
			}
			if i > 3 && i <= 8 && (i%2 == 0 || i == 5) {
				want = append(want, string(m.Body))
			}
			send(t, p, m)
		}
	}
	sendAll("before")
	const expression = "n > 3 AND n <= 8 AND (color = 'blue' OR n IN ('5')) AND TAGS IS NOT NULL"
	box := l.push(t, newInbox(), consumer.MessageSelector{Type: consumer.SQL92, Expression: expression})
	box.wait(t, len(want))
	sendAll("while it waits")
	box.wantOnce(t, want...)
	l.committed(t, 24)
}
