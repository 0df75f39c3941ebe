package fastjson

import (
	"fmt"

	jsoniter "github.com/json-iterator/go"
)

// api is compatible with encoding/json: sorted map keys, HTML left alone.
var api = jsoniter.Config{SortMapKeys: true, ValidateJsonRawMessage: true}.Froze()

// Marshal writes strict JSON with sorted map keys.
func Marshal(v any) ([]byte, error) { return api.Marshal(v) }

// Unmarshal reads strict JSON or the dialect. A key that is an object becomes a string key
// with the object's text.
func Unmarshal(data []byte, v any) error {
	strict, err := Strict(data)
	if err != nil {
		return err
	}
	return api.Unmarshal(strict, v)
}

// Strict rewrites the dialect as strict JSON; strict JSON is passed on unchanged.
func Strict(data []byte) ([]byte, error) {
	r := rewriter{in: data, out: make([]byte, 0, len(data)+16)}
	if err := r.value(0); err != nil {
		return nil, err
	}
	r.blank()
	if r.at != len(r.in) {
		return nil, r.fail("nothing more")
	}
	return r.out, nil
}

// maxDepth bounds the nesting: a hostile body must not exhaust the stack.
const maxDepth = 200

type rewriter struct {
	in  []byte
	at  int
	out []byte
	// inKey refuses an object key inside an object key: every level would double the
	// backslashes of the text, and no class of RocketMQ has one.
	inKey bool
}

func (r *rewriter) fail(want string) error {
	return fmt.Errorf("fastjson: byte %d: want %s", r.at, want)
}

func (r *rewriter) blank() {
	for r.at < len(r.in) {
		switch r.in[r.at] {
		case ' ', '\t', '\n', '\r':
			r.at++
		default:
			return
		}
	}
}

func (r *rewriter) peek() byte {
	r.blank()
	if r.at < len(r.in) {
		return r.in[r.at]
	}
	return 0
}

func (r *rewriter) value(depth int) error {
	if depth > maxDepth {
		return r.fail("fewer levels")
	}
	switch c := r.peek(); c {
	case '{':
		return r.object(depth)
	case '[':
		return r.array(depth)
	case '"', '\'':
		return r.text()
	case 0:
		return r.fail("a value")
	default:
		word := r.word()
		if len(word) == 0 {
			return r.fail("a value")
		}
		r.out = append(r.out, word...)
		return nil
	}
}

func (r *rewriter) object(depth int) error {
	r.at++
	r.out = append(r.out, '{')
	for first := true; ; first = false {
		if r.peek() == '}' {
			r.at++
			r.out = append(r.out, '}')
			return nil
		}
		if !first {
			if r.peek() != ',' {
				return r.fail("a comma or }")
			}
			r.at++
			if r.peek() == '}' {
				continue
			}
			r.out = append(r.out, ',')
		}
		if err := r.key(depth); err != nil {
			return err
		}
		if r.peek() != ':' {
			return r.fail("a colon")
		}
		r.at++
		r.out = append(r.out, ':')
		if err := r.value(depth + 1); err != nil {
			return err
		}
	}
}

func (r *rewriter) key(depth int) error {
	switch r.peek() {
	case '"', '\'':
		return r.text()
	case '{':
		if r.inKey {
			return r.fail("a key that is no object")
		}
		inner := rewriter{in: r.in, at: r.at, inKey: true}
		if err := inner.value(depth + 1); err != nil {
			return err
		}
		r.at = inner.at
		r.out = appendQuoted(r.out, inner.out)
		return nil
	default:
		word := r.word()
		if len(word) == 0 {
			return r.fail("a key")
		}
		r.out = appendQuoted(r.out, word)
		return nil
	}
}

func (r *rewriter) array(depth int) error {
	r.at++
	r.out = append(r.out, '[')
	for first := true; ; first = false {
		if r.peek() == ']' {
			r.at++
			r.out = append(r.out, ']')
			return nil
		}
		if !first {
			if r.peek() != ',' {
				return r.fail("a comma or ]")
			}
			r.at++
			if r.peek() == ']' {
				continue
			}
			r.out = append(r.out, ',')
		}
		if err := r.value(depth + 1); err != nil {
			return err
		}
	}
}

// text copies a string; one in single quotes gets double ones.
func (r *rewriter) text() error {
	quote := r.in[r.at]
	r.out = append(r.out, '"')
	for r.at++; r.at < len(r.in); r.at++ {
		switch c := r.in[r.at]; {
		case c == quote:
			r.at++
			r.out = append(r.out, '"')
			return nil
		case c == '"':
			r.out = append(r.out, '\\', '"')
		case c == '\\':
			r.at++
			if r.at == len(r.in) {
				return r.fail("an escape")
			}
			r.escape(r.in[r.at])
		default:
			r.out = appendPlain(r.out, c)
		}
	}
	return r.fail("the end of a string")
}

// escape copies an escape; those that strict JSON does not know are written plainly.
func (r *rewriter) escape(c byte) {
	switch c {
	case '"', '\\', '/', 'b', 'f', 'n', 'r', 't', 'u':
		r.out = append(r.out, '\\', c)
	default:
		r.out = appendPlain(r.out, c)
	}
}

// appendPlain writes a byte of a string that needs no escape in the dialect.
func appendPlain(dst []byte, c byte) []byte {
	if c < 0x20 {
		const digits = "0123456789abcdef"
		return append(dst, '\\', 'u', '0', '0', digits[c>>4], digits[c&0xF])
	}
	return append(dst, c)
}

func (r *rewriter) word() []byte {
	start := r.at
	for r.at < len(r.in) {
		c := r.in[r.at]
		if c >= '0' && c <= '9' || c|0x20 >= 'a' && c|0x20 <= 'z' || c == '-' || c == '+' || c == '.' || c == '_' || c == '$' {
			r.at++
			continue
		}
		break
	}
	return r.in[start:r.at]
}

func appendQuoted(dst, content []byte) []byte {
	dst = append(dst, '"')
	for _, c := range content {
		if c == '"' || c == '\\' {
			dst = append(dst, '\\')
		}
		dst = append(dst, c)
	}
	return append(dst, '"')
}
