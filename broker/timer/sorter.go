package timer

import (
	"context"

	"github.com/sirupsen/logrus"

	"github.com/wheelmq/wheelmq/clock"
	"github.com/wheelmq/wheelmq/store"
	wheel "github.com/wheelmq/wheelmq/store/timer"
)

// sorter makes the files of far messages ready for what is due within hours: a goroutine of its own
// splits and sorts them.
type sorter struct {
	state   *state
	records *records
	intake  *intake
	wire    clock.Clock // paces what fails
	logger  logrus.FieldLogger
	ctx     context.Context // ends with the service
	wake    func()          // has the driver look again
	jobs    chan job
}

// job is work on a line's files.
type job struct {
	line *line
	job  wheel.Job
}

// maxJobs is how many jobs wait for their turn; more come again with a later Prepare.
const maxJobs = 64

// prepare has a line's files made ready for what is due within the next hours.
func (s *sorter) prepare(l *line, lineNow int64) {
	if now := lineNow / 1000; now == l.preparedAt && !l.jobEnded {
		return
	}
	l.preparedAt, l.jobEnded = lineNow/1000, false
	for _, j := range l.t.Prepare(lineNow) {
		select {
		case s.jobs <- job{l, j}:
			l.jobs++
		default:
			s.finish(job{l, j})
		}
	}
}

// run splits and sorts until the service ends.
func (s *sorter) run() {
	for failures := 0; ; {
		select {
		case <-s.ctx.Done():
			return
		case j := <-s.jobs:
			err := s.runJob(j)
			s.end(j, s.findLost(j, err), err)
			s.wake()
			if failures++; err == nil {
				failures = 0
			} else if s.pause(failures) {
				return
			}
		}
	}
}

// end takes in what a job has done, and puts back what the log has of what it met damage instead of.
func (s *sorter) end(j job, found []lostEntry, err error) {
	s.state.mu.Lock()
	defer s.state.mu.Unlock()
	j.line.jobEnded = true
	j.line.jobs--
	s.note(j.line, err)
	if j.job.Sorts() {
		j.line.sortError = err
	}
	s.finish(j)
	s.intake.putBack(j.line, found)
}

// runJob runs a job; a fault of a file that was cut from outside is an error.
func (s *sorter) runJob(j job) (err error) {
	defer store.CatchFault(&err)
	// A close does not wait for an hour of many messages to be sorted.
	defer context.AfterFunc(s.ctx, j.job.Stop)()
	return j.job.Run()
}

// maxJobPause is the longest time between two tries of what fails, ms.
const maxJobPause = 3_000

// pause keeps jobs from failing all the time: after so many in a row it is so many seconds. It
// returns true when the service ends.
func (s *sorter) pause(failures int) (ended bool) {
	timer := s.wire.NewTimer()
	defer timer.Disarm()
	timer.Arm(s.wire.NowMillis() + min(int64(failures)*1000, maxJobPause))
	select {
	case <-timer.C():
		return false
	case <-s.ctx.Done():
		return true
	}
}

func (s *sorter) note(l *line, err error) {
	was := l.jobError
	l.jobError = err
	if err != nil && was == nil {
		s.logger.WithError(err).WithFields(logrus.Fields{"line": l.name}).Error("far timers cannot be sorted: it is tried again")
	}
}

// finish hands a job back to its Timeline.
func (s *sorter) finish(j job) {
	if err := j.line.t.Finish(j.job); err != nil {
		s.note(j.line, err)
	}
	s.state.progress++
}
