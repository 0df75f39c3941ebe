//go:build unix

package peer

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
)

// The blocks end below the ephemeral ports, so that an outgoing connection of another test does
// not take a port between its choice and its use, and begin above the ports that a RocketMQ has by
// default.
const (
	blockPorts   = 48
	portBlockNum = 100
	lowestPort   = 11000
	highestPort  = 31000
)

// lockPorts locks a block of ports until this process ends: [next, last) is its alone.
func lockPorts() (next, last int, err error) {
	dir, err := cacheDir("ports")
	if err != nil {
		return 0, 0, err
	}
	first := min(highestPort, firstEphemeral()) - portBlockNum*blockPorts
	// Processes that start together try in different orders.
	for i := range portBlockNum {
		block := (os.Getpid() + i) % portBlockNum
		held, err := holdFile(filepath.Join(dir, strconv.Itoa(block)))
		if err != nil {
			return 0, 0, err
		}
		if held {
			next = first + block*blockPorts
			return next, next + blockPorts, nil
		}
	}
	return 0, 0, errors.New("peer: every block of ports is taken")
}

// holdFile locks a file until this process ends, unless somebody has locked it before, this
// process included.
func holdFile(path string) (held bool, err error) {
	fd, err := syscall.Open(path, syscall.O_CREAT|syscall.O_RDWR|syscall.O_CLOEXEC, 0o600)
	if err != nil {
		return false, fmt.Errorf("peer: lock %s: %w", path, err)
	}
	err = syscall.Flock(fd, syscall.LOCK_EX|syscall.LOCK_NB)
	if err == nil {
		return true, nil
	}
	syscall.Close(fd)
	if errors.Is(err, syscall.EWOULDBLOCK) {
		return false, nil
	}
	return false, fmt.Errorf("peer: lock %s: %w", path, err)
}

// firstEphemeral is the lowest port that the kernel gives to outgoing connections. One that leaves
// no room below it is passed over: a start that meets a connection is then tried again.
func firstEphemeral() int {
	text, err := os.ReadFile("/proc/sys/net/ipv4/ip_local_port_range")
	if err != nil {
		return highestPort
	}
	low, _, _ := strings.Cut(strings.TrimSpace(string(text)), "\t")
	first, err := strconv.Atoi(low)
	if err != nil || first < lowestPort+portBlockNum*blockPorts {
		return highestPort
	}
	return first
}
