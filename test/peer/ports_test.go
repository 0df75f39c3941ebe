package peer

import (
	"net"
	"path/filepath"
	"testing"
)

func TestPorts_NoneTwice(t *testing.T) {
	t.Parallel()
	seen := make(map[int]bool)
	for range 2 * blockPorts {
		port, err := FreeBrokerPort()
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range []int{port - vipDistance, port, port + haDistance} {
			if seen[p] {
				t.Errorf("port %d is handed out twice", p)
			}
			seen[p] = true
		}
	}
}

func TestPorts_PassOverOneInUse(t *testing.T) {
	t.Parallel()
	var p portBlocks
	first, err := p.take(1)
	if err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("tcp", Address(first+2))
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	if port, err := p.take(4); err != nil || port != first+3 {
		t.Errorf("port %d, %v, want %d", port, err, first+3)
	}
}

func TestHoldFile_IsHeldOnce(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "0")
	for _, want := range []bool{true, false} {
		if held, err := holdFile(path); err != nil || held != want {
			t.Errorf("held %v, %v, want %v", held, err, want)
		}
	}
}

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
