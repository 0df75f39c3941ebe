package peer

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"strconv"
)

// Loopback is where every server of a test listens.
const Loopback = "127.0.0.1"

// A broker takes the ports around its own: listenPort-2 for the VIP listener
// and listenPort+1 for replication.
const (
	vipDistance = 2
	haDistance  = 1
)

// The range lies below the usual ephemeral ports, so that an outgoing
// connection of another test does not take a port between probe and use.
const (
	firstPort = 15000
	lastPort  = 31000
)

// FreeBrokerPort finds a port whose VIP and replication neighbours are free too.
func FreeBrokerPort() (int, error) {
	return findPort(-vipDistance, 0, haDistance)
}

// FreePort finds a free port.
func FreePort() (int, error) { return findPort(0) }

func findPort(neighbours ...int) (int, error) {
	for range 200 {
		port := firstPort + rand.IntN(lastPort-firstPort)
		if allFree(port, neighbours) {
			return port, nil
		}
	}
	return 0, errors.New("peer: no free port found")
}

func allFree(port int, neighbours []int) bool {
	for _, d := range neighbours {
		l, err := net.Listen("tcp", Address(port+d))
		if err != nil {
			return false
		}
		l.Close()
	}
	return true
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
