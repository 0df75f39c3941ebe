package testapi

import (
	"encoding/json"
	"fmt"
	"math"
	"strconv"
	"time"
)

// duration is text in Go's syntax or a number of ms, in JSON.
type duration time.Duration

// UnmarshalJSON implements json.Unmarshaler.
func (d *duration) UnmarshalJSON(b []byte) error {
	text := string(b)
	if len(b) > 0 && b[0] == '"' {
		if err := json.Unmarshal(b, &text); err != nil {
			return err
		}
	}
	got, err := parseDuration(text)
	*d = duration(got)
	return err
}

// parseDuration reads text in Go's syntax, or whole ms. It is not negative.
func parseDuration(text string) (time.Duration, error) {
	d, err := time.ParseDuration(text)
	if ms, e := strconv.ParseInt(text, 10, 64); e == nil {
		d, err = milliseconds(ms)
	}
	if err != nil {
		return 0, fmt.Errorf("%q is no duration: want for example 2h, 1m30s, 250ms, or milliseconds", text)
	}
	if d < 0 {
		return 0, fmt.Errorf("%q is negative: time goes on only", text)
	}
	return d, nil
}

func milliseconds(ms int64) (time.Duration, error) {
	const most = math.MaxInt64 / int64(time.Millisecond)
	if ms > most || ms < -most {
		return 0, fmt.Errorf("%d ms are more than %d", ms, most)
	}
	return time.Duration(ms) * time.Millisecond, nil
}
