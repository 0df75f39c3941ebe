// Package doctor finds out why clients do not reach a topic: it goes the way that a client goes, and says in
// one sentence what is wrong where it ends.
package doctor
