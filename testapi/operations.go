package testapi

// OperationsPrefix is where every server lets its operators look at what waits for its time and what is
// parked, and change it. Clock, faults and the like are below Prefix only.
const OperationsPrefix = "/admin/"

// Operations returns the API of the operators of one server: what is below Prefix about pending and parked
// messages, below OperationsPrefix. Its token admits to nothing else.
func Operations(opts Options) *API {
	a := newAPI(opts, OperationsPrefix, operationsGuard)
	a.serve(append(a.selfRoutes()[:1], a.pendingRoutes()...))
	return a
}
