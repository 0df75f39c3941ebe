package store_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/wheelmq/wheelmq/store"
	"github.com/wheelmq/wheelmq/store/region"
)

// TestIndex_SurvivesEveryKindOfEnd damages the index, or what belongs to it, and opens the
// store twice: it must hold exactly the keys of the log.
func TestIndex_SurvivesEveryKindOfEnd(t *testing.T) {
	t.Parallel()
	const n = 40
	for name, damage := range map[string]func(t *testing.T, dir string, names []string){
		"nothing":              func(*testing.T, string, []string) {},
		"directory deleted":    func(t *testing.T, dir string, _ []string) { remove(t, dir, "index") },
		"first file deleted":   func(t *testing.T, dir string, names []string) { remove(t, dir, names[0]) },
		"a middle one deleted": func(t *testing.T, dir string, names []string) { remove(t, dir, names[2]) },
		"last file deleted":    func(t *testing.T, dir string, names []string) { remove(t, dir, names[len(names)-1]) },
		"all but the last": func(t *testing.T, dir string, names []string) {
			for _, name := range names[:len(names)-1] {
				remove(t, dir, name)
			}
		},
		"first file empty": func(t *testing.T, dir string, names []string) { truncate(t, dir, names[0], 0) },
		"a file cut":       func(t *testing.T, dir string, names []string) { truncate(t, dir, names[1], 100) },
		"last file cut":    func(t *testing.T, dir string, names []string) { truncate(t, dir, names[len(names)-1], 60) },
		"last file longer": func(t *testing.T, dir string, names []string) { truncate(t, dir, names[len(names)-1], 8192) },
		"first header lost": func(t *testing.T, dir string, names []string) {
			overwrite(t, filepath.Join(dir, names[0]), 0, make([]byte, 40))
		},
		"last header lost": func(t *testing.T, dir string, names []string) {
			overwrite(t, filepath.Join(dir, names[len(names)-1]), 16, make([]byte, 24))
		},
		"header of noise": func(t *testing.T, dir string, names []string) {
			overwrite(t, filepath.Join(dir, names[1]), 0, bytes.Repeat([]byte{0xEE}, 40))
		},
		"meta deleted":       func(t *testing.T, dir string, _ []string) { remove(t, dir, "config/wheelmqStore.json") },
		"checkpoint deleted": func(t *testing.T, dir string, _ []string) { remove(t, dir, "checkpoint") },
		"meta and checkpoint": func(t *testing.T, dir string, _ []string) {
			remove(t, dir, "config/wheelmqStore.json")
			remove(t, dir, "checkpoint")
		},
		"foreign files": func(t *testing.T, dir string, _ []string) {
			write(t, dir, "index/readme", "of the operator")
			write(t, dir, "index/99991231235959999", strings.Repeat("x", 504))
			write(t, dir, "index/00010101000000000", strings.Repeat("y", 504))
		},
	} {
		for _, clean := range []bool{true, false} {
			t.Run(fmt.Sprintf("%s, clean %v", name, clean), func(t *testing.T) {
				t.Parallel()
				opts := indexOptions(t.TempDir())
				s := mustOpen(t, opts)
				putKeyed(t, s, 0, n)
				verifyIndex(t, s)
				opts.Dir = endOf(t, s, opts.Dir, clean)
				damage(t, opts.Dir, indexNames(t, opts.Dir))
				s = mustOpen(t, opts)
				verifyIndex(t, s)
				putKeyed(t, s, n, 10)
				verifyIndex(t, s)
				mustClose(t, s)
				verifyIndexFiles(t, opts)
			})
		}
	}
}

// endOf closes the store and returns its directory, or a copy made while it ran.
func endOf(t *testing.T, s *store.Store, dir string, clean bool) string {
	t.Helper()
	if !clean {
		copied := filepath.Join(t.TempDir(), "copy")
		if err := os.CopyFS(copied, os.DirFS(dir)); err != nil {
			t.Fatal(err)
		}
		dir = copied
	}
	mustClose(t, s)
	return dir
}

