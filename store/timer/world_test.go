package timer_test

import (
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"path"
	"slices"
	"sort"

	"github.com/wheelmq/wheelmq/store/region"
	"github.com/wheelmq/wheelmq/store/timer"
)

// withFar tells whether far entries can be added.
const withFar = true

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

func (m *model) cut(logEnd int64) {
	m.logEnd = logEnd
	for second, list := range m.slots {
		list = slices.DeleteFunc(slices.Clone(list), func(k kept) bool { return k.LogOffset >= logEnd })
		if m.slots[second] = list; len(list) == 0 {
			delete(m.slots, second)
		}
	}
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
		if withFar {
			return w.nearEnd + []int64{0, 1, 5000, 40 * 3600, 100 * 3600}[w.pick(5)]
		}
	}
	return w.hand + int64(w.pick(int(max(w.nearEnd-w.hand, 1))))
}

func (w *world) add() error { return w.addTo(min(w.second(), w.limit())) }

// limit is the last second that takes entries.
func (w *world) limit() int64 {
	if withFar {
		return w.nearEnd + 400*3600
	}
	return w.nearEnd - 1
}

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

// check compares a second.
func (w *world) check(tl *timer.Timeline, m *model, second int64) error {
	if second >= m.nearEnd {
		if _, err := tl.Read(second); !errors.Is(err, timer.ErrNotReady) {
			return fmt.Errorf("far second %d: %w", second, err)
		}
		return nil
	}
	r, err := tl.Read(second)
	if errors.Is(err, timer.ErrNotReady) && withFar {
		// Its hour waits for a job; what is wrong would show when it has run.
		return nil
	}
	if err != nil {
		return err
	}
	defer r.Close()
	var got []timer.Item
	for item, ok := r.Next(); ok; item, ok = r.Next() {
		got = append(got, item)
	}
	list := m.slots[second]
	if slices.ContainsFunc(list, func(k kept) bool { return k.rebuilt }) {
		// What the far part had lost came again behind what it had.
		slices.SortFunc(got, func(a, b timer.Item) int { return cmp.Compare(a.LogOffset, b.LogOffset) })
	}
	if r.Err() != nil || len(got) != len(list) {
		return fmt.Errorf("second %d has %d entries, not %d: %w", second, len(got), len(list), r.Err())
	}
	for i, item := range got {
		if err := list[i].same(&item); err != nil {
			return fmt.Errorf("entry %d of second %d: %w", i, second, err)
		}
	}
	return nil
}

// same tells how an entry that was read differs.
func (k *kept) same(item *timer.Item) error {
	if item.Entry != k.Entry {
		return fmt.Errorf("%+v, not %+v", item.Entry, k.Entry)
	}
	if !k.rebuilt && (item.Record == nil) != k.near {
		return fmt.Errorf("near %v, but %d bytes of its record", k.near, len(item.Record))
	}
	if item.Record != nil && !slices.Equal(item.Record, recordOf(k.LogOffset, k.Size)) {
		return errors.New("it has another record")
	}
	return nil
}

// checkAll compares everything.
func (w *world) checkAll(tl *timer.Timeline, m *model) error {
	if tl.Hand() != m.hand || tl.NearEnd() != m.nearEnd {
		return fmt.Errorf("hand %d, near until %d, not %d and %d", tl.Hand(), tl.NearEnd(), m.hand, m.nearEnd)
	}
	pending, oldest, unsure := int64(0), int64(-1), false
	for second, list := range m.slots {
		if err := w.check(tl, m, second); err != nil {
			return err
		}
		pending += int64(len(list))
		for _, k := range list {
			unsure = unsure || k.rebuilt
			if k.near && (oldest < 0 || k.LogOffset < oldest) {
				oldest = k.LogOffset
			}
		}
		if got := tl.Count(second); !withFar && got != int64(len(list)) {
			return fmt.Errorf("second %d counts %d, not %d", second, got, len(list))
		}
	}
	if err := browsed(tl.Browse, m, tl.Hand()); err != nil {
		return err
	}
	if got, ok := tl.OldestReference(); !unsure && ok != (oldest >= 0) || !unsure && ok && got != oldest {
		return fmt.Errorf("the oldest reference is %d, %v, not %d", got, ok, oldest)
	}
	if s := tl.Stats(); !w.rebuilt && (s.Pending() < pending || s.Pending() > pending && !w.passed || s.Damaged != 0) {
		return fmt.Errorf("%+v: not %d", s, pending)
	}
	return w.checkNext(tl, m)
}

