package broker

import (
	appender "github.com/wheelmq/wheelmq/broker/append"
	"github.com/wheelmq/wheelmq/broker/transaction"
	"github.com/wheelmq/wheelmq/config"
	"github.com/wheelmq/wheelmq/difference"
	"github.com/wheelmq/wheelmq/message"
)

func transactionTimes(c *config.Config) transaction.Times {
	return transaction.Times{
		TimeoutMs: c.TransactionTimeOut, IntervalMs: c.TransactionCheckInterval, ReservedMs: c.FileReservedTime * 3_600_000,
	}
}

// admitTransactions returns who makes half messages. What a hook would delay is delayed when it is
// committed, and refused here when it would be refused then.
func (b *Broker) admitTransactions(delay appender.Hook) *transaction.Admission {
	a := transaction.NewAdmission(transactionTimes(b.opts.Config))
	if b.opts.Differences.On(difference.DelayAfterCommit) {
		a.Delayed = func(rec *message.Record) error {
			b.opts.Differences.Use(difference.DelayAfterCommit)
			return delay(rec, appender.FromClient)
		}
	}
	return a
}

func (b *Broker) assembleTransactions(admission *transaction.Admission) (err error) {
	o, c := b.opts, b.opts.Config
	b.halves, err = transaction.New(transaction.Options{
		Times: transactionTimes(b.opts.Config), CheckMax: int(c.TransactionCheckMax), OpMaxSize: int(c.TransactionOpMsgMaxSize),
		OpDelayMs: c.TransactionOpBatchInterval, Virtual: b.virtual != nil, Broker: c.BrokerName, StoreHost: o.StoreHost,
		Admission: admission, Store: o.Store, Wire: o.Wire, Log: b.store, Appender: b.appender, Topics: b.topics,
		Offsets: b.offsets, Producers: b.clients, Stats: b.stats, Logger: o.Log.WithField("part", "transaction"),
		Metrics: o.Metrics, Health: o.Health, Difference: o.Differences,
	})
	return err
}

// OpenTransactions is how many half messages are neither committed nor rolled back.
func (b *Broker) OpenTransactions() int64 { return b.halves.Open() }
