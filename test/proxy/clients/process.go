package clients

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"sync"
)

// maxLine bounds a line of JSON.
const maxLine = 4 << 20

// Process is a client's program that runs.
type Process struct {
	cmd    *exec.Cmd
	stdin  io.WriteCloser
	stderr limited

	mu      sync.Mutex
	last    int
	waiting map[int]chan *Reply
	told    func(*Reply)
	ended   error
	done    chan struct{}
}

// start runs a program. told is called with its events, one after the other.
func start(cmd *exec.Cmd, told func(*Reply)) (*Process, error) {
	p := &Process{cmd: cmd, waiting: make(map[int]chan *Reply), told: told, done: make(chan struct{})}
	cmd.Stderr = &p.stderr
	var err error
	if p.stdin, err = cmd.StdinPipe(); err != nil {
		return nil, fmt.Errorf("clients: %w", err)
	}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		return nil, fmt.Errorf("clients: %w", err)
	}
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("clients: %w", err)
	}
	go p.read(stdout)
	return p, nil
}

func (p *Process) read(stdout io.Reader) {
	defer close(p.done)
	lines := bufio.NewScanner(stdout)
	lines.Buffer(nil, maxLine)
	for lines.Scan() {
		var r Reply
		if json.Unmarshal(lines.Bytes(), &r) != nil {
			// What a library prints.
			_, _ = p.stderr.Write(append(lines.Bytes(), '\n'))
			continue
		}
		if r.Event != "" {
			p.told(&r)
			continue
		}
		p.mu.Lock()
		answered := p.waiting[r.ID]
		delete(p.waiting, r.ID)
		p.mu.Unlock()
		if answered != nil {
			answered <- &r
		}
	}
	err := errors.Join(lines.Err(), p.cmd.Wait())
	p.mu.Lock()
	defer p.mu.Unlock()
	p.ended = fmt.Errorf("clients: the program has ended (%w)\n%s", err, p.stderr.String())
}

// Do carries a command out and returns its answer; an Error in it is an error.
func (p *Process) Do(ctx context.Context, c *Command) (*Reply, error) {
	answered := make(chan *Reply, 1)
	p.mu.Lock()
	p.last++
	c.ID = p.last
	p.waiting[c.ID] = answered
	p.mu.Unlock()
	line, err := json.Marshal(c)
	if err != nil {
		return nil, fmt.Errorf("clients: %s: %w", c.Op, err)
	}
	if _, err := p.stdin.Write(append(line, '\n')); err != nil {
		return nil, fmt.Errorf("clients: %s: %w", c.Op, err)
	}
	select {
	case r := <-answered:
		if r.Error != "" {
			return r, fmt.Errorf("clients: %s: %s", c.Op, r.Error)
		}
		return r, nil
	case <-p.done:
		p.mu.Lock()
		defer p.mu.Unlock()
		return nil, p.ended
	case <-ctx.Done():
		return nil, fmt.Errorf("clients: %s: no answer: %w", c.Op, ctx.Err())
	}
}

// Printed is the end of what the program printed beside its answers.
func (p *Process) Printed() string { return p.stderr.String() }

// Kill ends the program at once.
func (p *Process) Kill() {
	_ = p.cmd.Process.Kill()
	<-p.done
}

// printedLimit is how much of what a program prints is kept.
const printedLimit = 16 << 10

// limited keeps the end of what is written to it.
type limited struct {
	mu   sync.Mutex
	kept []byte
}

func (l *limited) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.kept = append(l.kept, b...)
	l.kept = l.kept[max(0, len(l.kept)-printedLimit):]
	return len(b), nil
}

func (l *limited) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return string(l.kept)
}
