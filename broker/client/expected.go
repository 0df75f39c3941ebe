package client

import (
	"errors"
	"io/fs"
	"maps"
	"slices"

	"github.com/sirupsen/logrus"
)

// expectedFile is the file of who was in which group when the broker stopped.
const expectedFile = "wheelmqMembers.json"

const (
	// maxDownMs is how long a planned restart may take, ms of the wire clock: after more, who was
	// there says little about who is.
	maxDownMs = 30_000
	// returnMs is how long members are expected after the start, ms. Clients send a heartbeat every 30 s.
	returnMs = 35_000
)

// expected are the members that the broker had when it stopped and that have not told of themselves
// since. Whoever divides the queues counts them in: they go on with theirs, and learn of the restart
// with their next heartbeat only. The registry's mu guards it.
type expected struct {
	groups map[string]map[string]bool // client IDs by group
	until  int64                      // ms of the wire clock; 0: nobody is expected
	// leaving is who was there when the stop began; nil before.
	leaving map[string]map[string]bool
}

// membersFile is expectedFile: {"stopped":1700000000000,"groups":{"group":["clientId",…]}}.
type membersFile struct {
	Stopped int64               `json:"stopped"` // ms of the wire clock
	Groups  map[string][]string `json:"groups"`
}

// Leave begins a stop: who is there now is expected back after a restart. Connections that end from
// now on are ended by the stop, and nobody is told that they did.
func (r *Registry) Leave() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.expected.leaving = make(map[string]map[string]bool)
	for name, group := range r.consumers {
		if group.messageModel == Broadcasting {
			continue
		}
		ids := make(map[string]bool, len(group.members))
		for _, m := range group.members {
			ids[m.ClientID] = true
		}
		r.expected.leaving[name] = ids
	}
	for name, ids := range r.expected.groups {
		if r.expected.leaving[name] == nil {
			r.expected.leaving[name] = make(map[string]bool, len(ids))
		}
		maps.Copy(r.expected.leaving[name], ids)
	}
}

// saveLeaving writes down who is expected back. Without the file a group divides its queues among
// those whose heartbeats have come.
func (r *Registry) saveLeaving() {
	r.mu.RLock()
	file := membersFile{Stopped: r.opts.Wire.NowMillis(), Groups: make(map[string][]string, len(r.expected.leaving))}
	for name, ids := range r.expected.leaving {
		if len(ids) > 0 {
			file.Groups[name] = slices.Sorted(maps.Keys(ids))
		}
	}
	r.mu.RUnlock()
	if len(file.Groups) == 0 || r.opts.Config == nil {
		return
	}
	if err := r.opts.Config.Save(expectedFile, &file); err != nil {
		r.opts.Log.WithError(err).Warn("the members of groups cannot be saved: after the restart they divide the queues as their heartbeats come")
	}
}

// expect reads who was there when the broker stopped, and empties the file: it tells of one stop.
func (r *Registry) expect() {
	if r.opts.Config == nil {
		return
	}
	var file membersFile
	if err := r.opts.Config.Load(expectedFile, &file); err != nil {
		if !errors.Is(err, fs.ErrNotExist) {
			r.opts.Log.WithError(err).Warn("the members of groups before the restart cannot be read: queues are divided as heartbeats come")
		}
		return
	}
	if len(file.Groups) == 0 {
		return
	}
	if err := r.opts.Config.Save(expectedFile, &membersFile{Groups: map[string][]string{}}); err != nil {
		r.opts.Log.WithError(err).Warn("the members of groups before the restart cannot be cleared")
	}
	now := r.opts.Wire.NowMillis()
	if down := now - file.Stopped; down < 0 || down > maxDownMs {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.expected.groups, r.expected.until = make(map[string]map[string]bool, len(file.Groups)), now+returnMs
	members := 0
	for name, ids := range file.Groups {
		r.expected.groups[name] = make(map[string]bool, len(ids))
		for _, id := range ids {
			r.expected.groups[name][id] = true
		}
		members += len(ids)
	}
	r.opts.Log.WithFields(logrus.Fields{"groups": len(file.Groups), "members": members}).
		Info("members from before the restart keep their queues until their next heartbeat")
}

// back takes a client off those that a group expects. r.mu is held.
func (e *expected) back(group, clientID string) {
	for _, groups := range []map[string]map[string]bool{e.groups, e.leaving} {
		if ids := groups[group]; ids[clientID] {
			delete(ids, clientID)
			if len(ids) == 0 {
				delete(groups, group)
			}
		}
	}
}

// giveUpMissing counts on those who have not come no longer, when their time is over: their groups
// divide the queues without them.
func (r *Registry) giveUpMissing() {
	var changes []change
	r.mu.Lock()
	if r.expected.until > 0 && r.opts.Wire.NowMillis() >= r.expected.until {
		for name := range r.expected.groups {
			if group := r.consumers[name]; group != nil {
				changes = append(changes, change{name, group.conns()})
			}
		}
		r.expected.groups, r.expected.until = nil, 0
	}
	r.mu.Unlock()
	r.announce(changes)
}

// ClientIDs returns by whom a group divides its queues: the client IDs of its members, each once,
// sorted. With returning they include those that were there before a planned restart and have not
// told of themselves yet, and expected says whether there are such.
func (r *Registry) ClientIDs(group []byte, returning bool) (ids []string, expected bool) {
	r.mu.RLock()
	defer r.mu.RUnlock()
	if g := r.consumers[string(group)]; g != nil {
		ids = g.view.ClientIDs()
	}
	back := r.expected.groups[string(group)]
	if r.expected.leaving != nil {
		back = r.expected.leaving[string(group)]
	}
	if !returning || len(back) == 0 {
		return ids, false
	}
	online := len(ids)
	for id := range back {
		ids = append(ids, id)
	}
	slices.Sort(ids)
	ids = slices.Compact(ids)
	return ids, len(ids) > online
}
