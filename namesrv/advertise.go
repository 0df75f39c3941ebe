package namesrv

import (
	"net/netip"

	"github.com/wheelmq/wheelmq/difference"
	"github.com/wheelmq/wheelmq/remoting"
)

// advertiseOf is advertise for an answer about a topic, which a test may want without the broker
// of this process; topic "" is the cluster.
func (s *Server) advertiseOf(conn remoting.Conn, topic string) Advertise {
	known := s.advertise(conn)
	if s.opts.Missing == nil {
		return known
	}
	asked, missing := false, false
	return func(r *Registration) string {
		if r.ConnID == 0 && !asked {
			asked, missing = true, s.opts.Missing(topic)
		}
		if r.ConnID == 0 && missing {
			return ""
		}
		return known(r)
	}
}

// advertise returns the address of each broker as the asking client should use it.
func (s *Server) advertise(conn remoting.Conn) Advertise {
	return func(r *Registration) string {
		reached := conn.LocalAddr().Addr()
		if r.AdvertisedTo != nil {
			if addr := r.AdvertisedTo(reached, conn.RemoteAddr().Addr()); addr != "" {
				return addr
			}
		}
		if r.LocalPort == 0 || !reached.IsValid() {
			return r.BrokerAddr
		}
		seen := netip.AddrPortFrom(reached.Unmap().WithZone(""), r.LocalPort).String()
		// Only an answer that the real broker would not give counts as a use.
		if seen == r.BrokerAddr || !s.opts.Differences.Use(difference.AdvertiseReachedAddress) {
			return r.BrokerAddr
		}
		return seen
	}
}
