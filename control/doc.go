// Package control is what a test does to a running server beside what clients do: it turns the
// clock, looks into the broker, makes it fail, and ends, empties and restores it. The HTTP API
// below /test and package wheelmqtest are two ways to it.
package control
