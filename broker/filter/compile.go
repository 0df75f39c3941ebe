package filter

import (
	"strings"

	"github.com/wheelmq/wheelmq/broker/filter/sql"
	"github.com/wheelmq/wheelmq/remoting"
)

// Expression types of RocketMQ.
const (
	TypeTag   = "TAG"
	TypeSQL92 = "SQL92"
)

// MaxSQL is the length of an SQL92 expression, bytes. The real broker takes any, and what is long
// enough to end its stack matches nothing there.
const MaxSQL = 65_536

// ByTag tells whether expressions of a type are of tags.
func ByTag[T string | []byte](expressionType T) bool {
	return len(expressionType) == 0 || string(expressionType) == TypeTag
}

// Compile compiles a subscription expression as FilterAPI.build and the SQL92 filter do: no type is
// TAG, an empty TAG expression is "*", tags are separated by "||". An expression that is not a
// filter is an *remoting.Error with code 23 (SUBSCRIPTION_PARSE_FAILED); so is any other type.
func Compile(expressionType, expression string) (*Filter, error) {
	switch {
	case ByTag(expressionType):
		return compileTags(expression)
	case expressionType != TypeSQL92:
		return nil, broken("expression type %q is unknown", expressionType)
	case expression == "":
		return nil, broken("the SQL92 expression is empty")
	case len(expression) > MaxSQL:
		return nil, broken("the SQL92 expression has %d bytes, more than %d", len(expression), MaxSQL)
	}
	expr, err := sql.Compile(expression)
	if err != nil {
		return nil, broken("%v", err)
	}
	return &Filter{expr: expr}, nil
}

func broken(format string, args ...any) error {
	return remoting.Errorf(remoting.SubscriptionParseFailed, "parse the consumer's subscription failed: "+format, args...)
}

func compileTags(expression string) (*Filter, error) {
	if expression == "" || expression == subAll {
		return All, nil
	}
	if strings.Trim(expression, "|") == "" && strings.Contains(expression, "||") {
		return nil, broken("%q has no tag", expression)
	}
	return Tags(Split(expression), nil), nil
}
