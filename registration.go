package wheelmq

import (
	"context"

	"github.com/wheelmq/wheelmq/broker"
	"github.com/wheelmq/wheelmq/broker/registration"
	"github.com/wheelmq/wheelmq/broker/topic"
	"github.com/wheelmq/wheelmq/clock"
	"github.com/wheelmq/wheelmq/namesrv"
	"github.com/wheelmq/wheelmq/remoting"
)

// register puts the broker into the built-in name server, now and at every change of its
// topics.
func (i *Instance) register(b *broker.Broker) {
	if i.namesrv == nil {
		return
	}
	tell := func() {
		wrapper := b.Topics().Wrapper()
		topic.Restrict(wrapper.TopicConfigTable, int32(i.cfg.BrokerPermission))
		r := namesrv.Registration{BrokerIdentity: i.identity(), Topics: wrapper}
		if i.cfg.BrokerIP1 == "" {
			r.LocalPort = i.brokerPort
		}
		i.namesrv.RegisterLocal(r)
	}
	tell()
	b.Topics().OnChange(func(_ []*topic.Config, deleted []string) {
		for _, name := range deleted {
			i.namesrv.DeleteLocalTopic(name, i.cfg.BrokerClusterName)
		}
		tell()
	})
	i.onClose("registration", func(context.Context) error {
		i.namesrv.UnregisterLocal(i.identity())
		return nil
	})
}

// identity is the broker as a name server knows it.
func (i *Instance) identity() remoting.BrokerIdentity {
	return remoting.BrokerIdentity{
		BrokerName: i.cfg.BrokerName, ClusterName: i.cfg.BrokerClusterName, BrokerID: i.cfg.BrokerID,
		BrokerAddr: i.storeHost.String(),
	}
}

// registerOutside registers the broker with the name servers of namesrvAddr.
func (i *Instance) registerOutside(b *broker.Broker) error {
	if i.cfg.NamesrvAddr == "" {
		return nil
	}
	r, err := registration.New(registration.Options{
		NameServers: i.cfg.NamesrvAddr, Identity: i.identity(), Topics: b.Topics(), PeriodMs: i.cfg.RegisterNameServerPeriod,
		BrokerPermission: int32(i.cfg.BrokerPermission), FixedAddress: i.cfg.BrokerIP1 != "", Wire: clock.Real{},
		Log: i.log.WithField("part", "registration"), Health: i.health,
	})
	if err != nil {
		return err
	}
	r.Start()
	i.onClose("registration outside", r.Close)
	return nil
}
