package metrics

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	dto "github.com/prometheus/client_model/go"

	"github.com/wheelmq/wheelmq/test/peer"
)

// deploy is what operators take into their Prometheus and Grafana.
const deploy = "../../deploy"

// promtool runs Prometheus' own tool in a directory. It skips the test where the tool lacks, unless what
// make test needs must be there.
func promtool(t *testing.T, dir string, args ...string) string {
	t.Helper()
	path, err := exec.LookPath("promtool")
	if err != nil {
		if os.Getenv("WHEELMQ_REQUIRE_JAVA") == "1" {
			t.Fatalf("tools/install-deps.sh installs it: %v", err)
		}
		t.Skip("no promtool")
	}
	cmd := exec.CommandContext(t.Context(), path, args...)
	cmd.Dir = dir
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("promtool %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return string(out)
}

// hasPromtool tells whether promtool would run.
func hasPromtool() bool {
	_, err := exec.LookPath("promtool")
	return err == nil || os.Getenv("WHEELMQ_REQUIRE_JAVA") == "1"
}

// succeeds tells whether promtool, which must be there, ends well.
func succeeds(t *testing.T, dir string, args ...string) bool {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "promtool", args...)
	cmd.Dir = dir
	out, err := cmd.CombinedOutput()
	if err != nil && !strings.Contains(string(out), "got:") {
		t.Fatalf("promtool %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return err == nil
}

func read(t *testing.T, name string) string {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(deploy, name))
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// TestAlerts: Prometheus takes the rules, and each alert fires and does not fire as its test says.
func TestAlerts(t *testing.T) {
	t.Parallel()
	tests := read(t, "prometheus/alerts_test.yml")
	for _, found := range regexp.MustCompile(`- alert: (\w+)`).FindAllStringSubmatch(read(t, "prometheus/alerts.yml"), -1) {
		for _, want := range []string{" fires\n", " does not fire\n"} {
			if !strings.Contains(tests, "name: "+found[1]+want) {
				t.Errorf("alerts_test.yml has no test that %s%s", found[1], want)
			}
		}
	}
	dir := filepath.Join(deploy, "prometheus")
	promtool(t, dir, "check", "rules", "alerts.yml")
	promtool(t, dir, "check", "config", "--lint=none", "prometheus.yml")
	promtool(t, dir, "test", "rules", "alerts_test.yml")
}

// TestDeploy_EveryMetricExists: no alert and no panel looks at a metric that this server does not have.
func TestDeploy_EveryMetricExists(t *testing.T) {
	t.Parallel()
	if peer.TargetKind() != peer.Ours {
		t.Skip("they are for this server")
	}
	s := start(t)
	s.load(t)
	families := parse(t, s.scrape(t))
	name := regexp.MustCompile(`\b(?:rocketmq|wheelmq|go)_[a-z_]+\b`)
	for _, file := range []string{"prometheus/alerts.yml", "grafana/wheelmq-overview.json", "grafana/wheelmq-delays.json"} {
		var found []string
		for line := range strings.SplitSeq(read(t, file), "\n") {
			if strings.Contains(line, "expr:") || strings.Contains(line, `"expr":`) {
				found = append(found, name.FindAllString(line, -1)...)
			}
		}
		slices.Sort(found)
		if found = slices.Compact(found); len(found) < 10 {
			t.Fatalf("only %v in %s", found, file)
		}
		for _, metric := range found {
			if !exists(families, metric) {
				t.Errorf("%s looks at %s, which is not there", file, metric)
			}
		}
	}
}

// exists tells whether a scrape has a metric, or a histogram that it is a part of.
func exists(families map[string]*dto.MetricFamily, metric string) bool {
	if families[metric] != nil {
		return true
	}
	for _, suffix := range []string{"_bucket", "_sum", "_count"} {
		if base, ok := strings.CutSuffix(metric, suffix); ok && families[base].GetType() == dto.MetricType_HISTOGRAM {
			return true
		}
	}
	return false
}
