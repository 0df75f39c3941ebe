package peer

import (
	"fmt"
	"net"
	"strconv"
	"strings"
	"sync"
)

// Loopback is where every server of a test listens.
const Loopback = "127.0.0.1"

// A broker takes the ports around its own: listenPort-2 for the VIP listener
// and listenPort+1 for replication.
const (
	vipDistance = 2
	haDistance  = 1
)

// ports are those of this test process.
var ports portBlocks

// FreeBrokerPort finds a port whose VIP and replication neighbours are free too.
func FreeBrokerPort() (int, error) {
	first, err := ports.take(vipDistance + 1 + haDistance)
	return first + vipDistance, err
}

// FreePort finds a free port.
func FreePort() (int, error) { return ports.take(1) }

// portBlocks hands out ports from blocks that no other test process draws from: the packages of a
// test run are processes that choose ports at the same time, and a server that is down for a
// restart must find its ports free again.
type portBlocks struct {
	mu         sync.Mutex
	next, last int // what is left of the newest block
}

// take hands out n neighbouring ports, none of which it handed out before, and returns the first.
func (p *portBlocks) take(n int) (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for {
		if p.last-p.next < n {
			if err := p.another(); err != nil {
				return 0, err
			}
		}
		first := p.next
		p.next += n
		if taken := firstTaken(first, n); taken != 0 {
			p.next = taken + 1
			continue
		}
		return first, nil
	}
}

// another starts with a block of this process's own.
func (p *portBlocks) another() (err error) {
	p.next, p.last, err = lockPorts()
	return err
}

// firstTaken is the first of n ports on which something listens, 0 when nothing does.
func firstTaken(first, n int) int {
	for port := first; port < first+n; port++ {
		l, err := net.Listen("tcp", Address(port))
		if err != nil {
			return port
		}
		l.Close()
	}
	return 0
}

// portInUse tells that a server ended because something else had one of its ports.
func portInUse(err error) bool {
	return err != nil && strings.Contains(strings.ToLower(err.Error()), "address already in use")
}

// Address is the loopback address of a port, as host:port.
func Address(port int) string { return net.JoinHostPort(Loopback, strconv.Itoa(port)) }

// portOr returns want, or a free port found by find when want is 0.
func portOr(want int, find func() (int, error)) (int, error) {
	if want != 0 {
		return want, nil
	}
	port, err := find()
	if err != nil {
		return 0, fmt.Errorf("peer: %w", err)
	}
	return port, nil
}
