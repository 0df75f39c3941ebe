package sql

import (
	"bytes"
	"math"
	"strconv"
	"unicode"
	"unicode/utf8"
	"unsafe"
)

// parseInteger reads what Java's Integer.parseInt and Long.parseLong read: a sign and digits of
// any script of Unicode's first plane, no blanks. The least value is -highest-1.
func parseInteger(text []byte, highest uint64) (n int64, ok bool) {
	negative := false
	if len(text) > 0 && (text[0] == '-' || text[0] == '+') {
		negative = text[0] == '-'
		text = text[1:]
	}
	if len(text) == 0 {
		return 0, false
	}
	if negative {
		highest++
	}
	var sum uint64
	for len(text) > 0 {
		digit, size := digitOf(text)
		// sum*10 cannot overflow before the comparison: highest is at most 1<<63.
		if digit > 9 || sum > highest/10 || sum*10 > highest-digit {
			return 0, false
		}
		sum = sum*10 + digit
		text = text[size:]
	}
	if negative {
		return int64(-sum), true
	}
	return int64(sum), true
}

const noDigit = 10

// digitOf reads the first digit of text; it is noDigit when it is none.
func digitOf(text []byte) (digit uint64, size int) {
	if c := text[0]; c < utf8.RuneSelf {
		if isDigit(c) {
			return uint64(c - '0'), 1
		}
		return noDigit, 1
	}
	r, size := utf8.DecodeRune(text)
	for _, run := range unicode.Nd.R16 {
		// Digits come in runs of ten, and adjoining runs are one range.
		if r >= rune(run.Lo) && r <= rune(run.Hi) {
			return uint64(r-rune(run.Lo)) % 10, size
		}
	}
	return noDigit, size
}

// parseDouble reads what Java's Double.valueOf reads: blanks around, a sign, NaN, Infinity, a
// decimal or a hexadecimal number with an exponent of two, and a suffix of f or d.
func parseDouble(text []byte) (f float64, ok bool) {
	text = bytes.TrimFunc(text, func(r rune) bool { return r <= ' ' })
	unsigned := text
	if len(text) > 0 && (text[0] == '-' || text[0] == '+') {
		unsigned = text[1:]
	}
	switch {
	case len(unsigned) == 0:
		return 0, false
	case string(unsigned) == "NaN":
		return math.NaN(), true
	case string(unsigned) == "Infinity":
	case len(unsigned) > 1 && unsigned[0] == '0' && unsigned[1]|0x20 == 'x':
		end := hexadecimal(unsigned[2:])
		if end == 0 || !onlySuffix(unsigned[2+end:]) {
			return 0, false
		}
		text = text[:len(text)-len(unsigned)+2+end]
	default:
		end := decimal(unsigned)
		if end == 0 || !onlySuffix(unsigned[end:]) {
			return 0, false
		}
		text = text[:len(text)-len(unsigned)+end]
	}
	// The text is not kept. Out of range is an infinity or zero, as in Java, beside the error.
	f, err := strconv.ParseFloat(unsafe.String(&text[0], len(text)), 64)
	return f, err == nil || f != 0
}

// decimal returns the end of the decimal at the start of text, 0 when there is none.
func decimal(text []byte) (end int) {
	end, found := run(text, 0, isDigit)
	if end < len(text) && text[end] == '.' {
		fraction, some := run(text, end+1, isDigit)
		end, found = fraction, found || some
	}
	if !found {
		return 0
	}
	if end < len(text) && text[end]|0x20 == 'e' {
		return power(text, end+1)
	}
	return end
}

// hexadecimal is decimal for what stands behind 0x.
func hexadecimal(text []byte) (end int) {
	end, found := run(text, 0, isHex)
	if end < len(text) && text[end] == '.' {
		fraction, some := run(text, end+1, isHex)
		end, found = fraction, found || some
	}
	if !found || end == len(text) || text[end]|0x20 != 'p' {
		return 0
	}
	return power(text, end+1)
}

// power returns the end of the exponent at at, 0 when there is none.
func power(text []byte, at int) (end int) {
	if at < len(text) && (text[at] == '+' || text[at] == '-') {
		at++
	}
	end, found := run(text, at, isDigit)
	if !found {
		return 0
	}
	return end
}

func run(text []byte, at int, in func(byte) bool) (end int, found bool) {
	end = at
	for end < len(text) && in(text[end]) {
		end++
	}
	return end, end > at
}

func isHex(c byte) bool { return isDigit(c) || c|0x20 >= 'a' && c|0x20 <= 'f' }

// onlySuffix tells whether nothing or a type suffix of Java is left.
func onlySuffix(rest []byte) bool {
	return len(rest) == 0 || len(rest) == 1 && (rest[0]|0x20 == 'f' || rest[0]|0x20 == 'd')
}
