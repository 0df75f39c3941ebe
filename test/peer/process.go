package peer

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"time"
)

// stopTimeout bounds a clean stop. The real broker waits for its thread pools
// one after the other, which takes seconds on a busy machine.
const stopTimeout = 60 * time.Second

// process is one running server with its output kept for error messages.
type process struct {
	name string
	cmd  *exec.Cmd
	log  *output
	done chan struct{}
	err  error
}

// startProcess runs cmd with its output kept. marker, when not empty, is a text
// whose appearance in the output is signalled by output.seen.
func startProcess(name string, cmd *exec.Cmd, marker string) (*process, error) {
	p := &process{name: name, cmd: cmd, log: newOutput(marker), done: make(chan struct{})}
	cmd.Stdout, cmd.Stderr = p.log, p.log
	cmd.SysProcAttr = childAttr()
	started := make(chan error)
	// The parent-death signal is tied to the thread that forked, so that thread
	// is kept until the child has ended.
	go func() {
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		if err := cmd.Start(); err != nil {
			started <- err
			return
		}
		started <- nil
		p.err = cmd.Wait()
		close(p.done)
	}()
	if err := <-started; err != nil {
		return nil, fmt.Errorf("peer: start %s: %w", name, err)
	}
	return p, nil
}

// pid is the process id.
func (p *process) pid() int { return p.cmd.Process.Pid }

// stop sends SIGTERM and waits for the end; after stopTimeout it kills and says so.
func (p *process) stop() error {
	if p == nil {
		return nil
	}
	if err := p.ended(); err != nil {
		return err
	}
	if err := p.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		return fmt.Errorf("peer: stop %s: %w", p.name, err)
	}
	select {
	case <-p.done:
	case <-time.After(stopTimeout):
		p.kill()
		return fmt.Errorf("peer: %s did not stop within %s and was killed", p.name, stopTimeout)
	}
	var exit *exec.ExitError
	if errors.As(p.err, &exit) && !cleanExit(exit) {
		return fmt.Errorf("peer: %s stopped with %w\n%s", p.name, p.err, p.log.tail())
	}
	return nil
}

// ended tells that the process has ended by itself.
func (p *process) ended() error {
	select {
	case <-p.done:
		return fmt.Errorf("peer: %s had ended before it was stopped (%v)\n%s", p.name, p.err, p.log.tail())
	default:
		return nil
	}
}

// cleanExit accepts the JVM's 143, which is how it reports an end by SIGTERM
// after its shutdown hooks have run.
func cleanExit(exit *exec.ExitError) bool {
	return exit.ExitCode() == 128+int(syscall.SIGTERM)
}

// kill ends the process at once, as a power cut would, and waits until the
// kernel has let go of its ports and files.
func (p *process) kill() {
	if p == nil {
		return
	}
	_ = p.cmd.Process.Kill()
	<-p.done
}

// waitReady returns when ready succeeds, and early when the process has ended.
func (p *process) waitReady(ctx context.Context, ready func(context.Context) error) error {
	for {
		err := ready(ctx)
		if err == nil {
			return nil
		}
		select {
		case <-p.done:
			return fmt.Errorf("peer: %s ended while starting (%v)\n%s", p.name, p.err, p.log.tail())
		case <-ctx.Done():
			return fmt.Errorf("peer: %s is not ready: %w\n%s", p.name, err, p.log.tail())
		case <-time.After(probeInterval):
		}
	}
}

// outputLimit is how much of a server's output is kept: its first and its last
// half, because the cause is at one of the two ends.
const outputLimit = 64 << 10

// output collects what a process prints.
type output struct {
	mu     sync.Mutex
	head   bytes.Buffer
	last   []byte
	marker string
	seen   chan struct{}
	hit    bool
}

func newOutput(marker string) *output {
	return &output{marker: marker, seen: make(chan struct{})}
}

var _ io.Writer = (*output)(nil)

func (o *output) Write(b []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if room := outputLimit/2 - o.head.Len(); room > 0 {
		o.head.Write(b[:min(room, len(b))])
	}
	o.last = append(o.last, b...)
	if cut := len(o.last) - outputLimit/2; cut > 0 {
		o.last = append(o.last[:0], o.last[cut:]...)
	}
	if !o.hit && o.marker != "" && strings.Contains(o.head.String(), o.marker) {
		o.hit = true
		close(o.seen)
	}
	return len(b), nil
}

// tail is the last part of the output.
func (o *output) tail() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	const want = 4 << 10
	return string(o.last[max(0, len(o.last)-want):])
}
