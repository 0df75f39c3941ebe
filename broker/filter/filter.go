package filter

import (
	"slices"
	"strings"

	"github.com/wheelmq/wheelmq/broker/filter/sql"
	"github.com/wheelmq/wheelmq/message"
)

// subAll is the expression that wants every record.
const subAll = "*"

// Filter is a compiled expression. It is immutable.
type Filter struct {
	all   bool
	codes []int32
	set   map[int32]struct{} // instead of codes when they are many
	expr  *sql.Expression    // instead of both for SQL92
}

// manyTags is where a map beats a scan.
const manyTags = 16

// All wants every record.
var All = &Filter{all: true}

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
	if slices.Contains(f.codes, code) {
		return
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

// Match tells whether a unit with this tagsCode is wanted, as far as that says: MatchRecord has the
// last word.
func (f *Filter) Match(tagsCode int64) bool {
	if f.all || f.expr != nil {
		return true
	}
	code := int32(tagsCode)
	if f.set != nil {
		_, ok := f.set[code]
		return ok
	}
	return slices.Contains(f.codes, code)
}

// Hash is a tag's hash: Java's String.hashCode, over UTF-16 units in 32 bits.
func Hash(tag string) int32 { return int32(message.TagsHash([]byte(tag))) }
