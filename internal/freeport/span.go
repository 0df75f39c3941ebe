package freeport

import (
	"os"
	"strconv"
	"strings"
)

// span is the ports from first, up to end without it.
type span struct{ first, end int }

// The blocks begin above the ports that a RocketMQ has by default, and end below the ephemeral
// ports, so that no outgoing connection takes a port between its choice and its use.
const (
	lowest  = 11000
	highest = 31000
	// stride is how far apart processes begin that start one after the other.
	stride = 7
	// fewest is the number of blocks below which it is better to have ports that connections may
	// take.
	fewest = 100
)

// belowEphemeral is the span between the default ports of a RocketMQ and those that this machine
// gives to outgoing connections. Where these leave no room it is theirs in part.
func belowEphemeral() span {
	text, err := os.ReadFile("/proc/sys/net/ipv4/ip_local_port_range")
	if err != nil {
		return span{lowest, highest}
	}
	return below(string(text))
}

// below is belowEphemeral for a text of two ports, as Linux has it.
func below(text string) span {
	words := strings.Fields(text)
	if len(words) == 0 {
		return span{lowest, highest}
	}
	first, err := strconv.Atoi(words[0])
	if err != nil || first < lowest+fewest*blockPorts {
		return span{lowest, highest}
	}
	return span{lowest, min(highest, first)}
}
