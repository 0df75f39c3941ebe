// Command golang drives the official Go client of RocketMQ's gRPC protocol by the commands of package
// clients.
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"sync"
	"time"

	rocketmq "github.com/apache/rocketmq-clients/golang/v5"

	"github.com/wheelmq/wheelmq/test/proxy/clients"
)

// requestTimeout is for a busy machine.
const requestTimeout = 10 * time.Second

// maxLine bounds a command.
const maxLine = 1 << 20

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: golang host:port")
		os.Exit(2)
	}
	d := &driver{endpoint: os.Args[1], made: make(map[string]any)}
	lines := bufio.NewScanner(os.Stdin)
	lines.Buffer(nil, maxLine)
	for lines.Scan() {
		var c clients.Command
		if err := json.Unmarshal(lines.Bytes(), &c); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(2)
		}
		go d.serve(&c)
	}
}

// driver holds the clients by the names that commands gave them.
type driver struct {
	endpoint string

	mu       sync.Mutex
	made     map[string]any
	received []*rocketmq.MessageView // by Ref
	out      sync.Mutex
}

func (d *driver) serve(c *clients.Command) {
	r := &clients.Reply{ID: c.ID}
	if err := d.do(c, r); err != nil {
		r.Error = err.Error()
	}
	d.print(r)
}

func (d *driver) do(c *clients.Command, r *clients.Reply) error {
	switch c.Op {
	case clients.Producer:
		return d.producer(c)
	case clients.Simple:
		return d.simple(c)
	case clients.Push:
		return d.push(c)
	case clients.Send:
		return d.send(c, r)
	case clients.Transaction:
		return d.transaction(c, r)
	case clients.Receive:
		return d.receive(c, r)
	case clients.Ack:
		return d.ack(c)
	case clients.Invisible:
		return d.invisible(c)
	case clients.Close:
		return d.close(c)
	}
	return fmt.Errorf("this client cannot %s", c.Op)
}

func (d *driver) print(v any) {
	line, err := json.Marshal(v)
	if err != nil {
		line = fmt.Appendf(nil, `{"error":%q}`, err)
	}
	d.out.Lock()
	defer d.out.Unlock()
	fmt.Printf("%s\n", line)
}

func (d *driver) keep(name string, client any) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.made[name] = client
}

// client finds what a command named.
func client[T any](d *driver, name string) (T, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	c, ok := d.made[name].(T)
	if !ok {
		return c, fmt.Errorf("there is no client %q for that", name)
	}
	return c, nil
}

func (d *driver) close(c *clients.Command) error {
	stoppable, err := client[interface{ GracefulStop() error }](d, c.Client)
	if err != nil {
		return err
	}
	return stoppable.GracefulStop()
}
