package watchdog

// Looking tells whether a look at a service is under way.
func (w *Watchdog) Looking() bool {
	for _, one := range w.watches {
		if one.asking.Load() {
			return true
		}
	}
	return false
}
