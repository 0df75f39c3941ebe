package control

import (
	"fmt"

	"github.com/wheelmq/wheelmq/fault"
)

// AddFault puts a rule into force. The error wraps fault.ErrInvalid.
func (c *Control) AddFault(rule fault.Rule) (*fault.Fault, error) {
	if c.opts.Faults == nil {
		return nil, fmt.Errorf("%w: this server is not for tests", ErrInvalid)
	}
	return c.opts.Faults.Add(rule)
}

// Faults are the rules that were not removed, in the order of adding.
func (c *Control) Faults() []*fault.Fault {
	if c.opts.Faults == nil {
		return nil
	}
	return c.opts.Faults.Faults()
}

// Fault finds a rule by its ID. The error wraps ErrNotFound.
func (c *Control) Fault(id string) (*fault.Fault, error) {
	for _, f := range c.Faults() {
		if f.ID() == id {
			return f, nil
		}
	}
	return nil, fmt.Errorf("fault %q: %w", id, ErrNotFound)
}
