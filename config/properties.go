package config

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf16"
)

// Pair is one entry of a properties file.
type Pair struct{ Key, Value string }

// lineEnds makes the three line ends that Java accepts one.
var lineEnds = strings.NewReplacer("\r\n", "\n", "\r", "\n")

// ParseProperties reads Java's properties format: comments with # or !, key and value divided
// by =, : or blanks, a backslash at the end continues the line, escapes \t \n \r \f \uXXXX.
// Later entries for a key come later in the result. Blanks at the end of a line are not part of
// the value: Java keeps them and then fails on the number before them.
func ParseProperties(text string) ([]Pair, error) {
	var pairs []Pair
	lines := strings.Split(lineEnds.Replace(text), "\n")
	for i := 0; i < len(lines); i++ {
		first := i
		line := strings.TrimLeft(lines[i], " \t\f")
		if line == "" || line[0] == '#' || line[0] == '!' {
			continue
		}
		for continues(line) && i+1 < len(lines) {
			i++
			line = line[:len(line)-1] + strings.TrimLeft(lines[i], " \t\f")
		}
		key, value := splitPair(line)
		k, err := unescape(key)
		if err != nil {
			return nil, fmt.Errorf("line %d: %w", first+1, err)
		}
		v, err := unescape(trimRight(value))
		if err != nil {
			return nil, fmt.Errorf("line %d: %w", first+1, err)
		}
		pairs = append(pairs, Pair{k, v})
	}
	return pairs, nil
}

// Properties is the configuration in force as key=value lines, sorted, as GET_BROKER_CONFIG
// (code 26) answers it. It reads back as what it was, in Java too.
func (c *Config) Properties() string {
	lines := make([]string, 0, len(keys))
	for _, k := range keys {
		lines = append(lines, fmt.Sprintf("%s=%s\n", k.Name, escape(fmt.Sprint(c.value(k).Interface()))))
	}
	slices.Sort(lines)
	return strings.Join(lines, "")
}

// continues tells whether a line ends in an odd number of backslashes.
func continues(line string) bool {
	n := len(line) - len(strings.TrimRight(line, `\`))
	return n%2 == 1
}

// trimRight drops blanks at the end, but not one that a backslash escapes.
func trimRight(s string) string {
	trimmed := strings.TrimRight(s, " \t\f")
	if len(trimmed) < len(s) && continues(trimmed) {
		return s[:len(trimmed)+1]
	}
	return trimmed
}

func splitPair(line string) (key, value string) {
	for i := 0; i < len(line); i++ {
		switch line[i] {
		case '\\':
			i++
		case '=', ':':
			return line[:i], strings.TrimLeft(line[i+1:], " \t\f")
		case ' ', '\t', '\f':
			rest := strings.TrimLeft(line[i:], " \t\f")
			if rest != "" && (rest[0] == '=' || rest[0] == ':') {
				rest = strings.TrimLeft(rest[1:], " \t\f")
			}
			return line[:i], rest
		}
	}
	return line, ""
}

func unescape(s string) (string, error) {
	if !strings.Contains(s, `\`) {
		return s, nil
	}
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] != '\\' {
			b.WriteByte(s[i])
			continue
		}
		if i++; i == len(s) {
			break
		}
		switch s[i] {
		case 't':
			b.WriteByte('\t')
		case 'n':
			b.WriteByte('\n')
		case 'r':
			b.WriteByte('\r')
		case 'f':
			b.WriteByte('\f')
		case 'u':
			r, size, err := unescapeRune(s[i-1:])
			if err != nil {
				return "", err
			}
			b.WriteRune(r)
			i += size - 2
		default:
			b.WriteByte(s[i])
		}
	}
	return b.String(), nil
}

// unescapeRune reads \uXXXX, or two of them that are one character of UTF-16.
func unescapeRune(s string) (r rune, size int, err error) {
	high, err := unescapeUnit(s)
	if err != nil {
		return 0, 0, err
	}
	if utf16.IsSurrogate(high) {
		if low, err := unescapeUnit(s[6:]); err == nil {
			if r := utf16.DecodeRune(high, low); r != '\uFFFD' {
				return r, 12, nil
			}
		}
	}
	return high, 6, nil
}

func unescapeUnit(s string) (rune, error) {
	if len(s) < 6 || s[:2] != `\u` {
		return 0, fmt.Errorf(`%q: \u wants four hex digits`, s)
	}
	n, err := strconv.ParseUint(s[2:6], 16, 16)
	if err != nil {
		return 0, fmt.Errorf(`%q: \u wants four hex digits`, s)
	}
	return rune(n), nil
}

// escape writes a value so that a reader of properties gets it back. Java reads the text as
// Latin-1, so everything beyond ASCII is written as UTF-16 escapes.
func escape(value string) string {
	var b strings.Builder
	for i, r := range value {
		switch {
		case r == '\\':
			b.WriteString(`\\`)
		case r == ' ' && (i == 0 || i == len(value)-1):
			b.WriteString(`\ `)
		case r < ' ' || r > '~':
			for _, unit := range utf16.Encode([]rune{r}) {
				fmt.Fprintf(&b, `\u%04x`, unit)
			}
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}
