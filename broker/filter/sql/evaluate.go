package sql

import "bytes"

// truth evaluates a condition.
func (r *row) truth(n *node) Verdict {
	switch n.op {
	case opBooleanConstant:
		if n.constant.kind == kindNull {
			return Unknown
		}
		return verdict(n.constant.number != 0)
	case opCast:
		// No property is a boolean.
		if r.property(n.left.slot) == nil {
			return Unknown
		}
		return False
	case opNot:
		return not(r.truth(n.left))
	case opAnd:
		return r.join(n.parts, False)
	case opOr:
		return r.join(n.parts, True)
	case opEqual:
		return r.equal(n)
	case opContains, opStartsWith, opEndsWith:
		return r.search(n)
	case opIn:
		text := r.property(n.left.slot)
		if text == nil {
			return Unknown
		}
		return verdict(n.has(text) != n.negative)
	}
	return r.ordered(n)
}

func verdict(b bool) Verdict {
	if b {
		return True
	}
	return False
}

func not(v Verdict) Verdict {
	switch v {
	case True:
		return False
	case False:
		return True
	}
	return v
}

// join is AND when False is decisive, OR when True is: from left to right up to what decides.
func (r *row) join(parts []*node, decisive Verdict) Verdict {
	joined := not(decisive)
	for _, part := range parts {
		switch v := r.truth(part); v {
		case decisive, Failed:
			return v
		case Unknown:
			joined = Unknown
		}
	}
	return joined
}

// equal finds two NULLs equal, NULL on the left of anything else is NULL, on the right False.
func (r *row) equal(n *node) Verdict {
	left, ok := r.value(n.left)
	if !ok {
		return Failed
	}
	right, ok := r.value(n.right)
	switch {
	case !ok:
		return Failed
	case left.kind == kindNull && right.kind == kindNull:
		return True
	case left.kind == kindNull:
		return Unknown
	case right.kind == kindNull:
		return False
	}
	order, ok := compare(left, right)
	if !ok {
		return Failed
	}
	return verdict(order == 0)
}

// ordered is a comparison by size.
func (r *row) ordered(n *node) Verdict {
	left, ok := r.value(n.left)
	if !ok {
		return Failed
	}
	if left.kind == kindNull {
		return Unknown
	}
	right, ok := r.value(n.right)
	if !ok {
		return Failed
	}
	if right.kind == kindNull {
		return Unknown
	}
	var order int
	if left.kind == kindText && right.kind == kindText {
		order, ok = compareTexts(left.text, right.text)
	} else {
		order, ok = compare(left, right)
	}
	if !ok {
		return Failed
	}
	switch n.op {
	case opGreater:
		return verdict(order > 0)
	case opGreaterEqual:
		return verdict(order >= 0)
	case opLess:
		return verdict(order < 0)
	}
	return verdict(order <= 0)
}

// search is False for the empty text and of what is no text, negative or not.
func (r *row) search(n *node) Verdict {
	if len(n.search) == 0 {
		return False
	}
	v, ok := r.value(n.left)
	if !ok {
		return Failed
	}
	if v.kind != kindText {
		return False
	}
	var found bool
	switch n.op {
	case opContains:
		found = bytes.Contains(v.text, n.search)
	case opStartsWith:
		found = bytes.HasPrefix(v.text, n.search)
	default:
		found = bytes.HasSuffix(v.text, n.search)
	}
	return verdict(found != n.negative)
}

// value evaluates an operand. It is not ok when a condition in it failed.
func (r *row) value(n *node) (v value, ok bool) {
	switch n.op {
	case opConstant:
		return n.constant, true
	case opProperty:
		if text := r.property(n.slot); text != nil {
			return value{kind: kindText, text: text}, true
		}
		return value{}, true
	case opNegate:
		v, ok = r.value(n.left)
		return v.negated(), ok
	}
	switch r.truth(n) {
	case True:
		return boolean(true), true
	case False:
		return boolean(false), true
	case Unknown:
		return value{}, true
	}
	return value{}, false
}
