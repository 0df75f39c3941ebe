package message

// Reserved property names of RocketMQ that this server reads or writes.
const (
	PropertyKeys                = "KEYS"
	PropertyTags                = "TAGS"
	PropertyWait                = "WAIT"
	PropertyDelay               = "DELAY"
	PropertyRetryTopic          = "RETRY_TOPIC"
	PropertyRealTopic           = "REAL_TOPIC"
	PropertyRealQueueID         = "REAL_QID"
	PropertyTransactionPrepared = "TRAN_MSG"
	PropertyProducerGroup       = "PGROUP"
	PropertyTransactionID       = "__transactionId__"
	PropertyCheckTimes          = "TRANSACTION_CHECK_TIMES"
	PropertyCheckImmunity       = "CHECK_IMMUNITY_TIME_IN_SECONDS"
	PropertyPreparedQueueOffset = "TRAN_PREPARED_QUEUE_OFFSET"
	PropertyOriginMessageID     = "ORIGIN_MESSAGE_ID"
	PropertyMsgRegion           = "MSG_REGION"
	PropertyTraceOn             = "TRACE_ON"
	PropertyUniqKey             = "UNIQ_KEY"
	PropertyCluster             = "CLUSTER"
	PropertyPopCK               = "POP_CK"
	PropertyInnerMultiDispatch  = "INNER_MULTI_DISPATCH"
	PropertyTimerDelaySec       = "TIMER_DELAY_SEC"
	PropertyTimerDelayMs        = "TIMER_DELAY_MS"
	PropertyTimerDeliverMs      = "TIMER_DELIVER_MS"
	PropertyTimerDelUniqKey     = "TIMER_DEL_UNIQKEY"
	PropertyTimerOutMs          = "TIMER_OUT_MS"
	PropertyTimerEnqueueMs      = "TIMER_ENQUEUE_MS"
	PropertyTimerDequeueMs      = "TIMER_DEQUEUE_MS"
	PropertyTimerRollTimes      = "TIMER_ROLL_TIMES"
	PropertyTimerRollLabel      = "TIMER_ROLL_LABEL"
	PropertyStartDeliverTime    = "__STARTDELIVERTIME"
	PropertyShardingKey         = "__SHARDINGKEY"
	PropertyPriority            = "_SYS_MSG_PRIORITY_"
	PropertyReplyToClient       = "REPLY_TO_CLIENT"
	PropertyPushReplyTime       = "PUSH_REPLY_TIME"
	PropertyFirstPopTime        = "1ST_POP_TIME"
	PropertyOriginGroup         = "ORIGIN_GROUP"
)

// Property names of this server's own. Clients cannot set them: the Appender strips
// them from everything that is not put by a scheduler.
const (
	// PropertyDueMs is a pending delayed record's due instant, see Due. The record
	// carries it itself, so that rebuilding its queue under another level table
	// changes nothing.
	PropertyDueMs = "__WMQ_DUE"
	// PropertySource identifies, on a copy delivered by a scheduler, the record it was
	// made from: "<store epoch hex>:<CommitLog offset decimal>:<generation decimal>". The
	// offset is that of the message's first record; when it was given another instant since,
	// the generation says how often, and ":<CommitLog offset decimal>" of its last record follows.
	PropertySource = "__WMQ_SRC"
	// PropertySupersedes names, on a record of the timer queue, the pending message that it
	// removes, see Supersedes.
	PropertySupersedes = "__WMQ_SUP"
	// PropertyChecks names, on a record of the op topic, how often producers were asked about half
	// messages: "<queue offset>:<checks>,…", decimal numbers.
	PropertyChecks = "__WMQ_CHK"
	// PropertyEndedBelow is, on a record of the op topic, the CommitLog offset, decimal, below which
	// every committed copy has its half message named in the op topic.
	PropertyEndedBelow = "__WMQ_END"
)
