package sql

import (
	"math"
	"strconv"
	"strings"
)

func (p *parser) comparison() *node {
	at := p.token.at
	n := p.unary()
	for {
		switch kind := p.token.kind; kind {
		case tokenGreater, tokenGreaterEqual, tokenLess, tokenLessEqual:
			p.take()
			rightAt := p.token.at
			n = p.ordered(comparisons[kind], operand{n, at}, operand{p.unary(), rightAt})
		case tokenNot:
			p.take()
			n = p.textual(operand{n, at}, true)
		case tokenContains, tokenStartsWith, tokenEndsWith, tokenBetween, tokenIn:
			n = p.textual(operand{n, at}, false)
		default:
			return n
		}
	}
}

var comparisons = map[tokenKind]op{
	tokenGreater: opGreater, tokenGreaterEqual: opGreaterEqual, tokenLess: opLess, tokenLessEqual: opLessEqual,
	tokenContains: opContains, tokenStartsWith: opStartsWith, tokenEndsWith: opEndsWith,
}

// operand is a side of a comparison and where it begins.
type operand struct {
	*node
	at int
}

// textual reads what may stand behind an optional NOT.
func (p *parser) textual(left operand, negative bool) *node {
	switch kind := p.token.kind; kind {
	case tokenContains, tokenStartsWith, tokenEndsWith:
		p.take()
		return p.grow(&node{op: comparisons[kind], negative: negative, left: left.node, search: p.quoted()})
	case tokenBetween:
		p.take()
		return p.between(left, negative)
	case tokenIn:
		p.take()
		return p.in(left, negative)
	}
	p.fail("BETWEEN, IN, CONTAINS, STARTSWITH or ENDSWITH is expected")
	return left.node
}

// between is two comparisons. Literals that are the wrong way round are refused, but only
// without a NOT.
func (p *parser) between(left operand, negative bool) *node {
	low := operand{at: p.token.at}
	low.node = p.unary()
	p.expect(tokenAnd, "AND")
	high := operand{at: p.token.at}
	high.node = p.unary()
	if negative {
		return p.grow(&node{op: opOr, parts: []*node{p.ordered(opLess, left, low), p.ordered(opGreater, left, high)}})
	}
	n := &node{op: opAnd, parts: []*node{p.ordered(opGreaterEqual, left, low), p.ordered(opLessEqual, left, high)}}
	if low.op == opConstant && high.op == opConstant {
		if order, _ := compare(high.constant, low.constant); order < 0 {
			p.failAt(low.at, "the lower bound of BETWEEN is above the upper one")
		}
	}
	return p.grow(n)
}

// ordered is a comparison by size, which no text, boolean or condition may be a side of.
func (p *parser) ordered(op op, left, right operand) *node {
	for _, side := range []operand{left, right} {
		if side.isCondition() || side.op == opConstant && !side.constant.isNumber() {
			p.failAt(side.at, "a property or a number is expected")
		}
	}
	return p.grow(&node{op: op, left: left.node, right: right.node})
}

func (p *parser) in(left operand, negative bool) *node {
	p.expect(tokenOpen, `"("`)
	texts := [][]byte{p.quoted()}
	for p.accept(tokenComma) {
		texts = append(texts, p.quoted())
	}
	p.expect(tokenClose, `")"`)
	if left.op != opProperty {
		p.failAt(left.at, "IN is asked of a property only")
	}
	return p.grow(newIn(left.node, texts, negative))
}

// quoted takes a text literal.
func (p *parser) quoted() []byte {
	if p.token.kind != tokenText {
		p.fail("a text in quotes is expected")
		return nil
	}
	t := p.take()
	return []byte(strings.ReplaceAll(p.text[t.at+1:t.end-1], "''", "'"))
}

// integer takes an integer literal: what fits into 32 bits is of 32, also with an L.
func (p *parser) integer() *node {
	t := p.take()
	n, err := strconv.ParseInt(strings.TrimRight(p.text[t.at:t.end], "lL"), 10, 64)
	if err != nil {
		p.failAt(t.at, "a number is greater than %d", int64(math.MaxInt64))
	}
	kind := kindLong
	if n <= math.MaxInt32 {
		kind = kindInt
	}
	return &node{op: opConstant, constant: value{kind: kind, number: n}}
}

// decimal takes a decimal literal. Zero is none: the real filter's least one is 4.9E-324.
func (p *parser) decimal() *node {
	t := p.take()
	f, err := strconv.ParseFloat(p.text[t.at:t.end], 64)
	switch {
	case err != nil:
		p.failAt(t.at, "a number is greater than %v", math.MaxFloat64)
	case f == 0:
		p.failAt(t.at, "a decimal is less than %v", math.SmallestNonzeroFloat64)
	}
	return &node{op: opConstant, constant: value{kind: kindDouble, double: f}}
}
