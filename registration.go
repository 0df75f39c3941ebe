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
func (l *life) register(b *broker.Broker) {
	if l.namesrv == nil {
		return
	}
	tell := func() {
		wrapper := b.Topics().Wrapper()
		topic.Restrict(wrapper.TopicConfigTable, int32(b.Config().BrokerPermission))
		r := namesrv.Registration{BrokerIdentity: l.identity(), Topics: wrapper}
		if l.cfg.BrokerIP1 == "" {
			r.LocalPort = l.ports.broker
		}
		if l.cfg.Advertise != "" {
			r.AdvertisedTo = l.advertised.to
		}
		l.namesrv.RegisterLocal(r)
	}
	tell()
	b.Topics().OnChange(func(_ []*topic.Config, deleted []string) {
		for _, name := range deleted {
			l.namesrv.DeleteLocalTopic(name, l.cfg.BrokerClusterName)
		}
		tell()
	})
	l.onClose("registration", func(context.Context) error {
		l.namesrv.UnregisterLocal(l.identity())
		return nil
	})
}

// identity is the broker as a name server knows it.
func (l *life) identity() remoting.BrokerIdentity {
	return remoting.BrokerIdentity{
		BrokerName: l.cfg.BrokerName, ClusterName: l.cfg.BrokerClusterName, BrokerID: l.cfg.BrokerID,
		BrokerAddr: l.storeHost.String(),
	}
}

// registerOutside registers the broker with the name servers of namesrvAddr.
func (l *life) registerOutside(b *broker.Broker) error {
	if l.cfg.NamesrvAddr == "" {
		return nil
	}
	identity, fixed := l.identity(), l.cfg.BrokerIP1 != ""
	if general := l.advertised.general; general != "" {
		identity.BrokerAddr, fixed = general, true
	}
	r, err := registration.New(registration.Options{
		NameServers: l.cfg.NamesrvAddr, Identity: identity, Topics: b.Topics(), PeriodMs: l.cfg.RegisterNameServerPeriod,
		BrokerPermission: func() int32 { return int32(b.Config().BrokerPermission) }, FixedAddress: fixed, Only: l.namesrv == nil, Wire: clock.Real{},
		Log: l.log.WithField("part", "registration"), Health: l.health,
	})
	if err != nil {
		return err
	}
	r.Start()
	l.outside.Store(r)
	l.onClose("registration outside", r.Close)
	return nil
}

// routes is what all brokers have of a topic, as far as the name servers know.
func (l *life) routes(topicName string) (list []remoting.QueueData) {
	if l.namesrv != nil {
		list = l.namesrv.Queues(topicName)
	}
	r := l.outside.Load()
	if r == nil {
		return list
	}
	more, err := r.Queues(topicName)
	if err != nil {
		l.log.WithError(err).WithField("topic", topicName).Warn("no name server tells where a topic is")
	}
	return append(list, more...)
}
