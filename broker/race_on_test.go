//go:build race

package broker_test

// raced: the race detector sees torn reads of what a kill leaves.
const raced = true
