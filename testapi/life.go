package testapi

import (
	"context"
	"fmt"
	"net/http"
	"slices"

	"github.com/wheelmq/wheelmq/control"
)

func (a *API) lifeRoutes() []route {
	const snapshots = Prefix + "snapshots"
	return []route{
		{method: http.MethodPost, path: Prefix + "restart", about: "stop cleanly and start again, on the same store and ports", serve: a.lasting(Control.Restart)},
		{method: http.MethodPost, path: Prefix + "kill", about: "lose what a power cut would lose, and start again", serve: a.lasting(Control.Kill)},
		{method: http.MethodPost, path: Prefix + "reset", about: "forget everything, as if just started", serve: a.lasting(Control.Reset)},
		{method: http.MethodGet, path: snapshots, about: "the snapshots", serve: a.snapshots},
		{method: http.MethodPut, path: snapshots + "/{name}", about: "keep the present state", example: snapshots + "/ready", serve: a.takeSnapshot},
		{method: http.MethodGet, path: snapshots + "/{name}", about: "whether there is such a snapshot", example: snapshots + "/ready", serve: a.snapshot},
		{method: http.MethodPost, path: snapshots + "/{name}/restore", about: "go back to it", example: snapshots + "/ready/restore", serve: a.restore},
	}
}

// lasting serves by what is not left half done when the client goes away.
func (a *API) lasting(do func(Control, context.Context) error) func(*request) (any, error) {
	return func(r *request) (any, error) { return nil, do(a.control, context.WithoutCancel(r.Context())) }
}

// snapshotName is a snapshot that exists.
type snapshotName struct {
	Name string `json:"name"`
}

func (a *API) snapshots(*request) (any, error) {
	return map[string][]string{"snapshots": present(a.control.Snapshots())}, nil
}

func (a *API) snapshot(r *request) (any, error) {
	name := r.PathValue("name")
	if !slices.Contains(a.control.Snapshots(), name) {
		return nil, fmt.Errorf("snapshot %q: %w", name, control.ErrNotFound)
	}
	return snapshotName{name}, nil
}

func (a *API) takeSnapshot(r *request) (any, error) {
	name := r.PathValue("name")
	return got(snapshotName{name}, a.control.Snapshot(context.WithoutCancel(r.Context()), name))
}

func (a *API) restore(r *request) (any, error) {
	return nil, a.control.Restore(context.WithoutCancel(r.Context()), r.PathValue("name"))
}
