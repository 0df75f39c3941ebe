// Package virtualtime turns a virtual clock: from due instant to due instant, never past one
// whose messages are not delivered, and where it is asked to, never while a consumer is at work
// on what it was given.
package virtualtime
