package offline

import (
	"encoding/binary"
	"fmt"
	"math"
	"slices"

	"github.com/wheelmq/wheelmq/message"
	"github.com/wheelmq/wheelmq/store"
	"github.com/wheelmq/wheelmq/store/region"
)

// Sizes of an index file's parts, bytes.
const (
	indexHeader = 40
	indexSlot   = 4
	indexUnit   = 20
	indexDigits = 17 // of a file's name, the time it was made
)

// indexFile is a mapped file of the index: a header, hash slots, and units that lead from the
// hash of a key to a record.
type indexFile struct {
	name   string
	region region.Region
	b      []byte
	// slots and units are how many the file has room for; 0 when nobody knows.
	slots, units           int64
	beginOffset, endOffset int64 // log offsets of the first and last record
	next                   int64 // the unit to be written next; the first is 1
}

// indexFiles are the names of the index's files, oldest first.
func (d *Dir) indexFiles() (names []string, err error) {
	entries, err := d.fs.List(store.IndexDir)
	if err != nil {
		return nil, err
	}
	for _, e := range entries {
		if !e.Dir && len(e.Name) == indexDigits && e.Size >= indexHeader {
			names = append(names, store.IndexDir+"/"+e.Name)
		}
	}
	slices.Sort(names)
	return names, nil
}

// openIndex maps a file. How many slots it has is noted by this server; the real broker's
// default is four units for each.
func (d *Dir) openIndex(name string, notes store.Notes) (*indexFile, error) {
	r, err := d.fs.Open(name, 0)
	if err != nil {
		return nil, err
	}
	x := &indexFile{name: name, region: r, b: r.Bytes()}
	size := int64(len(x.b))
	fourToOne := (size - indexHeader) / (indexSlot + 4*indexUnit)
	for _, g := range [][2]int64{{notes.MaxHashSlotNum, notes.MaxIndexNum}, {fourToOne, 4 * fourToOne}} {
		if g[0] > 0 && indexHeader+g[0]*indexSlot+g[1]*indexUnit == size {
			x.slots, x.units = g[0], g[1]
			break
		}
	}
	be := binary.BigEndian
	x.beginOffset, x.endOffset = int64(be.Uint64(x.b[16:])), int64(be.Uint64(x.b[24:]))
	x.next = int64(be.Uint32(x.b[36:]))
	return x, nil
}

// unit is a unit's key hash, log offset and the unit before it in its slot.
func (x *indexFile) unit(n int64) (hash uint32, offset int64, previous int64) {
	b := x.b[x.at(n):]
	return binary.BigEndian.Uint32(b), int64(binary.BigEndian.Uint64(b[4:])), int64(binary.BigEndian.Uint32(b[16:]))
}

// at is where a unit lies in the file, bytes.
func (x *indexFile) at(n int64) int64 { return indexHeader + x.slots*indexSlot + n*indexUnit }

// checkIndex checks every unit against the record it leads to, and that slots lead to units
// of theirs. What is wrong is built again when the file is deleted.
func (c *checker) checkIndex() error {
	files, err := c.d.indexFiles()
	if err != nil {
		return err
	}
	for _, name := range files {
		x, err := c.d.openIndex(name, c.notes)
		if err != nil {
			return err
		}
		err = c.checkIndexFile(x)
		if closed := x.region.Close(); err == nil {
			err = closed
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (c *checker) checkIndexFile(x *indexFile) error {
	switch {
	case x.slots == 0:
		c.r.add("index", Finding{false, x.name, 0, fmt.Sprintf("%d bytes: its number of slots is not known, it is not checked", len(x.b))})
		return nil
	case x.next > x.units:
		c.r.add("index", Finding{true, x.name, 36, fmt.Sprintf("the header counts %d units, the file has room for %d", x.next, x.units)})
		return nil
	}
	var keys []uint32
	var record int64 = -1 // whose keys these are
	for n := int64(1); n < x.next; n++ {
		hash, offset, previous := x.unit(n)
		if previous >= n {
			c.r.add("index", Finding{true, x.name, x.at(n), fmt.Sprintf("unit %d leads forward to unit %d", n, previous)})
		}
		if offset < c.d.logMin() {
			continue // retention has removed the record
		}
		if offset >= c.r.LogEnd {
			c.r.add("index", Finding{false, x.name, x.at(n), fmt.Sprintf("unit %d leads to %d, past the end of the log at %d", n, offset, c.r.LogEnd)})
			continue
		}
		if offset != record {
			var err error
			if keys, err = c.indexHashes(keys[:0], offset); err != nil {
				return err
			}
			record = offset
		}
		if !slices.Contains(keys, hash) {
			c.r.add("index", Finding{true, x.name, x.at(n), fmt.Sprintf("unit %d leads to %d, where no record with its key is", n, offset)})
		}
	}
	c.checkSlots(x)
	return nil
}

// checkSlots checks that every slot leads to a unit whose hash belongs there.
func (c *checker) checkSlots(x *indexFile) {
	for slot := range x.slots {
		at := indexHeader + slot*indexSlot
		n := int64(binary.BigEndian.Uint32(x.b[at:]))
		if n == 0 {
			continue
		}
		if n >= x.next {
			c.r.add("index", Finding{false, x.name, at, fmt.Sprintf("slot %d leads to unit %d, the last is %d", slot, n, x.next-1)})
		} else if hash, _, _ := x.unit(n); int64(hash)%x.slots != slot {
			c.r.add("index", Finding{true, x.name, at, fmt.Sprintf("slot %d leads to unit %d, whose key belongs to slot %d", slot, n, int64(hash)%x.slots)})
		}
	}
}

// indexHashes appends the hashes of a record's keys: topic#UNIQ_KEY, topic#k for each of its
// KEYS, topic#T#TAGS. Where no record is, there are none.
func (c *checker) indexHashes(dst []uint32, offset int64) ([]uint32, error) {
	b, err := c.d.bytesAt(offset)
	if err != nil {
		return dst, err
	}
	v, err := message.Parse(b)
	if err != nil || v.CommitLogOffset != offset {
		return dst, nil
	}
	keys := message.PropertyIndexKeys(v.Properties)
	prefix := message.JavaHash(message.JavaHash(0, v.Topic), []byte{'#'})
	if len(keys.UniqKey) > 0 {
		dst = append(dst, positive(message.JavaHash(prefix, keys.UniqKey)))
	}
	for key, rest := message.NextKey(keys.Keys); len(key) > 0; key, rest = message.NextKey(rest) {
		dst = append(dst, positive(message.JavaHash(prefix, key)))
	}
	if len(keys.Tags) > 0 {
		dst = append(dst, positive(message.JavaHash(message.JavaHash(prefix, []byte("T#")), keys.Tags)))
	}
	return dst, nil
}

// positive is the absolute value, 0 for the one that has none.
func positive(hash int32) uint32 {
	switch {
	case hash == math.MinInt32:
		return 0
	case hash < 0:
		return uint32(-hash)
	}
	return uint32(hash)
}
