package sql

import (
	"sync"

	"github.com/wheelmq/wheelmq/message"
)

// row is one message under evaluation.
type row struct {
	expression *Expression
	properties []byte
	values     [][]byte // by slot, when they were all looked for at once
}

// fewNames is how many properties are looked for one by one, each when it is asked for.
const fewNames = 8

// rows has the values of expressions with many names.
var rows = sync.Pool{New: func() any { return new([][]byte) }}

// bind looks for all properties at once and keeps them in values.
func (r *row) bind(values *[][]byte) {
	if n := len(r.expression.names); cap(*values) < n {
		*values = make([][]byte, n)
	}
	r.values = (*values)[:len(r.expression.names)]
	for rest := r.properties; len(rest) > 0; {
		name, end := message.PropertyBounds(rest)
		if name > 0 {
			if slot, asked := r.expression.slots[string(rest[:name])]; asked {
				r.values[slot] = rest[name+1 : end]
			}
		}
		rest = message.PropertyRest(rest, end)
	}
}

// property returns a property's value, nil when it is missing.
func (r *row) property(slot int) []byte {
	if r.values != nil {
		return r.values[slot]
	}
	v, _ := message.PropertyGet(r.properties, r.expression.names[slot])
	return v
}
