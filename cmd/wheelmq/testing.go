package main

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"strconv"
	"time"

	"github.com/sirupsen/logrus"
	"github.com/spf13/cobra"

	"github.com/wheelmq/wheelmq"
)

// tokenEnv names the token, so that it need not be on a command line, which every user of the
// machine can read.
const tokenEnv = "WHEELMQ_TEST_TOKEN"

// startNow is the value of --virtual-clock without one.
const startNow = "now"

// testFlags make the server one for tests.
type testFlags struct {
	api, memory  bool
	token, clock string
}

func (t *testFlags) add(cmd *cobra.Command) {
	cmd.Flags().BoolVar(&t.api, "test-api", false, "serve /test/ on the HTTP port: clock, faults, restarts; never in production")
	cmd.Flags().StringVar(&t.token, "test-token", "", "serve it to whoever has this token, not to this machine only (or $"+tokenEnv+")")
	cmd.Flags().StringVar(&t.clock, "virtual-clock", "", "message time moves only when told, from =RFC3339 or =milliseconds or now on")
	cmd.Flags().Lookup("virtual-clock").NoOptDefVal = startNow
	cmd.Flags().BoolVar(&t.memory, "memory", false, "keep the store in memory and write no directory")
}

// config is what the flags ask for; nil when they ask for nothing.
func (t *testFlags) config(cmd *cobra.Command) (*wheelmq.TestConfig, error) {
	switch changed := cmd.Flags().Changed; {
	case changed("test-token") && !t.api:
		return nil, errors.New("--test-token without --test-api")
	case changed("test-token") && t.token == "":
		return nil, errors.New("--test-token is empty")
	case t.memory && changed("store"):
		return nil, errors.New("both --memory and --store")
	case !t.api && !t.memory && !changed("virtual-clock"):
		return nil, nil
	}
	cfg := &wheelmq.TestConfig{API: t.api, Memory: t.memory, VirtualClock: cmd.Flags().Changed("virtual-clock")}
	if t.api {
		cfg.Token = cmp.Or(t.token, os.Getenv(tokenEnv))
	}
	if cfg.VirtualClock && t.clock != startNow {
		start, err := parseInstant("--virtual-clock", t.clock)
		if err != nil {
			return nil, err
		}
		cfg.VirtualStart = start
	}
	return cfg, nil
}

// parseInstant reads what a flag says: RFC 3339 or ms since the Unix epoch.
func parseInstant(flag, text string) (time.Time, error) {
	if ms, err := strconv.ParseInt(text, 10, 64); err == nil && ms > 0 {
		return time.UnixMilli(ms), nil
	}
	at, err := time.Parse(time.RFC3339, text)
	if err != nil {
		return at, fmt.Errorf("%s=%q: want RFC 3339, as 2026-01-31T08:00:00Z, or milliseconds since 1970", flag, text)
	}
	return at, nil
}

// warnOfTesting says loudly what nobody wants from a server with real messages.
func warnOfTesting(log logrus.FieldLogger, cfg *wheelmq.TestConfig) {
	if cfg == nil {
		return
	}
	if cfg.API {
		to := "every program on this machine"
		if cfg.Token != "" {
			to = "whoever has the token"
		}
		log.Warn("THE TEST API IS ON: " + to + " can turn the clock, make this server fail and lose its messages; never in production")
	}
	if cfg.VirtualClock {
		log.Warn("THE CLOCK IS VIRTUAL: delayed messages come when a test turns it, never by themselves")
	}
	if cfg.Memory {
		log.Warn("THE STORE IS IN MEMORY: every message is lost when this process ends")
	}
}
