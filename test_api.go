package wheelmq

import (
	"net/http"

	"github.com/wheelmq/wheelmq/clock"
	"github.com/wheelmq/wheelmq/testapi"
)

// handlers are what the HTTP port serves beside health and metrics.
func (i *Instance) handlers() map[string]http.Handler {
	all := map[string]http.Handler{testapi.Prefix: testapi.Off(), testapi.OperationsPrefix: testapi.Operations(i.apiOptions(i.adminToken(), "operations API"))}
	if i.cfg.Test != nil && i.cfg.Test.API {
		all[testapi.Prefix] = testapi.New(i.apiOptions(i.cfg.Test.Token, "test API"))
	}
	return all
}

func (i *Instance) apiOptions(token, part string) testapi.Options {
	return testapi.Options{Control: i.control, Token: token, Wire: clock.Real{}, Log: i.log.WithField("part", part)}
}

// adminToken is that of the operators; whoever may test may operate.
func (i *Instance) adminToken() string {
	if i.cfg.AdminToken == "" && i.cfg.Test != nil {
		return i.cfg.Test.Token
	}
	return i.cfg.AdminToken
}
