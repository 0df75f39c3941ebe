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
