package admin

import (
	"context"
	"errors"
	"fmt"

	"github.com/wheelmq/wheelmq/broker/schedule"
	"github.com/wheelmq/wheelmq/remoting"
)

// Levels are a broker's delay levels, by its configuration in force (messageDelayLevel).
func (c *Client) Levels(ctx context.Context, b Broker) (schedule.Levels, error) {
	table, err := c.Config(ctx, b)
	if err != nil {
		return nil, err
	}
	return LevelsIn(table, b)
}

// LevelsIn are the delay levels in a broker's configuration.
func LevelsIn(table map[string]string, b Broker) (schedule.Levels, error) {
	levels, err := schedule.ParseLevels(table["messageDelayLevel"])
	if err != nil {
		return nil, fmt.Errorf("admin: the delay levels of %s: %w", b.Name, err)
	}
	return levels, nil
}

// checkLevel refuses a delay level that a broker does not have: it would take it for its last. One that does not
// tell its configuration is not doubted.
func (s *Sender) checkLevel(ctx context.Context, b Broker, level int) error {
	if level <= 0 {
		return nil
	}
	levels, asked := s.levels[b.Name]
	if !asked {
		var err error
		levels, err = s.c.Levels(ctx, b)
		if refusal := (*remoting.Error)(nil); err != nil && !errors.As(err, &refusal) {
			return err
		}
		s.levels[b.Name] = levels
	}
	if levels != nil && level > len(levels) {
		return fmt.Errorf("admin: there is no delay level %d: %s has %d", level, b.Name, len(levels))
	}
	return nil
}
