package timer

// openBlock collects the newest entries of a second until they fill a block.
type openBlock struct {
	second  int64
	written int // entries in blocks that a full one will replace
	b       [blockEntries * entrySize]byte
}

const (
	noBlock    = int32(-1)
	slabBlocks = 64
	// maxOpenBlocks bounds the memory that open blocks take: a KiB each.
	maxOpenBlocks = 10_816
)

// openBlocks are the open blocks of all seconds, by number, in memory that is used again.
type openBlocks struct {
	slabs []*[slabBlocks]openBlock
	// used is how many entries each block has. It lies close together for all seconds: adding an entry
	// only writes to the block, and need not wait for it to come from memory.
	used []uint8
	free []int32
	look int32 // where the search for a block to give up goes on
}

func (o *openBlocks) at(i int32) *openBlock { return &o.slabs[i/slabBlocks][i%slabBlocks] }

// entries are those of a block.
func (o *openBlocks) entries(i int32) []byte { return o.at(i).b[:int(o.used[i])*entrySize] }

// unwritten are the entries of a block that no block of the log holds.
func (o *openBlocks) unwritten(i int32) []byte { return o.entries(i)[o.at(i).written*entrySize:] }

// take is an empty block for a second, noBlock when there are too many.
func (o *openBlocks) take(second int64) int32 {
	if len(o.free) == 0 {
		made := int32(len(o.slabs) * slabBlocks)
		if made >= maxOpenBlocks {
			return noBlock
		}
		o.slabs = append(o.slabs, new([slabBlocks]openBlock))
		o.used = append(o.used, make([]uint8, slabBlocks)...)
		for i := made + slabBlocks - 1; i >= made; i-- {
			o.free = append(o.free, i)
		}
	}
	i := o.free[len(o.free)-1]
	o.free = o.free[:len(o.free)-1]
	b := o.at(i)
	b.second, b.written = second, 0
	return i
}

// release takes a block back.
func (o *openBlocks) release(i int32) {
	o.used[i] = 0
	o.free = append(o.free, i)
}

// victim is the next block in turn that has entries.
func (o *openBlocks) victim() int32 {
	for {
		o.look = (o.look + 1) % int32(len(o.slabs)*slabBlocks)
		if o.used[o.look] > 0 {
			return o.look
		}
	}
}
