package peer

// Set changes a key of broker.conf for the next start.
func (t *Target) Set(key, value string) {
	t.tb.Helper()
	switch s := t.server.(type) {
	case *wheelmq:
		s.conf[key] = value
	case realServer:
		s.opts.Broker[key] = value
		if err := s.prepare(); err != nil {
			t.tb.Fatal(err)
		}
	}
}
