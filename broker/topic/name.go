package topic

import (
	"strings"

	"github.com/wheelmq/wheelmq/message"
	"github.com/wheelmq/wheelmq/remoting"
)

const (
	maxNameLength        = 127
	maxDerivedNameLength = 255
)

// ValidateName refuses a topic name with code 29 as the real broker does: only
// ^[%|a-zA-Z0-9_-]+$, at most 127 characters (255 for %RETRY% and %DLQ% topics).
func ValidateName(name string) error {
	if strings.TrimSpace(name) == "" {
		return remoting.Errorf(remoting.InvalidParameter, "The specified topic is blank.")
	}
	if !validCharacters(name) {
		return remoting.Errorf(remoting.InvalidParameter,
			"The specified topic: %s, contains illegal characters, allowing only ^[%%|a-zA-Z0-9_-]+$", name)
	}
	limit := maxNameLength
	if strings.HasPrefix(name, message.PrefixRetry) || strings.HasPrefix(name, message.PrefixDLQ) {
		limit = maxDerivedNameLength
	}
	if len(name) > limit {
		return remoting.Errorf(remoting.InvalidParameter, "The specified topic: %s, is longer than topic max length: %d", name, limit)
	}
	return nil
}

func validCharacters[T string | []byte](name T) bool {
	for i := range len(name) {
		c := name[i]
		if c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '%' || c == '|' || c == '_' || c == '-' {
			continue
		}
		return false
	}
	return true
}
