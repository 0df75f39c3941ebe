package journal

import (
	"errors"
	"fmt"
	"path"
)

// Found is what a Replay has found.
type Found struct {
	Note   int64 // the last one; -1: none
	Ended  bool  // it was closed, and nothing was appended since
	Damage Damage
}

// Damage is what of a journal is not as it was synced.
type Damage struct {
	Places int   // stretches that cannot be read
	Bytes  int64 // of them, as far as that is known
	Files  int   // that are missing, or have no header
}

// Any tells whether there is any.
func (d *Damage) Any() bool { return d.Places > 0 || d.Files > 0 }

// Replay shows every record, the oldest first, and makes the journal one that can be appended to.
// What visit is given is valid until it returns.
func (j *Journal) Replay(visit func(file uint32, kind byte, payload []byte)) (found Found, err error) {
	r := replay{j: j}
	if err := r.load(); err != nil {
		return found, errors.Join(err, r.close())
	}
	for i := range r.files {
		r.scan(i)
	}
	if at, ok := r.closed(); ok {
		r.synced(at)
	}
	r.find()
	r.found.Note = r.prune()
	if err := r.discard(); err != nil {
		return found, errors.Join(err, r.close())
	}
	for _, f := range r.files {
		f.each(func(kind byte, payload []byte) {
			if kind < firstOwn {
				visit(f.number, kind, payload)
			}
		})
	}
	r.found.Ended = r.ended()
	return r.found, r.begin()
}

// replay is what Replay is about.
type replay struct {
	j       *Journal
	files   []*scanned // by their numbers
	durable place      // the furthest that is known to have been synced
	found   Found
	cut     []string // names of files that are not part of the journal
}

// scanned is a file and what in it can be read.
type scanned struct {
	file
	header  header
	headed  bool // it has a header
	foreign bool // the header is not one of this journal
	gaps    []gap
}

// told tells whether a file says something although its header is lost.
func (f *scanned) told() bool { return f.headed || f.end > headerSize }

// gap is a stretch in which nothing can be read.
type gap struct{ from, to int }

func (r *replay) load() error {
	entries, err := r.j.opts.FS.List(r.j.opts.Dir)
	if err != nil {
		return fmt.Errorf("journal: %w", err)
	}
	for _, e := range entries {
		number, ok := numberOf(e.Name)
		if !ok {
			continue
		}
		if e.Size < headerSize {
			r.cut = append(r.cut, path.Join(r.j.opts.Dir, e.Name))
			continue
		}
		opened, err := r.j.opts.FS.Open(nameOf(r.j.opts.Dir, number), int(e.Size))
		if err != nil {
			return fmt.Errorf("journal: %w", err)
		}
		f := &scanned{file: file{number: number, region: opened, b: opened.Bytes(), crc: seed(number)}}
		f.header, f.headed = readHeader(f.b)
		f.foreign = f.headed && (f.header.number != number || f.header.epoch != r.j.opts.Epoch)
		f.headed = f.headed && !f.foreign
		r.files = append(r.files, f)
	}
	return nil
}

// scan finds what can be read of a file, up to where the next one says that it ends.
func (r *replay) scan(i int) {
	f := r.files[i]
	if f.foreign {
		return
	}
	if f.headed {
		r.synced(f.header.durable)
	}
	limit, known := len(f.b), false
	if i+1 < len(r.files) && r.files[i+1].headed && r.files[i+1].number == f.number+1 {
		limit, known = min(limit, int(r.files[i+1].header.before)), true
	}
	f.end = headerSize
	for at := headerSize; at < limit; {
		kind, payload, next, ok := f.read(at)
		if !ok {
			resumed := f.resume(at, limit)
			f.gaps = append(f.gaps, gap{at, resumed})
			at = resumed
			continue
		}
		if m, ok := readMark(payload); kind == kindMark && ok {
			r.synced(m.durable)
		}
		at, f.end = next, next
	}
	if n := len(f.gaps); n > 0 && f.gaps[n-1].to >= limit && !known {
		f.gaps = f.gaps[:n-1] // the rest of the file was not written to
	}
}

func (r *replay) synced(to place) {
	if r.durable.before(to) {
		r.durable = to
	}
}

