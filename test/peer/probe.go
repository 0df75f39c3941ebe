package peer

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"strconv"
	"time"
)

// probeInterval is the pause between two readiness probes.
const probeInterval = 20 * time.Millisecond

// probeTimeout bounds one probe.
const probeTimeout = 20 * time.Second

// probeTopic exists on every broker from its start, takes sends from anybody
// and is shown by no client: a probe leaves no topic of its own behind.
const probeTopic = "BenchmarkTest"

// Request codes of the two probes (RocketMQ 5.5.0).
const (
	codeRoute = 105
	codeSend  = 310
)

// codeServiceNotAvailable answers sends to a broker that is up and takes none.
const codeServiceNotAvailable = 14

var errNotAvailable = errors.New("service not available")

// Send stores one message with the raw request that producers send, and returns
// the offset id that the broker gave it: 16 hex digits of its address and 16 of
// the CommitLog offset. properties is the wire form, key 0x01 value 0x02.
func Send(ctx context.Context, broker, topic string, queueID int, properties string, body []byte) (string, error) {
	answer, err := call(ctx, broker, codeSend, map[string]string{
		"a": "probe", "b": topic, "c": "TBW102", "d": "1", "e": strconv.Itoa(queueID), "f": "0",
		"g": strconv.FormatInt(time.Now().UnixMilli(), 10), "h": "0", "i": properties, "j": "0",
		"k": "false", "m": "false",
	}, body)
	if err != nil {
		return "", err
	}
	return answer.ExtFields["msgId"], nil
}

// probeSend asks the broker to store one small message.
func probeSend(ctx context.Context, broker string) error {
	_, err := Send(ctx, broker, probeTopic, 0, "", []byte("are you there?"))
	return err
}

// probeRoute asks the name server for a route, which it has only once the
// broker has registered.
func probeRoute(ctx context.Context, namesrv string) error {
	_, err := call(ctx, namesrv, codeRoute, map[string]string{"topic": probeTopic}, nil)
	return err
}

type probeHeader struct {
	Code      int               `json:"code"`
	Language  string            `json:"language"`
	Version   int               `json:"version"`
	Opaque    int               `json:"opaque"`
	Flag      int               `json:"flag"`
	Remark    string            `json:"remark,omitempty"`
	ExtFields map[string]string `json:"extFields,omitempty"`
}

// call sends one request with a JSON header on a connection of its own and
// wants code 0 back.
func call(ctx context.Context, addr string, code int, ext map[string]string, body []byte) (*probeHeader, error) {
	ctx, cancel := context.WithTimeout(ctx, probeTimeout)
	defer cancel()
	conn, err := (&net.Dialer{}).DialContext(ctx, "tcp", addr)
	if err != nil {
		return nil, err
	}
	defer conn.Close()
	if deadline, ok := ctx.Deadline(); ok {
		if err := conn.SetDeadline(deadline); err != nil {
			return nil, err
		}
	}
	header, err := json.Marshal(probeHeader{Code: code, Language: "GO", Version: 317, Opaque: 1, ExtFields: ext})
	if err != nil {
		return nil, err
	}
	if _, err := conn.Write(frame(header, body)); err != nil {
		return nil, err
	}
	answer, err := readHeader(conn)
	if err != nil {
		return nil, fmt.Errorf("request %d to %s: %w", code, addr, err)
	}
	if answer.Code == codeServiceNotAvailable {
		return nil, fmt.Errorf("request %d to %s: %w: %s", code, addr, errNotAvailable, answer.Remark)
	}
	if answer.Code != 0 {
		return nil, fmt.Errorf("request %d to %s: code %d %s", code, addr, answer.Code, answer.Remark)
	}
	return answer, nil
}

// frame lays out: total length (4) · header length with codec 0 in the top byte (4) · header · body.
func frame(header, body []byte) []byte {
	var b bytes.Buffer
	b.Grow(8 + len(header) + len(body))
	_ = binary.Write(&b, binary.BigEndian, uint32(4+len(header)+len(body)))
	_ = binary.Write(&b, binary.BigEndian, uint32(len(header)))
	b.Write(header)
	b.Write(body)
	return b.Bytes()
}

func readHeader(r io.Reader) (*probeHeader, error) {
	var lengths [8]byte
	if _, err := io.ReadFull(r, lengths[:]); err != nil {
		return nil, err
	}
	total := binary.BigEndian.Uint32(lengths[:4])
	size := binary.BigEndian.Uint32(lengths[4:]) & 0xFFFFFF
	if total > 16<<20 || size > total {
		return nil, fmt.Errorf("frame of %d bytes with a header of %d", total, size)
	}
	raw := make([]byte, size)
	if _, err := io.ReadFull(r, raw); err != nil {
		return nil, err
	}
	h := new(probeHeader)
	if err := json.Unmarshal(raw, h); err != nil {
		return nil, fmt.Errorf("header %q: %w", raw, err)
	}
	return h, nil
}
