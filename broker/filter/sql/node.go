package sql

type op uint8

const (
	opConstant op = iota
	opProperty
	opNegate

	// From here on a node is a condition.
	opBooleanConstant
	opCast // a property as a condition
	opNot
	opAnd
	opOr
	opEqual
	opGreater
	opGreaterEqual
	opLess
	opLessEqual
	opContains
	opStartsWith
	opEndsWith
	opIn
)

// node is a part of an expression. Chains of AND and of OR are one node.
type node struct {
	op       op
	negative bool // NOT IN, NOT CONTAINS and so on: not the same as NOT of it
	constant value
	slot     int // of opProperty: index of the name
	left     *node
	right    *node
	parts    []*node  // of opAnd, opOr
	search   []byte   // of opContains, opStartsWith, opEndsWith
	list     [][]byte // of opIn, when they are few
	set      map[string]struct{}
	height   int // nodes to the farthest leaf
}

func (n *node) isCondition() bool { return n.op >= opBooleanConstant }

func (n *node) isConstant() bool { return n.op == opConstant || n.op == opBooleanConstant }

// raise sets the height from the parts.
func (n *node) raise() *node {
	for _, part := range n.parts {
		n.height = max(n.height, part.height)
	}
	if n.left != nil {
		n.height = max(n.height, n.left.height)
	}
	if n.right != nil {
		n.height = max(n.height, n.right.height)
	}
	n.height++
	return n
}

// count is how many nodes there are from n on.
func (n *node) count() int {
	if n == nil {
		return 0
	}
	total := 1 + n.left.count() + n.right.count()
	for _, part := range n.parts {
		total += part.count()
	}
	return total
}

// manyTexts is where a map beats a scan.
const manyTexts = 8

func newIn(left *node, texts [][]byte, negative bool) *node {
	n := &node{op: opIn, left: left, negative: negative}
	if len(texts) < manyTexts {
		n.list = texts
		return n
	}
	n.set = make(map[string]struct{}, len(texts))
	for _, text := range texts {
		n.set[string(text)] = struct{}{}
	}
	return n
}

// has tells whether an opIn lists a text.
func (n *node) has(text []byte) bool {
	if n.set != nil {
		_, ok := n.set[string(text)]
		return ok
	}
	for _, listed := range n.list {
		if string(listed) == string(text) {
			return true
		}
	}
	return false
}
