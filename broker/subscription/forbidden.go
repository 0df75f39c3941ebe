package subscription

import "maps"

// permRead is the bit of reading, as in a topic's permissions.
const permRead int32 = 4

// forbidden is what groups may not do with topics, as bits of permissions: group, topic, bits.
type forbidden map[string]map[string]int32

// Forbids tells whether a group may not read a topic (request code 353). It neither locks nor
// allocates.
func (t *Table) Forbids(group, topicName []byte) bool {
	return (*t.forbidden.Load())[string(group)][string(topicName)]&permRead != 0
}

// Forbid sets whether a group may not read a topic. Neither has to exist.
func (t *Table) Forbid(group, topicName string, forbid bool) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	all := *t.forbidden.Load()
	bits := all[group][topicName] &^ permRead
	if forbid {
		bits |= permRead
	}
	if bits == all[group][topicName] {
		return nil
	}
	all = maps.Clone(all)
	topics := maps.Clone(all[group])
	if topics == nil {
		topics = make(map[string]int32)
	}
	all[group] = topics
	topics[topicName] = bits
	if bits == 0 {
		delete(topics, topicName)
	}
	if len(topics) == 0 {
		delete(all, group)
	}
	t.forbidden.Store(&all)
	return t.save()
}

// forgive drops what a group is forbidden. t.mu is held.
func (t *Table) forgive(group string) {
	all := *t.forbidden.Load()
	if all[group] == nil {
		return
	}
	all = maps.Clone(all)
	delete(all, group)
	t.forbidden.Store(&all)
}
