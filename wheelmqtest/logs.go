package wheelmqtest

import (
	"strings"
	"sync"

	"github.com/sirupsen/logrus"
)

// keptLines is how much of the server's log a failure shows.
const keptLines = 200

// logs keeps the server's last lines for the case that the test fails.
type logs struct {
	mu    sync.Mutex // guards lines
	lines []string
}

// newLogger returns a logger that writes to l only.
func newLogger(l *logs) *logrus.Logger {
	log := logrus.New()
	log.SetOutput(l)
	log.SetFormatter(&logrus.TextFormatter{DisableColors: true, TimestampFormat: "15:04:05.000", FullTimestamp: true})
	return log
}

// Write takes one line.
func (l *logs) Write(line []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.lines) == keptLines {
		l.lines = append(l.lines[:0], l.lines[1:]...)
	}
	l.lines = append(l.lines, string(line))
	return len(line), nil
}

func (l *logs) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return strings.Join(l.lines, "")
}
