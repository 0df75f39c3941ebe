package fault

import "fmt"

// State faults are asked for by the parts that they break.

// first is the first rule in force with an action, nil when there is none.
func (r *Rules) first(a action) *Fault {
	for _, f := range *r.list.Load() {
		if f.action == a && f.on() {
			return f
		}
	}
	return nil
}

// NoSpace is why the store finds no space; nil: it may.
func (r *Rules) NoSpace() error {
	if f := r.first(diskFull); f != nil {
		return fmt.Errorf("(fault rule %s)", f.rule.ID)
	}
	return nil
}

// NoSync is why a sync of the store fails; nil: it goes on.
func (r *Rules) NoSync() error {
	if f := r.first(fsyncFails); f != nil {
		return fmt.Errorf("input/output error (fault rule %s)", f.rule.ID)
	}
	return nil
}

// Broken counts that the store has broken down.
func (r *Rules) Broken() { r.takeFirst(fsyncFails) }

// BrokerMissing tells whether an answer of the name server about a topic must leave out this
// instance's broker; topic "" is an answer about no topic. It counts.
func (r *Rules) BrokerMissing(topic string) bool {
	for _, f := range *r.list.Load() {
		if f.action == brokerMissing && (f.rule.Topic == "" || f.rule.Topic == topic) && f.take() {
			return true
		}
	}
	return false
}

// Stalled is why due messages are withheld; "": they are not.
func (r *Rules) Stalled() string {
	if f := r.first(schedulerStalled); f != nil {
		return "by fault rule " + f.rule.ID
	}
	return ""
}

// Withheld counts that there was something due.
func (r *Rules) Withheld() { r.takeFirst(schedulerStalled) }

func (r *Rules) takeFirst(a action) {
	for _, f := range *r.list.Load() {
		if f.action == a && f.take() {
			return
		}
	}
}
