package offline_test

import (
	"encoding/json"
	"errors"
	"flag"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/wheelmq/wheelmq/message"
	"github.com/wheelmq/wheelmq/store/offline"
	"github.com/wheelmq/wheelmq/store/region"
)

var update = flag.Bool("update", false, "write the golden files anew")

func inspect(t *testing.T, b *builder) *offline.Report {
	t.Helper()
	r, err := b.offline().Inspect()
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// wantGolden compares with a file of testdata.
func wantGolden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("%s: got\n%s\nwant\n%s", name, got, want)
	}
}

func TestInspect_Golden(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(b *builder){
		"stopped": func(b *builder) { b.close() },
		"killed by RocketMQ": func(b *builder) {
			b.put("rmq_sys_wheel_timer", 0, "timer", "TIMER_OUT_MS", "1796000009000")
			b.put(message.TopicTransHalf, 0, "half")
			b.close()
			b.write("abort", "4711")
			b.write("config/timercheck", timerCheck(begin))
			b.write("config/subscriptionGroup.json", "{")
			b.write("rocksdbstore/000004.log", "x")
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b, _ := sample(t)
			change(b)
			notes, err := os.ReadFile(filepath.Join(b.dir, "config/wheelmqStore.json"))
			if err != nil {
				t.Fatal(err)
			}
			b.write("config/wheelmqStore.json", regexp.MustCompile(`"epoch":\d+`).ReplaceAllString(string(notes), `"epoch":43981`))
			before := b.fingerprint()
			r := inspect(t, b)
			if after := b.fingerprint(); after != before {
				t.Error("inspecting changed the directory")
			}
			var text strings.Builder
			if _, err := r.WriteTo(&text); err != nil {
				t.Fatal(err)
			}
			wantGolden(t, strings.ReplaceAll(name, " ", "_")+".txt", text.String())
			asJSON, err := json.MarshalIndent(r, "", "  ")
			if err != nil {
				t.Fatal(err)
			}
			wantGolden(t, strings.ReplaceAll(name, " ", "_")+".json", string(asJSON)+"\n")
		})
	}
}

// TestInspect_AfterRetention has a queue whose first records are gone from the log.
func TestInspect_AfterRetention(t *testing.T) {
	t.Parallel()
	b, records := sample(t)
	b.close()
	b.remove(logFile(0))
	r := inspect(t, b)
	first := 0
	for records[first].CommitLogOffset < 128<<10 {
		first++
	}
	if r.Log.Min != 128<<10 || r.Log.Files != 3 {
		t.Errorf("log %+v", r.Log)
	}
	for _, topic := range r.Topics {
		if topic.Name == "T" && (topic.Queues[0].Min != int64(first+1)/2 || topic.Queues[1].Min != int64(first)/2 || topic.Queues[0].Max != 550) {
			t.Errorf("queues %+v, want from record %d on", topic.Queues, first)
		}
	}
}

func TestOpen_NoStore(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if _, err := offline.Open(region.OS{Root: dir, ReadOnly: true}); !errors.Is(err, offline.ErrNoStore) {
		t.Errorf("got %v", err)
	}
}
