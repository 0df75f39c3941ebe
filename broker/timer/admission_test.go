package timer

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/wheelmq/wheelmq/clock"
	"github.com/wheelmq/wheelmq/difference"
	"github.com/wheelmq/wheelmq/message"
	"github.com/wheelmq/wheelmq/remoting"
)

// nowMs ends with half a second, so that rounding shows.
const nowMs int64 = 1_800_000_000_500

const day = 86_400_000

// walled is a clock whose wall reads something else.
type walled struct {
	clock.Clock
	wall int64
}

func (w walled) WallMillis() int64 { return w.wall }

func admission(t *testing.T, change func(*AdmissionOptions)) *Admission {
	t.Helper()
	differences, err := difference.NewSet("")
	if err != nil {
		t.Fatal(err)
	}
	opts := AdmissionOptions{
		Enabled: true, MaxDelayMs: 3 * day, PrecisionMs: 1000, CongestNum: 1<<31 - 1, Store: clock.NewVirtual(nowMs), Differences: differences,
	}
	if change != nil {
		change(&opts)
	}
	return NewAdmission(opts)
}

func properties(pairs ...any) []byte {
	props := message.PropertyAppend(nil, message.PropertyUniqKey, "K")
	for i := 0; i < len(pairs); i += 2 {
		props = message.PropertyAppend(props, pairs[i].(string), fmt.Sprint(pairs[i+1]))
	}
	return props
}

// outcome is what became of a message: the instant it waits for, "" at once, or the code of a refusal.
func outcome(t *testing.T, a *Admission, rec *message.Record) string {
	t.Helper()
	topicBefore, before := rec.Topic, string(rec.Properties)
	err := a.Admit(rec)
	var refused *remoting.Error
	switch {
	case errors.As(err, &refused):
		return fmt.Sprint("code ", refused.Code)
	case err != nil:
		t.Fatal(err)
	case rec.Topic == topicBefore:
		if string(rec.Properties) != before {
			t.Errorf("a message that does not wait is changed to %q", rec.Properties)
		}
		return ""
	}
	value, _ := message.PropertyGet(rec.Properties, message.PropertyDueMs)
	return string(value)
}

