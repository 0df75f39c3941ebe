package namesrv

import (
	"maps"
	"slices"
	"strings"
	"sync"
)

// settings are the name server's configuration as requests 318 and 319 see it. Those
// that on is asked for have an effect.
type settings struct {
	mu     sync.RWMutex // guards values
	values map[string]string
}

// blackList are the keys that 318 must not touch.
var blackList = []string{"configBlackList", "configStorePath", "kvConfigPath", "rocketmqHome"}

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

// update applies a properties text and reports false, changing nothing, when it names a
// key of the black list. Unknown keys are ignored, as the real server does.
func (s *settings) update(text string) bool {
	changes := make(map[string]string)
	for line := range strings.Lines(text) {
		key, value, ok := strings.Cut(strings.TrimSpace(line), "=")
		if ok && !strings.HasPrefix(key, "#") {
			changes[strings.TrimSpace(key)] = strings.TrimSpace(value)
		}
	}
	for _, key := range blackList {
		if _, bad := changes[key]; bad {
			return false
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for key, value := range changes {
		if _, known := s.values[key]; known {
			s.values[key] = value
		}
	}
	return true
}
