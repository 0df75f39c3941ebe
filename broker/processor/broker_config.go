package processor

import (
	"errors"

	"github.com/sirupsen/logrus"

	"github.com/wheelmq/wheelmq/config"
	"github.com/wheelmq/wheelmq/difference"
	"github.com/wheelmq/wheelmq/remoting"
)

// liveConfig is the configuration in force.
type liveConfig interface {
	// Change sets all pairs or none; the error may be a *config.Refusal.
	Change(pairs []config.Pair) ([]config.Change, error)
}

// BrokerConfig serves UPDATE_BROKER_CONFIG (25): keys that take effect at once are changed, over
// restarts too, and everything else is refused: 16 for what is never set over the network, 29 for
// what is unknown, does not fit or needs a restart.
type BrokerConfig struct {
	Config      liveConfig
	Differences *difference.Set
	Log         logrus.FieldLogger
}

// Routes returns the table rows.
func (b *BrokerConfig) Routes() []remoting.Route {
	return []remoting.Route{{
		Code: remoting.UpdateBrokerConfig, Class: remoting.Admin, Handler: b.update, Since: "3.0",
		Test: "broker/processor/broker_config_test.go",
	}}
}

func (b *BrokerConfig) update(ex *remoting.Exchange) error {
	pairs, err := config.ParseProperties(string(ex.Req.Body))
	if err != nil {
		return remoting.Errorf(remoting.InvalidParameter, "the body is no properties text: %v", err)
	}
	changes, err := b.Config.Change(pairs)
	if refusal := (*config.Refusal)(nil); errors.As(err, &refusal) {
		return b.refuse(ex, refusal)
	}
	if err != nil {
		return remoting.Errorf(remoting.SystemError, "nothing is changed: %v", err)
	}
	for _, c := range changes {
		b.Log.WithFields(logrus.Fields{"key": c.Key, "before": c.Before, "after": c.After, "remote": ex.Conn.RemoteAddr().String()}).
			Warn("the configuration is changed on request")
	}
	return nil
}

func (b *BrokerConfig) refuse(ex *remoting.Exchange, r *config.Refusal) error {
	b.Log.WithError(r).WithFields(logrus.Fields{"key": r.Key, "remote": ex.Conn.RemoteAddr().String()}).
		Warn("a change of the configuration is refused")
	if r.Forbidden {
		return remoting.Errorf(remoting.NoPermission, "Can not update config in black list. %s", r.Text)
	}
	b.Differences.Use(difference.ConfigChecked)
	return remoting.Errorf(remoting.InvalidParameter, "nothing is changed: %s", r.Text)
}
