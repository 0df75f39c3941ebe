package message

import (
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"net/netip"
)

const upperHex = "0123456789ABCDEF"

// AppendOffsetID appends an offset message id: upper-case hex of the store host's address
// (4 or 16 bytes), its port (4) and the CommitLog offset (8): 32 or 56 digits.
func AppendOffsetID(dst []byte, host netip.AddrPort, commitLogOffset int64) []byte {
	var raw [28]byte
	n := putHost(raw[:], host)
	binary.BigEndian.PutUint64(raw[n:], uint64(commitLogOffset))
	for _, c := range raw[:n+8] {
		dst = append(dst, upperHex[c>>4], upperHex[c&0xF])
	}
	return dst
}

// ParseOffsetID reads an offset message id.
func ParseOffsetID(id string) (host netip.AddrPort, commitLogOffset int64, err error) {
	if len(id) != 32 && len(id) != 56 {
		return host, 0, fmt.Errorf("message id %q has %d digits, want 32 or 56", id, len(id))
	}
	raw, err := hex.DecodeString(id)
	if err != nil {
		return host, 0, fmt.Errorf("message id %q: %w", id, err)
	}
	rest := tail{b: raw, ok: true}
	host = rest.host(len(id) == 56)
	return host, int64(rest.uint64()), nil
}
