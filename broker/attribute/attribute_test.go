package attribute_test

import (
	"errors"
	"maps"
	"strings"
	"testing"

	"github.com/wheelmq/wheelmq/broker/attribute"
	"github.com/wheelmq/wheelmq/remoting"
)

var kinds = attribute.Kinds{
	"color": attribute.OneOf("RED", "BLUE"),
	"shape": {Fixed: true, Values: []string{"ROUND"}},
	"size":  {Max: 100},
	"time":  attribute.From(-1),
}

// TestAlter has the edits in order, each of what the one before left.
func TestAlter(t *testing.T) {
	t.Parallel()
	var current map[string]string
	for _, tt := range []struct {
		exists bool
		edits  string
		want   map[string]string
		remark string // of the refusal, its beginning
	}{
		{edits: "-color", remark: "only add attribute is supported while creating topic. key: color"},
		{edits: "+shape=ROUND,+color=RED", want: map[string]string{"shape": "ROUND", "color": "RED"}},
		{exists: true, edits: "", want: map[string]string{"shape": "ROUND", "color": "RED"}},
		{exists: true, edits: ",", want: map[string]string{"shape": "ROUND", "color": "RED"}},
		{exists: true, edits: "+shape=ROUND", remark: "attempt to update an unchangeable attribute. key: shape"},
		{exists: true, edits: "-shape", remark: "attempt to update an unchangeable attribute. key: shape"},
		{exists: true, edits: "+color=BLUE,+size=100,+time=-1", want: map[string]string{"shape": "ROUND", "color": "BLUE", "size": "100", "time": "-1"}},
		{exists: true, edits: "-time,+color=RED", want: map[string]string{"shape": "ROUND", "color": "RED", "size": "100"}},
		{exists: true, edits: "-time", remark: "attempt to delete a nonexistent key: time"},
		{exists: true, edits: "-none", remark: "attempt to delete a nonexistent key: none"},
		{exists: true, edits: "+none=1", remark: "unsupported key: none"},
		{exists: true, edits: "+color=red", remark: "value red of attribute color is not supported"},
		{exists: true, edits: "+color=", remark: "value  of attribute color is not supported"},
		{exists: true, edits: "+size=101", remark: "value 101 of attribute size is not in range(0, 100)"},
		{exists: true, edits: "+size=x", remark: "value x of attribute size is not in range(0, 100)"},
		{exists: true, edits: "+time=-2", remark: "value -2 of attribute time is not in range(-1, 9223372036854775807)"},
		{exists: true, edits: "+size=5,-size", remark: "alter duplication key. key: size"},
		{exists: true, edits: "+size=5,+size=6", remark: "key duplication: +size"},
		{exists: true, edits: "-size=5", remark: "add/alter attribute format is wrong: -size"},
		{exists: true, edits: "size=5", remark: "add/alter attribute format is wrong: size"},
		{exists: true, edits: "+size", remark: "delete attribute format is wrong: +size"},
		{exists: true, edits: "-", remark: "kv string format wrong."},
		{exists: true, edits: "+=1", remark: "kv string format wrong."},
	} {
		edits, err := attribute.Parse(tt.edits)
		var got map[string]string
		if err == nil {
			got, err = kinds.Alter(tt.exists, current, edits)
		}
		var refused *remoting.Error
		switch {
		case tt.remark != "":
			if !errors.As(err, &refused) || refused.Code != remoting.SystemError || !strings.HasPrefix(refused.Remark, tt.remark) {
				t.Errorf("%q: got %v, want code 1, %q", tt.edits, err, tt.remark)
			}
		case err != nil || !maps.Equal(got, tt.want):
			t.Errorf("%q: got %v, %v, want %v", tt.edits, got, err, tt.want)
		default:
			current = got
		}
	}
	if _, err := kinds.Alter(true, current, map[string]string{"size": "5"}); err == nil {
		t.Error("an edit without a sign is taken")
	}
}
