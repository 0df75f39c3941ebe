package message

import "fmt"

// BatchItem is one message of a batch body. Its slices alias the body.
type BatchItem struct {
	Flag       int32
	Body       []byte
	Properties []byte
}

// NextInBatch cuts the first message off the body of a batch send (code 320): total size
// i4, magic i4, CRC i4 (both 0), flag i4, body length i4 and body, properties length i2 and
// properties.
func NextInBatch(body []byte) (item BatchItem, rest []byte, err error) {
	head := tail{b: body, ok: true}
	size := int(int32(head.uint32()))
	if !head.ok || size < 22 || size > len(body) {
		return item, nil, fmt.Errorf("%w: a batch item of size %d in %d bytes", ErrMalformed, size, len(body))
	}
	t := tail{b: body[4:size], ok: true}
	t.take(8)
	item.Flag = int32(t.uint32())
	item.Body = t.take(int(int32(t.uint32())))
	item.Properties = t.take(int(t.uint16()))
	if !t.ok || len(t.b) != 0 {
		return BatchItem{}, nil, fmt.Errorf("%w: a batch item's lengths do not add up to %d", ErrMalformed, size)
	}
	return item, body[size:], nil
}
