// Package peer runs servers for the test suites: the real RocketMQ 5.5.0,
// whose artifacts Maven resolves, and WheelMQ's own binary.
//
// A suite asks for a Target and speaks to its addresses with real clients; the
// environment decides which server answers:
//
//	WHEELMQ_TARGET=ours|peer   which server StartTarget starts (default ours)
//	WHEELMQ_BIN=path           the WheelMQ binary; without it, it is built with the Go tool
//	WHEELMQ_REQUIRE_JAVA=1     a missing JDK, Maven or other tool fails a test instead of skipping it
//
// Both servers take the same broker.conf keys, so that one test describes one
// behaviour. Where the two differ on purpose, the difference stands in
// test/exceptions.md and is looked up with Exceptions.
//
// The package knows nothing of WheelMQ's internals: it is a second, independent
// reader of the protocol, just large enough to ask "do you accept a send?".
package peer
