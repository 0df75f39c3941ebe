package store

import (
	"github.com/wheelmq/wheelmq/message"
)

// logCursor visits the records of the log one by one, without allocating, and steps over
// what is damaged. It keeps the file it is in from being unmapped.
type logCursor struct {
	log  *commitLog
	at   int64 // of the record that next returns
	view message.View

	file *file
}

// next reads the record at the cursor, or behind it, that begins below end; false when there
// is none. at is behind the record then.
func (c *logCursor) next(end int64) bool {
	// Retention may take files away meanwhile.
	for c.at = max(c.at, c.log.min()); c.at < end; c.at = max(c.at, c.log.min()) {
		if !c.enter() {
			if c.at < c.log.min() {
				continue
			}
			return false
		}
		b := c.file.b[c.at-c.file.start : min(c.log.fileSize, end-c.file.start)]
		if isBlank(c.file.b[c.at-c.file.start:]) {
			c.at = c.file.start + c.log.fileSize
			continue
		}
		v, err := message.Parse(b)
		if err != nil || v.CommitLogOffset != c.at {
			next, found := resumeIn(c.file, c.at+1, end)
			if !found {
				next = min(end, c.file.start+c.log.fileSize)
			}
			c.at = next
			continue
		}
		c.view = v
		c.at += int64(v.Size)
		return true
	}
	return false
}

// enter makes the cursor's file the one that holds at.
func (c *logCursor) enter() bool {
	if c.file != nil && c.at >= c.file.start && c.at < c.file.start+c.log.fileSize {
		return true
	}
	c.leave()
	if f := c.log.file(c.at); f != nil && f.hold() == nil {
		c.file = f
		return true
	}
	return false
}

func (c *logCursor) leave() {
	if c.file != nil {
		c.file.drop()
		c.file = nil
	}
}
