package wheelmqtest

import (
	"fmt"
	"os"
	"sync"
)

// Main is a TB for where there is no test: TestMain, an example, a program. Close ends what was
// started with it.
//
//	func TestMain(m *testing.M) {
//		var all wheelmqtest.Main
//		mq = wheelmqtest.Start(&all)
//		code := m.Run()
//		all.Close(code != 0)
//		os.Exit(code)
//	}
type Main struct {
	mu       sync.Mutex // guards what follows
	cleanups []func()
	failed   bool
}

// Helper does nothing.
func (*Main) Helper() {}

// Cleanup adds what Close is to do.
func (m *Main) Cleanup(fn func()) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.cleanups = append(m.cleanups, fn)
}

// Failed tells whether Fatalf was called, or what Close was told.
func (m *Main) Failed() bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.failed
}

// Logf writes a line to standard error.
func (*Main) Logf(format string, args ...any) { fmt.Fprintf(os.Stderr, format+"\n", args...) }

// Fatalf panics.
func (m *Main) Fatalf(format string, args ...any) {
	m.fail()
	panic(fmt.Sprintf(format, args...))
}

func (m *Main) fail() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.failed = true
}

// Close ends what was started, last first. After a failure the servers show their last
// exchanges and their logs.
func (m *Main) Close(failed bool) {
	if failed {
		m.fail()
	}
	m.mu.Lock()
	all := m.cleanups
	m.cleanups = nil
	m.mu.Unlock()
	for i := len(all) - 1; i >= 0; i-- {
		all[i]()
	}
}
