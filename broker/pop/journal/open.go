package journal

import (
	"errors"
	"fmt"
	"path"
	"sync"
)

// Open opens a journal, to be replayed.
func Open(opts Options) *Journal {
	if opts.FileSize == 0 {
		opts.FileSize = defaultFileSize
	}
	if opts.FlushMs == 0 {
		opts.FlushMs = defaultFlushMs
	}
	j := &Journal{opts: opts, kick: make(chan struct{}, 1), keep: make(chan struct{}, 1), stop: make(chan struct{})}
	j.made = sync.NewCond(&j.mu)
	return j
}

// Start lets the journal be synced and emptied.
func (j *Journal) Start() {
	j.started.Add(2)
	go j.syncer()
	go j.keeper()
}

// Close makes everything durable, and notes that this is the end. It is due after Replay, and Start
// need not have been.
func (j *Journal) Close() error { return j.close(j.end) }

// Leave is Close without the note: the next Replay finds the journal as after a kill.
func (j *Journal) Leave() error { return j.close(func() error { return nil }) }

func (j *Journal) close(note func() error) error {
	close(j.stop)
	j.started.Wait()
	err := j.Sync()
	if err == nil {
		err = note()
	}
	j.syncMu.Lock()
	defer j.syncMu.Unlock()
	j.mu.Lock()
	j.closed = true
	all := j.files
	if j.spare != nil {
		all = append(all, j.spare)
	}
	j.mu.Unlock()
	j.told(never, ErrClosed)
	for _, f := range all {
		err = errors.Join(err, f.region.Close())
	}
	return err
}

// endName is the file that tells where the journal was closed.
const endName = "closed"

// end notes where the journal ends.
func (j *Journal) end() error {
	j.mu.Lock()
	f := j.current()
	if f == nil {
		j.mu.Unlock()
		return nil
	}
	text := fmt.Sprintf("%d %d\n", f.number, f.end)
	j.mu.Unlock()
	if err := j.opts.FS.WriteFile(path.Join(j.opts.Dir, endName), []byte(text)); err != nil {
		return fmt.Errorf("journal: %w", err)
	}
	return nil
}

// ended tells whether the journal ends where it was closed. Files that nothing was appended to came
// later.
func (r *replay) ended() bool {
	at, ok := r.closed()
	for i := len(r.files) - 1; ok && i >= 0; i-- {
		if f := r.files[i]; f.number == at.file || f.end > headerSize {
			return f.number == at.file && f.end == int(at.at)
		}
	}
	return false
}

// closed is where the journal was closed last, false: it never was. All before it was durable then.
func (r *replay) closed() (at place, ok bool) {
	b, err := r.j.opts.FS.ReadFile(path.Join(r.j.opts.Dir, endName))
	if err != nil {
		return place{}, false
	}
	_, err = fmt.Sscanf(string(b), "%d %d", &at.file, &at.at)
	return at, err == nil
}
