package wheelmq

import "time"

// SetWall gives an instance started with c another wall clock than the machine's.
func (c *Config) SetWall(wall func() time.Time) { c.wall = wall }
