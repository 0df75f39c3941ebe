package config

import (
	"fmt"
	"os"
	"reflect"
	"slices"
	"strconv"
	"strings"
)

// Default returns the configuration that nobody has touched.
func Default() *Config {
	c := new(Config)
	for _, k := range Keys() {
		if err := c.assign(k.Name, k.Default); err != nil {
			panic("config: a default of its own does not fit: " + err.Error())
		}
	}
	return c
}

// Key is one key of broker.conf.
type Key struct{ Name, Default, Doc string }

// Keys lists the keys in the order of Config.
func Keys() []Key {
	t := reflect.TypeFor[Config]()
	keys := make([]Key, 0, t.NumField())
	for i := range t.NumField() {
		tag := t.Field(i).Tag
		keys = append(keys, Key{tag.Get("key"), tag.Get("default"), tag.Get("doc")})
	}
	return keys
}

func (c *Config) field(key string) (reflect.Value, bool) {
	t := reflect.TypeFor[Config]()
	for i := range t.NumField() {
		if t.Field(i).Tag.Get("key") == key {
			return reflect.ValueOf(c).Elem().Field(i), true
		}
	}
	return reflect.Value{}, false
}

// assign sets a known key. The error names key, value and what was expected.
func (c *Config) assign(key, value string) error {
	f, ok := c.field(key)
	if !ok {
		return fmt.Errorf("config: unknown key %q", key)
	}
	switch f.Kind() {
	case reflect.String:
		f.SetString(value)
	case reflect.Bool:
		b, err := strconv.ParseBool(value)
		if err != nil {
			return fmt.Errorf("config: %s=%q: want true or false", key, value)
		}
		f.SetBool(b)
	default:
		n, err := strconv.ParseInt(strings.TrimSpace(value), 10, 64)
		if err != nil || f.OverflowInt(n) {
			return fmt.Errorf("config: %s=%q: want an integer", key, value)
		}
		f.SetInt(n)
	}
	return nil
}

// Set takes "key=value". A key that this server does not know is a warning, not an error: a
// broker.conf of the real broker must load.
func (c *Config) Set(assignment string) (warning string, err error) {
	key, value, ok := strings.Cut(assignment, "=")
	key = strings.TrimSpace(key)
	if !ok || key == "" {
		return "", fmt.Errorf("config: %q: want key=value", assignment)
	}
	return c.set(key, strings.TrimSpace(value))
}

func (c *Config) set(key, value string) (warning string, err error) {
	if _, ok := c.field(key); ok {
		return "", c.assign(key, value)
	}
	if reason, ok := folklore[key]; ok {
		return fmt.Sprintf("key %s=%s: %s", key, value, reason), nil
	}
	if near := nearest(key); near != "" {
		return fmt.Sprintf("key %s is unknown and ignored; did you mean %s?", key, near), nil
	}
	return fmt.Sprintf("key %s has no effect in this server", key), nil
}

// folklore are keys that operators find in articles and that never did what those say.
var folklore = map[string]string{
	"scheduleInterval":  "has no effect: due messages are delivered at their millisecond, not at an interval",
	"maxDelayLevel":     "has no effect: the number of levels is that of messageDelayLevel's items",
	"scheduleStorePath": "has no effect: delay offsets are kept in config/delayOffset.json below storePathRootDir",
}

// Load reads a properties file into c and returns what to warn about.
func (c *Config) Load(path string) (warnings []string, err error) {
	b, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("config: %w", err)
	}
	pairs, err := ParseProperties(string(b))
	if err != nil {
		return nil, fmt.Errorf("config: %s: %w", path, err)
	}
	for _, p := range pairs {
		warning, err := c.set(p.Key, p.Value)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
		if warning != "" {
			warnings = append(warnings, path+": "+warning)
		}
	}
	return warnings, nil
}

// Check refuses values that do not fit together or that nobody serves.
func (c *Config) Check() error {
	if !slices.Contains([]string{"ASYNC_FLUSH", "SYNC_FLUSH"}, c.FlushDiskType) {
		return fmt.Errorf("config: flushDiskType=%q: want ASYNC_FLUSH or SYNC_FLUSH", c.FlushDiskType)
	}
	for _, p := range []struct {
		key  string
		port int
	}{{"listenPort", c.ListenPort}, {"namesrvListenPort", c.NamesrvListenPort}, {"httpPort", c.HTTPPort}} {
		if p.port < 0 || p.port > 65535 {
			return fmt.Errorf("config: %s=%d: want a port", p.key, p.port)
		}
	}
	if c.DefaultTopicQueueNums < 1 || c.MaxMessageSize < 10 {
		return fmt.Errorf("config: defaultTopicQueueNums=%d, maxMessageSize=%d: too small", c.DefaultTopicQueueNums, c.MaxMessageSize)
	}
	return nil
}

// Properties is the configuration in force as key=value lines, sorted.
func (c *Config) Properties() string {
	var lines []string
	for _, k := range Keys() {
		f, _ := c.field(k.Name)
		lines = append(lines, fmt.Sprintf("%s=%v", k.Name, f.Interface()))
	}
	slices.Sort(lines)
	return strings.Join(lines, "\n") + "\n"
}

// nearest is the known key within two edits, or "".
func nearest(key string) string {
	best, at := "", 3
	for _, k := range Keys() {
		if d := distance(strings.ToLower(key), strings.ToLower(k.Name)); d < at {
			best, at = k.Name, d
		}
	}
	return best
}

func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := 1; i <= len(a); i++ {
		diagonal := row[0]
		row[0] = i
		for j := 1; j <= len(b); j++ {
			cost := 1
			if a[i-1] == b[j-1] {
				cost = 0
			}
			diagonal, row[j] = row[j], min(row[j]+1, row[j-1]+1, diagonal+cost)
		}
	}
	return row[len(b)]
}
