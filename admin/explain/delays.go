package explain

import (
	"context"
	"fmt"

	"github.com/wheelmq/wheelmq/admin"
	"github.com/wheelmq/wheelmq/broker/schedule"
	"github.com/wheelmq/wheelmq/message"
)

// delays is how a broker delays messages, by its configuration in force.
type delays struct {
	broker string
	levels schedule.Levels
	table  map[string]string
}

// delaysOf asks a broker once.
func (t *teller) delaysOf(ctx context.Context, broker string) (*delays, error) {
	if d := t.delays[broker]; d != nil {
		return d, nil
	}
	b := t.brokers[broker]
	table, err := t.c.Config(ctx, b)
	if err != nil {
		return nil, err
	}
	levels, err := admin.LevelsIn(table, b)
	if err != nil {
		return nil, err
	}
	t.delays[broker] = &delays{broker, levels, table}
	return t.delays[broker], nil
}

// off is why a broker delivers no record of this kind when it is due; "" when it does, as far as it tells.
func (d *delays) off(m *admin.Message) string {
	key := "timerWheelEnable"
	if m.Topic == message.TopicSchedule {
		key = "scheduleMessageEnable"
	}
	if d.table[key] != "false" {
		return ""
	}
	return fmt.Sprintf("%s is false on %s", key, d.broker)
}
