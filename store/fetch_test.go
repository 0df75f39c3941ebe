package store_test

import "testing"

// TestStore_Fetch asks for what is there, over files' ends, and for what is not.
func TestStore_Fetch(t *testing.T) {
	t.Parallel()
	opts := options(t.TempDir())
	s := mustOpen(t, opts)
	fill(t, s, 0, 1000)
	end := s.MaxCommitLogOffset()
	if end < 3*int64(opts.CommitLogFileSize) {
		t.Fatalf("only %d bytes", end)
	}
	for _, c := range [][2]int64{{0, end}, {100, 101}, {int64(opts.CommitLogFileSize) - 1, end + 1<<40}, {end, end + 1}, {7, 7}, {9, 8}, {1 << 40, 1 << 41}} {
		s.Fetch(c[0], c[1])
	}
	verify(t, s, 1000)
	mustClose(t, s)
	s.Fetch(0, end)
}
