package stats

import (
	"fmt"
	"strings"
	"sync/atomic"
)

// Totals is the broker's own statistics, as GET_BROKER_RUNTIME_INFO (28) shows them.
type Totals struct {
	BootMs                                int64
	Puts, PutBytes, PutFailed             int64
	PutsToday, PutsMorning, PutsYesterday int64 // cumulative: now, at midnight, at the one before
	GotsToday, GotsMorning, GotsYesterday int64
	PutTPS, FoundTPS, MissTPS             [3]float64 // over 10 s, 1 min, 10 min
	TransferredTPS, TotalTPS              [3]float64
	PutTookMax, GotTookMax                int64 // ms
	PutLatency99, PutLatency999           float64
	PutDistribution                       string // "[<=0ms]:3 [0~10ms]:1 …"
}

// Totals returns the statistics now.
func (s *Service) Totals() Totals {
	t := Totals{
		BootMs: s.bootMs, Puts: s.broker[puts].sum.Load(), PutBytes: s.putBytes.Load(), PutFailed: s.putFailed.Load(),
		PutsToday: s.broker[putsUser].sum.Load(), GotsToday: s.broker[gotsUser].sum.Load(),
		PutTookMax: s.putTook.max.Load(), GotTookMax: s.gotTookMax.Load(),
		PutLatency99: s.putTook.quantile(0.99), PutLatency999: s.putTook.quantile(0.999),
		PutDistribution: s.putTook.String(),
	}
	s.sampleMu.Lock()
	defer s.sampleMu.Unlock()
	t.PutsMorning, t.PutsYesterday = s.putDay.today, s.putDay.yesterday
	t.GotsMorning, t.GotsYesterday = s.gotDay.today, s.gotDay.yesterday
	for i, seconds := range []int{10, 60, 600} {
		t.PutTPS[i] = s.put.tps(seconds)
		t.FoundTPS[i] = s.get.tps(seconds)
		t.MissTPS[i] = s.miss.tps(seconds)
		t.TransferredTPS[i] = s.transferred.tps(seconds)
		t.TotalTPS[i] = s.total.tps(seconds)
	}
	return t
}

// histogram counts puts by how long they took: exactly below a second, and in RocketMQ's
// classes above.
type histogram struct {
	millis [1000]atomic.Int64
	longer [6]atomic.Int64 // 1~2s 2~3s 3~4s 4~5s 5~10s 10s~
	max    atomic.Int64
}

var longerFrom = [...]int64{1000, 2000, 3000, 4000, 5000, 10000}

func (h *histogram) add(ms int64) {
	ms = max(ms, 0)
	if ms < int64(len(h.millis)) {
		h.millis[ms].Add(1)
	} else {
		class := len(longerFrom) - 1
		for ms < longerFrom[class] {
			class--
		}
		h.longer[class].Add(1)
	}
	for {
		known := h.max.Load()
		if ms <= known || h.max.CompareAndSwap(known, ms) {
			return
		}
	}
}

// quantile is the duration within which the share q of the puts ended, ms.
func (h *histogram) quantile(q float64) float64 {
	var total int64
	for i := range h.millis {
		total += h.millis[i].Load()
	}
	for i := range h.longer {
		total += h.longer[i].Load()
	}
	want := int64(float64(total) * q)
	var seen int64
	for i := range h.millis {
		if seen += h.millis[i].Load(); seen > want {
			return float64(i)
		}
	}
	return float64(h.max.Load())
}

// String is RocketMQ's putMessageDistributeTime.
func (h *histogram) String() string {
	var b strings.Builder
	from := 0
	for _, class := range []struct {
		name  string
		until int
	}{{"<=0ms", 0}, {"0~10ms", 9}, {"10~50ms", 49}, {"50~100ms", 99}, {"100~200ms", 199}, {"200~500ms", 499}, {"500ms~1s", 999}} {
		var n int64
		for ; from <= class.until; from++ {
			n += h.millis[from].Load()
		}
		fmt.Fprintf(&b, "[%s]:%d ", class.name, n)
	}
	for i, name := range []string{"1~2s", "2~3s", "3~4s", "4~5s", "5~10s", "10s~"} {
		fmt.Fprintf(&b, "[%s]:%d ", name, h.longer[i].Load())
	}
	return b.String()
}
