package remoting

// MessageRequestMode is how a group consumes a topic: the body of SET_MESSAGE_REQUEST_MODE (401).
type MessageRequestMode struct {
	ConsumerGroup    string `json:"consumerGroup"`
	Mode             string `json:"mode"`             // PULL or POP
	PopShareQueueNum int32  `json:"popShareQueueNum"` // members that pop from another's queues as well
	Topic            string `json:"topic"`
}

// MessageRequestModes is the body of GET_ALL_MESSAGE_REQUEST_MODE (402) and the content of
// messageRequestMode.json: topic, group, mode.
type MessageRequestModes struct {
	Table map[string]map[string]MessageRequestMode `json:"messageRequestModeMap"`
}

// QueryAssignmentRequestBody is the body of QUERY_ASSIGNMENT (400).
type QueryAssignmentRequestBody struct {
	ClientID      string `json:"clientId"`
	ConsumerGroup string `json:"consumerGroup"`
	MessageModel  string `json:"messageModel"` // CLUSTERING, BROADCASTING
	StrategyName  string `json:"strategyName"` // AVG, AVG_BY_CIRCLE
	Topic         string `json:"topic"`
}

// MessageQueueAssignment is one queue for a client. Queue id -1 is any queue of the broker.
type MessageQueueAssignment struct {
	MessageQueue MessageQueue `json:"messageQueue"`
	Mode         string       `json:"mode"`
}

// QueryAssignmentResponseBody answers QUERY_ASSIGNMENT. None at all, which is not an empty list,
// says that there is no answer: the client keeps what it has.
type QueryAssignmentResponseBody struct {
	Assignments *[]MessageQueueAssignment `json:"messageQueueAssignments,omitempty"`
}
