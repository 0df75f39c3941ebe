// Package suite gives the tests of one package one common server.
//
// A suite of many small tests would spend its time starting servers; they use
// topics and groups of their own instead, on one server that Main starts before
// the first test and stops after the last. Tests that restart the server or
// need other configuration start their own with peer.StartTarget.
package suite

import (
	"context"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/wheelmq/wheelmq/test/peer"
)

// parallel is how many tests run at the same time: they wait far more than
// they compute, so the number of processors says nothing. Many start a server of
// their own, which costs much when it is the real one.
func parallel() string {
	if peer.TargetKind() == peer.Real {
		return "12"
	}
	return "64"
}

var server *peer.Target

// Main starts the common server, runs the tests of the package and exits.
func Main(m *testing.M, conf map[string]string) {
	flag.Parse()
	if err := flag.Set("test.parallel", parallel()); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(2)
	}
	os.Exit(run(m, conf))
}

func run(m *testing.M, conf map[string]string) int {
	if listing() {
		return m.Run()
	}
	tb := &standIn{ctx: context.Background()}
	defer tb.finish()
	begin := time.Now()
	// StartTarget ends a test with FailNow, which ends the calling goroutine.
	done := make(chan struct{})
	go func() {
		defer close(done)
		server = peer.StartTarget(tb, conf)
	}()
	<-done
	if server == nil {
		return 1
	}
	fmt.Printf("%s is up in %v, %d exceptions are listed\n",
		peer.TargetKind(), time.Since(begin).Round(time.Millisecond), len(peer.Exceptions(tb)))
	code := m.Run()
	// What the real broker prints is about its own logging.
	tb.failed = code != 0 && peer.TargetKind() == peer.Ours
	return code
}

func listing() bool {
	f := flag.Lookup("test.list")
	return f != nil && f.Value.String() != ""
}

// Server is the common server.
func Server() *peer.Target { return server }

// Name makes a topic or group name that no other test uses.
func Name(tb testing.TB, label string) string {
	tb.Helper()
	test := strings.NewReplacer("/", "-", "#", "-").Replace(tb.Name())
	return fmt.Sprintf("%.60s-%s-%08x", test, label, rand.Uint32())
}

// Eventually waits until ok reports true. The limit is for failures only and
// far from any expected time.
func Eventually(tb testing.TB, limit time.Duration, what string, ok func() bool) {
	tb.Helper()
	const pause = 20 * time.Millisecond
	for deadline := time.Now().Add(limit); !ok(); time.Sleep(pause) {
		if time.Now().After(deadline) {
			tb.Fatalf("not within %v: %s", limit, what)
		}
	}
}

// WithLead runs what must be over within a time, such as the sends before their common instant. do gets that
// time and tells whether it came through; one that a slow machine made late is run again with three times
// the time, so it makes its own topics. A try that is in time fails or passes by itself.
func WithLead(tb testing.TB, lead time.Duration, do func(lead time.Duration) (inTime bool)) {
	tb.Helper()
	const tries = 4
	for range tries {
		if do(lead) {
			return
		}
		tb.Logf("%v were too short on this machine", lead)
		lead *= 3
	}
	tb.Fatalf("%v were too short, too", lead/3)
}

// Differs handles a check that only WheelMQ passes. It fails when WheelMQ
// fails it, and when the real broker passes it although test/exceptions.md
// lists it under name, because the list would then be untrue.
func Differs(tb testing.TB, name string, passed bool, transcript string) {
	tb.Helper()
	exception, listed := peer.FindException(tb, name)
	switch {
	case !listed:
		tb.Fatalf("%s is not in test/exceptions.md", name)
	case peer.TargetKind() == peer.Ours && !passed:
		tb.Errorf("%s: got %s", exception.Reason, transcript)
	case peer.TargetKind() == peer.Real && passed:
		tb.Errorf("the real broker does the same, so the exception %s is untrue: %s", name, transcript)
	case peer.TargetKind() == peer.Real:
		tb.Logf("differs as listed (%s): %s", name, transcript)
	}
}

// standIn is the testing.TB of the common server, which belongs to no test.
type standIn struct {
	testing.TB
	ctx      context.Context
	failed   bool
	cleanups []func()
}

func (s *standIn) Helper()                  {}
func (s *standIn) Context() context.Context { return s.ctx }
func (s *standIn) Failed() bool             { return s.failed }
func (s *standIn) Cleanup(f func())         { s.cleanups = append(s.cleanups, f) }
func (s *standIn) Name() string             { return "suite" }

func (s *standIn) Log(args ...any)                 { fmt.Println(args...) }
func (s *standIn) Logf(format string, args ...any) { fmt.Printf(format+"\n", args...) }

func (s *standIn) Error(args ...any) {
	s.failed = true
	fmt.Fprintln(os.Stderr, args...)
}

func (s *standIn) Errorf(format string, args ...any) { s.Error(fmt.Sprintf(format, args...)) }

func (s *standIn) FailNow() {
	s.failed = true
	runtime.Goexit()
}

func (s *standIn) Fatal(args ...any) {
	s.Error(args...)
	s.FailNow()
}

func (s *standIn) Fatalf(format string, args ...any) { s.Fatal(fmt.Sprintf(format, args...)) }

// Skip is a failure here: a suite without its server must not look green.
func (s *standIn) Skip(args ...any) { s.Fatal(args...) }

func (s *standIn) Skipf(format string, args ...any) { s.Skip(fmt.Sprintf(format, args...)) }

func (s *standIn) finish() {
	for len(s.cleanups) > 0 {
		last := len(s.cleanups) - 1
		f := s.cleanups[last]
		s.cleanups = s.cleanups[:last]
		f()
	}
}
