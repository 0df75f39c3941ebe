package testapi

import (
	"encoding/json"
	"errors"
	"reflect"
	"strings"
)

// decodeJSON reads one JSON object and refuses members that into does not have, at any depth:
// a misspelt condition must not be one that always holds.
func decodeJSON(body []byte, into any) error {
	if err := checkMembers(body, reflect.TypeOf(into), ""); err != nil {
		return err
	}
	if err := json.Unmarshal(body, into); err != nil {
		var wrong *json.UnmarshalTypeError
		if errors.As(err, &wrong) {
			return invalid("%s: a %s, want %s", strings.TrimPrefix(wrong.Field, "."), wrong.Value, kindName(wrong.Type))
		}
		return invalid("the body: %v", err)
	}
	return nil
}

func kindName(t reflect.Type) string {
	switch t.Kind() {
	case reflect.Struct, reflect.Map:
		return "an object"
	case reflect.Slice:
		return "text in base64"
	case reflect.String:
		return "text"
	case reflect.Bool:
		return "true or false"
	default:
		return "an integer that fits (" + t.Kind().String() + ")"
	}
}

var unmarshaler = reflect.TypeFor[json.Unmarshaler]()

// checkMembers compares the members of a JSON object with the fields of a struct type.
func checkMembers(body []byte, t reflect.Type, path string) error {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if t.Kind() != reflect.Struct || reflect.PointerTo(t).Implements(unmarshaler) {
		return nil
	}
	members, err := membersOf(body, path)
	if err != nil {
		return err
	}
	fields := make(map[string]reflect.Type)
	names := memberNames(t, fields, nil)
	for name, value := range members {
		if err := known("member", path+name, prefixed(path, names)); err != nil {
			return err
		}
		if err := checkMembers(value, fields[name], path+name+"."); err != nil {
			return err
		}
	}
	return nil
}

// membersOf splits a JSON object.
func membersOf(body []byte, path string) (members map[string]json.RawMessage, err error) {
	switch err := json.Unmarshal(body, &members); {
	case err != nil && path == "":
		return nil, invalid("the body: %v: want one JSON object", err)
	case err != nil || members == nil:
		return nil, invalid("%s: want a JSON object", orBody(path))
	}
	return members, nil
}

func orBody(path string) string {
	if path == "" {
		return "the body"
	}
	return strings.TrimSuffix(path, ".")
}

func prefixed(path string, names []string) []string {
	out := make([]string, 0, len(names))
	for _, name := range names {
		out = append(out, path+name)
	}
	return out
}

// memberNames collects the JSON names of a struct's fields, those of embedded ones included.
func memberNames(t reflect.Type, fields map[string]reflect.Type, names []string) []string {
	for f := range t.Fields() {
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		switch {
		case f.Anonymous && name == "":
			names = memberNames(f.Type, fields, names)
		case f.IsExported() && name != "" && name != "-":
			fields[name], names = f.Type, append(names, name)
		}
	}
	return names
}
