package namesrv

import (
	"strings"
	"testing"

	"github.com/sirupsen/logrus/hooks/test"

	"github.com/wheelmq/wheelmq/remoting"
)

func TestCodesOfAController_AreRefusedWithAReason(t *testing.T) {
	t.Parallel()
	log, _ := test.NewNullLogger()
	router := remoting.NewRouter(refused(), remoting.RouterOptions{Log: log})
	for _, route := range router.Routes() {
		var ex remoting.Exchange
		ex.Req.Code = route.Code
		router.Serve(&ex)
		if ex.Reply.Code != remoting.RequestCodeNotSupported || !strings.HasSuffix(ex.Reply.Remark, route.Note) {
			t.Errorf("%s: code %d %q", route.Name, ex.Reply.Code, ex.Reply.Remark)
		}
	}
}
