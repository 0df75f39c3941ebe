package message

import (
	"encoding/binary"
	"math/rand/v2"
	"net/netip"
	"os"
	"sync/atomic"
)

var (
	uniqSalt    = rand.Uint32()
	uniqCounter atomic.Uint32
)

// AppendUniqKey appends a UNIQ_KEY for a message whose client sent none: upper-case hex of an
// address (4 or 16 bytes), the process id (2), a number of this process (4), ms of the instant
// (4) and a counter (2): 32 or 56 digits.
func AppendUniqKey(dst []byte, addr netip.Addr, nowMillis int64) []byte {
	var raw [28]byte
	n := 4
	if addr.Is6() && !addr.Is4In6() {
		a := addr.As16()
		n = copy(raw[:], a[:])
	} else if addr.IsValid() {
		a := addr.Unmap().As4()
		copy(raw[:], a[:])
	}
	be := binary.BigEndian
	be.PutUint16(raw[n:], uint16(os.Getpid()))
	be.PutUint32(raw[n+2:], uniqSalt)
	be.PutUint32(raw[n+6:], uint32(nowMillis))
	be.PutUint16(raw[n+10:], uint16(uniqCounter.Add(1)))
	for _, c := range raw[:n+12] {
		dst = append(dst, upperHex[c>>4], upperHex[c&0xF])
	}
	return dst
}
