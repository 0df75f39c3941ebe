package doctor

import (
	"context"
	"errors"
	"io"
	"net"
	"syscall"

	"github.com/wheelmq/wheelmq/remoting"
	"github.com/wheelmq/wheelmq/remoting/client"
)

// kind is what answers at an address.
type kind int

const (
	nobody     kind = iota // the connection is refused
	silent                 // nothing comes back: a firewall, a wrong address
	mute                   // the connection is taken, and nothing comes back: it hangs
	stranger               // something that does not speak RocketMQ's protocol
	web                    // an HTTP server
	nameServer             // or both in one
	broker
)

// probe tells what answers at host:port; the error tells why no connection was made.
func (e *examiner) probe(ctx context.Context, addr string) (k kind, err error) {
	asking, cancel := context.WithTimeout(ctx, e.Timeout)
	defer cancel()
	conn, err := client.Dial(asking, addr)
	if err != nil {
		return unconnected(err), err
	}
	defer conn.Close()
	var none remoting.ExtWriter
	reply, failed := conn.Exchange(asking, remoting.GetBrokerClusterInfo, &none, nil)
	switch {
	case failed == nil && reply.Code == remoting.Success:
		return nameServer, nil
	case failed == nil:
		return broker, nil
	case e.speaksHTTP(ctx, addr):
		return web, nil
	case errors.Is(failed, context.DeadlineExceeded):
		return mute, nil
	}
	return stranger, nil
}

// unconnected tells why a connection was not made.
func unconnected(err error) kind {
	if errors.Is(err, syscall.ECONNREFUSED) {
		return nobody
	}
	return silent
}

// speaksHTTP asks for a page.
func (e *examiner) speaksHTTP(ctx context.Context, addr string) bool {
	ctx, cancel := context.WithTimeout(ctx, e.Timeout)
	defer cancel()
	var d net.Dialer
	conn, err := d.DialContext(ctx, "tcp", addr)
	if err != nil {
		return false
	}
	defer conn.Close()
	if deadline, ok := ctx.Deadline(); ok && conn.SetDeadline(deadline) != nil {
		return false
	}
	if _, err := io.WriteString(conn, "GET /health HTTP/1.0\r\n\r\n"); err != nil {
		return false
	}
	head := make([]byte, 5)
	_, err = io.ReadFull(conn, head)
	return err == nil && string(head) == "HTTP/"
}
