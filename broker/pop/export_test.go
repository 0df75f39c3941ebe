package pop

// Hold calls a function while the journal's files stay as they are.
func (s *Service) Hold(fn func()) { s.journal.Hold(fn) }

// Agenda is how many tasks there are.
func (s *Service) Agenda() int { return s.agenda.len() }

// SweepFrom is how many tasks there are at least before idle ones are looked for.
const SweepFrom = sweepFrom

// BatchSize is how many messages are brought back at a time.
const BatchSize = batchSize
