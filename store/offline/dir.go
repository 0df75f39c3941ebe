package offline

import (
	"errors"
	"fmt"
	"math"
	"sort"
	"strconv"

	"github.com/wheelmq/wheelmq/store"
	"github.com/wheelmq/wheelmq/store/region"
)

// ErrNoStore is wrapped when a directory holds neither log nor queues nor checkpoint.
var ErrNoStore = errors.New("not a store")

// Dir is a store directory.
type Dir struct {
	fs     region.FS
	files  []mappedFile // of the log, ascending
	queues []*queue     // by topic and number
	mapped region.Region
	at     int // index of the mapped log file, or -1
}

// mappedFile is a file of the log or of a queue.
type mappedFile struct {
	name  string
	start int64 // offset of its first byte
	size  int64
}

// Open lists the log's files and the queues of a directory.
func Open(fs region.FS) (*Dir, error) {
	d := &Dir{fs: fs, at: -1}
	var err error
	if d.files, err = d.list(store.CommitLogDir); err != nil {
		return nil, err
	}
	if err := d.listQueues(); err != nil {
		return nil, err
	}
	if len(d.files) > 0 || len(d.queues) > 0 {
		return d, nil
	}
	// A store that never had a message has nothing but its checkpoint.
	if _, err := store.ReadCheckpoint(fs); err != nil {
		return nil, fmt.Errorf("%w: it holds no log, no queue and no checkpoint", ErrNoStore)
	}
	return d, nil
}

// Close unmaps what is mapped.
func (d *Dir) Close() error {
	if d.mapped == nil {
		return nil
	}
	r := d.mapped
	d.mapped, d.at = nil, -1
	return r.Close()
}

// list returns the files of a directory that are named by their start, without empty ones.
func (d *Dir) list(dir string) ([]mappedFile, error) {
	entries, err := d.fs.List(dir)
	if err != nil {
		return nil, err
	}
	var files []mappedFile
	for _, e := range entries {
		start, err := strconv.ParseInt(e.Name, 10, 64)
		if err != nil || len(e.Name) != 20 || e.Dir || e.Size == 0 {
			continue
		}
		files = append(files, mappedFile{dir + "/" + e.Name, start, e.Size})
	}
	sort.Slice(files, func(i, j int) bool { return files[i].start < files[j].start })
	return files, nil
}

func (d *Dir) listQueues() error {
	topics, err := d.fs.List(store.ConsumeQueueDir)
	if err != nil {
		return err
	}
	for _, topic := range topics {
		if !topic.Dir {
			continue
		}
		ids, err := d.fs.List(store.ConsumeQueueDir + "/" + topic.Name)
		if err != nil {
			return err
		}
		for _, id := range ids {
			n, err := strconv.ParseInt(id.Name, 10, 32)
			if err != nil || n < 0 || !id.Dir {
				continue
			}
			d.queues = append(d.queues, &queue{d: d, topic: topic.Name, id: int32(n)})
		}
	}
	sort.SliceStable(d.queues, func(i, j int) bool {
		a, b := d.queues[i], d.queues[j]
		return a.topic < b.topic || a.topic == b.topic && a.id < b.id
	})
	return nil
}

// openQueues finds the ends of the queues of those topics that are wanted. Others are empty to
// everybody: a server that looks for three topics does not read ten thousand.
func (d *Dir) openQueues(wanted func(topic string) bool) error {
	for _, q := range d.queues {
		if q.opened || !wanted(q.topic) {
			continue
		}
		if err := q.open(); err != nil {
			return err
		}
		q.opened = true
	}
	return nil
}

// openAll opens every queue.
func (d *Dir) openAll() error { return d.openQueues(func(string) bool { return true }) }

// queue finds a queue, or nil.
func (d *Dir) queue(topic string, id int32) *queue {
	i := sort.Search(len(d.queues), func(i int) bool {
		q := d.queues[i]
		return q.topic > topic || q.topic == topic && q.id >= id
	})
	if i < len(d.queues) && d.queues[i].topic == topic && d.queues[i].id == id {
		return d.queues[i]
	}
	return nil
}

// logMin is where the log begins, bytes.
func (d *Dir) logMin() int64 {
	if len(d.files) == 0 {
		return 0
	}
	return d.files[0].start
}

// bytesAt are the log's bytes from an offset to the end of its file, nil when no file holds
// it. They are valid until the next call.
func (d *Dir) bytesAt(offset int64) ([]byte, error) {
	i := sort.Search(len(d.files), func(i int) bool { return d.files[i].start+d.files[i].size > offset })
	if i == len(d.files) || offset < d.files[i].start {
		return nil, nil
	}
	if d.at != i {
		if err := d.Close(); err != nil {
			return nil, err
		}
		if d.files[i].size > math.MaxInt {
			return nil, fmt.Errorf("offline: %s is too large", d.files[i].name)
		}
		r, err := d.fs.Open(d.files[i].name, 0)
		if err != nil {
			return nil, err
		}
		d.mapped, d.at = r, i
	}
	return d.mapped.Bytes()[offset-d.files[i].start:], nil
}
