package wire

import (
	"encoding/json"
	"fmt"
	"strconv"
	"testing"
)

// Int64 reads a field of the answer that must be a number.
func (f *Frame) Int64(tb testing.TB, name string) int64 {
	tb.Helper()
	n, err := strconv.ParseInt(f.Ext[name], 10, 64)
	if err != nil {
		tb.Fatalf("field %s: %v in %v", name, err, f)
	}
	return n
}

// Int is Int64 for small numbers.
func (f *Frame) Int(tb testing.TB, name string) int {
	tb.Helper()
	return int(f.Int64(tb, name))
}

func mustJSON(tb testing.TB, v any) []byte {
	tb.Helper()
	b, err := json.Marshal(v)
	if err != nil {
		tb.Fatal(fmt.Errorf("wire: body: %w", err))
	}
	return b
}
