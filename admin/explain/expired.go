package explain

import (
	"context"
	"fmt"
	"strconv"

	"github.com/wheelmq/wheelmq/admin"
	"github.com/wheelmq/wheelmq/message"
)

// expired tells of a message that has no record: it was deleted when its id says that it is older than
// everything that is kept. Otherwise notFound is all there is to say.
func (t *teller) expired(ctx context.Context, id string, notFound error) (Explanation, error) {
	t.e = Explanation{MsgID: id, State: Expired, Groups: []Group{}, Records: []Record{}}
	for _, b := range t.brokers {
		table, err := t.c.Runtime(ctx, b)
		if err != nil {
			return t.e, err
		}
		first, err := strconv.ParseInt(table["commitLogMinOffset"], 10, 64)
		if err != nil || first <= 0 {
			continue // nothing was ever deleted
		}
		oldest, _ := strconv.ParseInt(table["earliestMessageTimeStamp"], 10, 64)
		kept := fmt.Sprintf("the oldest record that %s keeps is at %d, of %s", b.Name, first, instant(oldest))
		if t.e.Sentence = t.deleted(id, first, oldest, kept); t.e.Sentence != "" {
			return t.e, nil
		}
	}
	return t.e, notFound
}

// deleted is the sentence about a message that is older than what is kept, "" for another.
func (t *teller) deleted(id string, first, oldest int64, kept string) string {
	if admin.IsOffsetID(id) {
		if _, offset, err := message.ParseOffsetID(id); err == nil && offset < first {
			return fmt.Sprintf("was deleted: its record was at %d, and %s", offset, kept)
		}
		return ""
	}
	if made, ok := admin.MadeAt(id, t.now); ok && made < oldest {
		return fmt.Sprintf("was deleted, if it was ever stored: its id was made at %s, and %s", instant(made), kept)
	}
	return ""
}
