package main

import (
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/wheelmq/wheelmq/clock"
)

// quietMs is how long nothing is shown: what takes less needs no progress.
const quietMs = 1000

// progress shows how far something is: a bar on a terminal, elsewhere a line for every tenth.
type progress struct {
	out      io.Writer
	done     string // what has become of what is done: checked, sent
	terminal bool
	now      func() int64 // ms
	begin    int64        // ms
	shown    int64        // per cent, -1 for nothing
}

func newProgress(out io.Writer, done string) *progress {
	p := &progress{out: out, done: done, now: clock.Real{}.NowMillis, shown: -1, terminal: onTerminal(out)}
	p.begin = p.now()
	return p
}

func onTerminal(out io.Writer) bool {
	f, ok := out.(*os.File)
	if !ok {
		return false
	}
	info, err := f.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0
}

// show tells that done of total is done.
func (p *progress) show(done, total int64) {
	if total <= 0 || p.now()-p.begin < quietMs {
		return
	}
	percent := done * 100 / total
	const width = 40
	switch {
	case p.terminal && percent != p.shown:
		full := int(percent) * width / 100
		fmt.Fprintf(p.out, "\r[%s%s] %3d %%", strings.Repeat("=", full), strings.Repeat(" ", width-full), percent)
	case !p.terminal && (p.shown < 0 || percent/10 > p.shown/10):
		fmt.Fprintf(p.out, "%d %% %s\n", percent, p.done)
	default:
		return
	}
	p.shown = percent
}

// end takes the bar away.
func (p *progress) end() {
	if p.terminal && p.shown >= 0 {
		fmt.Fprint(p.out, "\r\x1b[K")
	}
}
