package testapi

import (
	"encoding/json"
	"fmt"
	"strconv"
	"time"
)

// instant is RFC 3339 or a number of ms since the Unix epoch, in JSON.
type instant int64

// UnmarshalJSON implements json.Unmarshaler.
func (i *instant) UnmarshalJSON(b []byte) error {
	text := string(b)
	if len(b) > 0 && b[0] == '"' {
		if err := json.Unmarshal(b, &text); err != nil {
			return err
		}
	}
	ms, err := parseInstant(text)
	*i = instant(ms)
	return err
}

// parseInstant reads RFC 3339, or ms since the Unix epoch.
func parseInstant(text string) (ms int64, err error) {
	if ms, err := strconv.ParseInt(text, 10, 64); err == nil && ms > 0 {
		return ms, nil
	}
	at, err := time.Parse(time.RFC3339, text)
	if err != nil || at.UnixMilli() <= 0 {
		return 0, fmt.Errorf("%q is no instant: want RFC 3339, as 2026-01-31T08:00:00Z, or milliseconds since 1970", text)
	}
	return at.UnixMilli(), nil
}

// instant is a parameter, ms; 0 when it is not given.
func (r *request) instant(name string) (int64, error) {
	if !r.has(name) {
		return 0, nil
	}
	ms, err := parseInstant(r.query.Get(name))
	if err != nil {
		return 0, invalid("%s: %v", name, err)
	}
	return ms, nil
}
