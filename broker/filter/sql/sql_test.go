package sql_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/wheelmq/wheelmq/broker/filter/sql"
	"github.com/wheelmq/wheelmq/message"
)

// properties encodes names and values in turn.
func properties(pairs ...string) []byte {
	var props []byte
	for i := 0; i < len(pairs); i += 2 {
		props = message.PropertyAppend(props, pairs[i], pairs[i+1])
	}
	return props
}

// The verdicts are those of the official filter, to which test/sqlfilter holds this package.
func TestEvaluate(t *testing.T) {
	t.Parallel()
	const f, y, n, e = sql.False, sql.True, sql.Unknown, sql.Failed
	// The messages: a=1, a=10, a=abc, a=3.5, no a.
	tests := []struct {
		expression string
		want       [5]sql.Verdict
	}{
		{"a > 2", [5]sql.Verdict{f, y, e, e, n}},
		{"2 < a", [5]sql.Verdict{f, y, e, e, n}},
		{"a > 2.0", [5]sql.Verdict{f, y, e, y, n}},
		{"a >= 3000000000", [5]sql.Verdict{f, f, e, e, n}},
		{"a = 10", [5]sql.Verdict{f, y, e, e, n}},
		{"a = '10'", [5]sql.Verdict{f, y, f, f, n}},
		{"'10' = a", [5]sql.Verdict{f, y, f, f, f}},
		{"a <> 1", [5]sql.Verdict{f, y, e, e, n}},
		{"a <> '1'", [5]sql.Verdict{f, y, y, y, n}},
		{"a BETWEEN 1 AND 5", [5]sql.Verdict{y, f, e, e, n}},
		{"a NOT BETWEEN 1 AND 5", [5]sql.Verdict{f, y, e, e, n}},
		{"a BETWEEN 5 AND -1", [5]sql.Verdict{f, f, e, e, n}},
		{"a IN ('1', 'abc')", [5]sql.Verdict{y, f, y, f, n}},
		{"a NOT IN ('abc')", [5]sql.Verdict{y, y, f, y, n}},
		{"a IN ('0','1','2','3','4','5','6','7','8','9')", [5]sql.Verdict{y, f, f, f, n}},
		{"a IS NULL", [5]sql.Verdict{f, f, f, f, y}},
		{"a IS NOT NULL", [5]sql.Verdict{y, y, y, y, f}},
		{"a = b", [5]sql.Verdict{f, f, f, f, y}},
		{"a > a", [5]sql.Verdict{f, f, e, f, n}},
		{"a CONTAINS 'b'", [5]sql.Verdict{f, f, y, f, f}},
		{"a NOT CONTAINS 'b'", [5]sql.Verdict{y, y, f, y, f}},
		{"a STARTSWITH '1'", [5]sql.Verdict{y, y, f, f, f}},
		{"a NOT endswith '0'", [5]sql.Verdict{y, f, y, y, f}},
		{"a CONTAINS ''", [5]sql.Verdict{f, f, f, f, f}},
		{"NOT (a > 2)", [5]sql.Verdict{y, f, e, e, n}},
		{"NOT a = 1", [5]sql.Verdict{f, f, f, f, n}},
		{"a", [5]sql.Verdict{f, f, f, f, n}},
		{"-a < 1", [5]sql.Verdict{n, n, n, n, n}},
		{"a = TRUE", [5]sql.Verdict{f, f, f, f, n}},
		{"TRUE = a", [5]sql.Verdict{e, e, e, e, f}},
		{"a > 2 OR TRUE", [5]sql.Verdict{y, y, e, e, y}},
		{"TRUE OR a > 2", [5]sql.Verdict{y, y, y, y, y}},
		{"a = 1 AND b = 1", [5]sql.Verdict{n, f, e, e, n}},
		{"b = 1 OR a = '1' OR b = 2", [5]sql.Verdict{y, n, n, n, n}},
		{"1 = 1 and TRUE", [5]sql.Verdict{y, y, y, y, y}},
		{"NULL", [5]sql.Verdict{n, n, n, n, n}},
		{"a = 1 whatever 'follows", [5]sql.Verdict{y, f, e, e, n}},
		{"/* one */ a -- two\n = '1'", [5]sql.Verdict{y, f, f, f, n}},
	}
	messages := [5][]byte{properties("a", "1"), properties("a", "10"), properties("a", "abc"), properties("a", "3.5"), properties("c", "1")}
	for _, tt := range tests {
		compiled, err := sql.Compile(tt.expression)
		if err != nil {
			t.Error(err)
			continue
		}
		for i, props := range messages {
			if got := compiled.Evaluate(props); got != tt.want[i] {
				t.Errorf("%s over %q is %v, want %v", tt.expression, props, got, tt.want[i])
			}
			if got := compiled.Match(props); got != (tt.want[i] == sql.True) {
				t.Errorf("%s over %q matches: %v", tt.expression, props, got)
			}
		}
	}
}