// find finds where the journal ends: at the first thing that is not as it was written, unless that was
// synced. Then it is damage.
func (r *replay) find() {
	for i := range r.files {
		f := r.files[i]
		if i > 0 && f.number != r.files[i-1].number+1 || !f.headed {
			// Of the first file the header was synced before anything else was written.
			if !(place{f.number, 0}).before(r.durable) && !(i == 0 && f.told()) {
				r.leave(i, len(r.files))
				break
			}
			r.unheaded(f)
		}
		if r.endsIn(f) {
			r.leave(i+1, len(r.files))
			break
		}
	}
	last := uint32(0)
	if n := len(r.files); n > 0 {
		last = r.files[n-1].number
	}
	if r.durable.file > last {
		r.found.Damage.Files += int(r.durable.file - last)
	}
}

// unheaded notes that a file has no header, or none before it.
func (r *replay) unheaded(f *scanned) {
	if f.headed || !f.told() {
		r.found.Damage.Files++
		return
	}
	r.found.Damage.Places++
	r.found.Damage.Bytes += headerSize
}

// endsIn looks at what of a file cannot be read, and tells whether the journal ends in it.
func (r *replay) endsIn(f *scanned) bool {
	if synced := int(r.durable.at); f.told() && r.durable.file == f.number && synced > f.end {
		f.gaps = append(f.gaps, gap{f.end, synced})
	}
	for n, g := range f.gaps {
		if !(place{f.number, uint32(g.from)}).before(r.durable) {
			f.gaps, f.end = f.gaps[:n], g.from
			return true
		}
		r.found.Damage.Places++
		r.found.Damage.Bytes += int64(g.to - g.from)
	}
	return false
}

// prune takes out the files that were removed and are there again, and returns the last note.
func (r *replay) prune() (note int64) {
	note, oldest := -1, uint32(0)
	for _, f := range r.files {
		if f.headed {
			note, oldest = f.header.note, max(oldest, f.header.oldest)
		}
		f.each(func(kind byte, payload []byte) {
			if m, ok := readMark(payload); kind == kindMark && ok {
				note, oldest = m.note, max(oldest, m.oldest)
			}
		})
	}
	n := 0
	for n < len(r.files) && r.files[n].number < oldest {
		n++
	}
	r.leave(0, n)
	if len(r.files) > 0 && r.files[0].number > oldest {
		r.found.Damage.Files += int(r.files[0].number - oldest)
	}
	return note
}

// leave takes files out of the journal.
func (r *replay) leave(from, to int) {
	for _, f := range r.files[from:to] {
		r.cut = append(r.cut, nameOf(r.j.opts.Dir, f.number))
		_ = f.region.Close() // it is removed
	}
	r.files = append(r.files[:from:from], r.files[to:]...)
}

// discard removes what is not part of the journal, for good: another file may get the same name.
func (r *replay) discard() error {
	for _, name := range r.cut {
		if err := r.j.opts.FS.Remove(name); err != nil {
			return fmt.Errorf("journal: %w", err)
		}
	}
	if len(r.cut) == 0 {
		return nil
	}
	if err := r.j.opts.FS.SyncDir(r.j.opts.Dir); err != nil {
		return fmt.Errorf("journal: %w", err)
	}
	return nil
}

// each shows the records of a file.
func (f *scanned) each(visit func(kind byte, payload []byte)) {
	for at := headerSize; at < f.end; {
		kind, payload, next, ok := f.read(at)
		if !ok {
			at = f.resume(at, f.end)
			continue
		}
		visit(kind, payload)
		at = next
	}
}

func (r *replay) close() (err error) {
	for _, f := range r.files {
		err = errors.Join(err, f.region.Close())
	}
	return err
}

// begin makes everything durable that was found. The next record begins a file: a server that nobody
// pops from has none.
func (r *replay) begin() error {
	j := r.j
	var last *file
	for _, f := range r.files {
		f.end = max(f.end, headerSize)
		if err := f.region.Sync(0, len(f.b)); err != nil {
			return errors.Join(fmt.Errorf("journal: %w", err), r.close())
		}
		f.synced = f.end
		if last != nil {
			f.base = last.base + int64(last.end)
		}
		last = &f.file
		j.files = append(j.files, last)
	}
	j.sealed = true
	if !r.found.Damage.Any() {
		return nil
	}
	j.anew = r.durable.file + 1
	if last != nil {
		j.anew = max(j.anew, last.number+1)
	}
	if _, err := j.roll(); err != nil {
		return errors.Join(err, r.close())
	}
	return nil
}