func TestAdmission_WhenAMessageIsDue(t *testing.T) {
	t.Parallel()
	at := func(ms int64) string { return strconv.FormatInt(nowMs+ms, 10) }
	wall := func(ms int64) string { return "w" + at(ms) }
	for name, tt := range map[string]struct {
		props []byte
		want  string
	}{
		"without a timer":                       {properties("TAGS", "A"), ""},
		"seconds":                               {properties("TIMER_DELAY_SEC", 5), at(5000)},
		"milliseconds":                          {properties("TIMER_DELAY_MS", 1), at(1)},
		"an instant":                            {properties("TIMER_DELIVER_MS", nowMs+7), wall(7)},
		"seconds go before all":                 {properties("TIMER_DELIVER_MS", 1, "TIMER_DELAY_MS", 2, "TIMER_DELAY_SEC", 3), at(3000)},
		"milliseconds go before an instant":     {properties("TIMER_DELIVER_MS", nowMs+9, "TIMER_DELAY_MS", 2), at(2)},
		"no seconds":                            {properties("TIMER_DELAY_SEC", 0), ""},
		"negative seconds":                      {properties("TIMER_DELAY_SEC", -5), ""},
		"very negative milliseconds":            {properties("TIMER_DELAY_MS", "-9223372036854775808"), ""},
		"a past instant":                        {properties("TIMER_DELIVER_MS", nowMs-1), ""},
		"now":                                   {properties("TIMER_DELIVER_MS", nowMs), ""},
		"a negative instant":                    {properties("TIMER_DELIVER_MS", -1), ""},
		"an empty instant":                      {[]byte("TIMER_DELIVER_MS\x01\x02"), ""},
		"exactly three days":                    {properties("TIMER_DELAY_SEC", 259200), at(3 * day)},
		"three days in ms":                      {properties("TIMER_DELAY_MS", 259200000), at(3 * day)},
		"an instant in three days":              {properties("TIMER_DELIVER_MS", nowMs+3*day), wall(3 * day)},
		"a second more than three days":         {properties("TIMER_DELAY_SEC", 259201), "code 13"},
		"a millisecond more than three days":    {properties("TIMER_DELAY_MS", 259200001), "code 13"},
		"an instant after three days":           {properties("TIMER_DELIVER_MS", nowMs+3*day+1), "code 13"},
		"seconds that overflow as ms":           {properties("TIMER_DELAY_SEC", "9223372036854775807"), "code 13"},
		"the last instant of 64 bits":           {properties("TIMER_DELIVER_MS", "9223372036854775807"), "code 13"},
		"more than 64 bits":                     {properties("TIMER_DELAY_SEC", "9223372036854775808"), "code 13"},
		"no number":                             {properties("TIMER_DELAY_SEC", "abc"), "code 13"},
		"a fraction":                            {properties("TIMER_DELIVER_MS", "12.5"), "code 13"},
		"only what counts is read":              {properties("TIMER_DELIVER_MS", "abc", "TIMER_DELAY_SEC", 1), at(1000)},
		"the cloud's dialect, not enabled":      {properties("__STARTDELIVERTIME", nowMs+9), ""},
		"a cancel":                              {properties("TIMER_DELIVER_MS", nowMs+9, "TIMER_DEL_UNIQKEY", "K"), wall(9)},
		"a late cancel":                         {properties("TIMER_DELIVER_MS", nowMs, "TIMER_DEL_UNIQKEY", "K"), "code 13"},
		"a cancel without an instant":           {properties("TIMER_DEL_UNIQKEY", "K"), ""},
		"TIMER_OUT_MS of a client":              {properties("TIMER_OUT_MS", 1, "TIMER_DELAY_SEC", 3), at(3000)},
		"TIMER_OUT_MS and an instant ahead":     {properties("TIMER_OUT_MS", 1, "TIMER_DELIVER_MS", nowMs+3), wall(3)},
		"a copy of a real broker is forwarded":  {properties("TIMER_DELAY_SEC", 3, "TIMER_OUT_MS", nowMs-2000, "TIMER_DEQUEUE_MS", nowMs-900), ""},
		"such a copy with a new instant":        {properties("TIMER_DELAY_SEC", 3, "TIMER_OUT_MS", nowMs-2000, "TIMER_DEQUEUE_MS", nowMs-900, "TIMER_DELIVER_MS", nowMs+9), wall(9)},
		"a copy of this server is forwarded":    {properties("TIMER_DELIVER_MS", nowMs-3, "TIMER_OUT_MS", message.TimerOut(nowMs-3, 1000)), ""},
		"such a copy with a new relative delay": {properties("TIMER_DELIVER_MS", nowMs-3, "TIMER_OUT_MS", message.TimerOut(nowMs-3, 1000), "TIMER_DELAY_SEC", 4), at(4000)},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			rec := &message.Record{Topic: "T", QueueID: 3, Properties: tt.props, BornTimestamp: nowMs - 40}
			if got := outcome(t, admission(t, nil), rec); got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}

func TestAdmission_PendingRecord(t *testing.T) {
	t.Parallel()
	rec := &message.Record{Topic: "T", QueueID: 3, Properties: properties("TAGS", "A", "TIMER_DELAY_MS", 1500, "TIMER_OUT_MS", 7,
		"TIMER_ENQUEUE_MS", 7, "TIMER_ROLL_TIMES", 1, "TIMER_ROLL_LABEL", "R", "REAL_TOPIC", "forged", "REAL_QID", 9)}
	if err := admission(t, nil).Admit(rec); err != nil {
		t.Fatal(err)
	}
	if rec.Topic != message.TopicTimer || rec.QueueID != 0 {
		t.Errorf("waits in %s@%d", rec.Topic, rec.QueueID)
	}
	var got []string
	message.PropertyEach(rec.Properties, func(name, value []byte) { got = append(got, string(name)+"="+string(value)) })
	const want = "__WMQ_DUE=1800000002000 REAL_TOPIC=T REAL_QID=3 TIMER_OUT_MS=1800000001000 TIMER_DELIVER_MS=1800000002000 UNIQ_KEY=K TAGS=A"
	if strings.Join(got, " ") != want {
		t.Errorf("properties\n%s, want\n%s", strings.Join(got, " "), want)
	}
}

func TestAdmission_NotInRetryTopics(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"%RETRY%g", "%DLQ%g"} {
		rec := &message.Record{Topic: name, Properties: properties("TIMER_DELAY_SEC", 100)}
		if got := outcome(t, admission(t, nil), rec); got != "" {
			t.Errorf("%s: %s", name, got)
		}
	}
}