func TestTextsAreRead(t *testing.T) {
	t.Parallel()
	tests := []struct {
		expression, a string
		want          sql.Verdict
	}{
		{"a = 'it''s'", "it's", sql.True},
		{"a CONTAINS '签'", "标签", sql.True},
		{"a = 5", "+5", sql.True},
		{"a = 5", "٥", sql.True},
		{"a = 5", " 5", sql.Failed},
		{"a = 5", "5.0", sql.Failed},
		{"a = 5.0", " 5 ", sql.True},
		{"a = 5.0", "5f", sql.True},
		{"a = 8.0", "0x1p3", sql.True},
		{"a > 1.0", "NaN", sql.True},
		{"a > 1.0", "1e999", sql.True},
		{"a > 1.0", "inf", sql.Failed},
		{"a < 2147483647", "2147483648", sql.Failed},
		{"a > 2147483648", "9223372036854775808", sql.Failed},
		{"a = -2147483648", "-2147483648", sql.True},
		{"a = TRUE", "TrUe", sql.True},
		{"a = FALSE", "yes", sql.True},
	}
	for _, tt := range tests {
		e, err := sql.Compile(tt.expression)
		if err != nil {
			t.Error(err)
		} else if got := e.Evaluate(properties("a", tt.a)); got != tt.want {
			t.Errorf("%s of %q is %v, want %v", tt.expression, tt.a, got, tt.want)
		}
	}
}

func TestCompile_Refuses(t *testing.T) {
	t.Parallel()
	tests := []struct{ expression, reason string }{
		{"", "a value is expected at position 1"},
		{"a =", "a value is expected at position 4"},
		{"a LIKE 'x%' AND", ""}, // LIKE is not read: the expression is a
		{"a + 1 > 2", ""},       // as is + 1 > 2
		{"a > 'x'", "a property or a number is expected at position 5"},
		{"(a > 1) > 2", "a property or a number is expected at position 1"},
		{"a IN (1)", "a text in quotes is expected at position 7"},
		{"a IN ()", "a text in quotes is expected at position 7"},
		{"'x' IN ('x')", "IN is asked of a property only at position 1"},
		{"a CONTAINS b", "a text in quotes is expected at position 12"},
		{"a NOT 1", "BETWEEN, IN, CONTAINS, STARTSWITH or ENDSWITH is expected at position 7"},
		{"a BETWEEN 5 AND 1", "the lower bound of BETWEEN is above the upper one at position 11"},
		{"a BETWEEN 5", "AND is expected at position 12"},
		{"a = NULL", "NULL can only be asked for with IS at position 5"},
		{"a IS 1", "NULL is expected at position 6"},
		{"TRUE = 1", "a boolean is expected at position 8"},
		{"5", "a condition is expected at position 1"},
		{"a AND 'x'", "a condition is expected at position 7"},
		{"(a = 1", `")" is expected at position 7`},
		{"a = 9223372036854775808", "a number is greater than 9223372036854775807 at position 5"},
		{"a = 1e309", "a number is greater than 1.7976931348623157e+308 at position 5"},
		{"a = 0.0", "a decimal is less than 5e-324 at position 5"},
		{"a = 'x", `no token begins with "'" at position 5`},
		{"a = 1 ; b", `no token begins with ";" at position 7`},
		{"@", `no token begins with "@" at position 1`},
		{strings.Repeat("(", 1001) + "a" + strings.Repeat(")", 1001), "the expression is nested more than 1000 deep at position 1001"},
		{"a" + strings.Repeat(" IS NULL", 1001), "the expression is nested more than 1000 deep at position 8010"},
	}
	for _, tt := range tests {
		_, err := sql.Compile(tt.expression)
		if tt.reason == "" {
			if err != nil {
				t.Error(err)
			}
			continue
		}
		var syntax *sql.SyntaxError
		if !errors.As(err, &syntax) || !strings.HasSuffix(err.Error(), ": "+tt.reason) {
			t.Errorf("%.80q: %v, want %s", tt.expression, err, tt.reason)
		}
	}
}

func TestCompile_LongChainsAreNotDeep(t *testing.T) {
	t.Parallel()
	e, err := sql.Compile("a = 0" + strings.Repeat(" OR a = 1 AND a = 1", 20_000))
	if err != nil {
		t.Fatal(err)
	}
	if !e.Match(properties("a", "1")) || e.Match(properties("a", "2")) {
		t.Error("a chain of 40,000 conditions is evaluated wrongly")
	}
}

func TestEvaluate_ManyProperties(t *testing.T) {
	t.Parallel()
	names := strings.Fields("a b c d e f g h i j k l")
	e, err := sql.Compile(strings.Join(names, " = '1' AND ") + " = '1' AND l <> '2'")
	if err != nil {
		t.Fatal(err)
	}
	var props []byte
	for _, name := range names {
		if e.Match(props) {
			t.Fatalf("matches without %s", name)
		}
		props = message.PropertyAppend(props, name, "1")
	}
	if !e.Match(props) {
		t.Error("does not match")
	}
	if got := e.Evaluate(properties("l", "2")); got != sql.False {
		t.Errorf("values of another message are seen: %v", got)
	}
}
