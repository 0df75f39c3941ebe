package sql_test

import (
	"strings"
	"testing"

	"github.com/wheelmq/wheelmq/broker/filter/sql"
)

// FuzzCompile holds any text to what must be true of all: neither it nor any properties stop the
// server, and what is compiled means the same in parentheses, and the opposite behind NOT.
func FuzzCompile(f *testing.F) {
	for _, text := range []string{
		"", "a > 2 AND b = 'x'", "a BETWEEN 1 AND 5 OR NOT (b IS NULL)", "a IN ('x', 'it''s')", "price NOT CONTAINS '1' -- c\n", "/* c */ TRUE = a",
		"-a < .5e3 AND +b <> 10L", "a NOT BETWEEN b AND 0x1 trailing 'text", "a > '", "((((a", "\x00é",
	} {
		f.Add(text, string(properties("a", "1", "b", "x", "price", "3.5")))
	}
	f.Fuzz(func(t *testing.T, text, props string) {
		e, err := sql.Compile(text)
		if err != nil {
			if err.Error() == "" {
				t.Error("no reason")
			}
			return
		}
		got := e.Evaluate([]byte(props))
		// A parenthesis of what follows the expression, and is not read, would be part of it.
		if strings.ContainsAny(text, "()") {
			return
		}
		if whole, err := sql.Compile("(" + text + "\n)"); err == nil {
			if in := whole.Evaluate([]byte(props)); in != got {
				t.Errorf("%q is %v, in parentheses %v", text, got, in)
			}
			opposite, err := sql.Compile("NOT (" + text + "\n)")
			if err != nil {
				t.Fatal(err)
			}
			want := [...]sql.Verdict{sql.False: sql.True, sql.True: sql.False, sql.Unknown: sql.Unknown, sql.Failed: sql.Failed}[got]
			if not := opposite.Evaluate([]byte(props)); not != want {
				t.Errorf("%q is %v, its opposite %v", text, got, not)
			}
		}
	})
}
