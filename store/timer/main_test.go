package timer_test

import (
	"flag"
	"testing"
)

func TestMain(m *testing.M) {
	// A check is a life with many files. -rapid.checks on the command line wins.
	if err := flag.Set("rapid.checks", "40"); err != nil {
		panic(err)
	}
	m.Run()
}
