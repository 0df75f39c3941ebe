package bench

import (
	"bytes"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/wheelmq/wheelmq/test/wire"
)

// soakKey and soakDelay stand in the frame where a timer's number and its delay go.
const (
	soakKey   = "7F000001000000000000000000000000"
	soakDelay = "0123456789"
)

// soakTimer is a request whose n-th copy has a number and a delay, ms. The number is in the second
// half of its UNIQ_KEY.
func soakTimer(queue int, of func(n int) (number, delay int64)) prepared {
	p := prepare(wire.SendMessageV2, map[string]string{
		"a": "BenchProducer", "b": soakTopic, "c": "TBW102", "d": "4", "e": strconv.Itoa(queue), "f": "0",
		"g": "1796000000000", "h": "0", "j": "0", "k": "false", "m": "false", "n": "broker-a",
		"i": wire.Properties("UNIQ_KEY", soakKey, "TIMER_DELAY_MS", soakDelay),
	}, []byte("x"))
	key := bytes.Index(p.frame, []byte(soakKey))
	delay := bytes.Index(p.frame, []byte(soakDelay))
	p.patch = func(frame []byte, n int) {
		number, ms := of(n)
		digits(frame[key+len(soakKey)/2:key+len(soakKey)], number)
		digits(frame[delay:delay+len(soakDelay)], ms)
	}
	return p
}

// digits writes a number with leading zeros.
func digits(b []byte, n int64) {
	for i := len(b) - 1; i >= 0; i-- {
		b[i] = byte('0' + n%10)
		n /= 10
	}
}

// deliver turns the clock until the timers of so many hours are due, and checks each of them: there
// once, stored at its millisecond.
func (s *soak) deliver(hours time.Duration) {
	s.t.Helper()
	until := s.Begin + (soakFirst + hours).Milliseconds()
	begin := time.Now()
	s.clock.until(s.Begin + soakFirst.Milliseconds() - 1)
	near := time.Since(begin)
	begin = time.Now()
	// The log is kept meanwhile: the copies are read from its beginning.
	for now := s.clock.now(); now < until; {
		now = s.clock.advance(min(10*time.Minute, time.Duration(until-now)*time.Millisecond))
	}
	took := time.Since(begin)
	var mu sync.Mutex
	var wg sync.WaitGroup
	got := 0
	for queue := range conns {
		wg.Go(func() {
			n := s.check(queue, until)
			mu.Lock()
			defer mu.Unlock()
			got += n
		})
	}
	wg.Wait()
	fmt.Printf("\nthe clock went on to the first in %v; %d timers of %v were delivered in %v, each once and at its millisecond: %.0f/s\n",
		near.Round(time.Millisecond), got, hours, took.Round(time.Millisecond), float64(got)/took.Seconds())
	s.pending(s.Sent - int64(got))
}

// check compares what a queue has with what is due by an instant.
func (s *soak) check(queue int, until int64) int {
	c := wire.Dial(s.t, s.target.BrokerAddr)
	defer c.Close()
	var have []int64
	for end := c.MaxOffset(s.t, soakTopic, queue); int64(len(have)) < end; {
		got := c.MustPull(s.t, wire.Pull{Group: "SoakReader", Topic: soakTopic, QueueID: queue, Offset: int64(len(have)), MaxMsgNums: 32})
		if len(got.Messages) == 0 {
			s.t.Errorf("queue %d: nothing at offset %d of %d", queue, len(have), end)
			return len(have)
		}
		for i := range got.Messages {
			number, err := soakNumber(&got.Messages[i])
			if err != nil {
				s.t.Error(err)
				return len(have)
			}
			if at := got.Messages[i].StoreTimestamp; at != s.due(number) || at > until {
				s.t.Errorf("timer %d is due at %d and was stored at %d", number, s.due(number), at)
			}
			have = append(have, number)
		}
	}
	s.compare(queue, until, have)
	return len(have)
}

func soakNumber(m *wire.Message) (int64, error) {
	key := m.Properties["UNIQ_KEY"]
	number, err := strconv.ParseInt(strings.TrimPrefix(key, soakKey[:len(soakKey)/2]), 10, 64)
	if err != nil {
		return 0, fmt.Errorf("UNIQ_KEY %q of a copy: %w", key, err)
	}
	return number, nil
}

// compare wants each number of a queue that is due once. Numbers of a chunk that a run was broken
// off in may be there.
func (s *soak) compare(queue int, until int64, have []int64) {
	slices.Sort(have)
	if kept := slices.Compact(slices.Clone(have)); len(kept) != len(have) {
		s.t.Errorf("queue %d: %d timers were delivered twice", queue, len(have)-len(kept))
	}
	missing := 0
	for _, c := range s.Chunks {
		for n := c.From + int64(queue); n < c.To; n += conns {
			if s.due(n) > until {
				continue
			}
			if _, ok := slices.BinarySearch(have, n); !ok {
				missing++
			}
		}
	}
	if missing > 0 {
		s.t.Errorf("queue %d: %d timers that are due were not delivered", queue, missing)
	}
}
