package processor

import (
	"strconv"

	"github.com/wheelmq/wheelmq/remoting"
	"github.com/wheelmq/wheelmq/remoting/fastjson"
)

// decodeBody reads a request's JSON body. A body that is missing or broken is code 1.
func decodeBody(ex *remoting.Exchange, v any) error {
	if err := fastjson.Unmarshal(ex.Req.Body, v); err != nil {
		return remoting.Errorf(remoting.SystemError, "the request's body cannot be read: %v", err)
	}
	return nil
}

// encodeBody sets a reply's JSON body.
func encodeBody(ex *remoting.Exchange, v any) error {
	body, err := fastjson.Marshal(v)
	ex.Reply.Body = body
	return err
}

// queueTable is an offsetTable whose keys are queues, as objects: the form Java's classes
// insist on.
type queueTable []fastjson.Entry

func (t *queueTable) add(queue remoting.MessageQueue, row any) error {
	key, err := fastjson.Marshal(&queue)
	if err != nil {
		return err
	}
	value, err := fastjson.Marshal(row)
	if err != nil {
		return err
	}
	*t = append(*t, fastjson.Entry{Key: key, Value: value})
	return nil
}

// body is {"offsetTable":{…},"<rateKey>":<rate>}.
func (t queueTable) body(rateKey string, rate float64) []byte {
	body := fastjson.AppendObjectKeyed([]byte(`{"offsetTable":`), t)
	body = append(body, ',')
	body = remoting.AppendJSONString(body, rateKey)
	body = append(body, ':')
	body = strconv.AppendFloat(body, rate, 'f', -1, 64)
	return append(body, '}')
}

// object is {"<key>":{…}}.
func (t queueTable) object(key string) []byte {
	body := append([]byte{'{'}, remoting.AppendJSONString(nil, key)...)
	return append(fastjson.AppendObjectKeyed(append(body, ':'), t), '}')
}
