package redeliver

import (
	"sync/atomic"

	"github.com/wheelmq/wheelmq/store"
)

// Flight counts the copies of a batch that are appended and not yet known to be stored for good.
// It is used again and again; its maker counts as a copy until it is done.
type Flight struct {
	// Wake is called when the last copy is told about, after the making; set it once.
	Wake func()

	left   atomic.Int32 // copies not told about yet
	failed atomic.Bool
}

// Begin makes the flight a new one, whose maker is under way.
func (f *Flight) Begin() {
	f.failed.Store(false)
	f.left.Store(1)
}

// Add counts a copy that is about to be appended.
func (f *Flight) Add() { f.left.Add(1) }

// Drop takes back an Add whose copy nobody will tell about; or ends the making. It tells whether
// nothing is to be heard of any more.
func (f *Flight) Drop() (landed bool) { return f.left.Add(-1) == 0 }

// PutDone implements store.Completion.
func (f *Flight) PutDone(res store.PutResult) {
	if !res.OK() {
		f.failed.Store(true)
	}
	if f.Drop() {
		f.Wake()
	}
}

// Landed tells that nothing is to be heard of any more.
func (f *Flight) Landed() bool { return f.left.Load() == 0 }

// Failed tells that a copy is not stored for good.
func (f *Flight) Failed() bool { return f.failed.Load() }
