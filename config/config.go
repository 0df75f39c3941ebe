package config

// Config is every setting of one instance. The tag key is the name in broker.conf, default its
// value when nobody sets it; min (0 when not given), max and oneof say which values fit; live
// marks what may change while the server runs (see Live), local what is never set over the
// network. Times are ms, sizes bytes.
type Config struct {
	BrokerName         string `key:"brokerName" default:"broker-a" doc:"name of the broker, part of every queue's name"`
	BrokerClusterName  string `key:"brokerClusterName" default:"DefaultCluster" doc:"cluster the broker belongs to"`
	BrokerID           int64  `key:"brokerId" default:"0" doc:"0 is the master"`
	BrokerIP1          string `key:"brokerIP1" default:"" doc:"advertised address; unset: the address through which a client reached us"`
	Advertise          string `key:"advertise" default:"" doc:"what clients are told to connect to, behind mapped ports: host:port, or network=host:port for clients in that network, several separated by ;"`
	BindAddress        string `key:"bindAddress" local:"true" default:"0.0.0.0" doc:"address the ports are bound to"`
	ListenPort         int    `key:"listenPort" default:"10911" max:"65535" doc:"broker port; the VIP port is two below"`
	NamesrvListenPort  int    `key:"namesrvListenPort" default:"9876" max:"65535" doc:"port of the built-in name server, 0 for none"`
	HTTPPort           int    `key:"httpPort" default:"9878" max:"65535" doc:"port of /health and /metrics, 0 for a free one"`
	NamesrvAddr        string `key:"namesrvAddr" default:"" doc:"external name servers host:port;host:port to register with as well"`
	StorePathRootDir   string `key:"storePathRootDir" local:"true" default:"./wheelmq-data" doc:"store directory"`
	StorePathCommitLog string `key:"storePathCommitLog" local:"true" default:"" doc:"for files of RocketMQ: commitlog below storePathRootDir, no other place is supported"`
	Profile            string `key:"profile" default:"" oneof:"5.5.0," doc:"5.5.0 switches off what the real broker does not have"`

	AutoCreateTopicEnable       bool   `key:"autoCreateTopicEnable" live:"true" default:"true" doc:"a send to an unknown topic creates it"`
	AutoCreateSubscriptionGroup bool   `key:"autoCreateSubscriptionGroup" live:"true" default:"true" doc:"an unknown consumer group is created"`
	DefaultTopicQueueNums       int64  `key:"defaultTopicQueueNums" live:"true" default:"8" min:"1" max:"65535" doc:"queues of an auto-created topic at most"`
	BrokerPermission            int64  `key:"brokerPermission" live:"true" default:"6" max:"7" doc:"4 read, 2 write"`
	ClusterTopicEnable          bool   `key:"clusterTopicEnable" default:"true" doc:"the topic named after the cluster is usable"`
	BrokerTopicEnable           bool   `key:"brokerTopicEnable" default:"true" doc:"the topic named after the broker is usable"`
	TraceTopicEnable            bool   `key:"traceTopicEnable" default:"false" doc:"create RMQ_SYS_TRACE_TOPIC at start"`
	TraceOn                     bool   `key:"traceOn" live:"true" default:"true" doc:"tell clients to trace"`
	RegionID                    string `key:"regionId" default:"DefaultRegion" doc:"MSG_REGION of stored messages"`

	MaxMessageSize             int64  `key:"maxMessageSize" live:"true" default:"4194304" min:"10" max:"1073741824" doc:"largest body, bytes"`
	FlushDiskType              string `key:"flushDiskType" default:"ASYNC_FLUSH" oneof:"ASYNC_FLUSH,SYNC_FLUSH" doc:"ASYNC_FLUSH or SYNC_FLUSH"`
	FlushIntervalCommitLog     int64  `key:"flushIntervalCommitLog" default:"500" min:"1" doc:"ms between flushes of a log that is written to"`
	MappedFileSizeCommitLog    int64  `key:"mappedFileSizeCommitLog" default:"67108864" min:"1" doc:"bytes; an existing store keeps its own"`
	MappedFileSizeConsumeQueue int64  `key:"mappedFileSizeConsumeQueue" default:"600000" min:"1" doc:"bytes; an existing store keeps its own"`

	MessageIndexEnable             bool   `key:"messageIndexEnable" default:"true" doc:"find messages by key; false: nothing more is indexed"`
	MaxHashSlotNum                 int64  `key:"maxHashSlotNum" default:"500000" min:"1" max:"100000000" doc:"slots of an index file; an existing store keeps its own"`
	MaxIndexNum                    int64  `key:"maxIndexNum" default:"2000000" min:"2" max:"80000000" doc:"keys of an index file; an existing store keeps its own"`
	MaxMsgsNumBatch                int64  `key:"maxMsgsNumBatch" default:"64" min:"1" max:"100000" doc:"messages of one query by key at most"`
	DefaultQueryMaxNum             int64  `key:"defaultQueryMaxNum" live:"true" default:"32" min:"1" max:"100000" doc:"messages of a query by unique key at most"`
	FlushCommitLogThoroughInterval int64  `key:"flushCommitLogThoroughInterval" default:"10000" min:"1" doc:"ms between checkpoints, which make queues and index durable"`
	SyncFlushTimeout               int64  `key:"syncFlushTimeout" default:"5000" min:"1" doc:"ms after which a send under SYNC_FLUSH is answered FLUSH_DISK_TIMEOUT"`
	FileReservedTime               int64  `key:"fileReservedTime" live:"true" default:"72" min:"1" max:"876000" doc:"hours that messages are kept"`
	DeleteWhen                     string `key:"deleteWhen" live:"true" default:"04" doc:"hours of the day at which expired files go, 04 or 04;16"`
	DiskMaxUsedSpaceRatio          int64  `key:"diskMaxUsedSpaceRatio" live:"true" default:"75" min:"1" max:"99" doc:"percent of the disk in use above which expired files go at any hour"`
	DiskSpaceCleanForciblyRatio    int64  `key:"diskSpaceCleanForciblyRatio" live:"true" default:"85" min:"1" max:"100" doc:"percent above which the oldest files go before their time"`
	DiskSpaceWarningLevelRatio     int64  `key:"diskSpaceWarningLevelRatio" live:"true" default:"90" min:"1" max:"100" doc:"percent above which sends are refused"`
	CleanFileForciblyEnable        bool   `key:"cleanFileForciblyEnable" live:"true" default:"true" doc:"false: files never go before their time"`
	CleanResourceInterval          int64  `key:"cleanResourceInterval" live:"true" default:"10000" min:"1" doc:"ms between looks at the disk"`

	LongPollingEnable                 bool  `key:"longPollingEnable" live:"true" default:"true" doc:"hold pulls that find nothing as long as they ask"`
	ShortPollingTimeMills             int64 `key:"shortPollingTimeMills" live:"true" default:"1000" min:"1" doc:"ms such a pull is held otherwise"`
	MaxTransferBytesOnMessageInMemory int64 `key:"maxTransferBytesOnMessageInMemory" live:"true" default:"262144" min:"1" doc:"bytes of one pull of recent messages"`
	MaxTransferCountOnMessageInMemory int64 `key:"maxTransferCountOnMessageInMemory" live:"true" default:"32" min:"1" doc:"messages of one pull of recent messages"`
	MaxTransferBytesOnMessageInDisk   int64 `key:"maxTransferBytesOnMessageInDisk" live:"true" default:"65536" min:"1" doc:"bytes of one pull of old messages"`
	MaxTransferCountOnMessageInDisk   int64 `key:"maxTransferCountOnMessageInDisk" live:"true" default:"8" min:"1" doc:"messages of one pull of old messages"`

	EnablePropertyFilter bool `key:"enablePropertyFilter" live:"true" default:"true" doc:"subscriptions may be SQL92 expressions over message properties"`

	MessageDelayLevel     string `key:"messageDelayLevel" live:"true" default:"1s 5s 10s 30s 1m 2m 3m 4m 5m 6m 7m 8m 9m 10m 20m 30m 1h 2h" doc:"delay levels, units s m h d"`
	ScheduleMessageEnable bool   `key:"scheduleMessageEnable" default:"true" doc:"false: delayed sends are refused with code 14, retries wait"`
	DelayOverdueThreshold int64  `key:"delayOverdueThreshold" default:"2000" min:"100" doc:"ms that a delayed message may be late before log, health and metrics tell"`
	TimerWheelEnable      bool   `key:"timerWheelEnable" default:"true" doc:"false: any-time delayed messages are refused, and a store of RocketMQ in which some wait is opened; nobody delivers those"`

	TimerMaxDelaySec                  int64 `key:"timerMaxDelaySec" live:"true" default:"259200" min:"1" max:"3155760000" doc:"seconds ahead that an any-time delayed message may be due"`
	TimerPrecisionMs                  int64 `key:"timerPrecisionMs" default:"1000" min:"1" max:"1000" doc:"ms that TIMER_OUT_MS, which tools and recall handles see, is rounded to; delivery is at the millisecond"`
	TimerCongestNumEachSlot           int64 `key:"timerCongestNumEachSlot" live:"true" default:"2147483647" min:"1" doc:"messages due in one second above which more and more are refused, from twice as many on all"`
	RecallMessageEnable               bool  `key:"recallMessageEnable" live:"true" default:"true" doc:"producers may recall an any-time delayed message before it is due"`
	AllowRecallWhenBrokerNotWriteable bool  `key:"allowRecallWhenBrokerNotWriteable" live:"true" default:"true" doc:"also while brokerPermission has no write bit"`
	StartDeliverTimeEnable            bool  `key:"startDeliverTimeEnable" live:"true" default:"false" doc:"the property __STARTDELIVERTIME, ms since the epoch, delays a message as TIMER_DELIVER_MS does"`

	TransactionTimeOut         int64 `key:"transactionTimeOut" live:"true" default:"6000" min:"1" doc:"ms after which a producer is asked whether a transaction is committed"`
	TransactionCheckInterval   int64 `key:"transactionCheckInterval" live:"true" default:"30000" min:"1" doc:"ms from one such question to the next"`
	TransactionCheckMax        int64 `key:"transactionCheckMax" live:"true" default:"15" max:"65535" doc:"how often it is asked before the message goes to TRANS_CHECK_MAX_TIME_TOPIC"`
	TransactionOpMsgMaxSize    int64 `key:"transactionOpMsgMaxSize" default:"4096" min:"1" max:"16384" doc:"bytes of a record about ended transactions"`
	TransactionOpBatchInterval int64 `key:"transactionOpBatchInterval" default:"20" doc:"ms that such a record waits for more to say, at most 20"`
	RejectTransactionMessage   bool  `key:"rejectTransactionMessage" live:"true" default:"false" doc:"transactional messages are refused with code 16"`

	FlushDelayOffsetInterval                 int64 `key:"flushDelayOffsetInterval" live:"true" default:"500" min:"1" doc:"ms between saves of delay offsets, at most 500"`
	EnableScheduleAsyncDeliver               bool  `key:"enableScheduleAsyncDeliver" default:"false" doc:"deliver on before the messages before are durable; matters under SYNC_FLUSH"`
	ScheduleAsyncDeliverMaxPendingLimit      int64 `key:"scheduleAsyncDeliverMaxPendingLimit" default:"2000" min:"1" max:"1000000" doc:"messages of one level that may be on their way then"`
	ScheduleAsyncDeliverMaxResendNum2Blocked int64 `key:"scheduleAsyncDeliverMaxResendNum2Blocked" default:"3" doc:"refusals in a row after which a level counts as blocked, in health and log; no message is ever skipped"`

	FlushConsumerOffsetInterval int64 `key:"flushConsumerOffsetInterval" live:"true" default:"500" min:"1" doc:"ms a committed offset waits for its save, at most 500"`
	RegisterNameServerPeriod    int64 `key:"registerNameServerPeriod" default:"30000" min:"1" doc:"ms between registrations with external name servers"`
	ChannelExpiredTimeout       int64 `key:"channelExpiredTimeout" live:"true" default:"120000" min:"1" doc:"ms without a heartbeat after which a client is gone"`
	StoreReplyMessageEnable     bool  `key:"storeReplyMessageEnable" live:"true" default:"true" doc:"replies of request-reply are stored, besides being pushed"`
	RejectPullConsumerEnable    bool  `key:"rejectPullConsumerEnable" live:"true" default:"false" doc:"do not register consumers that pull by themselves"`
	UseServerSideResetOffset    bool  `key:"useServerSideResetOffset" live:"true" default:"true" doc:"offsets are reset on the broker; false: they are pushed to the clients that are online, as before RocketMQ 5.1"`
	LitePullMessageEnable       bool  `key:"litePullMessageEnable" live:"true" default:"true" doc:"serve LITE_PULL_MESSAGE, with which DefaultLitePullConsumer pulls"`

	DefaultMessageRequestMode string `key:"defaultMessageRequestMode" live:"true" default:"PULL" oneof:"PULL,POP" doc:"how a group consumes whose clients leave it to the broker, unless mqadmin setConsumeMode says otherwise"`
	DefaultPopShareQueueNum   int64  `key:"defaultPopShareQueueNum" live:"true" default:"-1" min:"-1" max:"65535" doc:"members of a group that pop from another's queues as well then; -1: all"`
	ServerLoadBalancerEnable  bool   `key:"serverLoadBalancerEnable" live:"true" default:"true" doc:"clients that leave it to the broker get their share of the queues; false: all of them"`

	ClearRetryTopicWhenDeleteTopic     bool  `key:"clearRetryTopicWhenDeleteTopic" live:"true" default:"true" doc:"the retry topics of groups that pop go with their topic"`
	EnableRetryTopicV2                 bool  `key:"enableRetryTopicV2" live:"true" default:"false" doc:"what was popped and not acknowledged goes to %RETRY%group+topic; false: to %RETRY%group_topic. Both are read"`
	PopFromRetryProbability            int64 `key:"popFromRetryProbability" live:"true" default:"20" max:"100" doc:"pops in a hundred that read retry topics first"`
	PopFromRetryProbabilityForPriority int64 `key:"popFromRetryProbabilityForPriority" live:"true" default:"0" max:"100" doc:"the same for topics with priorities"`
	PopResponseReturnActualRetryTopic  bool  `key:"popResponseReturnActualRetryTopic" live:"true" default:"false" doc:"messages of retry topics keep their topic when they are popped; false: they get that of the subscription"`
	PriorityOrderAsc                   bool  `key:"priorityOrderAsc" live:"true" default:"true" doc:"of a topic with priorities, pops read the queue with the highest number first; false: queue 0"`
	InitPopOffsetByCheckMsgInMem       bool  `key:"initPopOffsetByCheckMsgInMem" live:"true" default:"true" doc:"a new group that wants the latest messages begins with the first one of a queue if that is still in memory; false: with the last one"`
	PopPollingSize                     int64 `key:"popPollingSize" live:"true" default:"1024" min:"1" doc:"pops of one group that may wait for one queue, or for any"`
	EnablePopMessageThreshold          bool  `key:"enablePopMessageThreshold" live:"true" default:"false" doc:"a queue of which more messages than popInflightMessageThreshold are in flight to a group gives it no more"`
	PopInflightMessageThreshold        int64 `key:"popInflightMessageThreshold" live:"true" default:"10000" doc:"messages, if enablePopMessageThreshold"`
	MaxPopPollingSize                  int64 `key:"maxPopPollingSize" live:"true" default:"100000" min:"1" doc:"pops and notifications that may wait in all"`

	sources map[string]string // key to who set it; absent: nobody did
}
