package schedule

import (
	"fmt"
	"sync/atomic"

	"github.com/wheelmq/wheelmq/message"
)

// leastRoom is how many levels a table has room for at least: as many as the real broker has.
const leastRoom = 18

// LevelTable is the delay levels in force. They may change at any moment: what waits keeps its due
// instant, what comes from then on gets the new delays. Its methods are safe for concurrent use.
type LevelTable struct {
	levels atomic.Pointer[Levels]
	room   int
}

// NewLevelTable returns a table with room for the levels, and for leastRoom.
func NewLevelTable(levels Levels) *LevelTable {
	t := &LevelTable{room: max(leastRoom, len(levels))}
	t.levels.Store(&levels)
	return t
}

// Get is the levels in force.
func (t *LevelTable) Get() Levels { return *t.levels.Load() }

// Room is how many levels there may be until the next start: each has a queue of its own.
func (t *LevelTable) Room() int { return t.room }

// Fits refuses levels for which there is no room.
func (t *LevelTable) Fits(levels Levels) error {
	if len(levels) > t.room {
		return fmt.Errorf("messageDelayLevel: %d levels need a restart, there is room for %d", len(levels), t.room)
	}
	return nil
}

// Set changes the levels, which must fit.
func (t *LevelTable) Set(levels Levels) { t.levels.Store(&levels) }

// TagsCode is that of the levels in force.
func (t *LevelTable) TagsCode(v *message.View) int64 { return t.Get().TagsCode(v) }
