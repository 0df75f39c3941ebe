package server

import (
	"net/netip"

	"golang.org/x/sys/unix"
)

// localAddr asks the kernel for the address a socket is bound to: of an accepted socket,
// the address that its client reached.
func localAddr(fd int) netip.AddrPort {
	sa, err := unix.Getsockname(fd)
	if err != nil {
		return netip.AddrPort{}
	}
	return addrPort(sa)
}

// remoteAddr asks the kernel for the address of the other end.
func remoteAddr(fd int) netip.AddrPort {
	sa, err := unix.Getpeername(fd)
	if err != nil {
		return netip.AddrPort{}
	}
	return addrPort(sa)
}

func addrPort(sa unix.Sockaddr) netip.AddrPort {
	switch a := sa.(type) {
	case *unix.SockaddrInet4:
		return netip.AddrPortFrom(netip.AddrFrom4(a.Addr), uint16(a.Port))
	case *unix.SockaddrInet6:
		return netip.AddrPortFrom(netip.AddrFrom16(a.Addr).Unmap(), uint16(a.Port))
	default:
		return netip.AddrPort{}
	}
}

// defaultMaxConnections keeps accept from running out of descriptors: gnet gives up its
// listener when accept fails, so the surplus must be closed before.
func defaultMaxConnections() int {
	var limit unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &limit); err != nil || limit.Cur > 1<<20 {
		return 1 << 20
	}
	return max(int(limit.Cur)-256, 64)
}
