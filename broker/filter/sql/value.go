package sql

import (
	"cmp"
	"math"
)

type valueKind uint8

const (
	kindNull valueKind = iota
	kindText
	kindInt  // 32 bits
	kindLong // 64 bits
	kindDouble
	kindBool
)

// value is what an operand evaluates to.
type value struct {
	kind   valueKind
	text   []byte
	number int64 // of kindInt, kindLong, and kindBool: 1 is true
	double float64
}

func boolean(b bool) value {
	v := value{kind: kindBool}
	if b {
		v.number = 1
	}
	return v
}

func (v value) isNumber() bool {
	return v.kind == kindInt || v.kind == kindLong || v.kind == kindDouble
}

// negated is NULL for anything but a number.
func (v value) negated() value {
	switch v.kind {
	case kindInt, kindLong:
		v.number = -v.number
		return v
	case kindDouble:
		v.double = -v.double
		return v
	}
	return value{}
}

// asDouble is a number's value as a double.
func (v value) asDouble() float64 {
	if v.kind == kindDouble {
		return v.double
	}
	return float64(v.number)
}

// unrelated is how values compare that no conversion brings together: the left one is less.
const unrelated = -1

// compare orders two values that are not NULL as the real filter does, texts only by being equal
// or not. The text of a pair becomes what the other value is; ok is false when it does not read
// as that, and when a boolean stands left of a text.
func compare(left, right value) (order int, ok bool) {
	switch {
	case left.kind == kindText && right.kind == kindText:
		if string(left.text) == string(right.text) {
			return 0, true
		}
		return unrelated, true
	case left.kind == kindText:
		if left, ok = read(left.text, right.kind); !ok {
			return 0, false
		}
	case right.kind == kindText && left.kind == kindBool:
		return 0, false
	case right.kind == kindText:
		if right, ok = read(right.text, left.kind); !ok {
			return 0, false
		}
	}
	switch {
	case left.kind == kindBool && right.kind == kindBool:
		return cmp.Compare(left.number, right.number), true
	case left.kind == kindBool || right.kind == kindBool:
		return unrelated, true
	case left.kind == kindDouble || right.kind == kindDouble:
		return compareDoubles(left.asDouble(), right.asDouble()), true
	}
	return cmp.Compare(left.number, right.number), true
}

// compareTexts is compare for "<" and its like of two texts.
func compareTexts(left, right []byte) (order int, ok bool) {
	l, ok := parseDouble(left)
	if !ok {
		return 0, false
	}
	r, ok := parseDouble(right)
	if !ok {
		return 0, false
	}
	return compareDoubles(l, r), true
}

// compareDoubles is Java's order: -0.0 is less than 0.0, and NaN equals itself and is the greatest.
func compareDoubles(left, right float64) int {
	switch {
	case left < right:
		return -1
	case left > right:
		return 1
	case left == right:
		return cmp.Compare(sign(left), sign(right))
	case math.IsNaN(left) && math.IsNaN(right):
		return 0
	case math.IsNaN(left):
		return 1
	}
	return -1
}

func sign(f float64) int {
	if math.Signbit(f) {
		return -1
	}
	return 1
}

// read makes a text a value of a kind; any text is a boolean.
func read(text []byte, kind valueKind) (v value, ok bool) {
	v.kind = kind
	switch kind {
	case kindInt:
		v.number, ok = parseInteger(text, math.MaxInt32)
	case kindLong:
		v.number, ok = parseInteger(text, math.MaxInt64)
	case kindDouble:
		v.double, ok = parseDouble(text)
	case kindBool:
		return boolean(isTrue(text)), true
	}
	return v, ok
}

func isTrue(text []byte) bool {
	const word = "true"
	if len(text) != len(word) {
		return false
	}
	for i := range text {
		if text[i]|0x20 != word[i] {
			return false
		}
	}
	return true
}
