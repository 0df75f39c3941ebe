package remoting

import (
	"math"
	"math/bits"
)

// nullField is the real server's refusal of a header that lacks a required field.
func nullField(name string) *Error {
	return &Error{Code: SystemError, Remark: "the custom field <" + name + "> is null"}
}

// firstMissing refuses a hot header for the first required field that was not seen. Both are bits by the
// place of the field's name.
func firstMissing(seen, required int, names []string) error {
	if missing := required &^ seen; missing != 0 {
		return nullField(names[bits.TrailingZeros(uint(missing))])
	}
	return nil
}

func badField(name string, value []byte, want string) *Error {
	return Errorf(SystemError, "the custom field <%s> is %q, want %s", name, value, want)
}

// headerReader reads the fields of a cold header by name and keeps the first failure.
type headerReader struct {
	fields *Fields
	failed *Error
}

func (r *headerReader) err() error {
	if r.failed == nil {
		return nil
	}
	return r.failed
}

func (r *headerReader) fail(e *Error) {
	if r.failed == nil {
		r.failed = e
	}
}

// text reads a required field.
func (r *headerReader) text(name string) string {
	v, ok := r.fields.Get(name)
	if !ok {
		r.fail(nullField(name))
	}
	return string(v)
}

func (r *headerReader) optText(name string) string {
	v, _ := r.fields.Get(name)
	return string(v)
}

func (r *headerReader) int64(name string) int64 {
	v, ok := r.fields.Get(name)
	if !ok {
		r.fail(nullField(name))
		return 0
	}
	return r.number(name, v)
}

func (r *headerReader) optInt64(name string, fallback int64) int64 {
	v, ok := r.fields.Get(name)
	if !ok || len(v) == 0 {
		return fallback
	}
	return r.number(name, v)
}

func (r *headerReader) number(name string, v []byte) int64 {
	n, ok := parseInt(v)
	if !ok {
		r.fail(badField(name, v, "an integer"))
	}
	return n
}

func (r *headerReader) int32(name string) int32 { return r.narrow(name, r.int64(name)) }

func (r *headerReader) optInt32(name string, fallback int32) int32 {
	return r.narrow(name, r.optInt64(name, int64(fallback)))
}

func (r *headerReader) narrow(name string, n int64) int32 {
	if n > math.MaxInt32 || n < math.MinInt32 {
		r.fail(Errorf(SystemError, "the custom field <%s> is %d, want 32 bits", name, n))
		return 0
	}
	return int32(n)
}

func (r *headerReader) optBool(name string, fallback bool) bool {
	v, ok := r.fields.Get(name)
	if !ok || len(v) == 0 {
		return fallback
	}
	return parseBool(v)
}

// parseBool is Java's Boolean.parseBoolean: anything but "true" is false.
func parseBool(v []byte) bool {
	return len(v) == 4 && v[0]|0x20 == 't' && v[1]|0x20 == 'r' && v[2]|0x20 == 'u' && v[3]|0x20 == 'e'
}

// hotInt reads a number of a hot header.
func hotInt(f *Field, failed **Error) int64 {
	n, ok := parseInt(f.Value)
	if !ok && *failed == nil {
		*failed = badField(string(f.Key), f.Value, "an integer")
	}
	return n
}

func hotInt32(f *Field, failed **Error) int32 {
	n := hotInt(f, failed)
	if (n > math.MaxInt32 || n < math.MinInt32) && *failed == nil {
		*failed = badField(string(f.Key), f.Value, "32 bits")
	}
	return int32(n)
}
