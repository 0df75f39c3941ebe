package sql_test

import (
	"testing"

	"github.com/wheelmq/wheelmq/broker/filter/sql"
)

// stored is what a record of a Java client has, beside two properties of its own.
var stored = properties("MSG_REGION", "DefaultRegion", "UNIQ_KEY", "7F00000100002A139A1500C4B0640000", "CLUSTER", "DefaultCluster",
	"region", "eu-west", "price", "17", "WAIT", "true", "TRACE_ON", "true", "TAGS", "orders")

var benched = []struct{ name, expression string }{
	{"text", "region = 'eu-east'"},
	{"integer", "price > 20"},
	{"decimal", "price > 20.5"},
	{"both", "price BETWEEN 5 AND 15 AND region IN ('eu-west', 'eu-east')"},
	{"missing", "colour = 'red'"},
	{"failed", "region > 5"},
	{"many", "a = '1' OR b = '1' OR c = '1' OR d = '1' OR e = '1' OR f = '1' OR g = '1' OR h = '1' OR price = '1'"},
}

func BenchmarkEvaluate(b *testing.B) {
	for _, bb := range benched {
		b.Run(bb.name, func(b *testing.B) {
			e, err := sql.Compile(bb.expression)
			if err != nil {
				b.Fatal(err)
			}
			b.ReportAllocs()
			for b.Loop() {
				if e.Match(stored) {
					b.Fatal("matches")
				}
			}
		})
	}
}

func TestEvaluateAllocatesNothing(t *testing.T) {
	for _, bb := range benched {
		e, err := sql.Compile(bb.expression)
		if err != nil {
			t.Fatal(err)
		}
		e.Match(stored)
		if n := testing.AllocsPerRun(100, func() { e.Match(stored) }); n >= 1 {
			t.Errorf("%s: %v allocations", bb.name, n)
		}
	}
}
