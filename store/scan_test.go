package store_test

import (
	"errors"
	"testing"

	"github.com/wheelmq/wheelmq/message"
)

// TestStore_Scan_VisitsEveryRecordAcrossFiles writes several log files and reads from the
// beginning, from before it, and from a record in the middle.
func TestStore_Scan_VisitsEveryRecordAcrossFiles(t *testing.T) {
	t.Parallel()
	s := mustOpen(t, options(t.TempDir()))
	defer mustClose(t, s)
	const n = 1000
	fill(t, s, 0, n)
	offsets := scan(t, s, -1)
	if len(offsets) != n || offsets[0] != 0 {
		t.Fatalf("%d records, want %d", len(offsets), n)
	}
	if rest := scan(t, s, offsets[400]); len(rest) != n-400 || rest[0] != offsets[400] {
		t.Errorf("%d records from the middle, want %d", len(rest), n-400)
	}
	if err := s.Scan(offsets[400]+1, func(*message.View) error { return nil }); err == nil {
		t.Error("a scan from within a record found one")
	}
	stop := errors.New("enough")
	if err := s.Scan(0, func(*message.View) error { return stop }); !errors.Is(err, stop) {
		t.Errorf("the callback's error became %v", err)
	}
}

func scan(t *testing.T, s interface {
	Scan(int64, func(*message.View) error) error
}, from int64) (offsets []int64) {
	t.Helper()
	if err := s.Scan(from, func(v *message.View) error {
		offsets = append(offsets, v.CommitLogOffset)
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	return offsets
}
