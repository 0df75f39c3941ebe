package compat

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"

	rocketmq "github.com/apache/rocketmq-client-go/v2"
	"github.com/apache/rocketmq-client-go/v2/consumer"
	"github.com/apache/rocketmq-client-go/v2/primitive"
)

// childEnv makes this test binary a consumer instead: name server, group, topic,
// instance name and whether it consumes in order, separated by blanks.
const childEnv = "WHEELMQ_COMPAT_CONSUMER"

// runChild consumes and prints "got body" per message until its input ends,
// which also happens when the parent dies.
func runChild(arguments string) error {
	args := strings.Fields(arguments)
	if len(args) != 5 {
		return fmt.Errorf("%s=%q", childEnv, arguments)
	}
	c, err := rocketmq.NewPushConsumer(
		consumer.WithNameServer(primitive.NamesrvAddr{args[0]}), consumer.WithGroupName(args[1]),
		consumer.WithInstance(args[3]), consumer.WithConsumerOrder(args[4] == "true"), consumer.WithConsumeFromWhere(consumer.ConsumeFromFirstOffset))
	if err != nil {
		return err
	}
	var mu sync.Mutex
	err = c.Subscribe(args[2], consumer.MessageSelector{}, func(_ context.Context, messages ...*primitive.MessageExt) (consumer.ConsumeResult, error) {
		mu.Lock()
		defer mu.Unlock()
		for _, m := range messages {
			fmt.Printf("got %s\n", m.Body)
		}
		return consumer.ConsumeSuccess, nil
	})
	if err != nil {
		return err
	}
	if err := c.Start(); err != nil {
		return err
	}
	if _, err := io.Copy(io.Discard, os.Stdin); err != nil {
		return err
	}
	return c.Shutdown()
}

// child is a consumer in a process of its own.
type child struct {
	cmd   *exec.Cmd
	stdin io.Closer
	ended sync.WaitGroup

	mu     sync.Mutex
	bodies map[string]int
}

// startChild starts a consumer of the lab's group in a process of its own.
func (l *lab) startChild(t *testing.T) *child { return l.startChildOf(t, false) }

func (l *lab) startChildOf(t *testing.T, inOrder bool) *child {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(self)
	cmd.Env = append(os.Environ(), childEnv+"="+strings.Join([]string{l.server.NameServerAddr, l.group, l.topic, instanceName(), strconv.FormatBool(inOrder)}, " "))
	cmd.Stderr = os.Stderr
	stdin, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	c := &child{cmd: cmd, stdin: stdin, bodies: make(map[string]int)}
	c.ended.Go(func() {
		for lines := bufio.NewScanner(stdout); lines.Scan(); {
			if body, ok := strings.CutPrefix(lines.Text(), "got "); ok {
				c.mu.Lock()
				c.bodies[body]++
				c.mu.Unlock()
			}
		}
	})
	t.Cleanup(c.kill)
	return c
}

// counts are the bodies that the process has reported.
func (c *child) counts() map[string]int {
	c.mu.Lock()
	defer c.mu.Unlock()
	counts := make(map[string]int, len(c.bodies))
	maps.Copy(counts, c.bodies)
	return counts
}

// freeze stops the process from reading anything, its sockets included.
func (c *child) freeze(t *testing.T) {
	t.Helper()
	if err := c.cmd.Process.Signal(syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
}

// kill ends the process at once. The kernel closes its sockets: with FIN, or
// with RST where something is still unread.
func (c *child) kill() {
	if err := c.cmd.Process.Kill(); errors.Is(err, os.ErrProcessDone) {
		return
	}
	c.ended.Wait()
	_ = c.cmd.Wait()
}
