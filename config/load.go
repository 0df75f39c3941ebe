package config

import (
	"fmt"
	"os"
	"reflect"
	"strings"
)

// Default returns the configuration that nobody has touched.
func Default() *Config {
	c := new(Config)
	for _, k := range keys {
		if err := c.assign(k, k.Default); err != nil {
			panic("config: a default of its own does not fit: " + err.Error())
		}
	}
	return c
}

// Load reads a properties file into c and returns what to warn about.
func (c *Config) Load(path string) (warnings []string, err error) {
	b, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("config: %w", err)
	}
	// Editors of Windows begin a file with a byte order mark, which would be part of the first key.
	pairs, err := ParseProperties(strings.TrimPrefix(string(b), "\ufeff"))
	if err != nil {
		return nil, fmt.Errorf("config: %s: %w", path, err)
	}
	for _, p := range pairs {
		warning, err := c.SetFrom(path, p.Key, p.Value)
		if err != nil {
			return nil, fmt.Errorf("%w in %s", err, path)
		}
		if warning != "" {
			warnings = append(warnings, path+": "+warning)
		}
	}
	return warnings, nil
}

// Set takes "key=value" from the command line.
func (c *Config) Set(assignment string) (warning string, err error) {
	key, value, ok := strings.Cut(assignment, "=")
	key = strings.TrimSpace(key)
	if !ok || key == "" {
		return "", fmt.Errorf("config: %q: want key=value", assignment)
	}
	return c.SetFrom("--set", key, strings.TrimSpace(value))
}

// SetFrom sets one key and remembers who said so. A key that has no effect here is a warning,
// not an error: a broker.conf of the real broker must load.
func (c *Config) SetFrom(source, key, value string) (warning string, err error) {
	k, ok := byName[key]
	if !ok {
		return withoutEffect(key, value), nil
	}
	if err := c.assign(k, value); err != nil {
		return "", err
	}
	if c.sources == nil {
		c.sources = make(map[string]string)
	}
	c.sources[key] = source
	return "", nil
}

// SourceDefault is the source of what nobody has set.
const SourceDefault = "default"

// Source says who set a key: SourceDefault, a file's path, a flag.
func (c *Config) Source(key string) string {
	if source, ok := c.sources[key]; ok {
		return source
	}
	return SourceDefault
}

// Changed lists what somebody set, in the order of Keys, as "key=value (source)".
func (c *Config) Changed() []string {
	var list []string
	for _, k := range keys {
		if source, ok := c.sources[k.Name]; ok {
			list = append(list, fmt.Sprintf("%s=%v (%s)", k.Name, c.value(k).Interface(), source))
		}
	}
	return list
}

// Check refuses what does not fit. Fields that a program has set are held to the same limits
// as keys of a file.
func (c *Config) Check() error {
	for _, k := range keys {
		if err := k.check(c.value(k)); err != nil {
			return err
		}
	}
	return nil
}

func (c *Config) value(k Key) reflect.Value { return reflect.ValueOf(c).Elem().Field(k.field) }
