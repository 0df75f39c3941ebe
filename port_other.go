//go:build !linux

package wheelmq

import "net"

// reservePort finds a free port. Here it cannot be kept from others: one who asks for any port
// before the server listens may get it.
func reservePort(bind string) (port uint16, release func() error, err error) {
	l, err := net.Listen("tcp", net.JoinHostPort(bind, "0"))
	if err != nil {
		return 0, nil, err
	}
	return uint16(l.Addr().(*net.TCPAddr).Port), func() error { return nil }, l.Close()
}
