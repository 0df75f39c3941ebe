package broker_test

import (
	"github.com/wheelmq/wheelmq/remoting"
)

// serve has the broker answer a request that comes by a connection.
func (l *lab) serve(conn remoting.Conn, language remoting.Language, code, opaque int32, ext *remoting.ExtWriter, body []byte) {
	l.t.Helper()
	var ex remoting.Exchange
	ex.Begin(conn)
	if err := remoting.Decode(remoting.AppendRequest(nil, code, opaque, 0, ext, body), &ex.Req); err != nil {
		l.t.Fatal(err)
	}
	ex.Req.Language = language
	l.broker.Router().Serve(&ex)
	if ex.Deferred() {
		return
	}
	if err := conn.SendParts(remoting.AppendReplyHead(nil, opaque, &ex.Reply), ex.Reply.Parts, ex.Reply.Release); err != nil {
		l.t.Fatal(err)
	}
}

// received is the command of a frame that the broker sends in parts.
func received(head []byte, parts [][]byte, release func()) (*remoting.Command, error) {
	for _, part := range parts {
		head = append(head, part...)
	}
	if release != nil {
		release()
	}
	cmd := new(remoting.Command)
	return cmd, remoting.Decode(head, cmd)
}
