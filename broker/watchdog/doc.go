// Package watchdog looks after the services that deliver delayed messages, on goroutines of its own:
// a message that is accepted and does not come when it is due shows in the log, in the health and in
// the metrics, whatever has become of the service that should deliver it.
package watchdog
