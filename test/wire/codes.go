package wire

// Request codes of RocketMQ 5.5.0 that the suites send or receive.
const (
	SendMessage               = 10
	PullMessage               = 11
	QueryMessage              = 12
	QueryConsumerOffset       = 14
	UpdateConsumerOffset      = 15
	CreateTopic               = 17
	GetMaxOffset              = 30
	GetMinOffset              = 31
	ViewMessageByID           = 33
	Heartbeat                 = 34
	UnregisterClient          = 35
	ConsumerSendMsgBack       = 36
	GetConsumerList           = 38
	NotifyIDsChanged          = 40
	LockBatchMQ               = 41
	UnlockBatchMQ             = 42
	CheckClientConfig         = 46
	GetTimerCheckPoint        = 60
	GetTimerMetrics           = 61
	RegisterBroker            = 103
	UnregisterBroker          = 104
	GetRouteByTopic           = 105
	GetTopicStatsInfo         = 202
	GetConsumerConnectionList = 203
	GetConsumeStats           = 208
	RegisterTopicInNameServer = 217
	SendMessageV2             = 310
	ViewBrokerStatsData       = 315
	SendBatchMessage          = 320
	QueryDataVersion          = 322
	SendReplyMessage          = 324
	SendReplyMessageV2        = 325
	PushReplyMessage          = 326
	RecallMessage             = 370
	QueryAssignment           = 400
	SetMessageRequestMode     = 401
	GetAllMessageRequestMode  = 402
	GetBrokerMemberGroup      = 901
)

// Response codes that the suites expect.
const (
	Success              = 0
	SystemError          = 1
	NotSupported         = 3
	MessageIllegal       = 13
	NoPermission         = 16
	TopicNotExist        = 17
	PullNotFound         = 19
	PullRetryImmediately = 20
	PullOffsetMoved      = 21
	QueryNotFound        = 22
	SubscriptionBroken   = 23
	SubscriptionNotExist = 24
	GroupNotExist        = 26
	FilterDataNotExist   = 27
	InvalidParameter     = 29
	ConsumerNotOnline    = 206
	IllegalOperation     = 604
)

// Bits of the sysFlag of a pull.
const (
	PullCommitOffset = 1
	PullSuspend      = 2
	PullSubscription = 4
)

// ScheduleTopic is where delayed messages wait; queue = level - 1.
const ScheduleTopic = "SCHEDULE_TOPIC_XXXX"

// TimerTopic is where any-time delayed messages wait, in queue 0.
const TimerTopic = "rmq_sys_wheel_timer"

// ReadWrite is the permission of an ordinary topic.
const ReadWrite = 6