func (w *world) checkNext(tl *timer.Timeline, m *model) error {
	want, any := m.next()
	got, ok := tl.Next()
	if any && (!ok || got > want) || !withFar && (ok != any || got != want) {
		return fmt.Errorf("next is %d, %v, not %d, %v", got, ok, want, any)
	}
	first, found := int64(0), false
	for second, list := range m.slots {
		for _, k := range list {
			if second >= m.hand && k.Flags == 0 && (!found || k.Due < first) {
				first, found = k.Due, true
			}
		}
	}
	if due, ok, err := tl.FirstDue(); err != nil || (ok != found || ok && due != first) && !(w.passed && ok && (!found || due < first)) {
		return fmt.Errorf("the first is due at %d, %v, not %d, %v: %w", due, ok, first, found, err)
	}
	return nil
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

func (w *world) takeState() error {
	if w.taken != nil {
		return nil
	}
	s, err := w.tl.State()
	if errors.Is(err, region.ErrNoSpace) {
		return nil
	}
	if err != nil {
		return err
	}
	w.taken, w.synced = s, false
	w.snaps = append(w.snaps, w.model.clone())
	return nil
}

func (w *world) syncState() error {
	if w.taken == nil {
		return nil
	}
	w.synced = true
	if w.plant == "no sync" {
		return nil
	}
	return w.tl.Sync()
}

func (w *world) saveState() error {
	if w.taken == nil || !w.synced && w.plant != "saved before synced" {
		return nil
	}
	if w.plant == "files go before the checkpoint" {
		w.tl.Saved(w.taken)
	}
	b, err := w.taken.AppendBinary(binary.BigEndian.AppendUint64(nil, uint64(len(w.snaps)-1)))
	if err != nil {
		return err
	}
	if err := w.disk.WriteFile(checkpointFile, b); err != nil {
		return err
	}
	w.tl.Saved(w.taken)
	w.taken, w.torn = nil, false
	return w.failed
}

func (w *world) checkpoint() error {
	w.disk.SetLimit(0)
	return errors.Join(w.takeState(), w.syncState(), w.saveState())
}

func (w *world) fullDisk() error {
	w.disk.SetLimit(int64(w.pick(2)))
	return nil
}

// recovered opens the Timeline of a disk as its checkpoint says. Of the log what was there at the
// checkpoint survived, or a few records less.
func (w *world) recovered(disk *region.Memory, lost int) (*timer.Timeline, model, error) {
	b, err := disk.ReadFile(checkpointFile)
	if err != nil {
		return nil, model{}, fmt.Errorf("%w: %w", errNoCheckpoint, err)
	}
	m := w.snaps[binary.BigEndian.Uint64(b)].clone()
	var s timer.State
	if err := s.Decode(b[8:]); err != nil {
		return nil, model{}, err
	}
	if last := w.before(m.logEnd); lost > 0 && last > 0 {
		m.cut(w.log[max(last-lost, 0)].LogOffset)
	}
	tl, err := timer.Open(options(disk), &s, m.logEnd)
	if err != nil {
		return nil, model{}, err
	}
	return tl, m, w.checkAll(tl, &m)
}

// errNoCheckpoint: there is none while everything is added again.
var errNoCheckpoint = errors.New("no checkpoint")

// before is how many records lie before an offset of the log.
func (w *world) before(logOffset int64) int {
	return sort.Search(len(w.log), func(i int) bool { return w.log[i].LogOffset >= logOffset })
}

// cutPower goes on with what a power cut has left.
func (w *world) cutPower() error {
	lost := 0
	if !withFar && w.pick(3) == 0 {
		// More than a log loses that was durable before the checkpoint.
		lost = w.pick(60)
	}
	now := w.now
	w.disk = w.disk.PowerCut(w.rng)
	w.jobs, w.taken = nil, nil
	tl, m, err := w.recovered(w.disk, lost)
	if err != nil {
		return fmt.Errorf("after a power cut: %w", err)
	}
	w.disk.OnSync(w.syncPoint)
	w.tl, w.model = tl, m
	at := w.before(m.logEnd)
	w.torn = w.torn || at < len(w.log)
	w.log = w.log[:at]
	w.now = now
	w.prepare()
	return nil
}

// rebuild goes on after a power cut that took the checkpoint: everything in the log is added again.
func (w *world) rebuild() error {
	// What the log has lost may be in files of far entries until a checkpoint has cut them.
	if w.pick(3) != 0 || w.torn {
		return nil
	}
	now := w.now
	if w.disk = w.disk.PowerCut(w.rng); withFar || w.pick(2) == 0 {
		if err := errors.Join(w.disk.Remove(checkpointFile), w.disk.SyncDir(path.Dir(checkpointFile))); err != nil {
			return err
		}
	}
	w.jobs, w.taken = nil, nil
	// Some of the log is lost, of what a checkpoint may not name yet.
	at := len(w.log)
	if !withFar {
		at = w.before(w.snaps[len(w.snaps)-1].logEnd)
		at += w.pick(len(w.log) - at + 1)
	}
	w.log = w.log[:at]
	w.model = model{slots: make(map[int64][]kept), now: now}
	if at > 0 {
		w.logEnd = w.log[at-1].LogOffset + int64(w.log[at-1].Size)
	}
	var err error
	if w.tl, err = timer.Open(options(w.disk), nil, w.logEnd); err != nil {
		return fmt.Errorf("without a checkpoint: %w", err)
	}
	w.prepare()
	for _, r := range w.log {
		if err := w.tl.Add(r.Entry, r.slot, recordOf(r.LogOffset, r.Size)); err != nil {
			return fmt.Errorf("add again: %w", err)
		}
		w.slots[r.slot] = append(w.slots[r.slot], kept{Entry: r.Entry, near: r.slot < w.nearEnd, rebuilt: withFar})
	}
	w.rebuilt = w.rebuilt || withFar
	if err := w.checkAll(w.tl, &w.model); err != nil {
		return fmt.Errorf("rebuilt: %w", err)
	}
	w.disk.OnSync(w.syncPoint)
	w.rebuilding = true
	defer func() { w.rebuilding = false }()
	return w.checkpoint()
}

// syncPoint looks what a power cut would leave just now.
func (w *world) syncPoint() {
	if w.failed != nil || len(w.snaps) < 2 || w.rng.IntN(4) != 0 {
		return
	}
	if w.rng.IntN(3) == 0 {
		w.disk.WriteBack(w.rng)
	}
	tl, _, err := w.recovered(w.disk.PowerCut(w.rng), 0)
	if w.rebuilding && errors.Is(err, timer.ErrDamaged) {
		return // a checkpoint that is not good any more, and its files are gone
	}
	if errors.Is(err, errNoCheckpoint) {
		return
	}
	if err != nil {
		w.failed = fmt.Errorf("after a power cut at a sync: %w", err)
		return
	}
	w.failed = tl.Close()
}
