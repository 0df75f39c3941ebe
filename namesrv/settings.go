package namesrv

import (
	"maps"
	"slices"
	"sync"

	"github.com/wheelmq/wheelmq/config"
	"github.com/wheelmq/wheelmq/remoting"
)

// settings are the name server's configuration as requests 318 and 319 see it. Those
// that on is asked for have an effect.
type settings struct {
	mu     sync.RWMutex // guards values
	values map[string]string
}

// blackList are the keys that 318 must not touch.
var blackList = []string{"configBlackList", "configStorePath", "kvConfigPath", "rocketmqHome"}

// live are the keys that have an effect, which they have at once.
var live = []string{"enableAllTopicList", "orderMessageEnable", "returnOrderTopicConfigToBroker"}

func newSettings(given map[string]string) *settings {
	s := &settings{values: map[string]string{
		"configBlackList":                   "configBlackList;configStorePath;kvConfigPath",
		"clusterTest":                       "false",
		"deleteTopicWithBrokerRegistration": "false",
		"enableAllTopicList":                "true",
		"enableTopicList":                   "true",
		"needWaitForService":                "false",
		"orderMessageEnable":                "false",
		"returnOrderTopicConfigToBroker":    "true",
		"scanNotActiveBrokerInterval":       "5000",
		"serverChannelMaxIdleTimeSeconds":   "120",
		"supportActingMaster":               "false",
	}}
	maps.Copy(s.values, given)
	return s
}

func (s *settings) on(key string) bool {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.values[key] == "true"
}

func (s *settings) set(key, value string) {
	s.mu.Lock()
	s.values[key] = value
	s.mu.Unlock()
}

// text is the properties form, sorted.
func (s *settings) text() []byte {
	s.mu.RLock()
	defer s.mu.RUnlock()
	var out []byte
	for _, key := range slices.Sorted(maps.Keys(s.values)) {
		out = append(out, key...)
		out = append(out, '=')
		out = append(out, s.values[key]...)
		out = append(out, '\n')
	}
	return out
}

// update applies a properties text, or nothing of it: a key of the black list, one that is unknown, and
// one that has no effect here or whose value does not fit are refused. A value that a key has already
// is no change.
func (s *settings) update(text string) error {
	pairs, err := config.ParseProperties(text)
	if err != nil {
		return remoting.Errorf(remoting.InvalidParameter, "the body is no properties text: %v", err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, p := range pairs {
		if err := s.check(p); err != nil {
			return err
		}
	}
	for _, p := range pairs {
		s.values[p.Key] = p.Value
	}
	return nil
}

// check refuses what cannot be set. s.mu is held.
func (s *settings) check(p config.Pair) error {
	before, known := s.values[p.Key]
	switch {
	case slices.Contains(blackList, p.Key):
		return remoting.Errorf(remoting.NoPermission, "Can not update config in black list.")
	case known && p.Value == before:
		return nil
	case !known:
		return remoting.Errorf(remoting.InvalidParameter, "nothing is changed: %s is unknown", p.Key)
	case !slices.Contains(live, p.Key):
		return remoting.Errorf(remoting.InvalidParameter, "nothing is changed: %s has no effect on this server", p.Key)
	case p.Value != "true" && p.Value != "false":
		return remoting.Errorf(remoting.InvalidParameter, "nothing is changed: %s=%q: want true or false", p.Key, p.Value)
	}
	return nil
}
