package wheelmqtest

// TB is what a server needs of its test: a *testing.T, *testing.B or *testing.F, or what
// another framework has like them.
type TB interface {
	Helper()
	Cleanup(func())
	Failed() bool
	Logf(format string, args ...any)
	Fatalf(format string, args ...any)
}
