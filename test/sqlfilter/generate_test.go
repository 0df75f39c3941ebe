package sqlfilter

import (
	"fmt"
	"math/rand/v2"
	"strings"
)

// names are few, so that expressions and messages meet.
var names = []string{"a", "b", "c", "A", "_x1", "$", "price", "TAGS"}

// texts are values and literals that some conversion reads and another does not.
var texts = []string{
	"", "0", "1", "2", "3", "5", "10", "-1", "+5", "-5", "05", "1.0", "3.5", ".5", "5.", "-3.5", "1e3", "1E-2", "1.5f", "2D", "10L", " 7", "7 ",
	"2147483647", "2147483648", "-2147483648", "-2147483649", "9223372036854775807", "9223372036854775808", "-9223372036854775808",
	"-9223372036854775809", "1e308", "1e309", "-1e309", "4.9e-324", "1e-400", "0.1", "0.30000000000000004", "NaN", "-NaN", "Infinity", "-Infinity",
	"inf", "nan", "infinity", "0x10", "0x1p3", "0x1.8p1f", "0x.p1", "0x1.p-2D", "1_000", "--1", "+-1", "+", "-", ".", "e5", "1e", "1e+", "0.0", "-0.0", "-0",
	"true", "TRUE", "True", "false", "False", "null", "x", "abc", "ab", "bc", "b", "ABC", "it's", "''", "a b", "it''s", "标签", "签", "😀", "٣", "１２", "𝟏",
	"\u00a05", "\t5\n", "ſ", "K", "16777217", "16777216.0", "9007199254740993", "9007199254740992", strings.Repeat("9", 40), "0." + strings.Repeat("3", 60),
}

var decimals = []string{
	"0", "1", "2", "3", "5", "10", "1", "2", "3", "5", "10", "1.0", "3.5", "007", "1L", "10l", "0L", "2147483647", "2147483648", "2147483648L", "9223372036854775807", "9223372036854775808",
	"1.0", "3.5", ".5", "5.", "1e3", "1E3", "1.5e-2", "1e309", "1e-400", "0.0", "4.9e-324", "1e", "0x10", "16777217", "9007199254740993.0", "12abc", "1.5L",
}

var blanks = []string{" ", " ", " ", " ", "  ", "\t", "\n", "\r\n", "\f", "/* c */", "-- c\n", "--c\r", "/*/*/", "/***/", "\v", "\u00a0", "--", "/*"}

// generator writes expressions by the grammar, and now and then against it.
type generator struct {
	*rand.Rand
	b strings.Builder
}

func (g *generator) pick(list []string) string { return list[g.IntN(len(list))] }

func (g *generator) often() bool { return g.IntN(20) > 0 }

func (g *generator) word(words ...string) {
	for _, w := range words {
		switch g.IntN(12) {
		case 0:
			w = strings.ToLower(w)
		case 1:
			w = w[:1] + strings.ToLower(w[1:])
		}
		g.blank()
		g.b.WriteString(w)
	}
}

func (g *generator) blank() {
	if g.IntN(200) == 0 {
		g.b.WriteString(g.pick(blanks))
	}
	if g.IntN(40) > 0 {
		g.b.WriteByte(' ')
	}
}

// expression writes one, sometimes broken.
func (g *generator) expression() string {
	g.b.Reset()
	g.condition(g.IntN(4))
	if g.IntN(30) == 0 {
		g.blank()
		g.b.WriteString(g.pick([]string{"x", "@", "'", "''", ")", "=", "AND", "OR b", "b = 1", "5", ".", ";", "NOT", "IS", ","}))
	}
	text := g.b.String()
	if g.IntN(4) == 0 {
		text = g.mutate(text)
	}
	return text
}

// mutate changes a piece of a text.
func (g *generator) mutate(text string) string {
	runes := []rune(text)
	for range 1 + g.IntN(3) {
		if len(runes) == 0 {
			break
		}
		from := g.IntN(len(runes))
		to := min(len(runes), from+1+g.IntN(4))
		piece := string(runes[from:to])
		switch g.IntN(4) {
		case 0:
			piece = ""
		case 1:
			piece += piece
		case 2:
			piece = g.pick([]string{"'", "(", ")", "=", "<", ">", "<>", "-", "+", ".", ",", "1", "e", "L", "*", "/", " NOT ", " NULL ", " AND ", "a", "é", "@", "\x00", "%"})
		default:
			at := g.IntN(len(runes))
			piece = string(runes[at:min(len(runes), at+6)])
		}
		runes = append(append(append([]rune{}, runes[:from]...), []rune(piece)...), runes[to:]...)
	}
	return string(runes)
}

