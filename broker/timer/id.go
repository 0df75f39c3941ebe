package timer

import (
	"bytes"
	"strconv"
)

// ID names a message as long as it pends: one that gets another instant gets another ID. As text it
// is "d1800000000-4096", with a w for the d when the wall's clock decides.
type ID struct {
	Wall            bool  // the wall's clock decides when it is due, not message time
	Second          int64 // in whose slot it is kept, since the Unix epoch
	CommitLogOffset int64 // of its record, bytes
}

// String is the text of an ID.
func (id ID) String() string {
	b := append(make([]byte, 0, 32), 'd')
	if id.Wall {
		b[0] = 'w'
	}
	b = strconv.AppendInt(b, id.Second, 10)
	return string(strconv.AppendInt(append(b, '-'), id.CommitLogOffset, 10))
}

// ParseID reads the text of an ID.
func ParseID(text string) (id ID, ok bool) {
	if len(text) == 0 || text[0] != 'd' && text[0] != 'w' {
		return ID{}, false
	}
	second, offset, ok := bytes.Cut([]byte(text[1:]), []byte("-"))
	if !ok {
		return ID{}, false
	}
	s, err := strconv.ParseUint(string(second), 10, 62)
	o, err2 := strconv.ParseUint(string(offset), 10, 62)
	return ID{Wall: text[0] == 'w', Second: int64(s), CommitLogOffset: int64(o)}, err == nil && err2 == nil
}

// ID is what names p.
func (p *Pending) ID() ID {
	return ID{Wall: p.Wall, Second: p.second, CommitLogOffset: p.CommitLogOffset}
}
