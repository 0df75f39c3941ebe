package timer_test

import (
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"

	"github.com/wheelmq/wheelmq/store/region"
	"github.com/wheelmq/wheelmq/store/timer"
)

const checkpointFile = "timer/checkpoint"

// world is a Timeline on a memory disk, its owner, and a list that tells what it must hold.
type world struct {
	model
	pick  func(n int) int // the next choice, of n
	rng   *rand.Rand      // what power cuts leave
	disk  *region.Memory
	tl    *timer.Timeline
	plant string // a planted mistake of the owner
	jobs  []timer.Job

	log    []addedRecord // every record that was ever added
	snaps  []model       // by the number that their checkpoint begins with
	taken  *timer.State
	synced bool
	failed error // of a clone

	rebuilding bool // until there is a checkpoint again
	rebuilt    bool // once: what statistics say is only about right
	passed     bool // of an hour that is not sorted a part was done once, which counts until the hour is past
	torn       bool // the log has lost records since the last checkpoint
	browsing   *browsing
}

// model is the list: what is kept in each second, in arrival order.
type model struct {
	slots         map[int64][]kept
	hand, nearEnd int64
	now           int64 // ms
	logEnd        int64
}

type kept struct {
	timer.Entry
	near    bool
	rebuilt bool // near or far, as it happens
}

type addedRecord struct {
	timer.Entry
	slot int64
}

func (m model) clone() model {
	m.slots = maps.Clone(m.slots)
	for second, list := range m.slots {
		m.slots[second] = list[:len(list):len(list)]
	}
	return m
}

// next is the first second from the hand on that has entries.
func (m *model) next() (second int64, ok bool) {
	for s := range m.slots {
		if s >= m.hand && (!ok || s < second) {
			second, ok = s, true
		}
	}
	return second, ok
}

// recordOf is the record at a log offset.
func recordOf(logOffset int64, size int32) []byte {
	b := make([]byte, size)
	for i := range b {
		b[i] = byte(logOffset>>(i%8*8)) + byte(i)
	}
	return b
}

func newWorld(pick func(n int) int, seed uint64, plant string) (*world, error) {
	w := &world{
		model: model{slots: make(map[int64][]kept), now: noon*1000 + 1_800_000},
		pick:  pick, rng: rand.New(rand.NewPCG(seed, 7)), disk: region.NewMemory(), plant: plant,
	}
	w.disk.OnSync(w.syncPoint)
	var err error
	if w.tl, err = timer.Open(options(w.disk), nil, 0); err != nil {
		return nil, err
	}
	w.prepare()
	w.hand = w.now / 1000
	w.tl.Back(w.hand)
	if err := w.tl.Done(w.hand - 1); err != nil {
		return nil, err
	}
	return w, w.checkpoint()
}

func (w *world) prepare() {
	w.jobs = append(w.jobs, w.tl.Prepare(w.now)...)
	w.nearEnd = w.tl.NearEnd()
}

// step does one thing that owners do, drawn by weight.
func (w *world) step() error {
	actions := []struct {
		weight int
		do     func() error
	}{
		{30, w.add}, {10, w.burst}, {6, w.readAny}, {6, w.doneNext}, {2, w.doneUnsorted}, {1, w.drain}, {2, w.doneOver}, {1, w.back}, {2, w.pass}, {3, w.runJob},
		{3, w.takeState}, {3, w.syncState}, {3, w.saveState}, {4, w.browse}, {1, w.cutPower}, {1, w.rebuild}, {1, w.fullDisk},
	}
	sum := 0
	for _, a := range actions {
		sum += a.weight
	}
	for at, i := w.pick(sum), 0; ; i++ {
		if at -= actions[i].weight; at < 0 {
			return errors.Join(actions[i].do(), w.failed)
		}
	}
}

// second is one from the hand on: few different ones, so that they fill, or any.
func (w *world) second() int64 {
	switch w.pick(4) {
	case 0:
		return w.hand + int64(w.pick(4))
	case 1:
		return w.nearEnd - 1 - int64(w.pick(2))
	case 2:
		return w.nearEnd + []int64{0, 1, 5000, 40 * 3600, 100 * 3600}[w.pick(5)]
	}
	return w.hand + int64(w.pick(int(max(w.nearEnd-w.hand, 1))))
}

func (w *world) add() error { return w.addTo(min(w.second(), w.limit())) }

// limit is the last second that takes entries.
func (w *world) limit() int64 { return w.nearEnd + 400*3600 }

