package offline

import "fmt"

// account is what the records of the log say about one queue.
type account struct {
	q         *queue
	seen      bits      // units whose record was found
	lacking   []*run    // records without a unit
	misplaced []Finding // records whose unit leads to another one
	reached   int64     // offset of the last record, -1 without one
}

// bits is a set of units, from a queue's min on.
type bits []uint64

func (b bits) set(i int64)      { b[i/64] |= 1 << (i % 64) }
func (b bits) has(i int64) bool { return b[i/64]&(1<<(i%64)) != 0 }

// run is records or units in a row with the same finding, which is told once.
type run struct {
	finding     Finding // of the first
	first, last int64   // offsets in the queue
}

// extends tells whether an offset with a finding continues the run.
func (r *run) extends(offset int64, damage bool) bool {
	return offset == r.last+1 && damage == r.finding.Damage
}

// accounts are those of every queue, by topic and number.
type accounts map[string]map[int32]*account

func (as accounts) add(q *queue) *account {
	if as[q.topic] == nil {
		as[q.topic] = make(map[int32]*account)
	}
	a := &account{q: q, seen: make(bits, (q.max-q.min+63)/64), reached: -1}
	as[q.topic][q.id] = a
	return a
}

// accountOf is the account of a record's queue; one that is missing has an empty queue. It is
// nil for topics that exist no more: deleting a topic leaves its records in the log.
func (c *checker) accountOf(topic []byte, id int32) *account {
	if a := c.accounts[string(topic)][id]; a != nil {
		return a
	}
	if _, ok := c.topics.TopicConfigTable[string(topic)]; !ok {
		return nil
	}
	return c.accounts.add(&queue{d: c.d, topic: string(topic), id: id})
}

// begin notes the next record of the queue. When offsets begin anew, the topic was deleted and
// made again: what its records before lack, they lack by right.
func (a *account) begin(offset int64) {
	if offset <= a.reached {
		a.lacking, a.misplaced = nil, nil
	}
	a.reached = offset
}

// lacks notes a record without a unit.
func (a *account) lacks(f Finding, offset int64) {
	if n := len(a.lacking); n > 0 && a.lacking[n-1].extends(offset, f.Damage) {
		a.lacking[n-1].last++
		return
	}
	a.lacking = append(a.lacking, &run{f, offset, offset})
}

// tell reports the records without units of their own and returns how many have none.
func (a *account) tell(r *Result) (lacking int64) {
	for _, l := range a.lacking {
		l.finding.What = fmt.Sprintf("the record has no unit: %s queue %d offset %d", a.q.topic, a.q.id, l.first)
		if l.last > l.first {
			l.finding.What = fmt.Sprintf("the records have no units: %s queue %d offsets %d to %d", a.q.topic, a.q.id, l.first, l.last)
		}
		r.add("unit", l.finding)
		lacking += l.last - l.first + 1
	}
	for _, f := range a.misplaced {
		r.add("unit", f)
	}
	return lacking
}
