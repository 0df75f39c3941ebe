package offset_test

import (
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"testing"

	"github.com/sirupsen/logrus/hooks/test"
	"go.uber.org/goleak"

	"github.com/wheelmq/wheelmq/broker/offset"
	"github.com/wheelmq/wheelmq/broker/persist"
	"github.com/wheelmq/wheelmq/clock"
	"github.com/wheelmq/wheelmq/internal/await"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func open(t testing.TB, dir string, wire clock.Clock) *offset.Table {
	t.Helper()
	log, _ := test.NewNullLogger()
	table, err := offset.New(offset.Options{Wire: wire, Store: wire, Log: log, Config: persist.At(dir)})
	if err != nil {
		t.Fatal(err)
	}
	return table
}

func b(s string) []byte { return []byte(s) }

func TestCommitAndQuery(t *testing.T) {
	t.Parallel()
	table := open(t, t.TempDir(), clock.NewVirtual(0))
	if got := table.Query(b("g"), b("T"), 0); got != offset.None {
		t.Errorf("unknown group has offset %d", got)
	}
	for _, step := range []struct{ commit, want int64 }{{999, 999}, {1, 1}, {-5, 0}} {
		table.Commit(b("g"), b("T"), 2, step.commit)
		if got := table.Query(b("g"), b("T"), 2); got != step.want {
			t.Errorf("after a commit of %d: %d, want %d", step.commit, got, step.want)
		}
	}
	if got := table.Query(b("g"), b("T"), 3); got != offset.None {
		t.Errorf("another queue has offset %d", got)
	}
	if got := table.Query(b("T"), b("g"), 2); got != offset.None {
		t.Errorf("topic and group are mixed up: %d", got)
	}
}

func TestPulledIsNotACommit(t *testing.T) {
	t.Parallel()
	table := open(t, t.TempDir(), clock.NewVirtual(0))
	table.Pulled(b("g"), b("T"), 0, 7)
	if got := table.Query(b("g"), b("T"), 0); got != offset.None {
		t.Errorf("committed %d, want none", got)
	}
	if got := table.QueryPulled(b("g"), b("T"), 0); got != 7 {
		t.Errorf("pulled %d, want 7", got)
	}
	if got := table.Groups("T"); len(got) != 0 {
		t.Errorf("groups %v, want none", got)
	}
}

func TestNamesAndDeletes(t *testing.T) {
	t.Parallel()
	table := open(t, t.TempDir(), clock.NewVirtual(0))
	for _, name := range [][2]string{{"g2", "T"}, {"g1", "T"}, {"g1", "%RETRY%g1"}} {
		table.Commit(b(name[0]), b(name[1]), 0, 1)
	}
	if got := table.Groups("T"); !slices.Equal(got, []string{"g1", "g2"}) {
		t.Errorf("groups of T: %v", got)
	}
	if got := table.Topics("g1"); !slices.Equal(got, []string{"%RETRY%g1", "T"}) {
		t.Errorf("topics of g1: %v", got)
	}
	table.DeleteTopic("T")
	if got := table.Topics("g1"); !slices.Equal(got, []string{"%RETRY%g1"}) {
		t.Errorf("topics of g1 after deleting T: %v", got)
	}
	table.DeleteGroup("g1")
	if got := table.Topics("g1"); len(got) != 0 {
		t.Errorf("topics of a deleted group: %v", got)
	}
}

func TestSavedHalfASecondAfterAChangeAndOnClose(t *testing.T) {
	t.Parallel()
	dir, wire := t.TempDir(), clock.NewVirtual(0)
	path := filepath.Join(dir, "consumerOffset.json")
	saved := func() string {
		content, err := os.ReadFile(path)
		if err != nil {
			return ""
		}
		return string(content)
	}
	table := open(t, dir, wire)
	table.Start()
	for _, n := range []int64{5, 7} {
		table.Commit(b("g"), b("T"), 1, n)
		wait(t, func() bool { _, armed := wire.Next(); return armed })
		at, _ := wire.Next()
		if late := at - wire.NowMillis(); late > 500 {
			t.Errorf("a change is saved after %d ms, want at most 500", late)
		}
		before := saved()
		wire.Set(at)
		wait(t, func() bool { return saved() != before })
	}
	wait(t, func() bool { _, armed := wire.Next(); return !armed }) // nothing to save, nothing to wait for

	table.Commit(b("g"), b("T"), 1, 6)
	if err := table.Close(); err != nil {
		t.Fatal(err)
	}
	again := open(t, dir, wire)
	if got := again.Query(b("g"), b("T"), 1); got != 6 {
		t.Errorf("after a restart %d, want 6", got)
	}
	if err := again.Close(); err != nil {
		t.Fatal(err)
	}
}

// After a power cut an offset may be ahead of the messages. It is taken back, on disk before
// anything is stored in the lost places.
func TestOffsetsPastTheDataAreTakenBack(t *testing.T) {
	t.Parallel()
	dir, wire := t.TempDir(), clock.NewVirtual(0)
	table := open(t, dir, wire)
	table.Commit(b("g"), b("T"), 0, 10)
	table.Commit(b("g"), b("T"), 1, 3)
	table.Commit(b("g"), b("gone"), 0, 2)
	if err := table.Close(); err != nil {
		t.Fatal(err)
	}
	log, hook := test.NewNullLogger()
	opts := offset.Options{Wire: wire, Store: wire, Log: log, Config: persist.At(dir), End: func(topic string, queueID int32) int64 {
		return map[string]int64{"T0": 7, "T1": 3}[topic+strconv.Itoa(int(queueID))]
	}}
	if _, err := offset.New(opts); err != nil {
		t.Fatal(err)
	}
	if n := len(hook.AllEntries()); n != 2 {
		t.Errorf("%d lines were logged, want one for each of 2 corrections", n)
	}
	// Read by one that corrects nothing: what is on disk.
	onDisk := open(t, dir, wire)
	for _, tc := range []struct {
		topic string
		queue int32
		want  int64
	}{{"T", 0, 7}, {"T", 1, 3}, {"gone", 0, 0}} {
		if got := onDisk.Query(b("g"), b(tc.topic), tc.queue); got != tc.want {
			t.Errorf("%s@%d: offset %d, want %d", tc.topic, tc.queue, got, tc.want)
		}
	}
}

// No content of the file keeps the broker from starting.
func TestUnreadableFile(t *testing.T) {
	t.Parallel()
	for name, content := range map[string]string{"empty": "", "zeros": "\x00\x00", "torn": `{"offsetTable":{"T@g":{0:`, "a list": "[]"} {
		for _, backup := range []bool{true, false} {
			dir := t.TempDir()
			path := filepath.Join(dir, "consumerOffset.json")
			if backup {
				if err := os.WriteFile(path+".bak", []byte(`{"offsetTable":{"T@g":{0:4}}}`), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
				t.Fatal(err)
			}
			log, hook := test.NewNullLogger()
			wire := clock.NewVirtual(0)
			table, err := offset.New(offset.Options{Wire: wire, Store: wire, Log: log, Config: persist.At(dir)})
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			want := offset.None
			if backup {
				want = 4
			}
			if got := table.Query(b("g"), b("T"), 0); got != want {
				t.Errorf("%s, backup %v: offset %d, want %d", name, backup, got, want)
			}
			if said := hook.LastEntry() != nil; said == backup {
				t.Errorf("%s, backup %v: logged %v", name, backup, hook.LastEntry())
			}
		}
	}
}

func TestReadsTheRealBrokersFile(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	const real = `{"dataVersion":{"counter":4,"stateVersion":0,"timestamp":1796003685638},
		"groupTopicMap":{"GC_two":["GT_Normal"]},
		"offsetTable":{"GT_Normal@GC_two":{0:0,1:2,2:3},"%RETRY%GC_two@GC_two":{0:9}}}`
	if err := os.WriteFile(filepath.Join(dir, "consumerOffset.json"), []byte(real), 0o644); err != nil {
		t.Fatal(err)
	}
	table := open(t, dir, clock.NewVirtual(0))
	if got := table.Query(b("GC_two"), b("GT_Normal"), 2); got != 3 {
		t.Errorf("offset %d, want 3", got)
	}
	if got := table.Query(b("GC_two"), b("%RETRY%GC_two"), 0); got != 9 {
		t.Errorf("offset %d, want 9", got)
	}
}

func wait(t *testing.T, cond func() bool) {
	t.Helper()
	await.Until(t, "the condition", cond)
}

func BenchmarkCommit(b *testing.B) {
	table := open(b, b.TempDir(), clock.NewVirtual(0))
	group, topic := []byte("a-consumer-group"), []byte("a-topic-name")
	b.ReportAllocs()
	for b.Loop() {
		table.Commit(group, topic, 3, 42)
	}
}