func (w *world) burst() error {
	second := min(w.second(), w.limit())
	for range w.pick(150) {
		if err := w.addTo(second); err != nil {
			return err
		}
	}
	return nil
}

func (w *world) addTo(second int64) error {
	if second < w.hand {
		return nil
	}
	e := timer.Entry{Due: second*1000 + int64(w.pick(1000)) + 1, LogOffset: w.logEnd, Size: int32(1 + w.pick(60))}
	if w.pick(10) == 0 {
		e.Flags = timer.Cancel
	}
	err := w.tl.Add(e, second, recordOf(e.LogOffset, e.Size))
	if errors.Is(err, region.ErrNoSpace) {
		return nil
	}
	if err == nil {
		w.logEnd += int64(e.Size)
		w.slots[second] = append(w.slots[second], kept{Entry: e, near: second < w.nearEnd})
		w.log = append(w.log, addedRecord{e, second})
	}
	return err
}

func (w *world) readAny() error {
	second := w.second()
	if next, ok := w.next(); ok && w.pick(2) == 0 {
		second = next
	}
	return w.check(w.tl, &w.model, second)
}

// doneNext takes the first second, as the hand does.
func (w *world) doneNext() error {
	second, ok := w.next()
	if !ok || second >= w.nearEnd {
		return nil
	}
	if err := w.runJobs(); err != nil {
		return err
	}
	if err := w.check(w.tl, &w.model, second); err != nil {
		return err
	}
	return w.done(second)
}

// doneUnsorted takes seconds that cannot be read, by browsing them.
func (w *world) doneUnsorted() error {
	from, ok := w.tl.Next()
	if !ok || from >= w.nearEnd {
		return nil
	}
	r, err := w.tl.Read(from)
	if err == nil {
		r.Close()
		return nil
	}
	if !errors.Is(err, timer.ErrNotReady) {
		return err
	}
	end := min(w.nearEnd, from+1+int64(w.pick(5000)))
	for from < end {
		b := w.tl.Browse(from, end)
		if b == nil {
			break
		}
		err := stretch(b, &w.model)
		for ; err == nil && from < b.To; from++ {
			err = w.tl.Done(from)
			delete(w.slots, from)
		}
		b.Close()
		if err != nil {
			return fmt.Errorf("unsorted: %w", err)
		}
	}
	w.hand, w.passed = from, true
	w.now = max(w.now, w.hand*1000)
	return nil
}

// drain takes all seconds that are near.
func (w *world) drain() error {
	for second, ok := w.next(); ok && second < w.nearEnd; second, ok = w.next() {
		if err := w.doneNext(); err != nil {
			return err
		}
	}
	return nil
}

func (w *world) done(second int64) error {
	// Far seconds may turn out to have nothing.
	for maybe, ok := w.tl.Next(); ok && maybe < second; maybe, ok = w.tl.Next() {
		if err := errors.Join(w.check(w.tl, &w.model, maybe), w.tl.Done(maybe)); err != nil {
			return err
		}
	}
	if err := w.tl.Done(second); err != nil {
		return err
	}
	delete(w.slots, second)
	w.hand = second + 1
	w.now = max(w.now, w.hand*1000)
	return nil
}

// doneOver takes seconds that have nothing.
func (w *world) doneOver() error {
	until := w.nearEnd
	if second, ok := w.next(); ok {
		until = min(until, second)
	}
	if until <= w.hand {
		return nil
	}
	if err := w.runJobs(); err != nil {
		return err
	}
	return w.done(w.hand + int64(w.pick(int(until-w.hand))))
}

func (w *world) back() error {
	w.hand = max(w.hand-int64(1+w.pick(100_000)), 0)
	w.tl.Back(w.hand)
	return nil
}

// pass lets time go by.
func (w *world) pass() error {
	w.now += int64(w.pick(7_200_000))
	w.prepare()
	return nil
}

func (w *world) runJob() error {
	if len(w.jobs) == 0 {
		return nil
	}
	job := w.jobs[0]
	w.jobs = w.jobs[1:]
	err := job.Run()
	if finish := w.tl.Finish(job); finish != nil {
		return finish
	}
	if errors.Is(err, region.ErrNoSpace) {
		return nil
	}
	return err
}

// runJobs runs all jobs, those that follow from them too.
func (w *world) runJobs() error {
	w.disk.SetLimit(0)
	for {
		w.prepare()
		if len(w.jobs) == 0 {
			return nil
		}
		if err := w.runJob(); err != nil {
			return err
		}
	}
}
