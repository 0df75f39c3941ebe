package store_test

import "testing"

// TestFlush_OfAFileThatRetentionDeletes must not make the store refuse everything.
func TestFlush_OfAFileThatRetentionDeletes(t *testing.T) {
	t.Parallel()
	s := mustOpen(t, options(t.TempDir()))
	fill(t, s, 0, 700)
	s.DiscardOldest()
	if err := s.FlushLogStep(); err != nil {
		t.Fatalf("flush: %v", err)
	}
	if err := s.Writable(); err != nil {
		t.Fatal(err)
	}
	mustClose(t, s)
}
