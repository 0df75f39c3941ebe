package store

import (
	"fmt"
	"net/netip"

	"github.com/sirupsen/logrus"

	"github.com/wheelmq/wheelmq/clock"
	"github.com/wheelmq/wheelmq/message"
	"github.com/wheelmq/wheelmq/store/region"
)

// Sizes of a new store's files. They are lighter than the real broker's, which reads any; a
// store that exists keeps its own.
const (
	DefaultCommitLogFileSize    = 64 << 20
	DefaultConsumeQueueFileSize = 30_000 * unitSize
	DefaultMaxMessageSize       = 4 << 20
	DefaultMaxHashSlotNum       = 500_000
	DefaultMaxIndexNum          = 2_000_000
	// recordOverhead is what a record may hold beside its body.
	recordOverhead = 64 << 10
)

// Options are a store's settings. Zero values take the defaults.
type Options struct {
	// Dir is the root of the store (commitlog, consumequeue, checkpoint …). With Memory it
	// is ignored.
	Dir    string
	Memory *region.Memory
	// FS replaces both: a directory tree of the caller's, which nobody locks.
	FS region.FS
	// Wrap, when not nil, is put around whichever of the three it is: a test's faults. What it
	// wraps is locked as without it.
	Wrap func(region.FS) region.FS

	CommitLogFileSize    int // mappedFileSizeCommitLog, bytes
	ConsumeQueueFileSize int // mappedFileSizeConsumeQueue, bytes; a multiple of 20
	MaxMessageSize       int // maxMessageSize, bytes of body
	MappedFiles          int // files mapped at a time, but for those that are written to; 16,384
	SyncFlush            bool
	SyncFlushTimeoutMs   int64 // syncFlushTimeout: then a put is answered with FLUSH_DISK_TIMEOUT; 5,000
	FlushIntervalMs      int64 // flushIntervalCommitLog: between syncs of a log that is written to; 500
	FlushLeastPages      int   // flushCommitLogLeastPages: fewer dirty pages wait for the thorough flush; 0: none waits
	FlushThoroughMs      int64 // flushCommitLogThoroughInterval: between checkpoints, which sync queues too; 10,000

	MessageIndexDisabled bool      // messageIndexEnable=false: nothing more is indexed
	MaxHashSlotNum       int       // maxHashSlotNum: slots of an index file
	MaxIndexNum          int       // maxIndexNum: units of an index file, of which the first is never used
	MaxMsgsNumBatch      int       // maxMsgsNumBatch: records of one Query; 64
	Retention            Retention // the zero value takes DefaultRetention
	Pin                  Pinner    // may be nil
	// BeforeDelete is called before the log below an offset is deleted, for those who store anew what
	// they need of it. Its error keeps the log. It returns soon after stop is closed. nil: nobody needs
	// anything.
	BeforeDelete func(below int64, stop <-chan struct{}) error

	// Virtual says that Clock is a *clock.Virtual. The store is stamped with it, and Open puts the
	// clock where the store's time stands.
	Virtual   bool
	StoreHost netip.AddrPort // of records that bring none
	Clock     clock.Clock    // of store timestamps, and of the records' age
	Wire      clock.Clock    // paces flushes and looks at the disk; nil: Clock
	TagsCode  TagsCoder
	// StoredTagsCode is TagsCode for a record that is in the log, as recovery meets it: such a
	// record also knows when it was stored. nil takes TagsCode.
	StoredTagsCode func(*message.View) int64
	// Examine looks at the directory before the first write to it; its error refuses it. nil:
	// nobody looks.
	Examine func(region.FS) error
	// OnArrival is called after a record became readable, on the putting goroutine and
	// outside of the store's locks. It must be quick.
	OnArrival func(Arrival)
	// OnBroken is called once a failed flush has made the store refuse every record. nil: nobody
	// is told.
	OnBroken func(error)
	// OnStep is told what Open is doing, in words, whenever that changes. nil: nobody is told.
	OnStep func(string)
	Log    logrus.FieldLogger
}

// setDefaults fills in what is not set, and refuses what no store can have.
func (o *Options) setDefaults() error {
	orElse(&o.CommitLogFileSize, DefaultCommitLogFileSize)
	orElse(&o.ConsumeQueueFileSize, DefaultConsumeQueueFileSize)
	orElse(&o.MaxMessageSize, DefaultMaxMessageSize)
	orElse(&o.MappedFiles, defaultMappedFiles)
	orElse(&o.SyncFlushTimeoutMs, 5000)
	orElse(&o.FlushIntervalMs, 500)
	orElse(&o.FlushThoroughMs, 10_000)
	// Small log files are for small stores: the index is small with them.
	orElse(&o.MaxIndexNum, min(DefaultMaxIndexNum, 4+o.CommitLogFileSize/(DefaultCommitLogFileSize/DefaultMaxIndexNum)))
	orElse(&o.MaxHashSlotNum, min(DefaultMaxHashSlotNum, o.MaxIndexNum/4))
	orElse(&o.MaxMsgsNumBatch, 64)
	o.ConsumeQueueFileSize -= o.ConsumeQueueFileSize % unitSize
	if o.Retention.IntervalMs == 0 {
		keep := o.Retention.Keep
		o.Retention = DefaultRetention()
		o.Retention.Keep = keep
	}
	if o.Wire == nil {
		o.Wire = o.Clock
	}
	if o.StoredTagsCode == nil && o.TagsCode != nil {
		o.StoredTagsCode = func(v *message.View) int64 { return o.TagsCode(string(v.Topic), v.Properties) }
	}
	return o.validate()
}

// orElse sets what is zero.
func orElse[T int | int64](value *T, standard T) {
	if *value == 0 {
		*value = standard
	}
}

func (o *Options) validate() error {
	if !validIndexNums(o.MaxHashSlotNum, o.MaxIndexNum) {
		return fmt.Errorf("store: maxHashSlotNum %d and maxIndexNum %d: at least 1 and 2, and files below 2 GB", o.MaxHashSlotNum, o.MaxIndexNum)
	}
	if o.ConsumeQueueFileSize <= 0 {
		return fmt.Errorf("store: mappedFileSizeConsumeQueue must be at least %d", unitSize)
	}
	if o.Clock == nil || o.TagsCode == nil || o.Log == nil {
		return fmt.Errorf("store: Clock, TagsCode and Log are required")
	}
	if _, ok := o.Clock.(*clock.Virtual); o.Virtual && !ok {
		return fmt.Errorf("store: Virtual wants a virtual Clock, not a %T", o.Clock)
	}
	return nil
}
