// Package broker assembles one broker: its services, the hooks of its Appender, its router
// table. It knows neither sockets nor gnet, and nothing reaches through it: every processor
// is given the few interfaces it needs.
package broker
