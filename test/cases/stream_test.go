package cases

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"

	"github.com/wheelmq/wheelmq/test/suite"
	"github.com/wheelmq/wheelmq/test/wire"
)

// TestManyConnections_DoNotMixTheirFrames is case BR-74: frames of two
// connections ended up in one body. Every body carries its checksum and the
// connection that sent it.
func TestManyConnections_DoNotMixTheirFrames(t *testing.T) {
	t.Parallel()
	const (
		connections = 50
		each        = 100
		inFlight    = 4
		size        = 20_000
		queues      = 4
	)
	topic := suite.Name(t, "topic")
	c := dialBroker(t)
	c.MustCreateTopic(t, topic, queues)
	var wg sync.WaitGroup
	for i := range connections {
		conn := dialBroker(t)
		for lane := range inFlight {
			wg.Go(func() {
				random := rand.New(rand.NewPCG(uint64(i), uint64(lane)))
				for n := lane; n < each; n += inFlight {
					s := wire.Send{Topic: topic, QueueID: n % queues, Body: sealed(random, i, n, size)}
					answer, err := conn.Do(t.Context(), wire.SendMessageV2, s.Header(), s.Body)
					if err != nil || answer.Code != wire.Success {
						t.Errorf("connection %d, message %d: %v, %v", i, n, answer, err)
						return
					}
				}
			})
		}
	}
	wg.Wait()

	var mu sync.Mutex
	seen := make(map[[2]uint32]int)
	for queue := range queues {
		reader := dialBroker(t)
		reader.Settle(t, topic, queue, connections*each/queues)
		wg.Go(func() {
			err := pullSealed(t.Context(), reader, topic, queue, func(id [2]uint32) {
				mu.Lock()
				defer mu.Unlock()
				seen[id]++
			})
			if err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if len(seen) != connections*each {
		t.Errorf("%d different messages, want %d", len(seen), connections*each)
	}
	for id, n := range seen {
		if n != 1 {
			t.Errorf("message %d of connection %d is there %d times", id[1], id[0], n)
		}
	}
}

// pullSealed reads a queue to its end and hands over who sent each message.
func pullSealed(ctx context.Context, c *wire.Conn, topic string, queue int, found func([2]uint32)) error {
	p := wire.Pull{Group: "stream-reader", Topic: topic, QueueID: queue}
	for {
		got, err := c.Pull(ctx, p)
		if err != nil {
			return err
		}
		if got.Code == wire.PullNotFound {
			return nil
		}
		if got.Code != wire.Success {
			return fmt.Errorf("pull of queue %d at %d: %v", queue, p.Offset, got.Frame)
		}
		for _, m := range got.Messages {
			id, err := unseal(m.Body)
			if err != nil {
				return fmt.Errorf("queue %d, offset %d: %w", queue, m.QueueOffset, err)
			}
			found(id)
		}
		p.Offset = got.NextBeginOffset
	}
}

// sealed is a random body: SHA-256 of the rest (32), connection (4), number (4), noise.
func sealed(random *rand.Rand, connection, number, size int) []byte {
	body := make([]byte, sha256.Size, size+8)
	body = binary.BigEndian.AppendUint32(body, uint32(connection))
	body = binary.BigEndian.AppendUint32(body, uint32(number))
	for len(body) < size {
		body = binary.BigEndian.AppendUint64(body, random.Uint64())
	}
	sum := sha256.Sum256(body[sha256.Size:])
	copy(body, sum[:])
	return body
}

func unseal(body []byte) (id [2]uint32, err error) {
	if len(body) < sha256.Size+8 {
		return id, fmt.Errorf("body of %d bytes", len(body))
	}
	if sha256.Sum256(body[sha256.Size:]) != [sha256.Size]byte(body[:sha256.Size]) {
		return id, fmt.Errorf("the checksum of a body of %d bytes does not match", len(body))
	}
	id[0] = binary.BigEndian.Uint32(body[sha256.Size:])
	id[1] = binary.BigEndian.Uint32(body[sha256.Size+4:])
	return id, nil
}
