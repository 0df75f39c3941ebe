package main

import (
	"fmt"
	"strconv"
	"unicode/utf8"

	"github.com/wheelmq/wheelmq/admin"
)

// readableMessage is a message as programs read it.
type readableMessage struct {
	*admin.Message
	Text string `json:"text,omitempty"` // the body, when it is text
}

func readable(m *admin.Message) readableMessage {
	r := readableMessage{Message: m}
	if m.Compressed == "" && utf8.Valid(m.Body) {
		r.Text = string(m.Body)
	}
	return r
}

// bodyLine is a body on one line: as it is when it can be printed, else quoted.
func bodyLine(m *admin.Message) string {
	switch {
	case m.Compressed != "":
		return fmt.Sprintf("(%d bytes, compressed with %s)", len(m.Body), m.Compressed)
	case !utf8.Valid(m.Body):
		return fmt.Sprintf("(%d bytes) %s", len(m.Body), strconv.Quote(string(m.Body)))
	}
	for _, r := range string(m.Body) {
		if !strconv.IsPrint(r) {
			return strconv.Quote(string(m.Body))
		}
	}
	return string(m.Body)
}
