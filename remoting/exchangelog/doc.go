// Package exchangelog keeps the last requests of a server under test and their answers, so that
// a test that fails can show what was said. What clients say over and over, heartbeats, looks at
// routes, commits and pulls that find nothing, is counted in one row and pushes nothing else out.
package exchangelog
