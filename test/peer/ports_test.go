package peer

import (
	"net"
	"testing"
)

func TestStart_PortTaken_PlansAnew(t *testing.T) {
	t.Parallel()
	l, err := net.Listen("tcp", Loopback+":0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	target, plans := &Target{Kind: Ours, tb: t}, 0
	t.Cleanup(target.close)
	dir := HomeDir(t)
	target.launchFirst(func() error {
		plans++
		err := target.useOurs(dir, nil)
		if w, ours := target.server.(*wheelmq); plans == 1 && ours {
			w.listenPort = l.Addr().(*net.TCPAddr).Port
		}
		return err
	})
	if plans != 2 {
		t.Errorf("%d plans, want 2", plans)
	}
}
