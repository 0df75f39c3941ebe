package freeport

import (
	"net"
	"testing"
)

func listen(t *testing.T, addr string) net.Listener {
	t.Helper()
	l, err := net.Listen("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	return l
}

func take(t *testing.T, b *blocks, n int) int {
	t.Helper()
	first, err := b.take(n)
	if err != nil {
		t.Fatal(err)
	}
	return first
}

func TestTake_NoneTwice(t *testing.T) {
	t.Parallel()
	// Another process is another owner of blocks.
	other := blocks{between: own.between}
	seen := make(map[int]bool)
	for range 2 * blockPorts {
		for _, b := range []*blocks{&own, &other} {
			first := take(t, b, 3)
			for _, p := range []int{first, first + 1, first + 2} {
				if seen[p] {
					t.Errorf("port %d is handed out twice", p)
				}
				seen[p] = true
			}
		}
	}
}

func TestTake_PassesOverOneInUse(t *testing.T) {
	t.Parallel()
	b := blocks{between: own.between}
	first := take(t, &b, 1)
	listen(t, Address(first+2))
	if port := take(t, &b, 4); port != first+3 {
		t.Errorf("port %d, want %d", port, first+3)
	}
}

func TestTake_WhatNoBlockHas_Refused(t *testing.T) {
	t.Parallel()
	for _, n := range []int{0, blockPorts} {
		if _, err := own.take(n); err == nil {
			t.Errorf("%d neighbours are handed out", n)
		}
	}
}

func TestTake_EveryBlockOwned_SaysSo(t *testing.T) {
	t.Parallel()
	narrow := span{own.between.first, own.between.first + blockPorts - 1}
	b := blocks{between: narrow}
	if port, err := b.take(1); err == nil {
		t.Errorf("port %d of a span without a block", port)
	}
}

func TestAddr_NothingListens(t *testing.T) {
	t.Parallel()
	addr := Addr(t)
	if conn, err := net.Dial("tcp", addr); err == nil {
		_ = conn.Close()
		t.Errorf("something listens at %s", addr)
	}
	if l := listen(t, addr); l.Addr().String() != addr {
		t.Errorf("listens at %s, want %s", l.Addr(), addr)
	}
}

func TestBelow(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]span{
		"32768\t60999\n": {lowest, highest},
		"20000 60999":    {lowest, 20000},
		"1024\t65535\n":  {lowest, highest},
		"":               {lowest, highest},
		"a b":            {lowest, highest},
	} {
		if got := below(text); got != want {
			t.Errorf("%q: %v, want %v", text, got, want)
		}
	}
}
