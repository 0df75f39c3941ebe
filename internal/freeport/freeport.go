// Package freeport hands out loopback ports to tests, from blocks that belong to one test process:
// the packages of a test run are processes that choose ports at the same time. A port that was free
// when it was chosen stays free until its owner listens, and while a server is down for a restart.
package freeport

import (
	"errors"
	"fmt"
	"net"
	"os"
	"strconv"
	"sync"
)

// Loopback is the address whose ports are handed out.
const Loopback = "127.0.0.1"

// blockPorts are the ports of a block. The first is its lock: who listens on it owns the rest.
const blockPorts = 48

// own are the ports of this process.
var own = blocks{between: belowEphemeral()}

// Take hands out n neighbouring ports, none of which it handed out before, and returns the first.
// Nothing listens on them. It fails when all blocks of the machine are owned.
func Take(n int) (first int, err error) { return own.take(n) }

// Address is the loopback address of a port, as host:port.
func Address(port int) string { return net.JoinHostPort(Loopback, strconv.Itoa(port)) }

// Failer is what the tests of package testing and of rapid have in common.
type Failer interface {
	Helper()
	Fatal(args ...any)
}

// Addr is a loopback address, as host:port, at which nothing listens until the caller does. Without
// one the test fails.
func Addr(t Failer) string {
	t.Helper()
	port, err := Take(1)
	if err != nil {
		t.Fatal(err)
	}
	return Address(port)
}

// blocks hands out the ports of the blocks that it owns.
type blocks struct {
	between span

	mu         sync.Mutex
	next, last int            // what is left of the newest block
	locks      []net.Listener // kept until the process ends
}

func (b *blocks) take(n int) (int, error) {
	if n < 1 || n >= blockPorts {
		return 0, fmt.Errorf("freeport: %d neighbouring ports, want 1 to %d", n, blockPorts-1)
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	for {
		if b.last-b.next < n {
			if err := b.another(); err != nil {
				return 0, err
			}
		}
		first := b.next
		b.next += n
		if taken := firstTaken(first, n); taken != 0 {
			b.next = taken + 1
			continue
		}
		return first, nil
	}
}

// another locks one more block.
func (b *blocks) another() error {
	count := (b.between.end - b.between.first) / blockPorts
	// Processes that start together begin at different blocks.
	for i := range count {
		lock := b.between.first + (os.Getpid()*stride+i)%count*blockPorts
		l, err := net.Listen("tcp", Address(lock))
		if err != nil {
			continue
		}
		b.locks = append(b.locks, l)
		b.next, b.last = lock+1, lock+blockPorts
		return nil
	}
	return errors.New("freeport: every block of ports is owned")
}

// firstTaken is the first of n ports on which something listens, 0 when nothing does.
func firstTaken(first, n int) int {
	for port := first; port < first+n; port++ {
		l, err := net.Listen("tcp", Address(port))
		if err != nil {
			return port
		}
		_ = l.Close()
	}
	return 0
}
