package timer

// Look begins a change of a message in files, and returns what goes on with it: nil if the message is
// found and still pends.
func (s *Service) Look(id ID) (goOn func() error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	f, stored, err := s.locateNow(id)
	if err != nil || !stored {
		return func() error { return err }
	}
	look := s.search(f.line, id)
	return func() error {
		look.read()
		s.mu.Lock()
		defer s.mu.Unlock()
		_, stored, err := s.locateNow(id)
		if look.end(); err == nil && stored {
			_, err = look.found()
		}
		return err
	}
}

// PagesOf makes the pages of a Listing small.
func (l *Listing) PagesOf(messages int) *Listing {
	l.limit = messages
	return l
}
