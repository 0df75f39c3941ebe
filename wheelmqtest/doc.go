// Package wheelmqtest runs a RocketMQ-compatible server inside a Go test:
//
//	mq := wheelmqtest.Start(t, wheelmqtest.Topic("orders", 4), wheelmqtest.VirtualClock())
//	// Point any RocketMQ client at mq.NameServerAddr(), unchanged.
//	mq.Advance(2 * time.Hour) // a message delayed by two hours is there now
//
// A server is ready in milliseconds, keeps its store in memory, takes free ports of the
// loopback interface, and is gone when its test ends; as many as wanted run side by side. When
// the test fails, its log shows what the server logged and the last exchanges with clients.
//
// The package brings no client: a test keeps the version that its program uses.
package wheelmqtest
