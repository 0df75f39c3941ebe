package timer

import "github.com/wheelmq/wheelmq/store"

// group is copies that are put together: one turn at the log for many.
type group struct {
	records store.Group
	copies  []collected
	full    bool
}

// collected is a message whose copy is in the group.
type collected struct {
	entry  int32 // of its second
	lateMs int64
	topic  *topicCount
	size   int64
}

// collected notes a copy that is in records.
func (g *group) collected(topic *topicCount, size int64, full bool) {
	g.copies = append(g.copies, collected{topic: topic, size: size})
	g.full = full
}

// made says which entry the last copy is of, and how late it is, ms. It tells whether the group is
// to be put now.
func (g *group) made(entry int32, lateMs int64) (full bool) {
	last := &g.copies[len(g.copies)-1]
	last.entry, last.lateMs = entry, lateMs
	return g.full
}

func (g *group) reset() {
	g.records.Reset()
	g.copies, g.full = g.copies[:0], false
}

// sent takes in copies that are in the log.
func (d *delivery) sent(f *flight, copies []collected) {
	for i := 0; i < len(copies); {
		topic, n, size := copies[i].topic, int64(0), int64(0)
		for ; i < len(copies) && copies[i].topic == topic; i, n = i+1, n+1 {
			size += copies[i].size
			f.entries = append(f.entries, copies[i].entry)
			d.lateness.Observe(float64(copies[i].lateMs) / 1000)
		}
		if d.counted != nil {
			d.counted(topic.name, n, size)
		}
		d.countMany(topic, f.sec, n)
	}
}
