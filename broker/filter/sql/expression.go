package sql

// Verdict is what an expression says of a message.
type Verdict uint8

// Verdicts. Only True delivers a message.
const (
	False   Verdict = iota
	True            // the message is wanted
	Unknown         // NULL
	Failed          // a property does not read as what it is compared with
)

// String is the verdict as texts and logs spell it.
func (v Verdict) String() string {
	return [...]string{"FALSE", "TRUE", "NULL", "failed"}[v]
}

// Expression is a compiled expression. It is immutable and safe for concurrent use.
type Expression struct {
	root  *node
	names []string // of the properties it asks for
	slots map[string]int
	size  int
}

// Compile reads an expression in UTF-8. What the official filter refuses is a *SyntaxError, and so
// is what is nested more than a thousand deep.
func Compile(text string) (*Expression, error) {
	p := &parser{text: text, slots: make(map[string]int)}
	p.token = next(text, 0)
	at := p.token.at
	if p.token.kind == tokenBroken {
		p.fail("no token begins with %.1q", text[at:])
	}
	root := p.condition(p.or(), at)
	if p.err != nil {
		return nil, p.err
	}
	return &Expression{root: root, names: p.names, slots: p.slots, size: root.count()}, nil
}

// Size is the number of operands and operators, by which the cost of an evaluation is bounded: some
// ten to a hundred ns each.
func (e *Expression) Size() int { return e.size }

// Match tells whether the expression wants a message with these properties, encoded as a record
// stores them.
func (e *Expression) Match(properties []byte) bool { return e.Evaluate(properties) == True }

// Evaluate tells what the expression says of these properties, encoded as a record stores them.
func (e *Expression) Evaluate(properties []byte) Verdict {
	r := row{expression: e, properties: properties}
	if len(e.names) > fewNames {
		values := rows.Get().(*[][]byte)
		defer rows.Put(values)
		r.bind(values)
		defer clear(r.values)
	}
	return r.truth(e.root)
}
