package processor

import (
	"github.com/wheelmq/wheelmq/difference"
	"github.com/wheelmq/wheelmq/message"
	"github.com/wheelmq/wheelmq/remoting"
)

// noRecordAt is the real server's remark.
const noRecordAt = "can not find message by the offset, %d"

// View serves VIEW_MESSAGE_BY_ID (33).
//
// Deliberately different: the real server returns whatever bytes follow the offset; here
// a record must start there.
type View struct {
	Store       logReader
	Differences *difference.Set
}

// Routes returns the table rows.
func (v *View) Routes() []remoting.Route {
	return []remoting.Route{{
		Code: remoting.ViewMessageByID, Class: remoting.Query, Handler: v.view, Since: "3.0",
		Test: "broker/processor/view_test.go",
	}}
}

func (v *View) view(ex *remoting.Exchange) error {
	var req remoting.ViewMessageRequest
	if err := req.Decode(&ex.Req.Ext); err != nil {
		return err
	}
	record, err := v.Store.Record(req.Offset, 0)
	if err != nil {
		inside := req.Offset >= v.Store.MinCommitLogOffset() && req.Offset < v.Store.MaxCommitLogOffset()
		if inside {
			v.Differences.Use(difference.ViewValidatesOffset)
		}
		return remoting.Errorf(remoting.SystemError, noRecordAt, req.Offset)
	}
	if _, err := message.ParseVerify(record.Bytes); err != nil {
		record.Release()
		v.Differences.Use(difference.ViewValidatesOffset)
		return remoting.Errorf(remoting.SystemError, noRecordAt, req.Offset)
	}
	ex.Reply.Parts = append(ex.Reply.Parts, record.Bytes)
	ex.Reply.Release = record.Release
	return nil
}
