package sql

import (
	"fmt"
	"strings"
)

// maxHeight bounds the nesting of an expression, parentheses included. The real filter gives up
// where its thread's stack ends, some thousand levels deep.
const maxHeight = 1000

// SyntaxError says why and where a text is no expression.
type SyntaxError struct {
	Text   string
	At     int // bytes before the place
	Reason string
}

// longestQuote bounds what an error repeats of its expression, bytes.
const longestQuote = 200

// Error quotes the expression.
func (e *SyntaxError) Error() string {
	text := e.Text
	if len(text) > longestQuote {
		text = strings.ToValidUTF8(text[:longestQuote], "") + "…"
	}
	return fmt.Sprintf("sql: %q is no SQL92 expression: %s at position %d", text, e.Reason, e.At+1)
}

// parser reads an expression from left to right, one token ahead. Its first error stays.
type parser struct {
	text  string
	token token // the next one
	depth int   // of calls of unary
	names []string
	slots map[string]int
	err   *SyntaxError
}

func (p *parser) fail(format string, args ...any) {
	p.failAt(p.token.at, format, args...)
}

func (p *parser) failAt(at int, format string, args ...any) {
	if p.err == nil {
		p.err = &SyntaxError{Text: p.text, At: at, Reason: fmt.Sprintf(format, args...)}
		// Whoever reads on finds the end.
		p.token = token{tokenEnd, len(p.text), len(p.text)}
	}
}

// take passes the token and returns it.
func (p *parser) take() token {
	taken := p.token
	if p.err == nil {
		p.token = next(p.text, taken.end)
	}
	if p.token.kind == tokenBroken {
		p.fail("no token begins with %.1q", p.text[p.token.at:])
	}
	return taken
}

// accept passes the token if it is of a kind.
func (p *parser) accept(kind tokenKind) bool {
	if p.token.kind != kind {
		return false
	}
	p.take()
	return true
}

func (p *parser) expect(kind tokenKind, what string) {
	if !p.accept(kind) {
		p.fail("%s is expected", what)
	}
}

func (p *parser) or() *node {
	return p.chain(tokenOr, opOr, p.and)
}

func (p *parser) and() *node {
	return p.chain(tokenAnd, opAnd, p.equality)
}

// chain reads parts between the same logical operators, all of which are conditions then.
func (p *parser) chain(between tokenKind, join op, part func() *node) *node {
	at := p.token.at
	first := part()
	if p.token.kind != between {
		return first
	}
	n := &node{op: join, parts: []*node{p.condition(first, at)}}
	for p.accept(between) {
		at = p.token.at
		n.parts = append(n.parts, p.condition(part(), at))
	}
	return n.raise()
}

// condition makes a property a condition and refuses any other operand.
func (p *parser) condition(n *node, at int) *node {
	switch {
	case n.op == opProperty:
		return (&node{op: opCast, left: n}).raise()
	case !n.isCondition():
		p.failAt(at, "a condition is expected")
	}
	return n
}

func (p *parser) equality() *node {
	at := p.token.at
	n := p.comparison()
	for {
		switch operator := p.token; operator.kind {
		case tokenEqual, tokenNotEqual:
			p.take()
			n = p.equal(n, at)
			if operator.kind == tokenNotEqual {
				n = p.grow(&node{op: opNot, left: n})
			}
		case tokenIs:
			p.take()
			not := p.accept(tokenNot)
			p.expect(tokenNull, "NULL")
			n = p.grow(&node{op: opEqual, left: n, right: &node{op: opBooleanConstant}})
			if not {
				n = p.grow(&node{op: opNot, left: n})
			}
		default:
			return n
		}
	}
}

// equal refuses the literal NULL, and TRUE or FALSE left of another literal.
func (p *parser) equal(left *node, at int) *node {
	rightAt := p.token.at
	right := p.comparison()
	if left.isConstant() && left.constant.kind == kindNull {
		p.failAt(at, "NULL can only be asked for with IS")
	}
	if right.isConstant() && right.constant.kind == kindNull {
		p.failAt(rightAt, "NULL can only be asked for with IS")
	}
	if left.op == opBooleanConstant && right.op == opConstant {
		p.failAt(rightAt, "a boolean is expected")
	}
	return p.grow(&node{op: opEqual, left: left, right: right})
}

// grow finishes a node whose parts are there.
func (p *parser) grow(n *node) *node {
	if n.raise().height > maxHeight {
		p.fail("the expression is nested more than %d deep", maxHeight)
	}
	return n
}

func (p *parser) unary() *node {
	p.depth++
	defer func() { p.depth-- }()
	if p.depth > maxHeight {
		p.fail("the expression is nested more than %d deep", maxHeight)
	}
	switch p.token.kind {
	case tokenPlus:
		p.take()
		return p.unary()
	case tokenMinus:
		p.take()
		return p.grow(&node{op: opNegate, left: p.unary()})
	case tokenNot:
		p.take()
		at := p.token.at
		return p.grow(&node{op: opNot, left: p.condition(p.unary(), at)})
	}
	return p.primary()
}

func (p *parser) primary() *node {
	switch p.token.kind {
	case tokenText:
		return &node{op: opConstant, constant: value{kind: kindText, text: p.quoted()}}
	case tokenInteger:
		return p.integer()
	case tokenDecimal:
		return p.decimal()
	case tokenTrue, tokenFalse:
		return &node{op: opBooleanConstant, constant: boolean(p.take().kind == tokenTrue)}
	case tokenNull:
		p.take()
		return &node{op: opBooleanConstant}
	case tokenName:
		return p.property()
	case tokenOpen:
		p.take()
		n := p.or()
		p.expect(tokenClose, `")"`)
		return n
	}
	p.fail("a value is expected")
	return &node{op: opConstant}
}

func (p *parser) property() *node {
	t := p.take()
	name := p.text[t.at:t.end]
	slot, known := p.slots[name]
	if !known {
		slot = len(p.names)
		p.names = append(p.names, name)
		p.slots[name] = slot
	}
	return &node{op: opProperty, slot: slot}
}
