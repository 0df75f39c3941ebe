// Package offline reads a store directory that no server has open: what is in it, what is
// wrong with it, and what waits in it for a service that this server does not have. It writes
// nothing.
//
// It reads what the store reads by its own code, on purpose more patient: where the store
// refuses or repairs, it goes on and reports.
package offline