func TestAdmission_NotEnabled(t *testing.T) {
	t.Parallel()
	a := admission(t, func(o *AdmissionOptions) { o.Enabled = false })
	for _, sec := range []int{10, -10} {
		if got := outcome(t, a, &message.Record{Topic: "T", Properties: properties("TIMER_DELAY_SEC", sec)}); got != "code 1" {
			t.Errorf("%d s: %q", sec, got)
		}
	}
	if got := outcome(t, a, &message.Record{Topic: "T", Properties: properties("KEYS", "k")}); got != "" {
		t.Errorf("without a timer: %q", got)
	}
}

func TestAdmission_StartDeliverTime(t *testing.T) {
	t.Parallel()
	a := admission(t, func(o *AdmissionOptions) { o.StartDeliverTime = true })
	for want, props := range map[string][]byte{
		"w1800000000509": properties("__STARTDELIVERTIME", nowMs+9),
		"w1800000000508": properties("__STARTDELIVERTIME", nowMs+9, "TIMER_DELIVER_MS", nowMs+8),
		"code 13":        properties("__STARTDELIVERTIME", "soon"),
	} {
		if got := outcome(t, a, &message.Record{Topic: "T", Properties: props}); got != want {
			t.Errorf("%q: got %q, want %q", props, got, want)
		}
	}
}

// TestAdmission_VirtualClock turns the clock ahead of the client's.
func TestAdmission_VirtualClock(t *testing.T) {
	t.Parallel()
	a := admission(t, func(o *AdmissionOptions) { o.Virtual = true })
	const client = nowMs - 5*day // its own now
	rec := &message.Record{Topic: "T", Properties: properties("TIMER_DELIVER_MS", client+7000), BornTimestamp: client}
	if got := outcome(t, a, rec); got != strconv.FormatInt(nowMs+7000, 10) {
		t.Fatalf("due at %s", got)
	}
	// The copy, delivered, is forwarded as it is.
	a.opts.Store.(*clock.Virtual).Set(nowMs + 7000)
	copied := &message.Record{Topic: "T", Properties: rec.Properties, BornTimestamp: client + 1}
	if got := outcome(t, a, copied); got != "" {
		t.Errorf("a forwarded copy waits until %s", got)
	}
	for _, extreme := range []string{"9223372036854775807", "-9223372036854775808"} {
		rec := &message.Record{Topic: "T", Properties: properties("TIMER_DELIVER_MS", extreme), BornTimestamp: 1}
		if got := outcome(t, a, rec); got != "code 13" && extreme[0] != '-' || extreme[0] == '-' && got != "code 13" && got != "" {
			t.Errorf("%s: %q", extreme, got)
		}
	}
}

// TestAdmission_SteppedWall: a delay counts in message time, an instant in the wall's.
func TestAdmission_SteppedWall(t *testing.T) {
	t.Parallel()
	a := admission(t, func(o *AdmissionOptions) { o.Store = walled{clock.NewVirtual(nowMs), nowMs - day} })
	for name, tt := range map[string]struct {
		props []byte
		want  string
	}{
		"a delay":                          {properties("TIMER_DELAY_SEC", 10), strconv.FormatInt(nowMs+10_001, 10)},
		"an instant that the wall has not": {properties("TIMER_DELIVER_MS", nowMs-3), "w" + strconv.FormatInt(nowMs-3, 10)},
		"an instant past for both":         {properties("TIMER_DELIVER_MS", nowMs-day), ""},
		"too far ahead of the wall":        {properties("TIMER_DELIVER_MS", nowMs+2*day+1), "code 13"},
		"the copy of a delay":              {properties("TIMER_DELIVER_MS", nowMs-3, "TIMER_OUT_MS", message.TimerOut(nowMs-3, 1000)), ""},
	} {
		if got := outcome(t, a, &message.Record{Topic: "T", Properties: tt.props}); got != tt.want {
			t.Errorf("%s: got %q, want %q", name, got, tt.want)
		}
	}
}

