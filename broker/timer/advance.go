package timer

import (
	"context"

	"github.com/sirupsen/logrus"

	wheel "github.com/wheelmq/wheelmq/store/timer"
)

// advance moves a line's hand past what is done.
func (s *Service) advance(l *line, lineNow int64) {
	for len(l.loaded) > 0 {
		sec := l.loaded[0]
		if !sec.finished() || sec.endMs() > lineNow {
			break
		}
		if err := l.t.Done(sec.number); err != nil {
			s.opts.Logger.WithError(err).WithField("line", l.name).Error("a second of timers cannot be ended")
			break
		}
		sec.close()
		l.loaded[0] = nil
		l.loaded = l.loaded[1:]
		s.progress++
	}
	for _, sec := range l.loaded {
		if sec.finished() && sec.endMs() <= lineNow {
			sec.trim()
		}
	}
	over := lineNow/1000 - 1
	if over < l.t.Hand() || len(l.loaded) > 0 && l.loaded[0].number <= over || l.loadedTo < over {
		return
	}
	// Seconds without entries: nothing is to be saved for them.
	if err := l.t.Done(over); err != nil {
		s.opts.Logger.WithError(err).WithField("line", l.name).Error("seconds without timers cannot be passed")
	}
}

// job is work on a line's files.
type job struct {
	line *line
	job  wheel.Job
}

// maxJobs is how many jobs wait for their turn; more come again with a later Prepare.
const maxJobs = 64

// prepare has a line's files made ready for what is due within the next hours.
func (s *Service) prepare(l *line, lineNow int64) {
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

// runJobs splits and sorts.
func (s *Service) runJobs() {
	defer s.wg.Done()
	for failures := 0; ; {
		select {
		case <-s.stop:
			return
		case j := <-s.jobs:
			err := s.runJob(j)
			found := s.findLost(j, err)
			s.mu.Lock()
			j.line.jobEnded = true
			j.line.jobs--
			s.noteJob(j.line, err)
			if j.job.Sorts() {
				j.line.sortError = err
			}
			s.finish(j)
			s.putBack(j.line, found)
			s.mu.Unlock()
			s.wake()
			if failures++; err == nil {
				failures = 0
			} else if s.pause(failures) {
				return
			}
		}
	}
}

// runJob runs a job; a fault of a file that was cut from outside is an error.
func (s *Service) runJob(j job) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = faultOf(p)
		}
	}()
	// A close does not wait for an hour of many messages to be sorted.
	defer context.AfterFunc(s.ctx, j.job.Stop)()
	return j.job.Run()
}

// maxJobPause is the longest time between two tries of what fails, ms.
const maxJobPause = 3_000

// pause keeps jobs from failing all the time: after so many in a row it is so many seconds. It
// returns true when the service ends.
func (s *Service) pause(failures int) (ended bool) {
	timer := s.opts.Wire.NewTimer()
	defer timer.Disarm()
	timer.Arm(s.opts.Wire.NowMillis() + min(int64(failures)*1000, maxJobPause))
	select {
	case <-timer.C():
		return false
	case <-s.stop:
		return true
	}
}

func (s *Service) noteJob(l *line, err error) {
	was := l.jobError
	l.jobError = err
	if err != nil && was == nil {
		s.opts.Logger.WithError(err).WithFields(logrus.Fields{"line": l.name}).Error("far timers cannot be sorted: it is tried again")
	}
}

// finish hands a job back to its Timeline. The caller holds mu.
func (s *Service) finish(j job) {
	if err := j.line.t.Finish(j.job); err != nil {
		s.noteJob(j.line, err)
	}
	s.progress++
}
