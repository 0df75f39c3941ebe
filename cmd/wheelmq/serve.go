package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime"
	"strings"
	"syscall"

	"github.com/sirupsen/logrus"
	"github.com/spf13/cobra"

	"github.com/wheelmq/wheelmq"
	"github.com/wheelmq/wheelmq/config"
)

// parts says what a command leaves out.
type parts struct{ withoutNameServer, withoutBroker bool }

// flags are a serve command's options, beside those that stand for a key.
type flags struct {
	file      string
	set       []string
	quiet     bool
	logFormat string
}

// keyFlags are the flags that stand for a key of broker.conf.
var keyFlags = []struct{ flag, key, doc string }{
	{"listen-port", "listenPort", "broker port, 0 for a free one"},
	{"namesrv-port", "namesrvListenPort", "name-server port, 0 for none"},
	{"http-port", "httpPort", "port of /health and /metrics, 0 for a free one"},
	{"bind", "bindAddress", "address to bind to"},
	{"store", "storePathRootDir", "store directory"},
}

func serveCommand(use, short string, p parts) *cobra.Command {
	var f flags
	cmd := &cobra.Command{Use: use, Short: short, Args: cobra.NoArgs}
	cmd.Flags().SortFlags = false
	cmd.Flags().StringVarP(&f.file, "config", "c", "", "broker.conf to read")
	for _, k := range keyFlags {
		cmd.Flags().String(k.flag, defaultOf(k.key), k.doc)
	}
	cmd.Flags().StringArrayVar(&f.set, "set", nil, "key=value of broker.conf; may be repeated")
	cmd.Flags().BoolVarP(&f.quiet, "quiet", "q", false, "log warnings and errors only")
	cmd.Flags().StringVar(&f.logFormat, "log-format", "text", "text or json")
	cmd.RunE = func(cmd *cobra.Command, _ []string) error { return serve(cmd, &f, p) }
	return cmd
}

func defaultOf(key string) string {
	for _, k := range config.Keys() {
		if k.Name == key {
			return k.Default
		}
	}
	panic("wheelmq: a flag stands for the unknown key " + key)
}

func serve(cmd *cobra.Command, f *flags, p parts) error {
	log, err := newLogger(f, cmd.ErrOrStderr())
	if err != nil {
		return err
	}
	cfg, warnings, err := configure(cmd, f)
	if err != nil {
		return err
	}
	log.WithFields(logrus.Fields{"version": version, "config": f.file, "set": strings.Join(cfg.Changed(), ", ")}).Info("starting")
	for _, w := range warnings {
		log.Warn(w)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	p.withoutNameServer = p.withoutNameServer || cfg.NamesrvListenPort == 0 && !p.withoutBroker
	instance, err := wheelmq.Start(ctx, wheelmq.Config{
		Config: cfg, WithoutBroker: p.withoutBroker, WithoutNameServer: p.withoutNameServer, Log: log,
		EventLoops: eventLoops(),
	})
	if err != nil {
		return err
	}
	ready := readyLine(instance.NameServerAddr(), cfg.NamesrvAddr)
	log.WithFields(logrus.Fields{
		"nameServer": instance.NameServerAddr(), "broker": instance.BrokerAddr(), "http": instance.HTTPAddr(), "store": cfg.StorePathRootDir,
	}).Info(ready)
	if f.quiet {
		fmt.Fprintln(cmd.OutOrStdout(), ready)
	}
	<-ctx.Done()
	// A second signal ends the process at once.
	stop()
	log.Info("stopping")
	return instance.Close(context.Background())
}

// spareProcs is how many goroutines run while every event loop waits for its sockets: the
// timers of delayed messages, and whatever they wake.
const spareProcs = 2

// eventLoops is one for every CPU. It gives the runtime spareProcs more Ps than that, since a
// loop in epoll_wait keeps its P until the runtime's monitor takes it back, up to 10 ms later.
// The environment variable GOMAXPROCS is left to say otherwise.
func eventLoops() int {
	loops := runtime.GOMAXPROCS(0)
	if os.Getenv("GOMAXPROCS") == "" {
		runtime.GOMAXPROCS(loops + spareProcs)
	}
	return loops
}

// readyLine says that clients may come, and what they set.
func readyLine(own, external string) string {
	switch {
	case own != "":
		return "boot success, set namesrvAddr to " + own
	case external != "":
		return "boot success, set namesrvAddr to " + external
	default:
		return "boot success, but no client finds this broker: it has no name server, set namesrvAddr"
	}
}

func newLogger(f *flags, out io.Writer) (*logrus.Logger, error) {
	log := logrus.New()
	log.SetOutput(out)
	switch f.logFormat {
	case "text":
	case "json":
		log.SetFormatter(&logrus.JSONFormatter{})
	default:
		return nil, fmt.Errorf("--log-format=%q: want text or json", f.logFormat)
	}
	if f.quiet {
		log.SetLevel(logrus.WarnLevel)
	}
	return log, nil
}

// configure puts the configuration together: defaults, then the file, then flags, then --set.
func configure(cmd *cobra.Command, f *flags) (cfg *config.Config, warnings []string, err error) {
	cfg = config.Default()
	if f.file != "" {
		if warnings, err = cfg.Load(f.file); err != nil {
			return nil, nil, err
		}
	}
	for _, k := range keyFlags {
		if flag := cmd.Flags().Lookup(k.flag); flag.Changed {
			if _, err := cfg.SetFrom("--"+k.flag, k.key, flag.Value.String()); err != nil {
				return nil, nil, fmt.Errorf("%w in --%s", err, k.flag)
			}
		}
	}
	for _, assignment := range f.set {
		warning, err := cfg.Set(assignment)
		if err != nil {
			return nil, nil, err
		}
		if warning != "" {
			warnings = append(warnings, "--set: "+warning)
		}
	}
	return cfg, warnings, nil
}