func TestAdmission_Room(t *testing.T) {
	t.Parallel()
	rec := &message.Record{Topic: "T", Properties: properties("TIMER_DELAY_SEC", 1, "big", strings.Repeat("x", 32_600))}
	if got := outcome(t, admission(t, nil), rec); got != "code 13" {
		t.Errorf("a message whose copy would not fit: %q", got)
	}
	rec = &message.Record{Topic: "T", Properties: properties("TIMER_DELAY_SEC", 1, "big", strings.Repeat("x", 32_400))}
	if got := outcome(t, admission(t, nil), rec); got == "code 13" {
		t.Error("a message that has room is refused")
	}
}

func TestAdmission_LimitIn64Bits(t *testing.T) {
	t.Parallel()
	a := admission(t, func(o *AdmissionOptions) { o.MaxDelayMs = 2592000 * 1000 })
	if got := outcome(t, a, &message.Record{Topic: "T", Properties: properties("TIMER_DELAY_SEC", 2592000)}); got == "code 13" {
		t.Error("30 days are refused under a limit of 30 days")
	}
	err := a.Admit(&message.Record{Topic: "T", Properties: properties("TIMER_DELAY_SEC", 2592001)})
	if err == nil || !strings.Contains(err.Error(), "2592000000ms") {
		t.Errorf("a second more: %v", err)
	}
}

// TestAdmission_VirtualClock_CancelByProperty: the client does not know the virtual instant.
func TestAdmission_VirtualClock_CancelByProperty(t *testing.T) {
	t.Parallel()
	const client = nowMs - 5*day
	a := admission(t, func(o *AdmissionOptions) {
		o.Virtual = true
		o.OutOf = func(topic string, key []byte) (int64, bool) {
			return nowMs - nowMs%1000 + 9000, topic == "T" && string(key) == "K"
		}
	})
	relative := &message.Record{Topic: "T", Properties: properties("TIMER_DELAY_SEC", 9, "TIMER_DEL_UNIQKEY", "K")}
	if got, want := outcome(t, a, relative), strconv.FormatInt(nowMs-nowMs%1000+9001, 10); got != want {
		t.Errorf("with a delay: cancels at %q, want %s", got, want)
	}
	for key, want := range map[string]string{
		"K": strconv.FormatInt(nowMs-nowMs%1000+9001, 10), "T+K": strconv.FormatInt(nowMs-nowMs%1000+9001, 10),
		"other": strconv.FormatInt(nowMs+7000, 10),
	} {
		rec := &message.Record{Topic: "T", BornTimestamp: client, Properties: properties("TIMER_DELIVER_MS", client+7000, "TIMER_DEL_UNIQKEY", key)}
		if got := outcome(t, a, rec); got != want {
			t.Errorf("%s: cancels at %s, want %s", key, got, want)
		}
	}
}

// TestAdmission_VirtualClock_CancelBeforeItsMessage: both name an instant of the client's clock, and
// virtual time goes on in between.
func TestAdmission_VirtualClock_CancelBeforeItsMessage(t *testing.T) {
	t.Parallel()
	const client = nowMs - 5*day
	at := client + 3_600_000 - client%1000
	for name, tt := range map[string]struct {
		props []byte
		born  int64
		key   string
		same  bool // second as its cancel
	}{
		"the same second": {properties("TIMER_DELIVER_MS", at+300), client + 20, "K", true},
		"a delay":         {properties("TIMER_DELAY_MS", 3_600_000), at - 3_600_000 + 300, "K", true},
		"another second":  {properties("TIMER_DELIVER_MS", at+3000), client + 20, "K", false},
		"another key":     {properties("TIMER_DELIVER_MS", at+300), client + 20, "L", false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a := admission(t, func(o *AdmissionOptions) {
				o.Virtual, o.OutOf = true, func(string, []byte) (int64, bool) { return 0, false }
			})
			cancel := outcome(t, a, &message.Record{
				Topic: "T", Properties: properties("TIMER_DELIVER_MS", at+1, "TIMER_DEL_UNIQKEY", "T+"+tt.key), BornTimestamp: client,
			})
			a.opts.Store.(*clock.Virtual).Set(nowMs + 600_000)
			got := outcome(t, a, &message.Record{Topic: "T", Properties: tt.props, BornTimestamp: tt.born})
			if (got == cancel) != tt.same || got == "" {
				t.Errorf("it waits until %s, its cancel until %s", got, cancel)
			}
			if again := outcome(t, a, &message.Record{Topic: "T", Properties: tt.props, BornTimestamp: tt.born}); again == cancel {
				t.Error("a second message is cancelled as well")
			}
		})
	}
}
