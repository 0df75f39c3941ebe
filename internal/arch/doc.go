// Package arch holds the tests of the project's own rules: which way imports point, where time
// may come from, what is documented.
package arch
