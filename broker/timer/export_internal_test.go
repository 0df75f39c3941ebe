package timer

// Look begins a change of a message in files, and returns what goes on with it: nil if the message is
// found and still pends.
func (s *Service) Look(id ID) (goOn func() error) {
	c := &s.changes
	c.state.mu.Lock()
	defer c.state.mu.Unlock()
	f, stored, err := c.locateNow(id)
	if err != nil || !stored {
		return func() error { return err }
	}
	look := c.looks.search(f.line, id)
	return func() error {
		look.read()
		c.state.mu.Lock()
		defer c.state.mu.Unlock()
		_, stored, err := c.locateNow(id)
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
