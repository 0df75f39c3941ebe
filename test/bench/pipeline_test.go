package bench

import (
	"encoding/binary"
	"fmt"
	"io"
	"net"
	"strconv"
	"sync"
)

// firstOpaque has ten digits, so that a prepared frame's opaque can be counted up in
// place without changing the frame's length.
const firstOpaque = 1_000_000_000

// prepared is an encoded request whose opaque is rewritten for every send.
type prepared struct {
	frame    []byte
	opaqueAt int
	// patch, when not nil, makes the n-th frame differ from the others, in place.
	patch func(frame []byte, n int)
}

// prepare encodes a request with a JSON header.
func prepare(code int, ext map[string]string, body []byte) prepared {
	head := []byte(`{"code":` + strconv.Itoa(code) + `,"flag":0,"language":"JAVA","opaque":`)
	at := 8 + len(head)
	head = strconv.AppendInt(head, firstOpaque, 10)
	head = append(head, `,"serializeTypeCurrentRPC":"JSON","version":513,"extFields":{`...)
	first := true
	for key, value := range ext {
		if !first {
			head = append(head, ',')
		}
		first = false
		head = append(head, '"')
		head = append(head, key...)
		head = append(head, `":"`...)
		for _, c := range []byte(value) {
			// Properties are separated by control characters, which JSON escapes.
			if c < 0x20 {
				head = append(head, fmt.Sprintf(`\u%04x`, c)...)
				continue
			}
			head = append(head, c)
		}
		head = append(head, '"')
	}
	head = append(head, "}}"...)
	frame := binary.BigEndian.AppendUint32(nil, uint32(4+len(head)+len(body)))
	frame = binary.BigEndian.AppendUint32(frame, uint32(len(head)))
	frame = append(frame, head...)
	return prepared{frame: append(frame, body...), opaqueAt: at}
}

// number writes the n-th opaque into a copy of the frame at the end of dst.
func (p prepared) number(dst []byte, n int) []byte {
	start := len(dst)
	dst = append(dst, p.frame...)
	opaque := firstOpaque + n
	for i := p.opaqueAt + 9; i >= p.opaqueAt; i-- {
		dst[start+i] = byte('0' + opaque%10)
		opaque /= 10
	}
	if p.patch != nil {
		p.patch(dst[start:], n)
	}
	return dst
}

// pipeline sends total copies of each connection's request, depth of them in flight, and
// returns when every reply has come. It counts replies whose code is not 0.
func pipeline(addr string, requests []prepared, depth, total int) (refused int, err error) {
	var wg sync.WaitGroup
	var mu sync.Mutex
	for _, request := range requests {
		wg.Go(func() {
			bad, e := pipelineOne(addr, request, depth, total)
			mu.Lock()
			defer mu.Unlock()
			refused += bad
			if e != nil {
				err = e
			}
		})
	}
	wg.Wait()
	return refused, err
}

func pipelineOne(addr string, request prepared, depth, total int) (refused int, err error) {
	nc, err := net.Dial("tcp", addr)
	if err != nil {
		return 0, err
	}
	defer nc.Close()
	var out []byte
	replies := replyCounter{r: nc, buf: make([]byte, 256<<10)}
	sent, done, room := 0, 0, depth
	for done < total {
		out = out[:0]
		for ; room > 0 && sent < total; room-- {
			out = request.number(out, sent)
			sent++
		}
		if len(out) > 0 {
			if _, err := nc.Write(out); err != nil {
				return refused, err
			}
		}
		n, bad, err := replies.next()
		if err != nil {
			return refused, err
		}
		done, room, refused = done+n, room+n, refused+bad
	}
	return refused, nil
}

// replyCounter counts the complete frames of a stream.
type replyCounter struct {
	r    io.Reader
	buf  []byte
	have int
}

// okPrefix is how a JSON header with code 0 starts, from either server.
var okPrefix = []byte(`{"code":0,`)

func (c *replyCounter) next() (frames, bad int, err error) {
	n, err := c.r.Read(c.buf[c.have:])
	if err != nil {
		return 0, 0, err
	}
	c.have += n
	at := 0
	for c.have-at >= 4 {
		size := 4 + int(binary.BigEndian.Uint32(c.buf[at:]))
		if c.have-at < size {
			break
		}
		if string(c.buf[at+8:at+8+len(okPrefix)]) != string(okPrefix) {
			bad++
		}
		frames++
		at += size
	}
	c.have = copy(c.buf, c.buf[at:c.have])
	return frames, bad, nil
}
