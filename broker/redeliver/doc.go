// Package redeliver makes the copies of pending messages that schedulers put into real topics: what
// a copy holds, the identity by which it is recognised after a crash, and what a refusal means.
package redeliver
