package control

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/wheelmq/wheelmq/broker"
	"github.com/wheelmq/wheelmq/message"
)

// Pending are the messages that wait for their time, in due order. Their places are those in
// which they wait.
func (c *Control) Pending(ctx context.Context) ([]Pending, error) {
	list := []Pending{}
	b, err := c.live()
	if err != nil {
		return list, err
	}
	_, err = eachPending(ctx, b, &PendingFilter{}, func(p *broker.Pending, rec *message.Record) error {
		list = append(list, pendingOf(p, rec))
		return nil
	}, true)
	return list, err
}

// ListPending is one page of the pending messages that a filter selects, in due order.
func (c *Control) ListPending(ctx context.Context, f PendingFilter) (PendingPage, error) {
	b, err := c.live()
	if err != nil {
		return PendingPage{Pending: []Pending{}}, err
	}
	return ListPending(ctx, b, f)
}

// PendingSource shows what pends: a broker, or a store whose server is stopped.
type PendingSource interface {
	// EachPending is that of broker.Broker.
	EachPending(fromMs int64, visit func(p broker.Pending) error) (unread int64, err error)
}

// ListPending is like that of Control, of any source.
func ListPending(ctx context.Context, from PendingSource, f PendingFilter) (PendingPage, error) {
	page := PendingPage{Pending: []Pending{}}
	if f.Limit < 0 {
		return page, fmt.Errorf("%w: limit %d", ErrInvalid, f.Limit)
	}
	last := ""
	unread, err := eachPending(ctx, from, &f, func(p *broker.Pending, rec *message.Record) error {
		if len(page.Pending) == f.Limit {
			page.Next = last
			return page.count(&f)
		}
		if rec == nil {
			read, err := p.Read()
			if err != nil {
				return fmt.Errorf("%w: %w", errUnread, err)
			}
			rec = &read
		}
		page.Pending = append(page.Pending, pendingOf(p, rec))
		last = placeOf(p).String()
		return nil
	}, false)
	if f.After == "" {
		page.Total += int64(len(page.Pending))
	}
	page.Unread = unread
	return page, err
}

// count counts a message behind the page.
func (page *PendingPage) count(f *PendingFilter) error {
	if f.After != "" {
		return errEnough
	}
	if page.Total+int64(len(page.Pending)) >= MaxTotal {
		page.AtLeast = true
		return errEnough
	}
	page.Total++
	return nil
}

// maxSteps bounds how many steps of time CountPending counts apart.
const maxSteps = 100_000

// CountPending counts the pending messages that a filter selects: by topic, or with a step by the
// time they are due.
func (c *Control) CountPending(ctx context.Context, f PendingFilter, step time.Duration) ([]PendingCount, error) {
	b, err := c.live()
	if err != nil {
		return nil, err
	}
	return CountPending(ctx, b, f, step)
}

// CountPending is like that of Control, of any source.
func CountPending(ctx context.Context, from PendingSource, f PendingFilter, step time.Duration) ([]PendingCount, error) {
	if step < 0 || step > 0 && step < time.Millisecond {
		return nil, fmt.Errorf("%w: steps of %v", ErrInvalid, step)
	}
	counts := make(map[PendingCount]int64)
	unread, err := eachPending(ctx, from, &f, func(p *broker.Pending, rec *message.Record) error {
		key := PendingCount{}
		if step == 0 {
			key.Topic = rec.Topic
		} else {
			key.FromMs = p.Due - p.Due%step.Milliseconds()
		}
		if counts[key]++; len(counts) > maxSteps {
			return fmt.Errorf("%w: more than %d steps of %v: take longer ones", ErrInvalid, maxSteps, step)
		}
		return nil
	}, step == 0)
	if unread > 0 {
		counts[PendingCount{}] += unread
	}
	list := make([]PendingCount, 0, len(counts))
	for key, n := range counts {
		key.Messages = n
		list = append(list, key)
	}
	slices.SortFunc(list, func(a, b PendingCount) int {
		return cmp.Or(cmp.Compare(a.FromMs, b.FromMs), cmp.Compare(a.Topic, b.Topic))
	})
	return list, err
}

// errEnough ends a look at what pends.
var errEnough = errors.New("enough")

// errUnread passes over a message that cannot be read, which is logged.
var errUnread = errors.New("control: a pending message cannot be read")

// eachPending visits what a filter selects, and tells how many records it could not read. Records are
// read when the filter or the caller wants that, else nil.
func eachPending(
	ctx context.Context, from PendingSource, f *PendingFilter, visit func(p *broker.Pending, rec *message.Record) error, read bool,
) (unread int64, err error) {
	after, err := parsePlace(f.After)
	if err != nil {
		return 0, err
	}
	read = read || f.Topic != "" || f.Key != ""
	lost, err := from.EachPending(max(f.FromMs, after.due), func(p broker.Pending) error {
		if err := ctx.Err(); err != nil {
			return err
		}
		if f.ToMs > 0 && p.Due >= f.ToMs {
			return errEnough
		}
		if placeOf(&p).compare(after) <= 0 {
			return nil
		}
		err := visitPending(&p, f, visit, read)
		if errors.Is(err, errUnread) {
			unread++
			return nil
		}
		return err
	})
	if errors.Is(err, errEnough) {
		err = nil
	}
	return unread + lost, err
}

// visitPending visits a message if a filter selects it.
func visitPending(p *broker.Pending, f *PendingFilter, visit func(p *broker.Pending, rec *message.Record) error, read bool) error {
	if !read {
		return visit(p, nil)
	}
	rec, err := p.Read()
	if err != nil {
		return fmt.Errorf("%w: %w", errUnread, err)
	}
	if f.selects(&rec) {
		return visit(p, &rec)
	}
	return nil
}

// selects tells whether a message has the topic and the key.
func (f *PendingFilter) selects(rec *message.Record) bool {
	if f.Topic != "" && f.Topic != rec.Topic {
		return false
	}
	if f.Key == "" {
		return true
	}
	if id, _ := message.PropertyGet(rec.Properties, message.PropertyUniqKey); string(id) == f.Key {
		return true
	}
	keys, _ := message.PropertyGet(rec.Properties, message.PropertyKeys)
	return slices.Contains(strings.Fields(string(keys)), f.Key)
}

func pendingOf(p *broker.Pending, rec *message.Record) Pending {
	service := "schedule"
	if p.Level == 0 {
		service = "timer"
	}
	return Pending{
		Message: messageOf(&message.View{
			Topic: []byte(rec.Topic), QueueID: rec.QueueID, QueueOffset: p.QueueOffset, CommitLogOffset: p.CommitLogOffset,
			StoreHost: rec.StoreHost, BornTimestamp: rec.BornTimestamp, StoreTimestamp: rec.StoreTimestamp,
			ReconsumeTimes: rec.ReconsumeTimes, Body: rec.Body, Properties: rec.Properties,
		}),
		ID: p.ID, DueMs: p.Due, Level: int(p.Level), Service: service,
	}
}