func (g *generator) condition(depth int) {
	if depth > 0 && g.IntN(3) > 0 {
		switch g.IntN(5) {
		case 0:
			g.word("NOT")
			g.bracket(func() { g.condition(depth - 1) })
		case 1:
			g.bracket(func() { g.condition(depth - 1) })
		default:
			g.condition(depth - 1)
			for range 1 + g.IntN(2) {
				g.word(g.pick([]string{"AND", "OR"}))
				g.condition(depth - 1)
			}
		}
		return
	}
	g.simple(depth)
}

func (g *generator) bracket(inner func()) {
	g.blank()
	g.b.WriteByte('(')
	inner()
	g.blank()
	if g.IntN(200) > 0 {
		g.b.WriteByte(')')
	}
}

func (g *generator) simple(depth int) {
	switch g.IntN(10) {
	case 0:
		g.operand(depth)
		g.word("IS")
		if g.IntN(2) == 0 {
			g.word("NOT")
		}
		g.word("NULL")
	case 1:
		g.sized(depth)
		g.not()
		g.word("BETWEEN")
		g.sized(depth)
		g.word("AND")
		g.sized(depth)
	case 2:
		g.property()
		g.not()
		g.in()
	case 3, 4:
		g.operand(depth)
		g.not()
		g.word(g.pick([]string{"CONTAINS", "STARTSWITH", "ENDSWITH"}))
		g.text()
	case 5, 6:
		g.sized(depth)
		g.blank()
		g.b.WriteString(g.pick([]string{">", ">=", "<", "<="}))
		g.sized(depth)
	case 7:
		g.word(g.pick([]string{"TRUE", "FALSE", "NULL", "a", "b"}))
	default:
		g.operand(depth)
		g.blank()
		g.b.WriteString(g.pick([]string{"=", "=", "=", "<>", "<>", "==", "!="}[:5+g.IntN(20)/19*2]))
		g.operand(depth)
	}
	if g.IntN(50) == 0 {
		g.blank()
		g.b.WriteString(g.pick([]string{"= TRUE", "<> FALSE", "IS NULL", "IS NOT NULL", "= 1", "> 1", "CONTAINS 'a'", "= b", "NOT IN ('x')"}))
	}
}

func (g *generator) not() {
	if g.IntN(3) == 0 {
		g.word("NOT")
	}
}

func (g *generator) in() {
	g.word("IN")
	g.blank()
	g.b.WriteByte('(')
	for i := range 1 + g.IntN(3)*g.IntN(6) {
		if i > 0 {
			g.b.WriteByte(',')
		}
		if g.often() {
			g.text()
		} else {
			g.operand(0)
		}
	}
	g.b.WriteByte(')')
}

func (g *generator) operand(depth int) {
	for g.IntN(8) == 0 {
		g.blank()
		g.b.WriteString(g.pick([]string{"-", "+", "- ", "NOT "}))
	}
	switch g.IntN(10) {
	case 0:
		g.text()
	case 1:
		g.word(g.pick([]string{"TRUE", "FALSE", "NULL"}))
	case 2, 3, 4:
		g.blank()
		g.b.WriteString(g.pick(decimals))
	case 5:
		if depth > 0 {
			g.bracket(func() { g.condition(depth - 1) })
			return
		}
		g.bracket(g.property)
	default:
		g.property()
	}
}

// sized writes what compares by size, for the most part.
func (g *generator) sized(depth int) {
	switch {
	case !g.often():
		g.operand(depth)
	case g.IntN(2) == 0:
		g.property()
	default:
		g.blank()
		if g.IntN(6) == 0 {
			g.b.WriteByte('-')
		}
		g.b.WriteString(g.pick(decimals))
	}
}

func (g *generator) property() {
	g.blank()
	g.b.WriteString(g.pick(names))
}

func (g *generator) text() {
	g.blank()
	text := strings.ReplaceAll(g.pick(texts), "'", "''")
	if g.IntN(60) == 0 {
		text += "'"
	}
	fmt.Fprintf(&g.b, "'%s'", text)
}

// properties writes a message's, as a record stores them.
func (g *generator) properties() string {
	var b strings.Builder
	for range g.IntN(6) {
		fmt.Fprintf(&b, "%s\x01%s\x02", g.pick(names), g.pick(texts))
	}
	if g.IntN(10) == 0 {
		return strings.TrimSuffix(b.String(), "\x02")
	}
	return b.String()
}
