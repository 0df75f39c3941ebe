package remoting

// BatchAckBody is the body of BATCH_ACK_MESSAGE (200151).
type BatchAckBody struct {
	BrokerName string     `json:"brokerName"`
	Acks       []BatchAck `json:"acks"`
}

// BatchAck acknowledges messages of one popped batch.
type BatchAck struct {
	ConsumerGroup string `json:"c"`
	Topic         string `json:"t"` // of the subscription, for retry topics as well
	Retry         string `json:"r"` // which stored topic it is: 0 the topic, 1 and 2 its retry topics v1 and v2
	StartOffset   int64  `json:"so"`
	QueueID       int32  `json:"q"`
	ReviveQueueID int32  `json:"rq"`
	PopTime       int64  `json:"pt"` // ms
	InvisibleTime int64  `json:"it"` // ms
	// Bits are those to acknowledge, from StartOffset on: bit i%8 of byte i/8 is StartOffset+i.
	Bits []byte `json:"b"`
}
