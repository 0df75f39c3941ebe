package timer

// PagesOf makes the pages of a Listing small.
func (l *Listing) PagesOf(messages int) *Listing {
	l.limit = messages
	return l
}
