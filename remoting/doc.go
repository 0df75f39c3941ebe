// Package remoting is RocketMQ's protocol without sockets: frames and commands, the
// JSON and ROCKETMQ header encodings, request and response codes, one typed header
// per request, bodies, and the router that leads an Exchange to its one handler.
//
// Rules: a decoded Command aliases its frame; whoever keeps something beyond the
// handler's return copies it. Nothing here allocates per message on the path of a
// send or a pull.
package remoting
