package store

// openIndex recovers the index. The log is recovered.
func (s *Store) openIndex() error {
	s.indexFullUntil = s.checkpointField(16)
	s.index = newIndex(s.log, s.fs, &s.opts, func() bool { return s.full.Load() != nil })
	if err := s.index.recover(indexRecovery{
		mark: s.meta.Index, clean: s.wasClosed(), fullUntil: s.indexFullUntil, logEnd: s.log.end.Load(),
	}); err != nil {
		return err
	}
	return s.index.deleteBelow(s.log.min())
}

// startIndex starts the builder, which begins with what the index lacks.
func (s *Store) startIndex() {
	if s.opts.MessageIndexDisabled {
		return
	}
	s.index.running(true)
	s.run(func() { s.index.run(s.published.Load, s.stop) })
	s.index.ask(s.published.Load())
}

// finishIndex catches up with the log at the end, unless that takes long: the next start
// goes on then.
func (s *Store) finishIndex() {
	if !s.opts.MessageIndexDisabled && s.indexBehind() <= indexFarBehind {
		s.index.build(s.published.Load, nil)
		s.index.running(false)
	}
}

// syncIndex makes the index durable and keeps what the next checkpoint says about it. When
// that fails the log goes on without it. Caller holds flushMu.
func (s *Store) syncIndex() {
	if mark, fullUntil, ok := s.index.sync(); ok {
		s.meta.Index, s.indexFullUntil = &mark, fullUntil
	}
}

// indexBehind is how much of the log is not indexed yet, bytes.
func (s *Store) indexBehind() int64 {
	return max(0, s.published.Load()-max(s.index.built.Load(), s.log.min()))
}
