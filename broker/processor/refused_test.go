package processor_test

import (
	"strings"
	"testing"

	"github.com/wheelmq/wheelmq/broker/processor"
	"github.com/wheelmq/wheelmq/remoting"
)

func TestRefusedCodesSayWhy(t *testing.T) {
	t.Parallel()
	routes := processor.Refused()
	if len(routes) == 0 {
		t.Fatal("nothing is refused")
	}
	router := remoting.NewRouter(routes, remoting.RouterOptions{Log: quiet()})
	for _, route := range routes {
		var ex remoting.Exchange
		ex.Begin(&conn{})
		ex.Req.Code = route.Code
		router.Serve(&ex)
		if ex.Reply.Code == remoting.Success {
			t.Errorf("%s succeeds", route.Name)
		}
		if !strings.Contains(ex.Reply.Remark, route.Note) {
			t.Errorf("%s: remark %q does not say %q", route.Name, ex.Reply.Remark, route.Note)
		}
		if route.Status != remoting.Refused || route.Note == "" {
			t.Errorf("%s is not listed as refused with a reason", route.Name)
		}
	}
}
