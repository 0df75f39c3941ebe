package filter

import (
	"strings"

	"github.com/wheelmq/wheelmq/message"
	"github.com/wheelmq/wheelmq/remoting"
)

// Expression types of RocketMQ.
const (
	TypeTag   = "TAG"
	TypeSQL92 = "SQL92"
)

// SubAll is the expression that wants every record.
const SubAll = "*"

// SQLRefused is the remark that answers an SQL92 subscription.
const SQLRefused = "SQL92 filters are not supported yet, subscribe by TAG"

// Filter is a compiled expression. It is immutable.
type Filter struct {
	all   bool
	codes []int32
	set   map[int32]struct{} // instead of codes when they are many
}

// manyTags is where a map beats a scan.
const manyTags = 16

// All wants every record.
var All = &Filter{all: true}

// Compile compiles a subscription expression as FilterAPI.build does: no type is TAG, an
// empty TAG expression is "*", tags are separated by "||". An expression that is not a
// filter is an *remoting.Error with code 23 (SUBSCRIPTION_PARSE_FAILED); so are SQL92 and
// unknown types.
func Compile(expressionType, expression string) (*Filter, error) {
	switch expressionType {
	case "", TypeTag:
	case TypeSQL92:
		return nil, &remoting.Error{Code: remoting.SubscriptionParseFailed, Remark: SQLRefused}
	default:
		return nil, remoting.Errorf(remoting.SubscriptionParseFailed,
			"parse the consumer's subscription failed: expression type %q is unknown", expressionType)
	}
	if expression == "" || expression == SubAll {
		return All, nil
	}
	if strings.Trim(expression, "|") == "" && strings.Contains(expression, "||") {
		return nil, remoting.Errorf(remoting.SubscriptionParseFailed,
			"parse the consumer's subscription failed: %q has no tag", expression)
	}
	return Tags(Split(expression), nil), nil
}

// Tags returns the filter that wants the given tags and the given tag hashes.
func Tags(tags []string, hashes []int32) *Filter {
	f := &Filter{}
	for _, tag := range tags {
		f.add(Hash(tag))
	}
	for _, code := range hashes {
		f.add(code)
	}
	if len(f.codes) > manyTags {
		f.set = make(map[int32]struct{}, len(f.codes))
		for _, code := range f.codes {
			f.set[code] = struct{}{}
		}
	}
	return f
}

func (f *Filter) add(code int32) {
	for _, known := range f.codes {
		if known == code {
			return
		}
	}
	f.codes = append(f.codes, code)
}

// Split cuts "a || b" into its tags.
func Split(expression string) []string {
	var tags []string
	for tag := range strings.SplitSeq(expression, "||") {
		if tag = strings.TrimSpace(tag); tag != "" {
			tags = append(tags, tag)
		}
	}
	return tags
}

// IsAll tells whether the filter wants every record.
func (f *Filter) IsAll() bool { return f.all }

// Match tells whether a unit with this tagsCode is wanted.
func (f *Filter) Match(tagsCode int64) bool {
	if f.all {
		return true
	}
	code := int32(tagsCode)
	if f.set != nil {
		_, ok := f.set[code]
		return ok
	}
	for _, want := range f.codes {
		if want == code {
			return true
		}
	}
	return false
}

// Hash is a tag's hash: Java's String.hashCode, over UTF-16 units in 32 bits.
func Hash(tag string) int32 { return int32(message.TagsHash([]byte(tag))) }
