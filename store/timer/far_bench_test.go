package timer_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/wheelmq/wheelmq/store/region"
	"github.com/wheelmq/wheelmq/store/timer"
)

// storedSizes are records with bodies of 128 B and 1 KiB as the log stores them.
var storedSizes = []int{419, 1315}

func onDisk(b *testing.B) (*timer.Timeline, string) {
	dir := b.TempDir()
	opts := options(region.OS{Root: dir})
	opts.ChunkSize = 0
	tl, err := timer.Open(opts, nil, anyEnd)
	if err != nil {
		b.Fatal(err)
	}
	tl.Prepare(noon * 1000)
	return tl, dir
}

func BenchmarkFarAdd(b *testing.B) {
	for _, days := range []int64{3, 365} {
		for _, size := range storedSizes {
			b.Run(fmt.Sprintf("%d B over %d days", size, days), func(b *testing.B) {
				tl, _ := onDisk(b)
				record := make([]byte, size)
				rng := rand.New(rand.NewPCG(1, 1))
				b.SetBytes(int64(size))
				b.ReportAllocs()
				b.ResetTimer()
				began := cpu(b)
				for i := range int64(b.N) {
					slot := tl.NearEnd() + rng.Int64N(days*86_400)
					if err := tl.Add(timer.Entry{Due: slot * 1000, LogOffset: i * int64(size), Size: int32(size)}, slot, record); err != nil {
						b.Fatal(err)
					}
				}
				b.StopTimer()
				b.ReportMetric(float64(cpu(b)-began)/float64(b.N), "cpu-ns/op")
				b.ReportMetric(float64(tl.Stats().FarBytes)/float64(b.N), "stored-B/op")
				b.ReportMetric(float64(rssAnon(b))/(1<<20), "RssAnon-MiB")
				if err := tl.Close(); err != nil {
					b.Fatal(err)
				}
			})
		}
	}
}

// cpu is the time this process has computed, ns: what others do on the machine is not in it.
func cpu(b *testing.B) int64 {
	var use unix.Rusage
	if err := unix.Getrusage(unix.RUSAGE_SELF, &use); err != nil {
		b.Fatal(err)
	}
	return use.Utime.Nano() + use.Stime.Nano()
}

// rssAnon is this process's memory that is no file's, bytes.
func rssAnon(b *testing.B) (kib int64) {
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		b.Fatal(err)
	}
	for _, line := range strings.Split(string(status), "\n") {
		if _, err := fmt.Sscanf(line, "RssAnon: %d", &kib); err == nil {
			return kib << 10
		}
	}
	return 0
}

// inOneHour has a million records in the hour that comes next, or in one second of it.
func inOneHour(b *testing.B, seconds int64) (*timer.Timeline, string) {
	tl, dir := onDisk(b)
	size := storedSizes[0]
	record := make([]byte, size)
	rng := rand.New(rand.NewPCG(1, 1))
	for i := range int64(1_000_000) {
		ms := (tl.NearEnd()+rng.Int64N(seconds))*1000 + rng.Int64N(1000)
		if err := tl.Add(timer.Entry{Due: ms, LogOffset: i * int64(size), Size: int32(size)}, ms/1000, record); err != nil {
			b.Fatal(err)
		}
	}
	return tl, dir
}

func runJobs(b *testing.B, tl *timer.Timeline, now int64) {
	for jobs := tl.Prepare(now * 1000); len(jobs) > 0; jobs = tl.Prepare(now * 1000) {
		for _, j := range jobs {
			if err := j.Run(); err != nil {
				b.Fatal(err)
			}
			if err := tl.Finish(j); err != nil {
				b.Fatal(err)
			}
		}
	}
}

func BenchmarkFarSort_Million(b *testing.B) {
	used := int64(0)
	for b.Loop() {
		b.StopTimer()
		tl, _ := inOneHour(b, 3600)
		b.StartTimer()
		began := cpu(b)
		runJobs(b, tl, noon+3600)
		used += cpu(b) - began
		b.StopTimer()
		b.ReportMetric(float64(rssAnon(b))/(1<<20), "RssAnon-MiB")
		if err := tl.Close(); err != nil {
			b.Fatal(err)
		}
		b.StartTimer()
	}
	b.ReportMetric(float64(used)/float64(b.N)/1e6, "cpu-ns/record")
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/1e6, "ns/record")
}

func BenchmarkFarRead_MillionInASecond(b *testing.B) {
	for _, cold := range []bool{false, true} {
		b.Run(fmt.Sprintf("cold %v", cold), func(b *testing.B) {
			tl, dir := inOneHour(b, 1)
			second := tl.NearEnd()
			runJobs(b, tl, noon+3600)
			used := int64(0)
			for b.Loop() {
				b.StopTimer()
				if cold {
					evictFar(b, dir)
				}
				b.StartTimer()
				began := cpu(b)
				readAll(b, tl, second)
				used += cpu(b) - began
			}
			b.ReportMetric(float64(used)/float64(b.N)/1e6, "cpu-ns/record")
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/1e6, "ns/record")
			b.ReportMetric(float64(rssAnon(b))/(1<<20), "RssAnon-MiB")
			if err := tl.Close(); err != nil {
				b.Fatal(err)
			}
		})
	}
}

func readAll(b *testing.B, tl *timer.Timeline, second int64) {
	r, err := tl.Read(second)
	if err != nil {
		b.Fatal(err)
	}
	defer r.Close()
	n := 0
	for item, ok := r.Next(); ok; item, ok = r.Next() {
		n += len(item.Record) / storedSizes[0]
	}
	if r.Err() != nil || n != 1_000_000 {
		b.Fatal(n, r.Err())
	}
}

// evictFar writes the files back and takes them out of the page cache.
func evictFar(b *testing.B, dir string) {
	unix.Sync()
	err := filepath.Walk(dir, func(path string, info os.FileInfo, err error) error {
		if err != nil || info.IsDir() {
			return err
		}
		f, err := os.Open(path)
		if err != nil {
			return err
		}
		defer f.Close()
		return unix.Fadvise(int(f.Fd()), 0, 0, unix.FADV_DONTNEED)
	})
	if err != nil {
		b.Fatal(err)
	}
}
