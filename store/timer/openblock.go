package timer

// openBlock collects the newest entries of a second until they fill a block.
type openBlock struct {
	second  int64
	n       int // entries
	written int // of them in blocks that a full one will replace
	b       [blockEntries * entrySize]byte
}

// unwritten are the entries that no block holds.
func (o *openBlock) unwritten() []byte { return o.b[o.written*entrySize : o.n*entrySize] }

func (o *openBlock) entries() []byte { return o.b[:o.n*entrySize] }

const (
	noBlock    = int32(-1)
	slabBlocks = 64
	// maxOpenBlocks bounds the memory that open blocks take: a KiB each.
	maxOpenBlocks = 10_816
)

// openBlocks are the open blocks of all seconds, by number, in memory that is used again.
type openBlocks struct {
	slabs []*[slabBlocks]openBlock
	free  []int32
	look  int32 // where the search for a block to give up goes on
}

func (o *openBlocks) at(i int32) *openBlock { return &o.slabs[i/slabBlocks][i%slabBlocks] }

// take is an empty block for a second, noBlock when there are too many.
func (o *openBlocks) take(second int64) int32 {
	if len(o.free) == 0 {
		made := int32(len(o.slabs) * slabBlocks)
		if made >= maxOpenBlocks {
			return noBlock
		}
		o.slabs = append(o.slabs, new([slabBlocks]openBlock))
		for i := made + slabBlocks - 1; i >= made; i-- {
			o.free = append(o.free, i)
		}
	}
	i := o.free[len(o.free)-1]
	o.free = o.free[:len(o.free)-1]
	b := o.at(i)
	b.second, b.n, b.written = second, 0, 0
	return i
}

// release takes a block back.
func (o *openBlocks) release(i int32) {
	o.at(i).n = 0
	o.free = append(o.free, i)
}

// victim is the next block in turn that has entries.
func (o *openBlocks) victim() int32 {
	for {
		o.look = (o.look + 1) % int32(len(o.slabs)*slabBlocks)
		if o.at(o.look).n > 0 {
			return o.look
		}
	}
}
