package broker

import (
	"fmt"
	"path/filepath"
	"strings"
	"sync"

	"github.com/wheelmq/wheelmq/broker/persist"
	"github.com/wheelmq/wheelmq/health"
)

// tables is where the services keep theirs.
func (b *Broker) tables() persist.Dir {
	if b.opts.Memory != nil {
		return persist.In(b.opts.Memory, "config", b.noticeBackup)
	}
	return mortal{persist.At(filepath.Join(b.opts.Config.StorePathRootDir, "config"), b.noticeBackup), b}
}

// backups are the tables that were read from their .bak since the start: what was saved last before
// that may be lost.
type backups struct {
	mu     sync.Mutex // guards what follows
	names  []string
	topics []string // made anew from their queues
}

// noticeBackup is a persist.Notice.
func (b *Broker) noticeBackup(name string, why error) {
	b.opts.Log.WithError(why).WithField("file", "config/"+name).
		Error("a table cannot be read, the one before it (.bak) is used: its last changes may be lost")
	b.backups.mu.Lock()
	defer b.backups.mu.Unlock()
	b.backups.names = append(b.backups.names, name)
}

// restoreTables gives the tables that were read from their .bak their names again, once the store is
// this process's alone: some are not saved until somebody changes them. Where it fails the next start
// does what this one did.
func (b *Broker) restoreTables() {
	b.backups.mu.Lock()
	defer b.backups.mu.Unlock()
	tables := b.tables()
	for _, name := range b.backups.names {
		if err := tables.Restore(name); err != nil {
			b.opts.Log.WithError(err).WithField("file", "config/"+name).Warn("a table cannot be made of its .bak")
		}
	}
}

// checkTables is the health of the tables, degraded until the next start that reads them all.
func (b *Broker) checkTables() health.Result {
	b.backups.mu.Lock()
	defer b.backups.mu.Unlock()
	var reasons []string
	if names := b.backups.names; len(names) > 0 {
		reasons = append(reasons, strings.Join(names, ", ")+
			" in config/ could not be read when the server started: the .bak is used, the last changes may be lost, see the log")
	}
	if topics := b.backups.topics; len(topics) > 0 {
		reasons = append(reasons, fmt.Sprintf("%d topics were in no table that could be read and are made anew from their queues, with default permissions: %s",
			len(topics), strings.Join(topics[:min(len(topics), toldTopics)], ", ")))
	}
	if len(reasons) == 0 {
		return health.Result{State: health.Up}
	}
	return health.Result{State: health.Degraded, Reason: strings.Join(reasons, "; ")}
}

// toldTopics is how many topics a reason names; the log names all.
const toldTopics = 5
