package remoting

import "strconv"

// responseNames are RocketMQ's names of the response codes.
var responseNames = map[int32]string{
	Success:                   "SUCCESS",
	SystemError:               "SYSTEM_ERROR",
	SystemBusy:                "SYSTEM_BUSY",
	RequestCodeNotSupported:   "REQUEST_CODE_NOT_SUPPORTED",
	FlushDiskTimeout:          "FLUSH_DISK_TIMEOUT",
	SlaveNotAvailable:         "SLAVE_NOT_AVAILABLE",
	FlushSlaveTimeout:         "FLUSH_SLAVE_TIMEOUT",
	MessageIllegal:            "MESSAGE_ILLEGAL",
	ServiceNotAvailable:       "SERVICE_NOT_AVAILABLE",
	VersionNotSupported:       "VERSION_NOT_SUPPORTED",
	NoPermission:              "NO_PERMISSION",
	TopicNotExist:             "TOPIC_NOT_EXIST",
	TopicExistAlready:         "TOPIC_EXIST_ALREADY",
	PullNotFound:              "PULL_NOT_FOUND",
	PullRetryImmediately:      "PULL_RETRY_IMMEDIATELY",
	PullOffsetMoved:           "PULL_OFFSET_MOVED",
	QueryNotFound:             "QUERY_NOT_FOUND",
	SubscriptionParseFailed:   "SUBSCRIPTION_PARSE_FAILED",
	SubscriptionNotExist:      "SUBSCRIPTION_NOT_EXIST",
	SubscriptionNotLatest:     "SUBSCRIPTION_NOT_LATEST",
	SubscriptionGroupNotExist: "SUBSCRIPTION_GROUP_NOT_EXIST",
	FilterDataNotExist:        "FILTER_DATA_NOT_EXIST",
	FilterDataNotLatest:       "FILTER_DATA_NOT_LATEST",
	InvalidParameter:          "INVALID_PARAMETER",
	ConsumerNotOnline:         "CONSUMER_NOT_ONLINE",
	ConsumeMsgTimeout:         "CONSUME_MSG_TIMEOUT",
	NoMessage:                 "NO_MESSAGE",
	PollingFull:               "POLLING_FULL",
	PollingTimeout:            "POLLING_TIMEOUT",
	IllegalOperation:          "ILLEGAL_OPERATION",
	GoAway:                    "GO_AWAY",
}

// ResponseCodeName is RocketMQ's name of a response code, e.g. SYSTEM_BUSY; of a code that this
// server does not know it is the number.
func ResponseCodeName(code int32) string {
	if name, ok := responseNames[code]; ok {
		return name
	}
	return strconv.Itoa(int(code))
}

// ResponseCode finds a response code by its name.
func ResponseCode(name string) (code int32, ok bool) { return codeOf(responseNames, name) }

// RequestCode finds a request code by its name.
func RequestCode(name string) (code int32, ok bool) { return codeOf(requestNames, name) }

func codeOf(names map[int32]string, name string) (int32, bool) {
	for code, n := range names {
		if n == name {
			return code, true
		}
	}
	return 0, false
}
