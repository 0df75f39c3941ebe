// Package fault lets a test break a running server on purpose, in small and named ways: a Rule
// says which requests, or which part of the server, fail and how. Servers that are not under
// test have no Rules at all.
package fault
