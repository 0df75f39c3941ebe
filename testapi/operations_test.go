package testapi

import (
	"net/http"
	"strings"
	"testing"
)

func TestOperations_AreWhatPendsAndWhatIsParked(t *testing.T) {
	t.Parallel()
	a := Operations(Options{Log: quiet()})
	status, help := call(a, "GET", OperationsPrefix, "")
	if status != http.StatusOK || !strings.Contains(help, "/admin/pending/d1800000000-4096/fire") || strings.Contains(help, Prefix) {
		t.Errorf("status %d, help\n%s", status, help)
	}
	for _, r := range a.routes {
		if r.path != OperationsPrefix && !strings.HasPrefix(r.path, "/admin/pending") && !strings.HasPrefix(r.path, "/admin/parked") {
			t.Errorf("%s %s is served", r.method, r.path)
		}
	}
	for _, path := range []string{"restart", "kill", "reset", "clock/advance", "faults"} {
		wantProblem(t, ask(a, "POST", OperationsPrefix+path, "", nil), http.StatusNotFound, "not-found", "GET /admin/ lists")
	}
	wantProblem(t, ask(a, "PUT", OperationsPrefix+"parked", "", nil), http.StatusMethodNotAllowed, "method", "want one of [GET]")
}

func TestOperations_HaveAGuardOfTheirOwn(t *testing.T) {
	t.Parallel()
	open := Operations(Options{Log: quiet()})
	wantProblem(t, ask(open, "GET", OperationsPrefix, "", from("192.0.2.7:40000")), http.StatusForbidden, "forbidden", "--admin-token")
	guarded := Operations(Options{Log: quiet(), Token: "let-me-in"})
	wantProblem(t, ask(guarded, "GET", OperationsPrefix, "", nil), http.StatusUnauthorized, "unauthorized", "token")
	if w := ask(guarded, "GET", OperationsPrefix, "", header("Authorization", "Bearer let-me-in")); w.Code != http.StatusOK {
		t.Errorf("with the token: %d %s", w.Code, w.Body)
	}
}
