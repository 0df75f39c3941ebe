package wheelmq

import (
	"errors"
	"net"
	"os"
	"syscall"
)

// reservePort finds a free port and keeps it from everybody who asks for any: the socket that
// has it does not listen, so that the server may, as often as it likes.
func reservePort(bind string) (port uint16, release func() error, err error) {
	addr, err := net.ResolveTCPAddr("tcp", net.JoinHostPort(bind, "0"))
	if err != nil {
		return 0, nil, err
	}
	domain := syscall.AF_INET
	var at syscall.Sockaddr
	if v4 := addr.IP.To4(); v4 != nil {
		at = &syscall.SockaddrInet4{Addr: [4]byte(v4)}
	} else {
		domain = syscall.AF_INET6
		at = &syscall.SockaddrInet6{Addr: [16]byte(addr.IP.To16())}
	}
	fd, err := syscall.Socket(domain, syscall.SOCK_STREAM|syscall.SOCK_CLOEXEC, 0)
	if err != nil {
		return 0, nil, os.NewSyscallError("socket", err)
	}
	release = func() error { return os.NewSyscallError("close", syscall.Close(fd)) }
	if port, err = bound(fd, at); err != nil {
		return 0, nil, errors.Join(err, release())
	}
	return port, release, nil
}

func bound(fd int, at syscall.Sockaddr) (uint16, error) {
	if err := syscall.SetsockoptInt(fd, syscall.SOL_SOCKET, syscall.SO_REUSEADDR, 1); err != nil {
		return 0, os.NewSyscallError("setsockopt", err)
	}
	if err := syscall.Bind(fd, at); err != nil {
		return 0, os.NewSyscallError("bind", err)
	}
	switch got, err := syscall.Getsockname(fd); got := got.(type) {
	case *syscall.SockaddrInet4:
		return uint16(got.Port), nil
	case *syscall.SockaddrInet6:
		return uint16(got.Port), nil
	default:
		return 0, os.NewSyscallError("getsockname", err)
	}
}