// indexNames are the index files below dir, oldest first.
func indexNames(t *testing.T, dir string) (names []string) {
	t.Helper()
	for name := range readIndexFiles(t, filepath.Join(dir, "index")) {
		names = append(names, "index/"+name)
	}
	if len(names) < 4 {
		t.Fatalf("%d index files are too few for the damages", len(names))
	}
	slices.Sort(names)
	return names
}

func truncate(t *testing.T, dir, name string, size int64) {
	t.Helper()
	if err := os.Truncate(filepath.Join(dir, name), size); err != nil {
		t.Fatal(err)
	}
}

// TestIndex_AheadOfTheLog_IsCut loses the end of the log: no key of it may stay, since other
// records will lie there.
func TestIndex_AheadOfTheLog_IsCut(t *testing.T) {
	t.Parallel()
	for _, keep := range []int{0, 1, 3, 17, 39} {
		t.Run(fmt.Sprint(keep), func(t *testing.T) {
			t.Parallel()
			opts := indexOptions(t.TempDir())
			s := mustOpen(t, opts)
			putKeyed(t, s, 0, keep)
			end := s.MaxCommitLogOffset()
			putKeyed(t, s, keep, 40-keep)
			mustClose(t, s)
			write(t, opts.Dir, "abort", "1")
			remove(t, opts.Dir, "checkpoint")
			log := filepath.Join(opts.Dir, "commitlog", fmt.Sprintf("%020d", 0))
			overwrite(t, log, end, make([]byte, 128<<10-end))
			s = mustOpen(t, opts)
			if got := s.MaxCommitLogOffset(); got != end {
				t.Fatalf("the log ends at %d, want %d", got, end)
			}
			verifyIndex(t, s)
			putKeyed(t, s, 100, 20)
			if got := found(s, store.KeyQuery{Topic: "T", Key: "k39"}); len(got) != 0 {
				t.Errorf("a key that is lost is found at %d", got)
			}
			mustClose(t, s)
			verifyIndexFiles(t, opts)
		})
	}
}

// TestIndex_OfDeletedLogFiles_GoesWithThem deletes the head of the log.
func TestIndex_OfDeletedLogFiles_GoesWithThem(t *testing.T) {
	t.Parallel()
	opts := indexOptions(t.TempDir())
	s := mustOpen(t, opts)
	putKeyed(t, s, 0, 400)
	mustClose(t, s)
	before := len(indexNames(t, opts.Dir))
	remove(t, opts.Dir, "commitlog/"+fmt.Sprintf("%020d", 0))
	s = mustOpen(t, opts)
	if s.MinCommitLogOffset() == 0 {
		t.Fatal("the log has one file only")
	}
	if got := len(indexNames(t, opts.Dir)); got >= before || got < 4 {
		t.Errorf("%d of %d index files are left", got, before)
	}
	if got := found(s, store.KeyQuery{Topic: "T", Key: "k0"}); len(got) != 0 {
		t.Errorf("a deleted record is found at %d", got)
	}
	verifyIndex(t, s)
	mustClose(t, s)
}

// TestIndex_Crash_KeepsWhatACheckpointNamed cuts the power at several moments.
func TestIndex_Crash_KeepsWhatACheckpointNamed(t *testing.T) {
	t.Parallel()
	opts := indexOptions("")
	opts.Memory = region.NewMemory()
	s := mustOpen(t, opts)
	for i := range 10 {
		putKeyed(t, s, 7*i, 7)
		verifyIndex(t, s)
		crashed := opts
		crashed.Memory = opts.Memory.Crash()
		again := mustOpen(t, crashed)
		verifyIndex(t, again)
		mustClose(t, again)
		if i%3 == 0 {
			mustClose(t, s)
			s = mustOpen(t, opts)
		}
	}
	mustClose(t, s)
}
