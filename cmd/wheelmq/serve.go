package main

import (
	"cmp"
	"context"
	"errors"
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
	freePorts bool
	quiet     bool
	logFormat string
	admin     string // token of /admin/
	test      testFlags
	supervise superviseFlags
}

// adminTokenEnv names the token of /admin/, so that it need not be on a command line.
const adminTokenEnv = "WHEELMQ_ADMIN_TOKEN"

// keyFlags are the flags that stand for a key of broker.conf.
var keyFlags = []struct{ flag, key, doc string }{
	{"listen-port", "listenPort", "broker port, 0 for a free one"},
	{"namesrv-port", "namesrvListenPort", "name-server port, 0 for none"},
	{"http-port", "httpPort", "port of /health and /metrics, 0 for a free one"},
	{"bind", "bindAddress", "address to bind to"},
	{"store", "storePathRootDir", "store directory"},
}

// freePortsFlag takes free ports for portKeys.
const freePortsFlag = "--free-ports"

var portKeys = []string{"listenPort", "namesrvListenPort", "httpPort"}

func serveCommand(use, short string, p parts) *cobra.Command {
	var f flags
	cmd := &cobra.Command{Use: use, Short: short, Args: noArgs}
	cmd.Flags().SortFlags = false
	cmd.Flags().StringVarP(&f.file, "config", "c", "", "broker.conf to read")
	for _, k := range keyFlags {
		cmd.Flags().String(k.flag, defaultOf(k.key), k.doc)
	}
	cmd.Flags().BoolVar(&f.freePorts, freePortsFlag[2:], false, "take free ports, but for those that are set")
	cmd.Flags().StringArrayVar(&f.set, "set", nil, "key=value of broker.conf; may be repeated")
	cmd.Flags().BoolVarP(&f.quiet, "quiet", "q", false, "log warnings and errors only")
	cmd.Flags().StringVar(&f.logFormat, "log-format", "text", "text or json")
	cmd.Flags().StringVar(&f.admin, "admin-token", "", "admit whoever has this token to /admin/, not this machine only (or $"+adminTokenEnv+")")
	f.supervise.add(cmd)
	f.test.add(cmd)
	cmd.RunE = func(cmd *cobra.Command, _ []string) error { return serve(cmd, &f, p) }
	return cmd
}

// noArgs refuses words that are no flags, which may be a value behind a blank.
func noArgs(_ *cobra.Command, args []string) error {
	if len(args) > 0 {
		return fmt.Errorf("unexpected %q: a value that may be left out is written --flag=value", args[0])
	}
	return nil
}

func defaultOf(key string) string {
	for _, k := range config.Keys() {
		if k.Name == key {
			return k.Default
		}
	}
	panic("wheelmq: a flag stands for the unknown key " + key)
}

// serve runs a server until a signal, or until whoever supervises it goes.
func serve(cmd *cobra.Command, f *flags, p parts) error {
	c, err := f.prepare(cmd)
	if err != nil {
		return err
	}
	log := c.Log
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	ctx = f.supervise.follow(ctx, cmd.InOrStdin())
	none := c.NamesrvListenPort == 0 && c.Source("namesrvListenPort") != freePortsFlag
	c.WithoutBroker, c.WithoutNameServer = p.withoutBroker, p.withoutNameServer || none && !p.withoutBroker
	instance, err := wheelmq.Start(ctx, c)
	if err != nil {
		return err
	}
	if err := f.ready(cmd, log, instance, c.Config, c.Test); err != nil {
		return errors.Join(err, instance.Close(context.Background()))
	}
	<-ctx.Done()
	// A second Ctrl-C ends the process at once. A second SIGTERM does not: coreutils' timeout sends two, and who sends it to
	// a group may reach a process twice.
	signal.Ignore(syscall.SIGTERM)
	stop()
	log.WithField("why", context.Cause(ctx)).Info("stopping")
	err = errors.Join(instance.Close(context.Background()), f.supervise.clear())
	if err == nil {
		log.Info("stopped")
	}
	return err
}

// prepare reads what the server is to be, and logs what is remarkable about it.
func (f *flags) prepare(cmd *cobra.Command) (c wheelmq.Config, err error) {
	log, err := newLogger(f, cmd.ErrOrStderr())
	if err != nil {
		return c, err
	}
	cfg, warnings, err := configure(cmd, f)
	if err != nil {
		return c, err
	}
	test, err := f.test.config(cmd)
	if err != nil {
		return c, err
	}
	if err := f.supervise.clear(); err != nil {
		return c, err
	}
	log.WithFields(logrus.Fields{"version": version, "config": f.file, "set": strings.Join(cfg.Changed(), ", ")}).Info("starting")
	for _, w := range warnings {
		log.Warn(w)
	}
	warnOfTesting(log, test)
	return wheelmq.Config{Config: cfg, Log: log, EventLoops: eventLoops(), Test: test, AdminToken: cmp.Or(f.admin, os.Getenv(adminTokenEnv))}, nil
}

// ready tells that clients may come: the ready file, the log, a quiet one's stdout.
func (f *flags) ready(cmd *cobra.Command, log logrus.FieldLogger, i *wheelmq.Instance, cfg *config.Config, test *wheelmq.TestConfig) error {
	notice := readyNotice{i.NameServerAddr(), i.BrokerAddr(), i.HTTPAddr(), os.Getpid(), version}
	if err := f.supervise.announce(notice); err != nil {
		return err
	}
	line, store := readyLine(i.NameServerAddr(), cfg.NamesrvAddr), cfg.StorePathRootDir
	if test != nil && test.Memory {
		store = "memory"
	}
	log.WithFields(logrus.Fields{
		"nameServer": i.NameServerAddr(), "broker": i.BrokerAddr(), "http": i.HTTPAddr(), "store": store,
	}).Info(line)
	if f.quiet {
		fmt.Fprintln(cmd.OutOrStdout(), line)
	}
	return nil
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
	if f.freePorts {
		for _, key := range portKeys {
			if _, err := cfg.SetFrom(freePortsFlag, key, "0"); err != nil {
				return nil, nil, err
			}
		}
	}
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
