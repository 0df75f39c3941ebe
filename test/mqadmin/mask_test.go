package mqadmin

import "testing"

func TestMask(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name  string
		shape func(string) string
		in    string
		want  string
	}{
		{"time and columns", nil, "broker-a      0     7    2026-11-30 01:50:36,450\n", "broker-a 0 7 <time>\n"},
		{"id", nil, "SEND_OK   7F0000020000597F000000000000D7E5", "SEND_OK <id>\n"},
		{"address", nil, `0:"127.0.0.1:10911"`, `0:"<addr>"` + "\n"},
		{"stack trace", nil, "E: m\n\tat a.b(C.java:1)\nCaused by: F: CODE: 17\n\t... 3 more\n", "E: m\nCaused by: F: CODE: 17\n"},
		{"offsets stay", nil, "broker-a 0 3 12", "broker-a 0 3 12\n"},
		{"rows", maskRows, "#A #B\nc 0.30(0,0ms) V5_5_0\n", "#A #B\nc <n>(<n>,<n>ms) V5_5_0\n"},
		{"status", maskStatus, "getMissTps : 0.1 0.2\nscheduleMessageOffset_3 : 4,4\nremain : 0 B\n", "getMissTps : <n>\nscheduleMessageOffset_3 : 4,4\nremain : <n> <unit>\n"},
		{"a rate that looks like an instant", maskStatus, "putTps : 0.1999720042001 3\n", "putTps : <n>\n"},
		{"an instant", nil, "t=1796002816026", "t=<millis>\n"},
		{"topics", topicSet, "b\n%RETRY%TOOLS_CONSUMER\na\n", "a\nb\n"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got := mask(tt.in)
			if tt.shape != nil {
				got = tt.shape(got)
			}
			if got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}
