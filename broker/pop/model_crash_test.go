package pop_test

import (
	"math/rand/v2"

	"pgregory.net/rapid"

	"github.com/wheelmq/wheelmq/store/region"
)

func (m *model) restart(*rapid.T) {
	m.close()
	m.open()
	m.settled()
}

// reopen goes on with another disk.
func (m *model) reopen(disk *region.Memory) {
	m.close()
	m.disk = disk
	m.open()
	m.settled()
}

func (m *model) kill(*rapid.T) {
	var disk *region.Memory
	m.service.Hold(func() { disk = m.disk.Killed() })
	m.reopen(disk)
}

// killAmid kills the server when some of the copies that are due are stored.
func (m *model) killAmid(rt *rapid.T) {
	if m.sync {
		return // the group commit writes meanwhile
	}
	left := rapid.Int64Range(1, 5).Draw(rt, "copies")
	var disk *region.Memory
	after := func() {
		if left--; left == 0 {
			m.service.Hold(func() { disk = m.disk.Killed() })
		}
	}
	m.afterPut.Store(&after)
	m.pass(rapid.SampledFrom([]int64{10, 1000, 60_000}).Draw(rt, "ms"))
	m.afterPut.Store(nil)
	if disk != nil {
		m.reopen(disk)
	}
}

// cutPower leaves what was synced and some of the rest. Under SYNC_FLUSH that is all that was answered.
func (m *model) cutPower(rt *rapid.T) {
	if !m.sync {
		m.must(m.store.Flush())
		m.must(m.service.Save())
		m.must(m.offsets.Save())
	}
	var disk *region.Memory
	seed := rapid.Uint64().Draw(rt, "seed")
	m.service.Hold(func() { disk = m.disk.PowerCut(rand.New(rand.NewPCG(seed, 0))) })
	m.reopen(disk)
}
