//go:build race

package timer_test

// raced: the race detector sees torn reads of what a power cut leaves.
const raced = true
