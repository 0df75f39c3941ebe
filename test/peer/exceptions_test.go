package peer

import (
	"bufio"
	"strings"
	"testing"
)

func TestParseExceptions(t *testing.T) {
	t.Parallel()
	fence := "```"
	entry := func(name, reason, transcript string) string {
		return "## " + name + "\n\n" + reason + "\n\n" + fence + "peer\n" + transcript + fence + "\n"
	}
	tests := []struct {
		name, text string
		want       []Exception
		wantErr    string
	}{
		{name: "none", text: "# Exceptions\n\nText only.\n"},
		{
			name: "both transcripts",
			text: "# E\n\n" + entry("mqadmin/x", "Because.", "## not a heading\nb\n") + "\n" + fence + "ours\nc\n" + fence + "\n",
			want: []Exception{{Name: "mqadmin/x", Reason: "Because.", Peer: "## not a heading\nb\n", Ours: "c\n"}},
		},
		{
			name: "two entries",
			text: entry("a/1", "R1", "p1\n") + entry("a/2", "R2", "p2\n"),
			want: []Exception{{Name: "a/1", Reason: "R1", Peer: "p1\n"}, {Name: "a/2", Reason: "R2", Peer: "p2\n"}},
		},
		{name: "no transcript", text: "## a/1\n\nReason.\n", wantErr: "lacks"},
		{name: "no reason", text: entry("a/1", "", "p\n"), wantErr: "lacks"},
		{name: "listed twice", text: entry("a/1", "R", "p\n") + entry("a/1", "R", "p\n"), wantErr: "twice"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got, err := parseExceptions(bufio.NewScanner(strings.NewReader(tt.text)))
			if tt.wantErr != "" {
				if err == nil || !strings.Contains(err.Error(), tt.wantErr) {
					t.Fatalf("error %v, want one that says %q", err, tt.wantErr)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if len(got) != len(tt.want) {
				t.Fatalf("got %d entries, want %d", len(got), len(tt.want))
			}
			for _, want := range tt.want {
				if got[want.Name] != want {
					t.Errorf("got %+v, want %+v", got[want.Name], want)
				}
			}
		})
	}
}
