// Package redeliver makes the copies of pending messages that schedulers put into real topics: what
// a copy holds, the identity by which it is recognised after a crash, how copies on their way are
// counted, how their makers sleep in between, and what a refusal means.
package redeliver
