// Package attribute is how tools edit the attributes of topics and subscription groups: they say
// what to add and what to remove, and the rest stays (RocketMQ 5.5.0).
package attribute

import (
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/wheelmq/wheelmq/remoting"
)

// Kinds are the attributes that something may have, by name.
type Kinds map[string]Kind

// Kind says what an attribute may be.
type Kind struct {
	// Fixed is one that is set at the creation or never.
	Fixed bool
	// Values are those it may have; nil: Min to Max.
	Values []string
	// Min and Max bound a number.
	Min, Max int64
}

// OneOf is an attribute with some values.
func OneOf(values ...string) Kind { return Kind{Values: values} }

// From is a number from min on.
func From(min int64) Kind { return Kind{Min: min, Max: math.MaxInt64} }

// Parse reads the edits of request code 17, "+key=value,-key", as Alter takes them.
func Parse(text string) (map[string]string, error) {
	edits := make(map[string]string)
	for item := range strings.SplitSeq(text, ",") {
		if item == "" {
			continue
		}
		key, value, sets := strings.Cut(item, "=")
		switch {
		case sets && !strings.HasPrefix(key, "+"):
			return nil, remoting.Errorf(remoting.SystemError, "add/alter attribute format is wrong: %s", key)
		case !sets && !strings.HasPrefix(key, "-"):
			return nil, remoting.Errorf(remoting.SystemError, "delete attribute format is wrong: %s", item)
		}
		if _, twice := edits[key]; twice {
			return nil, remoting.Errorf(remoting.SystemError, "key duplication: %s", key)
		}
		edits[key] = value
	}
	return edits, nil
}

// Alter returns current with the edits: "+key" sets a value, "-key" removes one. Nothing is current
// of what is being created (exists is false), which can only be given attributes. A refused edit is an
// *remoting.Error of code 1, and none is done.
func (k Kinds) Alter(exists bool, current, edits map[string]string) (map[string]string, error) {
	altered := make(map[string]string, len(current)+len(edits))
	maps.Copy(altered, current)
	for _, edit := range slices.Sorted(maps.Keys(edits)) {
		if len(edit) < 2 {
			return nil, remoting.Errorf(remoting.SystemError, "kv string format wrong.")
		}
		name := edit[1:]
		if _, also := edits["-"+name]; also && edit[0] == '+' {
			return nil, remoting.Errorf(remoting.SystemError, "alter duplication key. key: %s", name)
		}
		switch {
		case edit[0] == '+':
			if err := k.check(exists, name, edits[edit]); err != nil {
				return nil, err
			}
			altered[name] = edits[edit]
		case edit[0] != '-':
			return nil, remoting.Errorf(remoting.SystemError, "wrong format key: %s, want +key or -key", edit)
		default:
			if err := k.removable(exists, name, current); err != nil {
				return nil, err
			}
			delete(altered, name)
		}
	}
	return altered, nil
}

// check looks at a value that is to be set.
func (k Kinds) check(exists bool, name, value string) error {
	kind, known := k[name]
	if !known {
		return remoting.Errorf(remoting.SystemError, "unsupported key: %s", name)
	}
	if exists && kind.Fixed {
		return unchangeable(name)
	}
	if kind.Values != nil {
		if !slices.Contains(kind.Values, value) {
			return remoting.Errorf(remoting.SystemError, "value %s of attribute %s is not supported", value, name)
		}
		return nil
	}
	if n, err := strconv.ParseInt(value, 10, 64); err != nil || n < kind.Min || n > kind.Max {
		return remoting.Errorf(remoting.SystemError, "value %s of attribute %s is not in range(%d, %d)", value, name, kind.Min, kind.Max)
	}
	return nil
}

func (k Kinds) removable(exists bool, name string, current map[string]string) error {
	if !exists {
		return remoting.Errorf(remoting.SystemError, "only add attribute is supported while creating topic. key: %s", name)
	}
	if _, set := current[name]; !set {
		return remoting.Errorf(remoting.SystemError, "attempt to delete a nonexistent key: %s", name)
	}
	if k[name].Fixed {
		return unchangeable(name)
	}
	return nil
}

func unchangeable(name string) error {
	return remoting.Errorf(remoting.SystemError, "attempt to update an unchangeable attribute. key: %s", name)
}
