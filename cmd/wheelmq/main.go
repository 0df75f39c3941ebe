// Command wheelmq is the server: name server and broker in one static binary.
package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"github.com/sirupsen/logrus"
	"github.com/spf13/cobra"

	"github.com/wheelmq/wheelmq"
	"github.com/wheelmq/wheelmq/config"
)

// version is set by the linker.
var version = "dev"

func main() {
	if err := command().Execute(); err != nil {
		fmt.Fprintln(os.Stderr, "wheelmq: "+err.Error())
		os.Exit(1)
	}
}

func command() *cobra.Command {
	root := &cobra.Command{Use: "wheelmq", Short: "A RocketMQ-compatible server", SilenceUsage: true, SilenceErrors: true}
	root.AddCommand(
		serveCommand("serve", "Run name server and broker in one process", parts{}),
		serveCommand("broker", "Run a broker alone, registered with namesrvAddr", parts{withoutNameServer: true}),
		serveCommand("namesrv", "Run a name server alone", parts{withoutBroker: true}),
		&cobra.Command{Use: "version", Short: "Print the version", Args: cobra.NoArgs, Run: func(cmd *cobra.Command, _ []string) {
			fmt.Fprintln(cmd.OutOrStdout(), "wheelmq "+version)
		}},
	)
	return root
}

// parts says what a command leaves out.
type parts struct{ withoutNameServer, withoutBroker bool }

// flags are a serve command's options.
type flags struct {
	file, bind, store     string
	listen, namesrv, http int
	set                   []string
	quiet                 bool
	logFormat             string
}

func serveCommand(use, short string, p parts) *cobra.Command {
	var f flags
	cmd := &cobra.Command{Use: use, Short: short, Args: cobra.NoArgs}
	cmd.Flags().StringVarP(&f.file, "config", "c", "", "broker.conf to read")
	cmd.Flags().IntVar(&f.listen, "listen-port", 10911, "broker port, 0 for a free one")
	cmd.Flags().IntVar(&f.namesrv, "namesrv-port", 9876, "name-server port, 0 for none")
	cmd.Flags().IntVar(&f.http, "http-port", 9878, "port of /health and /metrics, 0 for a free one")
	cmd.Flags().StringVar(&f.bind, "bind", "0.0.0.0", "address to bind to")
	cmd.Flags().StringVar(&f.store, "store", "./wheelmq-data", "store directory")
	cmd.Flags().StringArrayVar(&f.set, "set", nil, "key=value of broker.conf; may be repeated")
	cmd.Flags().BoolVarP(&f.quiet, "quiet", "q", false, "log warnings and errors only")
	cmd.Flags().StringVar(&f.logFormat, "log-format", "text", "text or json")
	cmd.RunE = func(cmd *cobra.Command, _ []string) error { return serve(cmd, &f, p) }
	return cmd
}

func serve(cmd *cobra.Command, f *flags, p parts) error {
	log, err := newLogger(f)
	if err != nil {
		return err
	}
	cfg, warnings, err := configure(cmd, f)
	if err != nil {
		return err
	}
	for _, w := range warnings {
		log.Warn(w)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	instance, err := wheelmq.Start(ctx, wheelmq.Config{
		Config: cfg, WithoutBroker: p.withoutBroker, WithoutNameServer: p.withoutNameServer || cfg.NamesrvListenPort == 0, Log: log,
	})
	if err != nil {
		return err
	}
	log.WithFields(logrus.Fields{
		"version": version, "nameServer": instance.NameServerAddr(), "broker": instance.BrokerAddr(), "http": instance.HTTPAddr(),
		"store": cfg.StorePathRootDir, "config": f.file,
	}).Info("boot success, set namesrvAddr to " + instance.NameServerAddr())
	if f.quiet {
		fmt.Fprintln(cmd.OutOrStdout(), "boot success, set namesrvAddr to "+instance.NameServerAddr())
	}
	<-ctx.Done()
	// A second signal ends the process at once.
	stop()
	log.Info("stopping")
	return instance.Close(context.Background())
}

func newLogger(f *flags) (*logrus.Logger, error) {
	log := logrus.New()
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
	for flag, apply := range map[string]func(){
		"listen-port":  func() { cfg.ListenPort = f.listen },
		"namesrv-port": func() { cfg.NamesrvListenPort = f.namesrv },
		"http-port":    func() { cfg.HTTPPort = f.http },
		"bind":         func() { cfg.BindAddress = f.bind },
		"store":        func() { cfg.StorePathRootDir = f.store },
	} {
		if cmd.Flags().Changed(flag) {
			apply()
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
