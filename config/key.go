package config

import (
	"fmt"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"
)

// Key is one key of broker.conf, as the tags of Config describe it.
type Key struct {
	Name, Default, Doc string
	Live               bool // may be changed while the server runs, with effect at once
	Local              bool // names a place on the machine: never set over the network

	field    int      // in Config
	min, max int64    // of integers, both included
	oneOf    []string // of texts; empty: anything
}

var (
	keys   = readTags()
	byName = index(keys)
)

// Keys lists the keys in the order of Config.
func Keys() []Key { return slices.Clone(keys) }

func readTags() []Key {
	t := reflect.TypeFor[Config]()
	var list []Key
	for i := range t.NumField() {
		tag := t.Field(i).Tag
		name, ok := tag.Lookup("key")
		if !ok {
			continue
		}
		k := Key{Name: name, Default: tag.Get("default"), Doc: tag.Get("doc"), Live: tag.Get("live") == "true", Local: tag.Get("local") == "true", field: i}
		k.min, k.max = bound(tag, "min", 0), bound(tag, "max", math.MaxInt64)
		if values, ok := tag.Lookup("oneof"); ok {
			k.oneOf = strings.Split(values, ",")
		}
		list = append(list, k)
	}
	return list
}

func bound(tag reflect.StructTag, name string, otherwise int64) int64 {
	text, ok := tag.Lookup(name)
	if !ok {
		return otherwise
	}
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		panic("config: " + err.Error())
	}
	return n
}

func index(list []Key) map[string]Key {
	m := make(map[string]Key, len(list))
	for _, k := range list {
		m[k.Name] = k
	}
	return m
}

// assign parses a value into its field. The error names key, value and what was expected.
func (c *Config) assign(k Key, text string) error {
	f := c.value(k)
	parsed := reflect.New(f.Type()).Elem()
	switch f.Kind() {
	case reflect.String:
		parsed.SetString(text)
	case reflect.Bool:
		b, err := strconv.ParseBool(strings.ToLower(strings.TrimSpace(text)))
		if err != nil {
			return k.refuse(text, "true or false")
		}
		parsed.SetBool(b)
	default:
		n, err := strconv.ParseInt(strings.TrimSpace(text), 10, 64)
		if err != nil || f.OverflowInt(n) {
			return k.refuse(text, k.integers())
		}
		parsed.SetInt(n)
	}
	if err := k.check(parsed); err != nil {
		return err
	}
	f.Set(parsed)
	return nil
}

// check holds a value to the key's limits.
func (k Key) check(v reflect.Value) error {
	switch {
	case v.CanInt() && (v.Int() < k.min || v.Int() > k.max):
		return k.refuse(strconv.FormatInt(v.Int(), 10), k.integers())
	case v.Kind() == reflect.String && len(k.oneOf) > 0 && !slices.Contains(k.oneOf, v.String()):
		return k.refuse(v.String(), k.texts())
	}
	return nil
}

func (k Key) integers() string {
	if k.max == math.MaxInt64 {
		return fmt.Sprintf("an integer of at least %d", k.min)
	}
	return fmt.Sprintf("an integer from %d to %d", k.min, k.max)
}

func (k Key) texts() string {
	var list []string
	for _, text := range k.oneOf {
		if text == "" {
			text = "nothing"
		}
		list = append(list, text)
	}
	return strings.Join(list, " or ")
}

func (k Key) refuse(value, want string) error {
	return fmt.Errorf("config: %s=%q: want %s", k.Name, value, want)
}
