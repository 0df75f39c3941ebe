package remoting

import (
	"bytes"
	"strconv"
)

// ExtWriter collects the extFields of a command that is being built, already in their
// JSON form (`"k":"v","k2":"v2"`), in a buffer that is reused. The zero value is ready.
type ExtWriter struct {
	buf     []byte
	present bool
}

// Reset forgets everything and keeps the memory.
func (w *ExtWriter) Reset() { w.buf, w.present = w.buf[:0], false }

// Open makes the command carry an extFields object even if no field follows, as the
// real broker does for requests that have a response header class.
func (w *ExtWriter) Open() { w.present = true }

// String adds a field.
func (w *ExtWriter) String(key, value string) {
	w.key(key)
	w.buf = AppendJSONString(w.buf, value)
}

// Bytes adds a field whose value is UTF-8 text.
func (w *ExtWriter) Bytes(key string, value []byte) {
	w.key(key)
	w.buf = AppendJSONString(w.buf, value)
}

// Plain adds a field whose value needs no escapes: printable ASCII without quotes and
// backslashes.
func (w *ExtWriter) Plain(key string, value []byte) {
	w.key(key)
	w.buf = append(w.buf, '"')
	w.buf = append(w.buf, value...)
	w.buf = append(w.buf, '"')
}

// Fields adds the fields that other holds, already encoded.
func (w *ExtWriter) Fields(other *ExtWriter) {
	if len(w.buf) > 0 && len(other.buf) > 0 {
		w.buf = append(w.buf, ',')
	}
	w.present = w.present || other.present
	w.buf = append(w.buf, other.buf...)
}

// Int adds a decimal field.
func (w *ExtWriter) Int(key string, value int64) {
	w.key(key)
	w.buf = append(w.buf, '"')
	w.buf = strconv.AppendInt(w.buf, value, 10)
	w.buf = append(w.buf, '"')
}

// Bool adds a "true" or "false" field.
func (w *ExtWriter) Bool(key string, value bool) {
	w.key(key)
	w.buf = append(w.buf, '"')
	w.buf = strconv.AppendBool(w.buf, value)
	w.buf = append(w.buf, '"')
}

// optBytes adds a field unless it is nil.
func (w *ExtWriter) optBytes(key string, value []byte) {
	if value != nil {
		w.Bytes(key, value)
	}
}

// optInt adds a field unless it is what its absence means.
func (w *ExtWriter) optInt(key string, value, absent int64) {
	if value != absent {
		w.Int(key, value)
	}
}

func (w *ExtWriter) key(key string) {
	if len(w.buf) > 0 {
		w.buf = append(w.buf, ',')
	}
	w.present = true
	w.buf = append(w.buf, '"')
	w.buf = append(w.buf, key...)
	w.buf = append(w.buf, '"', ':')
}

// Value finds the text of a field whose value was written without escapes, like numbers and
// ids; nil when there is none. It is for logs: it looks through the encoded fields.
func (w *ExtWriter) Value(key string) []byte {
	for at := 0; ; {
		i := bytes.Index(w.buf[at:], []byte(key))
		if i < 0 {
			return nil
		}
		at += i + len(key)
		if i == 0 || w.buf[at-len(key)-1] != '"' || !bytes.HasPrefix(w.buf[at:], []byte(`":"`)) {
			continue
		}
		value := w.buf[at+3:]
		if end := bytes.IndexByte(value, '"'); end >= 0 {
			return value[:end]
		}
		return nil
	}
}
