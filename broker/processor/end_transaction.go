package processor

import (
	"sync"

	"github.com/wheelmq/wheelmq/broker/transaction"
	"github.com/wheelmq/wheelmq/message"
	"github.com/wheelmq/wheelmq/remoting"
)

// Transactions are the half messages that wait for their end.
type Transactions interface {
	End(req *remoting.EndTransactionRequest, e *transaction.Ending) (waits bool, err error)
	Resume(commitLogOffset int64) error
}

// EndTransaction serves END_TRANSACTION (37), by which a producer commits a half message or rolls it
// back, and RESUME_CHECK_HALF_MESSAGE (323), by which an operator has a producer asked again that did
// neither. A request that says neither gets no answer, as from the real broker.
type EndTransaction struct {
	transactions Transactions
	states       sync.Pool
}

// NewEndTransaction returns the family.
func NewEndTransaction(transactions Transactions) *EndTransaction {
	p := &EndTransaction{transactions: transactions}
	p.states.New = func() any {
		st := &endState{}
		st.ending.Done = func(err error) { p.done(st, err) }
		return st
	}
	return p
}

// Routes returns the table rows.
func (p *EndTransaction) Routes() []remoting.Route {
	const test = "broker/transaction_test.go"
	return []remoting.Route{
		{Code: remoting.EndTransaction, Class: remoting.Inline, Handler: p.end, Since: "3.0", Test: test},
		{Code: remoting.ResumeCheckHalfMessage, Class: remoting.Admin, Handler: p.resume, Since: "4.5", Test: test},
	}
}

// endState is the scratch of one request.
type endState struct {
	req     remoting.EndTransactionRequest
	ending  transaction.Ending
	pending *remoting.Pending
}

func (p *EndTransaction) end(ex *remoting.Exchange) error {
	st := p.states.Get().(*endState)
	if err := st.req.Decode(&ex.Req.Ext); err != nil {
		p.states.Put(st)
		return err
	}
	switch st.req.CommitOrRollback {
	case message.SysFlagCommit, message.SysFlagRollback:
	default:
		p.states.Put(st)
		ex.Defer()
		return nil
	}
	// The completion may run before End returns, so the answer is deferred first.
	st.pending = ex.Defer()
	waits, err := p.transactions.End(&st.req, &st.ending)
	if !waits {
		p.done(st, err)
	}
	return nil
}

// done answers.
func (p *EndTransaction) done(st *endState, err error) {
	if err != nil {
		fail(&st.pending.Reply, err)
	}
	st.pending.Send()
	st.pending = nil
	p.states.Put(st)
}

func (p *EndTransaction) resume(ex *remoting.Exchange) error {
	var req remoting.ResumeCheckHalfMessageRequest
	if err := req.Decode(&ex.Req.Ext); err != nil {
		return err
	}
	_, at, err := message.ParseOffsetID(req.MsgID)
	if err != nil {
		return remoting.Errorf(remoting.SystemError, "msgId %q is no offset message id", req.MsgID)
	}
	return p.transactions.Resume(at)
}
