package sqlfilter

import (
	"flag"
	"math/rand/v2"
	"os"
	"strconv"
	"testing"
	"time"

	"github.com/wheelmq/wheelmq/broker/filter/sql"
)

// pairsEnv is how many pairs of an expression and a message's properties are generated.
const pairsEnv = "WHEELMQ_SQL_PAIRS"

// seed repeats a run.
var seed = flag.Uint64("seed", uint64(time.Now().UnixNano()), "seed of the generated expressions")

// perExpression is how many messages an expression meets.
const perExpression = 4

// TestVerdictsAreTheOfficialFilters asks both of generated pairs, 20,000 unless the environment
// says otherwise.
func TestVerdictsAreTheOfficialFilters(t *testing.T) {
	pairs := 20_000
	if text := os.Getenv(pairsEnv); text != "" {
		var err error
		if pairs, err = strconv.Atoi(text); err != nil {
			t.Fatalf("%s: %v", pairsEnv, err)
		}
	}
	t.Logf("seed %d", *seed)
	g := &generator{Rand: rand.New(rand.NewPCG(*seed, 0))}
	oracle := start(t)
	seen := make(map[byte]int)
	const round = 5_000
	for asked := 0; asked < pairs && !t.Failed(); asked += round * perExpression {
		questions := make([]question, min(round, (pairs-asked+perExpression-1)/perExpression))
		for i := range questions {
			questions[i].expression = g.expression()
			for range perExpression {
				questions[i].messages = append(questions[i].messages, g.properties())
			}
		}
		compare(t, oracle, questions, seen)
	}
	t.Logf("official verdicts: %d true, %d false, %d null, %d failed, %d expressions refused", seen['T'], seen['F'], seen['N'], seen['E'], seen['R'])
	for _, letter := range "TFNER" {
		if seen[byte(letter)] == 0 {
			t.Errorf("no verdict was %c", letter)
		}
	}
}

// compare fails the test where the two differ, and counts the official verdicts.
func compare(t *testing.T, oracle *official, questions []question, seen map[byte]int) {
	t.Helper()
	differences := 0
	for i, want := range oracle.ask(t, questions) {
		for _, letter := range []byte(want) {
			seen[letter]++
		}
		q := questions[i]
		got, reason := ours(q)
		if got == want {
			continue
		}
		if differences++; differences > 20 {
			t.Fatal("and more")
		}
		t.Errorf("%q over %q: %s (%v), want %s", q.expression, q.messages, got, reason, want)
	}
}

// ours answers as the official filter does.
func ours(q question) (answer string, reason error) {
	e, err := sql.Compile(q.expression)
	if err != nil {
		return refused, err
	}
	letters := make([]byte, len(q.messages))
	for i, properties := range q.messages {
		letters[i] = "FTNE"[e.Evaluate([]byte(properties))]
	}
	return string(letters), nil
}
