package compat

import (
	"fmt"
	"strconv"
	"testing"
	"time"

	"github.com/wheelmq/wheelmq/test/suite"
	"github.com/wheelmq/wheelmq/test/wire"
)

// levels are the default delays of level 1 to 18.
var levels = []time.Duration{
	time.Second, 5 * time.Second, 10 * time.Second, 30 * time.Second,
	time.Minute, 2 * time.Minute, 3 * time.Minute, 4 * time.Minute, 5 * time.Minute, 6 * time.Minute,
	7 * time.Minute, 8 * time.Minute, 9 * time.Minute, 10 * time.Minute, 20 * time.Minute, 30 * time.Minute,
	time.Hour, 2 * time.Hour,
}

// delayOf is the delay of a level, counted from 1.
func delayOf(level int) time.Duration { return levels[level-1] }

// TestDelayLevels_AllAcceptedAndNeverEarly sends one message per level, looks
// at where each is stored and waits for the first four.
func TestDelayLevels_AllAcceptedAndNeverEarly(t *testing.T) {
	t.Parallel()
	l := newLab(t, 4)
	box := l.consume(t)
	p := l.producer(t)
	const awaited = 4
	begin := make([]time.Time, len(levels)+1)
	want := make([]string, 0, awaited)
	for level := 1; level <= len(levels); level++ {
		m := l.message("level %d", level).WithDelayTimeLevel(level)
		begin[level] = time.Now()
		result := send(t, p, m)
		_, offset, err := wire.ParseMsgID(result.OffsetMsgID)
		if err != nil {
			t.Fatal(err)
		}
		stored, answer := l.wire.View(t, offset)
		if answer.Code != wire.Success || stored.Topic != wire.ScheduleTopic || stored.QueueID != level-1 ||
			stored.Properties["REAL_TOPIC"] != l.topic || stored.Properties["REAL_QID"] != strconv.Itoa(result.MessageQueue.QueueId) {
			t.Errorf("level %d: %v, stored in %s@%d with %v", level, answer, stored.Topic, stored.QueueID, stored.Properties)
		}
		if level <= awaited {
			want = append(want, fmt.Sprintf("level %d", level))
		}
	}
	box.wantOnce(t, want...)
	for _, a := range box.all() {
		level, err := strconv.Atoi(a.GetProperty("DELAY"))
		if err != nil || string(a.Body) != fmt.Sprintf("level %d", level) {
			t.Errorf("%q arrived with DELAY=%q", a.Body, a.GetProperty("DELAY"))
			continue
		}
		if waited := a.at.Sub(begin[level]); waited < delayOf(level) {
			t.Errorf("level %d arrived after %v, before its %v", level, waited, delayOf(level))
		}
		if a.Topic != l.topic {
			t.Errorf("level %d arrived in topic %s, want %s", level, a.Topic, l.topic)
		}
	}
	// The store says it for certain: a second copy would be in a queue by now or
	// have been delivered. On a slow machine the next level is due, too.
	due := awaited
	for due < len(levels) && time.Since(begin[due+1]) >= delayOf(due+1) {
		due++
	}
	if n := l.stored(t); n < awaited || n > int64(due) {
		t.Errorf("%d messages are in the topic, want %d, or what was due of %d", n, awaited, due)
	}
}

// TestDelayedTags_AreFiltered: the tag of a delayed message counts once it is
// delivered, not while its queue entry holds the due time.
func TestDelayedTags_AreFiltered(t *testing.T) {
	t.Parallel()
	l := newLab(t, 1)
	p := l.producer(t)
	for i := range 10 {
		send(t, p, l.message("%s %d", []string{"even", "odd"}[i%2], i/2).WithDelayTimeLevel(1).WithTag([]string{"even", "odd"}[i%2]))
	}
	suite.Eventually(t, limit, "all are delivered", func() bool { return l.stored(t) == 10 })
	got := l.wire.PullAll(t, wire.Pull{Group: l.group, Topic: l.topic, Subscription: "odd"})
	bodies := make(map[string]bool)
	for _, m := range got {
		bodies[string(m.Body)] = true
	}
	for _, body := range numbered("odd", 5) {
		if !bodies[body] {
			t.Errorf("%q is not found by its tag", body)
		}
	}
	if len(got) != 5 {
		t.Errorf("%d messages are found by the tag, want 5", len(got))
	}
}
