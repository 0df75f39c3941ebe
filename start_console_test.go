package wheelmq_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/sirupsen/logrus"

	"github.com/wheelmq/wheelmq"
	"github.com/wheelmq/wheelmq/config"
	"github.com/wheelmq/wheelmq/internal/freeport"
)

// probing asks the HTTP port for its state when something is logged for the first time.
type probing struct {
	addr string
	seen atomic.Pointer[string] // the first answers
}

func (p *probing) Levels() []logrus.Level { return logrus.AllLevels }

func (p *probing) Fire(*logrus.Entry) error {
	if p.seen.Load() != nil {
		return nil
	}
	var all string
	for _, path := range []string{"/health", "/ready", "/live"} {
		status, body := ask(p.addr, path)
		all += fmt.Sprintln(path, status, body)
	}
	p.seen.Store(&all)
	return nil
}

func ask(addr, path string) (status int, body string) {
	reply, err := (&http.Client{Transport: &http.Transport{DisableKeepAlives: true}}).Get("http://" + addr + path)
	if err != nil {
		return 0, err.Error()
	}
	defer reply.Body.Close()
	b, err := io.ReadAll(reply.Body)
	if err != nil {
		return 0, err.Error()
	}
	return reply.StatusCode, string(b)
}

// TestStart_TellsThatItStarts: a server whose recovery takes long is alive and not ready.
func TestStart_TellsThatItStarts(t *testing.T) {
	port, err := freeport.Take(1)
	if err != nil {
		t.Fatal(err)
	}
	addr := freeport.Address(port)
	cfg := config.Default()
	cfg.ListenPort, cfg.NamesrvListenPort, cfg.BindAddress, cfg.StorePathRootDir = 0, 0, "127.0.0.1", t.TempDir()
	cfg.HTTPPort = port
	log, hook := logrus.New(), &probing{addr: addr}
	log.SetOutput(io.Discard)
	log.AddHook(hook)
	i, err := wheelmq.Start(t.Context(), wheelmq.Config{Config: cfg, Log: log})
	if err != nil {
		t.Fatal(err)
	}
	if status, body := ask(addr, "/ready"); status != http.StatusOK {
		t.Errorf("started, and yet not ready: %s", body)
	}
	if err := i.Close(context.Background()); err != nil {
		t.Fatal(err)
	}
	seen := hook.seen.Load()
	if seen == nil {
		t.Fatal("nothing is logged while it starts")
	}
	for _, want := range []string{"/health 503", "/ready 503", "starting: reading ", "/live 200"} {
		if !strings.Contains(*seen, want) {
			t.Errorf("while it starts the answers lack %q:\n%s", want, *seen)
		}
	}
}
