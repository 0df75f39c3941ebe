package namesrv

import (
	"bytes"
	"compress/zlib"
	"encoding/binary"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/wheelmq/wheelmq/remoting"
	"github.com/wheelmq/wheelmq/remoting/fastjson"
)

// firstBodyVersion is V3_0_11: older brokers send the topic table alone.
const firstBodyVersion = 37

// maxInflated bounds a decompressed registration, bytes.
const maxInflated = 64 << 20

// decodeRegisterBody reads the body of REGISTER_BROKER (103) in its three forms.
func decodeRegisterBody(body []byte, compressed bool, version int32) (*remoting.TopicConfigWrapper, error) {
	switch {
	case len(body) == 0:
		return new(remoting.TopicConfigWrapper), nil
	case compressed:
		return inflateRegisterBody(body)
	case version < firstBodyVersion:
		topics := new(remoting.TopicConfigWrapper)
		return topics, fastjson.Unmarshal(body, topics)
	default:
		full := new(remoting.RegisterBrokerBody)
		return &full.TopicConfigSerializeWrapper, fastjson.Unmarshal(body, full)
	}
}

// inflateRegisterBody reads the zlib form: i4 length + DataVersion JSON, i4 number of
// topics, each i4 length + "name read write perm filterType attributesJSON"; what follows
// (filter servers, queue mappings) is not used.
func inflateRegisterBody(body []byte) (*remoting.TopicConfigWrapper, error) {
	z, err := zlib.NewReader(bytes.NewReader(body))
	if err != nil {
		return nil, fmt.Errorf("inflate registration: %w", err)
	}
	plain, err := io.ReadAll(io.LimitReader(z, maxInflated+1))
	if err != nil {
		return nil, fmt.Errorf("inflate registration: %w", err)
	}
	if len(plain) > maxInflated {
		return nil, fmt.Errorf("inflate registration: more than %d bytes", maxInflated)
	}
	r := blobReader{b: plain}
	topics := &remoting.TopicConfigWrapper{TopicConfigTable: make(map[string]remoting.TopicConfig)}
	if err := fastjson.Unmarshal(r.blob(), &topics.DataVersion); err != nil {
		return nil, fmt.Errorf("inflate registration: data version: %w", err)
	}
	for range r.int() {
		text := r.blob()
		if r.failed {
			break
		}
		config, err := parseTopicConfig(string(text))
		if err != nil {
			return nil, err
		}
		topics.TopicConfigTable[config.TopicName] = config
	}
	if r.failed {
		return nil, fmt.Errorf("inflate registration: truncated")
	}
	return topics, nil
}

func parseTopicConfig(text string) (remoting.TopicConfig, error) {
	parts := strings.SplitN(text, " ", 6)
	if len(parts) < 5 {
		return remoting.TopicConfig{}, fmt.Errorf("topic config %q: want five fields or more", text)
	}
	config := remoting.TopicConfig{TopicName: parts[0], TopicFilterType: parts[4]}
	for i, into := range []*int32{&config.ReadQueueNums, &config.WriteQueueNums, &config.Perm} {
		n, err := strconv.ParseInt(parts[i+1], 10, 32)
		if err != nil {
			return config, fmt.Errorf("topic config %q: %w", text, err)
		}
		*into = int32(n)
	}
	return config, nil
}

// blobReader reads lengths and blobs; failed turns true when one does not fit.
type blobReader struct {
	b      []byte
	failed bool
}

func (r *blobReader) int() int {
	if len(r.b) < 4 {
		r.failed = true
		return 0
	}
	n := int(int32(binary.BigEndian.Uint32(r.b)))
	r.b = r.b[4:]
	if n < 0 || n > len(r.b) {
		// Both lengths and counts of what follows are at most the bytes that follow.
		r.failed = true
		return 0
	}
	return n
}

func (r *blobReader) blob() []byte {
	n := r.int()
	blob := r.b[:n]
	r.b = r.b[n:]
	return blob
}
