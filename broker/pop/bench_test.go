package pop_test

import (
	"testing"

	"github.com/wheelmq/wheelmq/broker/pop"
	"github.com/wheelmq/wheelmq/store/region"
)

// BenchmarkPopAndAck hands out messages and has them acknowledged one by one, a hundred thousand pops
// later, on the machine's disk. The queue is not read.
func BenchmarkPopAndAck(b *testing.B) {
	for name, n := range map[string]int{"1 a pop": 1, "32 a pop": 32} {
		b.Run(name, func(b *testing.B) {
			l := newLab(b)
			l.journalFile, l.tree, l.ownTree = 0, region.OS{Root: b.TempDir()}, true
			l.open()
			defer l.close()
			w, ok, err := l.service.Acquire(window, func() int64 { return 0 })
			if !ok || err != nil {
				b.Fatal(ok, err)
			}
			const behind = 100_000
			p := pop.Pop{Offsets: make([]int64, n), InvisibleMs: 60_000_000, PopTime: startMs}
			b.ReportAllocs()
			for i := int64(0); b.Loop(); i++ {
				for at := range p.Offsets {
					p.Offsets[at] = p.Next + int64(at)
				}
				p.Next += int64(n)
				if _, err := w.Handed(&p, nil); err != nil {
					b.Fatal(err)
				}
				for at := p.Next - int64(n) - behind; at < p.Next-behind; at++ {
					if at < 0 {
						continue
					}
					if acked, _, err := l.service.Ack(window, at, startMs, nil); !acked || err != nil {
						b.Fatal(at, err)
					}
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*n), "ns/message")
		})
	}
}
