package processor

import (
	"strconv"

	"github.com/wheelmq/wheelmq/remoting"
)

// Replica serves what a replica, or a tool that looks after replicas, asks of a master:
// GET_ALL_CONSUMER_OFFSET (43), GET_ALL_DELAY_OFFSET (45), GET_BROKER_HA_STATUS (907),
// RESET_MASTER_FLUSH_OFFSET (908) and GET_BROKER_EPOCH_CACHE (1007). This server is always a master
// without replicas.
type Replica struct {
	// ConsumerOffsets and DelayOffsets return the contents of consumerOffset.json and
	// delayOffset.json as they are now.
	ConsumerOffsets, DelayOffsets func() ([]byte, error)
	Store                         interface{ MaxCommitLogOffset() int64 }
}

// Routes returns the table rows.
func (r *Replica) Routes() []remoting.Route {
	const test = "broker/processor/replica_test.go"
	return []remoting.Route{
		{Code: remoting.GetAllConsumerOffset, Class: remoting.Admin, Handler: table(r.ConsumerOffsets), Since: "3.0", Test: test},
		{Code: remoting.GetAllDelayOffset, Class: remoting.Admin, Handler: table(r.DelayOffsets), Since: "3.0", Test: test},
		{Code: remoting.GetBrokerHAStatus, Class: remoting.Admin, Handler: r.status, Since: "5.0", Test: test},
		{Code: remoting.ResetMasterFlushOffset, Class: remoting.Admin, Handler: r.resetFlushOffset, Since: "5.0", Test: test},
		{Code: remoting.GetBrokerEpochCache, Class: remoting.Inline, Handler: r.epochs, Since: "5.0",
			Status: remoting.Refused, Note: "there is no controller, as on a real broker without one", Test: test},
	}
}

func table(marshal func() ([]byte, error)) remoting.Handler {
	return func(ex *remoting.Exchange) (err error) {
		ex.Reply.Body, err = marshal()
		return err
	}
}

// status is HARuntimeInfo of a master that no replica is connected to.
func (r *Replica) status(ex *remoting.Exchange) error {
	body := []byte(`{"haClientRuntimeInfo":{"lastReadTimestamp":0,"lastWriteTimestamp":0,"masterFlushOffset":0,"maxOffset":0,` +
		`"transferredByteInSecond":0},"haConnectionInfo":[],"inSyncSlaveNums":0,"master":true,"masterCommitLogMaxOffset":`)
	ex.Reply.Body = append(strconv.AppendInt(body, r.Store.MaxCommitLogOffset(), 10), '}')
	return nil
}

// resetFlushOffset is for replicas, which keep how far their master has flushed; a master has
// nothing to reset and says so by success, as the real broker does.
func (r *Replica) resetFlushOffset(ex *remoting.Exchange) error {
	const field = "masterFlushOffset"
	v, ok := ex.Req.Ext.Get(field)
	if !ok {
		return remoting.Errorf(remoting.SystemError, "the custom field <%s> is null", field)
	}
	if _, err := strconv.ParseInt(string(v), 10, 64); err != nil {
		return remoting.Errorf(remoting.SystemError, "%s %q is not a number", field, v)
	}
	return nil
}

func (r *Replica) epochs(*remoting.Exchange) error {
	return &remoting.Error{Code: remoting.SystemError, Remark: "this request only for controllerMode "}
}
