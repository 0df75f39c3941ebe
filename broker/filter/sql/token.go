package sql

import "strings"

type tokenKind uint8

const (
	tokenEnd tokenKind = iota
	tokenBroken
	tokenName
	tokenText
	tokenInteger
	tokenDecimal
	tokenNot
	tokenAnd
	tokenOr
	tokenBetween
	tokenIn
	tokenTrue
	tokenFalse
	tokenNull
	tokenIs
	tokenContains
	tokenStartsWith
	tokenEndsWith
	tokenEqual
	tokenNotEqual
	tokenGreater
	tokenGreaterEqual
	tokenLess
	tokenLessEqual
	tokenOpen
	tokenClose
	tokenComma
	tokenPlus
	tokenMinus
)

var keywords = map[string]tokenKind{
	"NOT": tokenNot, "AND": tokenAnd, "OR": tokenOr, "BETWEEN": tokenBetween, "IN": tokenIn, "TRUE": tokenTrue,
	"FALSE": tokenFalse, "NULL": tokenNull, "IS": tokenIs, "CONTAINS": tokenContains, "STARTSWITH": tokenStartsWith,
	"ENDSWITH": tokenEndsWith,
}

// longestKeyword is STARTSWITH.
const longestKeyword = 10

// token is a piece of the expression, text[at:end]. A broken one is where no token begins.
type token struct {
	kind    tokenKind
	at, end int
}

// next returns the first token at or after at. As in the official lexer the longest token wins.
func next(text string, at int) token {
	at = skipBlank(text, at)
	if at == len(text) {
		return token{tokenEnd, at, at}
	}
	switch c := text[at]; {
	case isDigit(c), c == '.':
		return number(text, at)
	case c == '\'':
		return quoted(text, at)
	case isLetter(c):
		return word(text, at)
	}
	return symbol(text, at)
}

// skipBlank passes white space and comments. A line comment that no line end closes is none.
func skipBlank(text string, at int) int {
	for at < len(text) {
		rest := text[at:]
		switch {
		case strings.IndexByte(" \t\n\r\f", rest[0]) >= 0:
			at++
			continue
		case strings.HasPrefix(rest, "--"):
			if end := strings.IndexAny(rest, "\n\r"); end >= 0 {
				at += end + 1
				continue
			}
		case strings.HasPrefix(rest, "/*"):
			if end := strings.Index(rest[2:], "*/"); end >= 0 {
				at += 2 + end + 2
				continue
			}
		}
		break
	}
	return at
}

func symbol(text string, at int) token {
	two := text[at:min(at+2, len(text))]
	switch two {
	case "<>":
		return token{tokenNotEqual, at, at + 2}
	case ">=":
		return token{tokenGreaterEqual, at, at + 2}
	case "<=":
		return token{tokenLessEqual, at, at + 2}
	}
	kind := tokenBroken
	switch two[0] {
	case '=':
		kind = tokenEqual
	case '>':
		kind = tokenGreater
	case '<':
		kind = tokenLess
	case '(':
		kind = tokenOpen
	case ')':
		kind = tokenClose
	case ',':
		kind = tokenComma
	case '+':
		kind = tokenPlus
	case '-':
		kind = tokenMinus
	}
	return token{kind, at, at + 1}
}

func word(text string, at int) token {
	end := at
	for end < len(text) && (isLetter(text[end]) || isDigit(text[end])) {
		end++
	}
	if end-at <= longestKeyword {
		if kind, ok := keywords[strings.ToUpper(text[at:end])]; ok {
			return token{kind, at, end}
		}
	}
	return token{tokenName, at, end}
}

// quoted ends at the last quote that can close it: two in a row stand for one, but only when
// another one follows.
func quoted(text string, at int) token {
	closed := 0
	for i := at + 1; i < len(text); i++ {
		if text[i] != '\'' {
			continue
		}
		closed = i + 1
		if closed == len(text) || text[closed] != '\'' {
			return token{tokenText, at, closed}
		}
		i = closed
	}
	if closed == 0 {
		return token{tokenBroken, at, at + 1}
	}
	return token{tokenText, at, closed}
}

// number is the longest of "0" or digits without a leading zero and an optional L, and a
// decimal: digits with a point, an exponent or both.
func number(text string, at int) token {
	end := digits(text, at)
	if point := end; point < len(text) && text[point] == '.' {
		if fraction := digits(text, point+1); end > at || fraction > point+1 {
			return token{tokenDecimal, at, exponent(text, fraction)}
		}
		return token{tokenBroken, at, at + 1}
	}
	if to := exponent(text, end); to > end {
		return token{tokenDecimal, at, to}
	}
	if text[at] == '0' {
		return token{tokenInteger, at, at + 1}
	}
	if end < len(text) && (text[end] == 'l' || text[end] == 'L') {
		end++
	}
	return token{tokenInteger, at, end}
}

// digits returns the end of the digits at at.
func digits(text string, at int) int {
	for at < len(text) && isDigit(text[at]) {
		at++
	}
	return at
}

// exponent returns the end of the exponent at at, at when there is none.
func exponent(text string, at int) int {
	from := at
	if from == len(text) || text[from] != 'e' && text[from] != 'E' {
		return at
	}
	from++
	if from < len(text) && (text[from] == '+' || text[from] == '-') {
		from++
	}
	if end := digits(text, from); end > from {
		return end
	}
	return at
}

func isDigit(c byte) bool { return c >= '0' && c <= '9' }

// isLetter tells whether a name may begin with c.
func isLetter(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c == '_' || c == '$'
}
