package wheelmq

import (
	"fmt"
	"net"
	"net/netip"
	"strconv"
	"strings"
)

// advertised is the key advertise: what clients are told to connect to where the broker's own
// address or port is not theirs, behind mapped ports above all.
type advertised struct {
	rules   []advertiseRule
	general string // for everybody else; "" leaves it to what is known
}

// advertiseRule is one of "network=host:port": for clients that are in the network, or reach the
// server at an address in it.
type advertiseRule struct {
	network netip.Prefix
	address string
}

// parseAdvertise reads host:port, network=host:port, or several of them separated by semicolons; the
// first rule that fits counts. A network is an address or a prefix such as 172.17.0.0/16.
func parseAdvertise(text string) (a advertised, err error) {
	for item := range strings.SplitSeq(text, ";") {
		if item = strings.TrimSpace(item); item == "" {
			continue
		}
		network, address, mapped := strings.Cut(item, "=")
		if !mapped {
			network, address = "", item
		}
		if err := checkAdvertised(address); err != nil {
			return a, fmt.Errorf("config: advertise=%q: %w", text, err)
		}
		if !mapped {
			a.general = address
			continue
		}
		prefix, err := parseNetwork(network)
		if err != nil {
			return a, fmt.Errorf("config: advertise=%q: %w", text, err)
		}
		a.rules = append(a.rules, advertiseRule{prefix, address})
	}
	return a, nil
}

func checkAdvertised(address string) error {
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		return fmt.Errorf("%q: want host:port: %w", address, err)
	}
	if n, err := strconv.ParseUint(port, 10, 16); err != nil || n == 0 || host == "" {
		return fmt.Errorf("%q: want host:port, the port from 1 to 65535", address)
	}
	return nil
}

func parseNetwork(text string) (netip.Prefix, error) {
	if addr, err := netip.ParseAddr(text); err == nil {
		return netip.PrefixFrom(addr, addr.BitLen()), nil
	}
	prefix, err := netip.ParsePrefix(text)
	if err != nil {
		return prefix, fmt.Errorf("%q: want an address or a network such as 172.17.0.0/16: %w", text, err)
	}
	return prefix.Masked(), nil
}

// to is what a client is told that reached the server at one address and came from another.
func (a *advertised) to(reached, client netip.Addr) string {
	reached, client = reached.Unmap().WithZone(""), client.Unmap().WithZone("")
	for _, rule := range a.rules {
		if rule.network.Contains(reached) || rule.network.Contains(client) {
			return rule.address
		}
	}
	return a.general
}
