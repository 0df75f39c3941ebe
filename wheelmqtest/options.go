package wheelmqtest

import (
	"fmt"
	"time"

	"github.com/wheelmq/wheelmq"
	"github.com/wheelmq/wheelmq/config"
)

// Option says how a server is to be.
type Option func(*setup) error

// setup is what the options make.
type setup struct {
	config *config.Config
	test   wheelmq.TestConfig
	topics []newTopic
	groups []newGroup
}

type newTopic struct {
	name   string
	queues int
}

type newGroup struct {
	name     string
	maxRetry int
}

// Files of a store in memory, bytes: a message of 4 MiB fits into a log file.
const (
	logFileSize   = 8 << 20
	queueFileSize = 6_000 * 20
)

func newSetup(opts []Option) (*setup, error) {
	s := &setup{config: config.Default(), test: wheelmq.TestConfig{Memory: true, API: true}}
	c := s.config
	c.BindAddress, c.ListenPort, c.NamesrvListenPort, c.HTTPPort = "127.0.0.1", 0, 0, 0
	c.MappedFileSizeCommitLog, c.MappedFileSizeConsumeQueue = logFileSize, queueFileSize
	for _, o := range opts {
		if err := o(s); err != nil {
			return nil, err
		}
	}
	return s, nil
}

// Topic creates a topic with as many read and write queues.
func Topic(name string, queues int) Option {
	return func(s *setup) error {
		if queues < 1 {
			return fmt.Errorf("Topic %q: %d queues, want 1 or more", name, queues)
		}
		s.topics = append(s.topics, newTopic{name, queues})
		return nil
	}
}

// Group creates a subscription group whose messages are retried so many times before they
// become dead letters; RocketMQ's default is 16. As with the real broker a consumer that says how
// often has its way: the Go and Java push consumers always do, with 16 unless they are set to
// another number (WithMaxReconsumeTimes, setMaxReconsumeTimes).
func Group(name string, maxRetry int) Option {
	return func(s *setup) error {
		s.groups = append(s.groups, newGroup{name: name, maxRetry: maxRetry})
		return nil
	}
}

// Dir keeps the store in a directory instead of memory, and leaves it there. Kill is then
// what kill -9 is; Reset, Snapshot and Restore are not available.
func Dir(path string) Option {
	return func(s *setup) error {
		s.test.Memory, s.config.StorePathRootDir = false, path
		return nil
	}
}

// VirtualClock makes message time stand still at the machine's time, or at start, and move
// only by Advance and its like.
func VirtualClock(start ...time.Time) Option {
	return func(s *setup) error {
		s.test.VirtualClock = true
		if len(start) > 1 {
			return fmt.Errorf("VirtualClock: %d instants, want one", len(start))
		}
		for _, at := range start {
			s.test.VirtualStart = at
		}
		return nil
	}
}

// Profile switches everything off that the real broker of that version lacks and can be
// switched off: "5.5.0".
func Profile(version string) Option { return Set("profile=" + version) }

// SyncFlush makes every acknowledged message durable before its acknowledgement, so that Kill
// loses none.
func SyncFlush() Option { return Set("flushDiskType=SYNC_FLUSH") }

// Set sets a key of broker.conf, key=value. A key that has no effect here is an error.
func Set(assignment string) Option {
	return func(s *setup) error {
		warning, err := s.config.Set(assignment)
		if err == nil && warning != "" {
			err = fmt.Errorf("Set: %s", warning)
		}
		return err
	}
}

// ExpireFiles lets the store delete log files by their age, in message time, as RocketMQ does
// (fileReservedTime, deleteWhen). Without it a virtual clock that is turned by days deletes
// nothing.
func ExpireFiles() Option {
	return func(s *setup) error {
		s.test.ExpireFiles = true
		return nil
	}
}
