package admin

import "github.com/wheelmq/wheelmq/message"

// hasKey tells whether a message's KEYS, separated by blanks, have one.
func hasKey(keys, want string) bool {
	for rest := []byte(keys); ; {
		var key []byte
		if key, rest = message.NextKey(rest); len(key) == 0 {
			return false
		} else if string(key) == want {
			return true
		}
	}
}
