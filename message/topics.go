package message

// Names of RocketMQ's system topics and prefixes.
const (
	TopicAutoCreate    = "TBW102"
	TopicSchedule      = "SCHEDULE_TOPIC_XXXX"
	TopicTimer         = "rmq_sys_wheel_timer"
	TopicBenchmark     = "BenchmarkTest"
	TopicTransHalf     = "RMQ_SYS_TRANS_HALF_TOPIC"
	TopicTransOpHalf   = "RMQ_SYS_TRANS_OP_HALF_TOPIC"
	TopicTransCheckMax = "TRANS_CHECK_MAX_TIME_TOPIC"
	TopicTrace         = "RMQ_SYS_TRACE_TOPIC"
	TopicSelfTest      = "SELF_TEST_TOPIC"
	TopicOffsetMoved   = "OFFSET_MOVED_EVENT"
	// TopicParked holds, for every service of this server, the due messages whose
	// target refuses them for good: visible, counted, waiting for an operator.
	TopicParked = "rmq_sys_wheelmq_parked"

	PrefixRetry  = "%RETRY%"
	PrefixDLQ    = "%DLQ%"
	PrefixSystem = "rmq_sys_"
)
