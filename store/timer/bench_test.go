package timer_test

import (
	"bufio"
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/wheelmq/wheelmq/store/region"
	"github.com/wheelmq/wheelmq/store/timer"
)

func benchTimeline(b *testing.B, fs region.FS) *timer.Timeline {
	opts := options(fs)
	opts.ChunkSize = 0
	tl, err := timer.Open(opts, nil, 0)
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = tl.Close() })
	tl.Prepare(noon * 1000)
	return tl
}

// spread is a second of the next hour, in no order.
func spread(n int64) int64 { return noon + n*2_654_435_761%3600 }

func fill(b *testing.B, tl *timer.Timeline, n int64, second func(n int64) int64) {
	b.Helper()
	for i := range n {
		s := second(i)
		if err := tl.Add(timer.Entry{Due: s*1000 + 500, LogOffset: i * 300, Size: 300}, s, nil); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkAdd(b *testing.B) {
	for name, second := range map[string]func(n int64) int64{
		"hour":   spread,
		"second": func(int64) int64 { return noon + 100 },
	} {
		b.Run(name, func(b *testing.B) {
			tl := benchTimeline(b, region.OS{Root: b.TempDir()})
			b.ReportAllocs()
			b.ResetTimer()
			fill(b, tl, int64(b.N), second)
			b.StopTimer()
			if _, err := tl.State(); err != nil {
				b.Fatal(err)
			}
			b.ReportMetric(float64(tl.Stats().NearBytes)/float64(b.N), "B/entry")
		})
	}
}

// BenchmarkTenMillion holds that many entries of an hour: the memory they take, a checkpoint of
// them, and reading one second.
func BenchmarkTenMillion(b *testing.B) {
	const pending = 10_000_000
	before, fs := anonymous(b), region.OS{Root: b.TempDir()}
	tl := benchTimeline(b, fs)
	fill(b, tl, pending, spread)
	taken := anonymous(b) - before
	var s *timer.State
	b.Run("State", func(b *testing.B) {
		for b.Loop() {
			var err error
			if s, err = tl.State(); err != nil {
				b.Fatal(err)
			}
		}
		text, err := s.AppendBinary(nil)
		if err != nil {
			b.Fatal(err)
		}
		b.ReportMetric(float64(len(text)), "B/checkpoint")
		b.ReportMetric(float64(tl.Stats().NearBytes)/pending, "B/entry")
		b.ReportMetric(float64(taken)/(1<<20), "MiB-anon")
	})
	b.Run("Read", func(b *testing.B) {
		n := 0
		for second := int64(0); b.Loop(); second++ {
			n += drain(b, tl, noon+second%3600)
		}
		b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(n), "ns/entry")
	})
	b.Run("Open", func(b *testing.B) {
		for b.Loop() {
			again, err := timer.Open(options(fs), s, anyEnd)
			if err != nil {
				b.Fatal(err)
			}
			if err := again.Close(); err != nil {
				b.Fatal(err)
			}
		}
	})
}

func drain(b *testing.B, tl *timer.Timeline, second int64) (n int) {
	b.Helper()
	r, err := tl.Read(second)
	if err != nil {
		b.Fatal(err)
	}
	defer r.Close()
	for {
		if _, ok := r.Next(); !ok {
			return n
		}
		n++
	}
}

// BenchmarkReadHot reads a million entries of one second.
func BenchmarkReadHot(b *testing.B) {
	tl := benchTimeline(b, region.OS{Root: b.TempDir()})
	fill(b, tl, 1_000_000, func(int64) int64 { return noon })
	for b.Loop() {
		drain(b, tl, noon)
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/1e6, "ns/entry")
}

// BenchmarkReadCold reads seconds whose files are not in memory: one of an hour with ten million
// entries, and one with a million entries that came among nine million others.
func BenchmarkReadCold(b *testing.B) {
	for name, second := range map[string]func(n int64) int64{
		"hour": spread,
		"hot": func(n int64) int64 {
			if n%10 == 0 {
				return noon + 1
			}
			return spread(n)
		},
	} {
		b.Run(name, func(b *testing.B) {
			root := b.TempDir()
			tl := benchTimeline(b, region.OS{Root: root})
			fill(b, tl, 10_000_000, second)
			s, err := tl.State()
			if err != nil {
				b.Fatal(err)
			}
			if err := errors.Join(tl.Sync(), tl.Close()); err != nil {
				b.Fatal(err)
			}
			n := 0
			for b.Loop() {
				b.StopTimer()
				evict(b, filepath.Join(root, logDir))
				again, err := timer.Open(options(region.OS{Root: root}), s, anyEnd)
				if err != nil {
					b.Fatal(err)
				}
				b.StartTimer()
				n += drain(b, again, noon+1)
				b.StopTimer()
				if err := again.Close(); err != nil {
					b.Fatal(err)
				}
				b.StartTimer()
			}
			b.ReportMetric(float64(n)/b.Elapsed().Seconds(), "entries/s")
		})
	}
}

// evict takes files out of the page cache.
func evict(b *testing.B, dir string) {
	b.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		b.Fatal(err)
	}
	for _, e := range entries {
		f, err := os.Open(filepath.Join(dir, e.Name()))
		if err != nil {
			b.Fatal(err)
		}
		if err := errors.Join(unix.Fadvise(int(f.Fd()), 0, 0, unix.FADV_DONTNEED), f.Close()); err != nil {
			b.Fatal(err)
		}
	}
}

// anonymous is the process's memory that no file is behind, bytes.
func anonymous(b *testing.B) int64 {
	b.Helper()
	text, err := os.ReadFile("/proc/self/status")
	if err != nil {
		b.Skip(err)
	}
	lines := bufio.NewScanner(bytes.NewReader(text))
	for lines.Scan() {
		if rest, ok := bytes.CutPrefix(lines.Bytes(), []byte("RssAnon:")); ok {
			kb, err := strconv.ParseInt(string(bytes.TrimSuffix(bytes.TrimSpace(rest), []byte(" kB"))), 10, 64)
			if err != nil {
				b.Fatal(err)
			}
			return kb << 10
		}
	}
	b.Skip("no RssAnon")
	return 0
}
