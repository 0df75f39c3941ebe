// Package virtual turns the virtual clock of an embedded server while the real Go client consumes.
package virtual
