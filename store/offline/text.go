package offline

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/wheelmq/wheelmq/store"
)

// WriteTo writes the report for people. Instants are in UTC.
func (r *Report) WriteTo(out io.Writer) (int64, error) {
	var b strings.Builder
	w := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	r.writeHead(w)
	r.writeTopics(w)
	r.writeGroups(w)
	r.writeDelayed(w)
	if err := w.Flush(); err != nil {
		return 0, err
	}
	n, err := io.WriteString(out, b.String())
	return int64(n), err
}

func (r *Report) writeHead(w io.Writer) {
	fmt.Fprintf(w, "written by\t%s\n", strings.Join(r.Writers, " and "))
	if r.Epoch != "" {
		fmt.Fprintf(w, "epoch\t%s\n", r.Epoch)
	}
	if r.VirtualNow != 0 {
		fmt.Fprintf(w, "clock\tvirtual, stands at %s\n", time.UnixMilli(r.VirtualNow).UTC().Format(time.RFC3339))
	}
	if r.Abort == "" {
		fmt.Fprintf(w, "last end\tclean\n")
	} else {
		fmt.Fprintf(w, "last end\tnot clean, abort marker of process %s\n", r.Abort)
	}
	for _, key := range slices.Sorted(maps.Keys(r.BrokerConf)) {
		fmt.Fprintf(w, "broker.conf\t%s=%d\n", key, r.BrokerConf[key])
	}
	fmt.Fprintf(w, "log\t[%d, %d) in %d files, last record of %s\n", r.Log.Min, r.Log.Max, r.Log.Files, instant(r.Log.LastTimestamp))
	fmt.Fprintf(w, "records\t%d in queues\n", r.Log.Records)
	fmt.Fprintf(w, "index\t%d units in %d files, up to the record at %d\n", r.Index.Units, r.Index.Files, r.Index.EndOffset)
	writeCheckpoint(w, r.Checkpoint)
	for _, what := range r.Unsupported {
		fmt.Fprintf(w, "unsupported\t%s\n", what)
	}
	if r.Waiting.Timers > 0 {
		fmt.Fprintf(w, "waiting\t%d any-time delayed messages, the first until %s\n", r.Waiting.Timers, time.UnixMilli(r.Waiting.FirstTimer).UTC().Format(time.RFC3339))
	}
	if r.Waiting.Halves > 0 {
		fmt.Fprintf(w, "waiting\t%d half transactions\n", r.Waiting.Halves)
	}
	if r.Waiting.Pops > 0 {
		fmt.Fprintf(w, "waiting\t%d records of pop consumers\n", r.Waiting.Pops)
	}
	for _, what := range r.Unreadable {
		fmt.Fprintf(w, "unreadable\t%s\n", what)
	}
}

func writeCheckpoint(w io.Writer, c *store.Checkpoint) {
	if c == nil {
		fmt.Fprintf(w, "checkpoint\tnone\n")
		return
	}
	fmt.Fprintf(w, "checkpoint\tlog of %s, queues of %s, index of %s, confirmed %d, dispatched %d\n",
		instant(c.PhysicMsgTimestamp), instant(c.LogicsMsgTimestamp), instant(c.IndexMsgTimestamp), c.ConfirmPhyOffset, c.LogicsPhysicalOffset)
}

func (r *Report) writeTopics(w io.Writer) {
	fmt.Fprintf(w, "\ntopic\tqueue\tmin\tmax\n")
	for _, t := range r.Topics {
		for _, q := range t.Queues {
			fmt.Fprintf(w, "%s\t%d\t%d\t%d\n", t.Name, q.ID, q.Min, q.Max)
		}
	}
	if n := r.emptyTopics(); n > 0 {
		fmt.Fprintf(w, "%d more without a message\n", n)
	}
}

func (r *Report) emptyTopics() (n int) {
	for _, t := range r.Topics {
		if len(t.Queues) == 0 {
			n++
		}
	}
	return n
}

func (r *Report) writeGroups(w io.Writer) {
	fmt.Fprintf(w, "\ngroup\ttopic\tqueue\toffset\tlag\n")
	idle := 0
	for _, g := range r.Groups {
		for _, p := range g.Positions {
			fmt.Fprintf(w, "%s\t%s\t%d\t%d\t%d\n", g.Name, p.Topic, p.QueueID, p.Offset, p.Lag)
		}
		if len(g.Positions) == 0 {
			idle++
		}
	}
	if idle > 0 {
		fmt.Fprintf(w, "%d more without an offset\n", idle)
	}
}

func (r *Report) writeDelayed(w io.Writer) {
	fmt.Fprintf(w, "\ndelay level\tpending\tnext due\n")
	for _, l := range r.Delayed {
		fmt.Fprintf(w, "%d\t%d\t%s\n", l.Level, l.Pending, instant(l.NextDue))
	}
}

// instant is a time for people, "never" for 0.
func instant(ms int64) string {
	if ms == 0 {
		return "never"
	}
	return time.UnixMilli(ms).UTC().Format("2006-01-02T15:04:05.000Z")
}

// WriteTo writes the result for people.
func (r *Result) WriteTo(out io.Writer) (int64, error) {
	var b strings.Builder
	fmt.Fprintf(&b, "%d records, %d units, the log ends at %d\n", r.Records, r.Units, r.LogEnd)
	for _, f := range r.Findings {
		kind := "left over"
		if f.Damage {
			kind = "damage"
		}
		fmt.Fprintf(&b, "%-10s %s at %d: %s\n", kind, f.File, f.Offset, f.What)
	}
	if r.Omitted > 0 {
		fmt.Fprintf(&b, "%-10s %d more of the same\n", "", r.Omitted)
	}
	for _, step := range r.Recovery {
		fmt.Fprintf(&b, "%-10s %s\n", "next start", step)
	}
	n, err := io.WriteString(out, b.String())
	return int64(n), err
}
