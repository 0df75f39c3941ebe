package processor

import (
	"github.com/wheelmq/wheelmq/difference"
	"github.com/wheelmq/wheelmq/remoting"
	"github.com/wheelmq/wheelmq/store"
)

// nothingFound is the real server's remark.
const nothingFound = "can not find message, maybe time range not correct"

// indexTypeTags asks for messages by their tags instead of a key.
const indexTypeTags = "T"

// maxQueryBytes leaves room for a header in the largest frame that Java clients take by
// default, 16 MiB: a larger one ends the connection.
const maxQueryBytes = 16<<20 - 64<<10

type keyIndex interface {
	Query(store.KeyQuery) store.KeyResult
}

// Query serves QUERY_MESSAGE (12): messages by unique key, by one of their keys, or by tags.
//
// Deliberately different: the real server returns what has the same hash and leaves it to the
// client to throw away what has another key.
type Query struct {
	Index         keyIndex
	DefaultMaxNum func() int // messages of a look-up by unique key at most
	Differences   *difference.Set
}

// Routes returns the table rows.
func (q *Query) Routes() []remoting.Route {
	return []remoting.Route{{
		Code: remoting.QueryMessage, Class: remoting.Query, Handler: q.query, Since: "3.0",
		Test: "broker/processor/query_test.go",
	}}
}

func (q *Query) query(ex *remoting.Exchange) error {
	var req remoting.QueryMessageRequest
	if err := req.Decode(&ex.Req.Ext); err != nil {
		return err
	}
	maxNum := int(req.MaxNum)
	if req.UniqueKey {
		maxNum = q.DefaultMaxNum()
	}
	found := q.Index.Query(store.KeyQuery{
		Topic: req.Topic, Key: req.Key, Tags: req.IndexType == indexTypeTags, MaxNum: maxNum, MaxBytes: maxQueryBytes,
		Begin: req.BeginTimestamp, End: req.EndTimestamp,
	})
	if found.Foreign > 0 {
		q.Differences.Use(difference.QueryComparesKeys)
	}
	if found.Cut {
		q.Differences.Use(difference.QueryFitsAFrame)
	}
	if len(found.Records) == 0 {
		// The real server's header is empty then.
		(&remoting.QueryMessageResponse{}).Encode(&ex.Reply.Ext)
		ex.Reply.Code, ex.Reply.Remark = remoting.QueryNotFound, nothingFound
		return nil
	}
	(&remoting.QueryMessageResponse{
		IndexLastUpdateTimestamp: found.LastTimestamp, IndexLastUpdatePhyoffset: found.LastOffset,
	}).Encode(&ex.Reply.Ext)
	for _, record := range found.Records {
		ex.Reply.Parts = append(ex.Reply.Parts, record.Bytes)
	}
	ex.Reply.Release = found.Release
	return nil
}
