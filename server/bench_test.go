package server

import (
	"io"
	"testing"
	"time"

	"github.com/wheelmq/wheelmq/remoting"
)

// BenchmarkInline measures one request through socket, loop, null handler and back, with
// 32 requests in one write. The client side allocates nothing.
func BenchmarkInline(b *testing.B) {
	s := start(b, Options{NumEventLoop: 1}, testRoutes(nil, nil))
	c := dial(b, s)
	_ = c.SetDeadline(time.Time{})
	const batch = 32
	var out []byte
	for i := range int32(batch) {
		out = append(out, request(codeDiscard, i, 0, make([]byte, 128))...)
	}
	reply := remoting.AppendReplyHead(nil, 0, new(remoting.Reply))
	size := 0
	for i := range int32(batch) {
		size += len(remoting.AppendReplyHead(nil, i, new(remoting.Reply)))
	}
	in := make([]byte, size)
	b.SetBytes(int64(len(reply)))
	b.ReportAllocs()
	b.ResetTimer()
	for n := 0; n < b.N; n += batch {
		if _, err := c.Write(out); err != nil {
			b.Fatal(err)
		}
		if _, err := io.ReadFull(c.Conn, in); err != nil {
			b.Fatal(err)
		}
	}
}
