package processor

import "github.com/wheelmq/wheelmq/remoting"

// Retention deletes log files whose time is up.
type Retention interface {
	// DeleteExpired has that done soon, whatever the hour. It does not wait for it.
	DeleteExpired()
}

// Housekeeping serves DELETE_EXPIRED_COMMITLOG (329), mqadmin's deleteExpiredCommitLog. As with the
// real broker the answer comes before anything is deleted.
type Housekeeping struct {
	Store Retention
}

// Routes returns the table rows.
func (h *Housekeeping) Routes() []remoting.Route {
	return []remoting.Route{{
		Code: remoting.DeleteExpiredCommitLog, Name: "DELETE_EXPIRED_COMMITLOG", Class: remoting.Admin, Handler: h.deleteExpired,
		Since: "4.9", Test: "broker/processor/housekeeping_test.go",
	}}
}

func (h *Housekeeping) deleteExpired(*remoting.Exchange) error {
	h.Store.DeleteExpired()
	return nil
}
