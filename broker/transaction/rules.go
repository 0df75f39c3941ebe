package transaction

// rules are what may change while the service runs.
type rules struct {
	Times
	checkMax int
}

// Set changes the times of transactions, and how often a producer is asked, from now on. What was due to be asked
// about keeps that instant.
func (s *Service) Set(t Times, checkMax int) {
	s.rules.Store(&rules{t, checkMax})
	s.opts.Admission.note(t.TimeoutMs)
	s.driver.Wake()
}
