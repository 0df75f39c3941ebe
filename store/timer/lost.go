package timer

import "slices"

// Lost is what a bucket has lost to damage. The CommitLog may have it.
type Lost struct {
	From, To int64     // seconds of the bucket
	Between  []Between // where in the log the records lie
	had      map[kept]struct{}
}

// Between are the log offsets between two.
type Between struct{ After, Before int64 }

// kept is an entry of a slot: a cancel may be in two.
type kept struct{ slot, logOffset int64 }

// Has tells whether an entry whose record lies there is not lost.
func (l *Lost) Has(slot, logOffset int64) bool {
	_, has := l.had[kept{slot, logOffset}]
	return has
}

// Lost implements Job.
func (j *sortJob) Lost() *Lost { return j.had }

// noteGaps notes where in the log the records lie that a source has lost.
func (j *sortJob) noteGaps(from *source, got claim, lost int64) {
	j.gaps = append(j.gaps, from.gaps(got, lost)...)
}

// gaps are where in the log the records lie that a source has lost, between those that it has before and
// behind them. Where it is not in the order of the log they may lie anywhere.
func (s *source) gaps(got claim, lost int64) []gap {
	if lost <= 0 {
		return nil
	}
	end := s.maxLog
	if s.sorted {
		end = s.claims.highest()
	}
	if got.end(end); !s.inLogOrder || len(got.gaps) == 0 {
		return []gap{{-1, end + 1}}
	}
	return got.gaps
}

// findLost finds out which entries in the gaps are there after all, from another source.
func (j *sortJob) findLost(made *run) error {
	had := &Lost{From: j.bucket.begin(), To: j.bucket.end(), had: make(map[kept]struct{})}
	for _, g := range j.gaps {
		had.Between = append(had.Between, Between{g.after, g.before})
	}
	all := made.source(stretch{bytes: made.length})
	defer all.extent.close()
	err := j.each(all.cursor(), func(s *stored) error {
		if slices.ContainsFunc(j.gaps, func(g gap) bool { return s.LogOffset > g.after && s.LogOffset < g.before }) {
			had.had[kept{s.slot, s.LogOffset}] = struct{}{}
		}
		return nil
	})
	if err == nil {
		j.had = had
	}
	return err
}
