package namesrv

import (
	"slices"
	"strconv"

	"github.com/wheelmq/wheelmq/remoting"
)

// standardJSONVersion is V4_9_4: older clients get integer keys without quotes.
const standardJSONVersion = 401

// appendRoute writes a route with sorted keys. Integer keys are quoted or, as the real
// server writes them for old clients, bare.
func appendRoute(dst []byte, route *remoting.TopicRouteData, quoted bool) []byte {
	dst = append(dst, `{"brokerDatas":[`...)
	for i := range route.BrokerDatas {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = appendBroker(dst, &route.BrokerDatas[i], quoted)
	}
	dst = append(dst, `],"filterServerTable":{}`...)
	if route.OrderTopicConf != "" {
		dst = append(dst, `,"orderTopicConf":`...)
		dst = remoting.AppendJSONString(dst, route.OrderTopicConf)
	}
	dst = append(dst, `,"queueDatas":[`...)
	for i := range route.QueueDatas {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = appendQueue(dst, &route.QueueDatas[i])
	}
	return append(dst, `]}`...)
}

func appendBroker(dst []byte, b *remoting.BrokerData, quoted bool) []byte {
	dst = append(dst, `{"brokerAddrs":`...)
	dst = appendAddrs(dst, b.BrokerAddrs, quoted)
	dst = append(dst, `,"brokerName":`...)
	dst = remoting.AppendJSONString(dst, b.BrokerName)
	dst = append(dst, `,"cluster":`...)
	dst = remoting.AppendJSONString(dst, b.Cluster)
	dst = append(dst, `,"enableActingMaster":`...)
	dst = strconv.AppendBool(dst, b.EnableActingMaster)
	if b.ZoneName != "" {
		dst = append(dst, `,"zoneName":`...)
		dst = remoting.AppendJSONString(dst, b.ZoneName)
	}
	return append(dst, '}')
}

func appendAddrs(dst []byte, addrs map[int64]string, quoted bool) []byte {
	ids := make([]int64, 0, len(addrs))
	for id := range addrs {
		ids = append(ids, id)
	}
	slices.Sort(ids)
	dst = append(dst, '{')
	for i, id := range ids {
		if i > 0 {
			dst = append(dst, ',')
		}
		if quoted {
			dst = append(dst, '"')
		}
		dst = strconv.AppendInt(dst, id, 10)
		if quoted {
			dst = append(dst, '"')
		}
		dst = append(dst, ':')
		dst = remoting.AppendJSONString(dst, addrs[id])
	}
	return append(dst, '}')
}

func appendQueue(dst []byte, q *remoting.QueueData) []byte {
	dst = append(dst, `{"brokerName":`...)
	dst = remoting.AppendJSONString(dst, q.BrokerName)
	dst = append(dst, `,"perm":`...)
	dst = strconv.AppendInt(dst, int64(q.Perm), 10)
	dst = append(dst, `,"readQueueNums":`...)
	dst = strconv.AppendInt(dst, int64(q.ReadQueueNums), 10)
	dst = append(dst, `,"topicSysFlag":`...)
	dst = strconv.AppendInt(dst, int64(q.TopicSysFlag), 10)
	dst = append(dst, `,"writeQueueNums":`...)
	dst = strconv.AppendInt(dst, int64(q.WriteQueueNums), 10)
	return append(dst, '}')
}
