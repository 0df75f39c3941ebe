package store

import (
	"slices"

	"github.com/wheelmq/wheelmq/message"
)

// KeyQuery asks for records of a topic by a key.
type KeyQuery struct {
	Topic string
	Key   string // a UNIQ_KEY, one of KEYS, or the TAGS as a whole
	Tags  bool   // Key is the TAGS
	// MaxNum bounds the records: the newest ones are taken. So does maxMsgsNumBatch.
	MaxNum int
	// MaxBytes bounds the records together, but for the newest one; 0: nothing does.
	MaxBytes   int
	Begin, End int64 // store timestamps, ms, both included
}

// KeyResult are the records that a KeyQuery found, ascending in the log.
type KeyResult struct {
	Records []Slice
	// LastTimestamp (ms) and LastOffset (of the log) are of the newest record that has keys.
	LastTimestamp, LastOffset int64
	// Foreign counts records left out because only the hash of a key is the same.
	Foreign int
	// Cut tells that older records were left out because of MaxBytes.
	Cut bool
}

// Release lets go of all records.
func (r *KeyResult) Release() {
	for i := range r.Records {
		r.Records[i].Release()
	}
	r.Records = nil
}

// Query finds records by key. Everything that was readable when it was called is looked at,
// unless the index is being rebuilt; a record is returned only when it has the very key. The
// caller releases the result.
func (s *Store) Query(q KeyQuery) KeyResult {
	s.index.await(s.published.Load())
	files, lastTimestamp, lastOffset := s.index.newestFirst()
	search := keySearch{s: s, q: q, hash: q.hash(), limit: max(0, min(q.MaxNum, s.opts.MaxMsgsNumBatch)), last: -1}
	for _, f := range files {
		if !search.in(f) {
			break
		}
	}
	slices.Reverse(search.records)
	return KeyResult{Records: search.records, LastTimestamp: lastTimestamp, LastOffset: lastOffset, Foreign: search.foreign, Cut: search.cut}
}

// hash is the index's hash of the key.
func (q *KeyQuery) hash() uint32 {
	h := message.JavaHash(message.JavaHash(0, []byte(q.Topic)), []byte{'#'})
	if q.Tags {
		h = tagsPrefix(h)
	}
	return indexHash(message.JavaHash(h, []byte(q.Key)))
}

// has tells whether a record is what is asked for: other keys may have the same hash.
func (q *KeyQuery) has(v *message.View) bool {
	if string(v.Topic) != q.Topic {
		return false
	}
	keys := message.PropertyIndexKeys(v.Properties)
	if q.Tags {
		return string(keys.Tags) == q.Key
	}
	if string(keys.UniqKey) == q.Key {
		return true
	}
	for key, rest := message.NextKey(keys.Keys); len(key) > 0; key, rest = message.NextKey(rest) {
		if string(key) == q.Key {
			return true
		}
	}
	return false
}

// keySearch is one query on its way through the files.
type keySearch struct {
	s       *Store
	q       KeyQuery
	hash    uint32
	limit   int
	records []Slice // newest first
	last    int64   // log offset of the last one
	bytes   int     // of them together
	foreign int     // records that have another key
	cut     bool    // the next record would be too much
}

// in looks into one file and tells whether an older one may hold more.
func (k *keySearch) in(f *indexFile) (more bool) {
	var unit uint32
	for {
		room := k.limit - len(k.records)
		if room <= 0 || k.cut {
			return false
		}
		var offsets []int64
		offsets, unit, more = k.s.index.find(f, make([]int64, 0, room), k.hash, unit, &k.q)
		for _, offset := range offsets {
			k.take(offset)
		}
		if unit == 0 {
			return more
		}
	}
}

// take adds the record at a log offset if it has the key. A record that has it twice is
// found twice in a row.
func (k *keySearch) take(offset int64) {
	if offset == k.last {
		return
	}
	record, err := k.s.Record(offset, 0)
	if err != nil {
		// Retention has deleted it, or the log is damaged there.
		return
	}
	v, err := message.Parse(record.Bytes)
	has := err == nil && k.q.has(&v)
	if !has {
		k.foreign++
	}
	if !has || v.StoreTimestamp < k.q.Begin || v.StoreTimestamp > k.q.End || !k.fits(len(record.Bytes)) {
		record.Release()
		return
	}
	k.records, k.last = append(k.records, record), offset
	k.bytes += len(record.Bytes)
}

// fits tells whether so many bytes more are not too much. What follows is older: once a record
// does not fit, none is taken any more.
func (k *keySearch) fits(size int) bool {
	k.cut = k.cut || k.q.MaxBytes > 0 && len(k.records) > 0 && k.bytes+size > k.q.MaxBytes
	return !k.cut
}

// newestFirst returns the files, and the store timestamp (ms) and log offset of the newest
// record in them.
func (ix *index) newestFirst() (files []*indexFile, lastTimestamp, lastOffset int64) {
	ix.mu.RLock()
	defer ix.mu.RUnlock()
	if last := ix.last(); last != nil {
		lastTimestamp, lastOffset = last.head.endTimestamp, last.head.endOffset
	}
	files = slices.Clone(ix.files)
	slices.Reverse(files)
	return files, lastTimestamp, lastOffset
}

// find is indexFile.find under the lock. older tells whether an older file may hold records
// of the time asked for.
func (ix *index) find(f *indexFile, dst []int64, hash, unit uint32, q *KeyQuery) (found []int64, rest uint32, older bool) {
	ix.mu.RLock()
	defer ix.mu.RUnlock()
	older = f.head.next == 1 || f.head.beginTimestamp >= q.Begin
	if !f.overlaps(q.Begin, q.End) {
		return dst, 0, older
	}
	found, rest = f.find(dst, hash, unit, q.Begin, q.End)
	return found, rest, older
}

// await waits until everything below end is in the index, unless that takes long or does
// not come.
func (ix *index) await(end int64) {
	if end-max(ix.built.Load(), ix.log.min()) > indexFarBehind {
		return
	}
	ix.ask(end)
	ix.progress.L.Lock()
	defer ix.progress.L.Unlock()
	for ix.alive && ix.built.Load() < end && ix.err() == nil {
		ix.progress.Wait()
	}
}
