package wheelmq

import (
	"net/http"

	"github.com/wheelmq/wheelmq/clock"
	"github.com/wheelmq/wheelmq/testapi"
)

// handlers are what the HTTP port serves beside health and metrics.
func (i *Instance) handlers() map[string]http.Handler {
	if i.cfg.Test == nil || !i.cfg.Test.API {
		return map[string]http.Handler{testapi.Prefix: testapi.Off()}
	}
	return map[string]http.Handler{testapi.Prefix: testapi.New(testapi.Options{
		Control: i.control, Token: i.cfg.Test.Token, Wire: clock.Real{}, Log: i.log.WithField("part", "test API"),
	})}
}
