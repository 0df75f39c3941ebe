package wheelmqtest

import "github.com/panjf2000/gnet/v2/pkg/pool/goroutine"

// The event loop's library starts a pool of workers for sockets that a program opens itself,
// which the server does not do. Without it no goroutine is left behind, and checkers of leaks
// need no exception. A test whose program enrols sockets in gnet calls
// goroutine.DefaultWorkerPool.Reboot().
func init() { goroutine.DefaultWorkerPool.Release() }
