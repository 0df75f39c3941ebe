package wheelmq

import (
	"fmt"
	"net"
	"net/netip"
	"strconv"
)

// findHost is the broker's address in message ids, which clients connect to for a look at a
// message: brokerIP1, else the bound address, else the machine's first address.
func (l *life) findHost() (addr netip.Addr, why string, err error) {
	if ip := l.cfg.BrokerIP1; ip != "" {
		addr, err := netip.ParseAddr(ip)
		if err != nil {
			return addr, "", fmt.Errorf("config: brokerIP1=%q: want an IP address: %w", ip, err)
		}
		return addr, "brokerIP1", nil
	}
	if addr, err := netip.ParseAddr(l.cfg.BindAddress); err == nil && !addr.IsUnspecified() {
		return addr, "bindAddress", nil
	}
	addrs, err := net.InterfaceAddrs()
	if err != nil {
		return addr, "", fmt.Errorf("wheelmq: %w", err)
	}
	for _, a := range addrs {
		prefix, err := netip.ParsePrefix(a.String())
		if err == nil && prefix.Addr().Is4() && !prefix.Addr().IsLoopback() && !prefix.Addr().IsLinkLocalUnicast() {
			return prefix.Addr(), "first IPv4 address of this machine; set brokerIP1 to choose another", nil
		}
	}
	return netip.MustParseAddr("127.0.0.1"), "no other address on this machine", nil
}

// local is a port as a client on this machine reaches it.
func local(bind string, port uint16) string {
	if addr, err := netip.ParseAddr(bind); err != nil || addr.IsUnspecified() {
		bind = "127.0.0.1"
	}
	return hostPort(bind, int(port))
}

func hostPort(host string, port int) string { return net.JoinHostPort(host, strconv.Itoa(port)) }
