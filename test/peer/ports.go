package peer

import (
	"fmt"
	"strings"

	"github.com/wheelmq/wheelmq/internal/freeport"
)

// Loopback is where every server of a test listens.
const Loopback = freeport.Loopback

// A broker takes the ports around its own: listenPort-2 for the VIP listener
// and listenPort+1 for replication.
const (
	vipDistance = 2
	haDistance  = 1
)

// FreeBrokerPort finds a port whose VIP and replication neighbours are free too.
func FreeBrokerPort() (int, error) {
	first, err := freeport.Take(vipDistance + 1 + haDistance)
	return first + vipDistance, err
}

// FreePort finds a free port.
func FreePort() (int, error) { return freeport.Take(1) }

// portInUse tells that a server ended because something else had one of its ports.
func portInUse(err error) bool {
	return err != nil && strings.Contains(strings.ToLower(err.Error()), "address already in use")
}

// Address is the loopback address of a port, as host:port.
func Address(port int) string { return freeport.Address(port) }

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
