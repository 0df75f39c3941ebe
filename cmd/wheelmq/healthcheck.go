package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/wheelmq/wheelmq/health"
)

// healthLimit is the most that is read of an answer, bytes.
const healthLimit = 1 << 20

// healthcheckFlags are the options of wheelmq healthcheck.
type healthcheckFlags struct {
	addr    string
	path    string
	timeout time.Duration
	json    bool
}

func healthcheckCommand() *cobra.Command {
	var f healthcheckFlags
	cmd := &cobra.Command{
		Use: "healthcheck", Short: "Ask a running server whether it is healthy", Args: noArgs,
		Long: `Ask the HTTP port of a running server whether it is healthy, and say what is not, and why.
Exit code 0: up or degraded; 1: down, or no answer. Made for the health check of a container.`,
		Example: "  wheelmq healthcheck\n  wheelmq healthcheck --path /ready --http 127.0.0.1:9878",
	}
	cmd.Flags().SortFlags = false
	cmd.Flags().StringVar(&f.addr, "http", "127.0.0.1:"+defaultOf("httpPort"), "address of the server's HTTP port")
	cmd.Flags().StringVar(&f.path, "path", "/health", "/health: every part; /ready: what clients need; /live: what only a restart mends")
	cmd.Flags().DurationVar(&f.timeout, "timeout", 5*time.Second, "how long to wait for an answer")
	cmd.Flags().BoolVar(&f.json, "json", false, "print the answer as it is")
	cmd.RunE = func(cmd *cobra.Command, _ []string) error { return f.run(cmd.Context(), cmd.OutOrStdout()) }
	return cmd
}

func (f *healthcheckFlags) run(ctx context.Context, out io.Writer) error {
	if ctx == nil {
		ctx = context.Background()
	}
	ctx, cancel := context.WithTimeout(ctx, f.timeout)
	defer cancel()
	body, err := f.ask(ctx)
	if err != nil {
		return err
	}
	var report health.Report
	if err := json.Unmarshal(body, &report); err != nil || report.State == "" {
		return fmt.Errorf("healthcheck: %s%s is no health report of WheelMQ: %.100q", f.addr, f.path, body)
	}
	if f.json {
		fmt.Fprintln(out, strings.TrimSpace(string(body)))
	} else {
		describe(out, report)
	}
	if report.State == health.Down {
		return errors.New("the server is down")
	}
	return nil
}

// ask returns the body of an answer of either status.
func (f *healthcheckFlags) ask(ctx context.Context) ([]byte, error) {
	if _, _, err := net.SplitHostPort(f.addr); err != nil {
		return nil, fmt.Errorf("--http=%q: want host:port: %w", f.addr, err)
	}
	if !strings.HasPrefix(f.path, "/") {
		return nil, fmt.Errorf("--path=%q: want a path such as /health", f.path)
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+f.addr+f.path, nil)
	if err != nil {
		return nil, fmt.Errorf("healthcheck: %w", err)
	}
	reply, err := http.DefaultClient.Do(request)
	if err != nil {
		return nil, fmt.Errorf("healthcheck: %w", err)
	}
	defer reply.Body.Close()
	body, err := io.ReadAll(io.LimitReader(reply.Body, healthLimit))
	switch {
	case err != nil:
		return nil, fmt.Errorf("healthcheck: %s: %w", f.addr, err)
	case reply.StatusCode != http.StatusOK && reply.StatusCode != http.StatusServiceUnavailable:
		return nil, fmt.Errorf("healthcheck: %s%s: %s", f.addr, f.path, reply.Status)
	}
	return body, nil
}

// describe prints the state, and the parts that are not up.
func describe(out io.Writer, report health.Report) {
	fmt.Fprintln(out, report.State)
	for _, part := range slices.Sorted(maps.Keys(report.Parts)) {
		if result := report.Parts[part]; result.State != health.Up {
			fmt.Fprintf(out, "  %s is %s: %s\n", part, result.State, result.Reason)
		}
	}
}
