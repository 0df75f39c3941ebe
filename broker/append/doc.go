// Package appender is the one door into the store. Everybody who writes — sends, send-backs,
// due messages — goes through an Appender, whose hooks are a visible ordered list.
package appender
