// Package wire is a raw remoting client for tests: it writes and reads frames
// with a codec of its own, so that what it says about a server does not rest
// on the server's own code.
//
// It knows the frame (length, header, body), headers in JSON and in the
// ROCKETMQ binary form, the binary layout of messages, and the handful of
// requests that the suites need. It retries nothing and hides nothing: an
// answer is handed over with its code, whatever it is.
package wire
