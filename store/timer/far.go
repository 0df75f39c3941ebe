package timer

// openFar opens the far part: with saved, the state a checkpoint has kept, everything is cut to
// what that names; with nil, what is there is scanned. Entries whose record lies at logEnd or
// behind are cut.
func openFar(opts Options, saved []byte, logEnd int64) (farPart, error) {
	return nil, nil
}
