package difference

// The differences, in the order of docs/differences.md. To add one: a constant here, its
// row in the register below, and the place that calls Use.
const (
	EmptyBodyIllegal ID = iota
	DelayNotNumeric
	ViewValidatesOffset
	LongPollOnTime
	SubscriptionParseRefused
	BatchDelayRefused
	DefaultQueueNums
	RetryRouteAtFirstQuery
	AdvertiseReachedAddress
	DelayToTheMillisecond
	ParkedMessages
	BatchTopicListApplied
	QueueNumsBounded
	WallClockStepsIgnored
	OffsetsSavedSoon
	DelayOwnDueTime
	QueuesThatAre
	DelayedCopiesRecognised
	OffsetsWithinTheData
	TimersTakenOver
	QueryComparesKeys
	QueryFitsAFrame
	FullDiskReserve
	PendingPinsTheLog
	SystemTopicsForTools
	DamageStaysSmall
	CommittedOnce
	DelayAfterCommit
	CheckedOnTime
	ChecksNeedAProducer
	OwnOffsets
	PropertiesWithoutNUL
	HeldPullsAnswered
	ReplyToLivingConnection
	ReplyBeforeHeartbeat
	TimerToTheMillisecond
	TimerInstantsOnly
	TimerOutMsIsTheBrokers
	TimerNotOnRetries
	TimerDelayOverflow
	TimerCongestionAtAdmission
	TimerTopicClosed
	RecallByDefault
	PullBeforeHeartbeat
	MembersOverRestart
	ResetUntilFollowed
	ResetWakesPulls
	CloneOfAllTopics
	NumbersAsKeysQuoted
	SQLByDefault
	SQLBounded
	ForbiddenByTopic
	StatsWithoutOffsets
	RecreatedTopicAnew
	ConfigChecked
	PopDeadLetters
	PopOnTime
	CorrectionOnlyReads
	PopWithoutTimers
	PopInFlightShown
	PopBesideOrder
	OlderRuntimeKeys
	count
)

var register = [count]Difference{
	EmptyBodyIllegal:           {Name: "empty-body-illegal", Real: "an empty body is answered with code 1 and a NullPointerException text", Ours: "code 13 with a readable remark", Fixed: true},
	DelayNotNumeric:            {Name: "delay-not-numeric", Real: "a DELAY that is not a number is answered with code 1 and a NumberFormatException text", Ours: "code 13 with a readable remark", Fixed: true},
	ViewValidatesOffset:        {Name: "view-validates-offset", Real: "VIEW_MESSAGE_BY_ID trusts the offset and returns following bytes", Ours: "code 1 unless a record starts there", Fixed: true},
	LongPollOnTime:             {Name: "long-poll-on-time", Real: "a timed-out long poll is answered up to 5 s late", Ours: "it is answered on time", Fixed: true},
	SubscriptionParseRefused:   {Name: "subscription-parse-refused", Real: "a broken SQL expression or unknown expression type in a pull matches everything", Ours: "code 23", Fixed: true},
	BatchDelayRefused:          {Name: "batch-delay-refused", Real: "a delay or timer property inside a batch is ignored: the message is visible at once", Ours: "code 13 with a remark", Fixed: true},
	DefaultQueueNums:           {Name: "default-queue-nums", Real: "a send to a new topic without defaultTopicQueueNums fails with a NullPointerException text", Ours: "the topic is created with the broker's default", Fixed: true},
	RetryRouteAtFirstQuery:     {Name: "retry-route-at-first-query", Real: "the route of a new group's retry topic is 17 until the group's first heartbeat", Ours: "with auto-creation on, the first route query creates it, so a first retry does not wait 30 s"},
	AdvertiseReachedAddress:    {Name: "advertise-reached-address", Real: "the broker advertises one guessed address", Ours: "unless brokerIP1 is set, route answers carry the address through which that client reached us"},
	DelayToTheMillisecond:      {Name: "delay-to-the-millisecond", Real: "levels are polled every 100 ms", Ours: "a level is delivered at its due millisecond", Fixed: true},
	ParkedMessages:             {Name: "parked-messages", Real: "a due message whose target refuses it is skipped or blocks its level for ever", Ours: "it is parked in rmq_sys_wheelmq_parked and counted", Fixed: true},
	BatchTopicListApplied:      {Name: "topic-list-applied", Real: "UPDATE_AND_CREATE_TOPIC_LIST stops at the first identical entry", Ours: "every entry is applied", Fixed: true},
	QueueNumsBounded:           {Name: "queue-nums-bounded", Real: "a topic is created with any number of queues", Ours: "more than 65,536 queues, or fewer than 0, are refused with code 29: statistics of billions would exhaust the memory", Fixed: true},
	WallClockStepsIgnored:      {Name: "wall-clock-steps-ignored", Real: "message time is the wall clock: set ahead, delayed messages come early; set back, level messages come early and timers late", Ours: "message time runs at the machine's monotonic rate, suspends included, over restarts too; a step of the wall is logged and shown as wheelmq_clock_wall_offset_ms, less than a second is followed by at most 500 ppm", Fixed: true},
	OffsetsSavedSoon:           {Name: "offsets-saved-soon", Real: "consumer offsets are saved every flushConsumerOffsetInterval, 5 s by default: a kill repeats as much", Ours: "a committed offset is saved half a second later; a longer flushConsumerOffsetInterval has no effect", Fixed: true},
	OffsetsWithinTheData:       {Name: "offsets-within-the-data", Real: "after a power cut a consumer offset may be past the end of its queue: what is stored in the lost places is not consumed", Ours: "at the start such an offset is taken back to the end of its queue", Fixed: true},
	TimersTakenOver:            {Name: "timers-taken-over", Real: "a broker that was down for more than seven days loses the timers of the first of them; one that was killed delivers those of its last second twice", Ours: "the timers of a store of RocketMQ are taken over whole: however old they are, each once, and at its millisecond", Fixed: true},
	DelayOwnDueTime:            {Name: "delay-own-due-time", Real: "a lowered level delivers its backlog at once, a removed one never, and what is due waits behind what was queued under a longer delay", Ours: "every pending message keeps its own due instant, wherever in its queue it lies", Fixed: true},
	QueuesThatAre:              {Name: "queues-that-are", Real: "a delayed or half message whose topic has fewer queues when it is due or committed goes to a queue that no consumer reads", Ours: "it goes to one of those that the topic has", Fixed: true},
	DelayedCopiesRecognised:    {Name: "delayed-copies-recognised", Real: "after a crash the delayed messages of the last ten seconds are delivered again", Ours: "copies name their source, are recognised in the log and not made again", Fixed: true},
	QueryComparesKeys:          {Name: "query-compares-keys", Real: "a query by key returns whatever has the same 32-bit hash, and such messages count towards its limit", Ours: "only messages with the very key, and one that has it twice comes once", Fixed: true},
	FullDiskReserve:            {Name: "full-disk-reserve", Real: "above diskSpaceWarningLevelRatio sends are refused with code 14; a disk that is full before that kills the process", Ours: "space is reserved before it is written: sends get code 14 and the reason, while one log file and its queue pages are left for due messages and retries", Fixed: true},
	SystemTopicsForTools:       {Name: "system-topics-for-tools", Real: "any consumer may pull uncommitted half messages and delayed messages before their time from their system topics", Ours: "only the group of the tools, TOOLS_CONSUMER, may; others get code 16"},
	PropertiesWithoutNUL:       {Name: "properties-without-nul", Real: "a NUL byte in a message's properties is stored", Ours: "code 13: after a power cut zeros in the properties, which have no CRC, tell a torn record", Fixed: true},
	PendingPinsTheLog:          {Name: "pending-pins-the-log", Real: "a log file that has expired is deleted with the delayed messages that wait in it", Ours: "it is kept until they are delivered, which health and wheelmq_store_pinned show", Fixed: true},
	HeldPullsAnswered:          {Name: "held-pulls-answered", Real: "a broker that stops drops the pulls it holds: the Go client waits 30 s for each before it pulls again", Ours: "they are answered with code 14, and clients pull again 3 s later", Fixed: true},
	ReplyToLivingConnection:    {Name: "reply-to-living-connection", Real: "a requester that connects anew before its old connection has ended gets no replies any more: the end of the old one makes the broker forget where it is", Ours: "replies go to the youngest connection that lives", Fixed: true},
	ReplyBeforeHeartbeat:       {Name: "reply-before-heartbeat", Real: "a requester gets no reply before its first heartbeat, which the Go client sends up to 30 s after its start", Ours: "a reply goes to the connection that the request came by"},
	QueryFitsAFrame:            {Name: "query-fits-a-frame", Real: "a query by key answers with up to 64 messages however large: more than 16 MiB end a Java client's connection", Ours: "the newest ones that fit into 16 MiB", Fixed: true},
	DamageStaysSmall:           {Name: "damage-stays-small", Real: "recovery ends at the first damaged record and cuts off everything behind it; a record whose properties were not written is served without them", Ours: "below the checkpoint only what is damaged is lost, past it such a record is torn; queues that lack units are rebuilt, and a unit that points at no record is not served", Fixed: true},
	CommittedOnce:              {Name: "committed-once", Real: "a commit that is repeated, by the producer or after a crash, is stored again", Ours: "it is recognised, and answered with success", Fixed: true},
	DelayAfterCommit:           {Name: "delay-after-commit", Real: "a transactional message with a delay level is lost, one with an any-time delay is checked for ever", Ours: "its delay begins with the commit: a relative one counts from there, an absolute one that is past then is over"},
	CheckedOnTime:              {Name: "checked-on-time", Real: "producers are asked when the whole half topic is looked through, every transactionCheckInterval, and by the clock of the producer's machine; each question writes the message again", Ours: "a producer is asked transactionTimeOut after the half message was stored, and then every transactionCheckInterval; what is written is that it was asked", Fixed: true},
	ChecksNeedAProducer:        {Name: "checks-need-a-producer", Real: "a check counts when no producer of the group is there to be asked: an outage of transactionCheckMax intervals gives up its transactions", Ours: "it does not: the half message waits until fileReservedTime is over"},
	OwnOffsets:                 {Name: "own-offsets", Real: "any client may commit, reset or clone the offsets of CID_RMQ_SYS_TRANS: half messages below them are forgotten", Ours: "refused with code 16", Fixed: true},
	TimerToTheMillisecond:      {Name: "timer-to-the-millisecond", Real: "an any-time delayed message is delivered when its second is over, up to 1.1 s late", Ours: "it is delivered at its millisecond; TIMER_OUT_MS keeps the rounded value", Fixed: true},
	TimerInstantsOnly:          {Name: "timer-instants-only", Real: "a delivered message keeps TIMER_DELAY_SEC or TIMER_DELAY_MS", Ours: "it carries the instant instead, as TIMER_DELIVER_MS, and neither TIMER_ENQUEUE_MS nor TIMER_DEQUEUE_MS: a consumer that forwards it delays it only by setting a delay again", Fixed: true},
	TimerOutMsIsTheBrokers:     {Name: "timer-out-ms-is-the-brokers", Real: "a message whose client sets TIMER_OUT_MS, a forwarded one too, is delivered at once whatever delay it asks for", Ours: "TIMER_OUT_MS of a client is replaced, and the delay applies; a copy forwarded as it was received is delivered at once", Fixed: true},
	TimerNotOnRetries:          {Name: "timer-not-on-retries", Real: "timer properties of a message sent to a %RETRY% or %DLQ% topic delay it again", Ours: "they mean nothing there: the time was served", Fixed: true},
	TimerDelayOverflow:         {Name: "timer-delay-overflow", Real: "a TIMER_DELAY_SEC that overflows 64 bits as ms is delivered at once", Ours: "code 13, as everything beyond timerMaxDelaySec", Fixed: true},
	TimerCongestionAtAdmission: {Name: "timer-congestion-at-admission", Real: "timerCongestNumEachSlot looks at what is in the wheel already, which a burst overshoots, and refuses the less the fuller a slot is", Ours: "it counts what was admitted, and refuses a share that grows from none at the limit to all at twice the limit", Fixed: true},
	TimerTopicClosed:           {Name: "timer-topic-closed", Real: "clients may send to rmq_sys_wheel_timer: a record without TIMER_OUT_MS stops every timer", Ours: "code 16", Fixed: true},
	PullBeforeHeartbeat:        {Name: "pull-before-heartbeat", Real: "a pull whose group has not told its subscription, after a restart of the broker above all, is answered with code 24 or 25 until the next heartbeat, up to 30 s", Ours: "it is served: subscriptions are remembered over restarts, and clients that subscribe by tag get everything and look at the tags themselves, as they always do"},
	MembersOverRestart:         {Name: "members-over-restart", Real: "after a restart of the broker a group consists of those whose heartbeats have come: until the others' have, up to 30 s later, their queues are taken over while they go on with them, and a Go client that asks before its own gives all its queues back", Ours: "after a planned restart of at most 30 s, members from before it are counted until their heartbeat, for at most 35 s"},
	RecallByDefault:            {Name: "recall-by-default", Real: "recallMessageEnable is false unless set", Ours: "true unless set: a producer may recall an any-time delayed message"},
	ResetUntilFollowed:         {Name: "reset-until-followed", Real: "a reset ends with the first pull after it: what a client commits before it has taken the new offset over replaces it, and a restart forgets it", Ours: "commits are ignored until the pull after the one that was sent to the new offset, over a restart too, and a client that has taken it over divides the queues again at once"},
	ResetWakesPulls:            {Name: "reset-wakes-pulls", Real: "a pull that waits for messages hears of a reset when a message comes or its time is up, 15 s later", Ours: "it is answered at once"},
	CloneOfAllTopics:           {Name: "clone-of-all-topics", Real: "CLONE_GROUP_OFFSET without a topic succeeds and clones nothing", Ours: "it clones the offsets in every topic", Fixed: true},
	NumbersAsKeysQuoted:        {Name: "numbers-as-keys-quoted", Real: "the broker ids of cluster info (106) and member group (901) and the queues of correction offsets (308) are keys without quotes, which only a lenient parser reads", Ours: "they are quoted, as JSON demands; the official clients read both", Fixed: true},
	SQLByDefault:               {Name: "sql-by-default", Real: "enablePropertyFilter is false unless set: SQL92 subscriptions are answered with code 1", Ours: "true unless set"},
	SQLBounded:                 {Name: "sql-bounded", Real: "an SQL92 expression may be of any length: one that is too long for the stack of the broker's threads fails for every message, which nobody is told", Ours: "one of more than 64 KiB, or nested more than 1,000 deep, is refused with code 23", Fixed: true},
	ForbiddenByTopic:           {Name: "forbidden-by-topic", Real: "letting a group read a topic again (353) lifts what it is forbidden in every other topic, until a restart brings it back", Ours: "that topic only, for good", Fixed: true},
	StatsWithoutOffsets:        {Name: "stats-without-offsets", Real: "QUERY_CONSUME_TIME_SPAN says that a group without an offset is behind since 1970, and GET_BROKER_CONSUME_STATS knows no pull offsets and a negative total of what is in flight", Ours: "the delay is counted from the oldest message, and the pull offsets are those of GET_CONSUME_STATS", Fixed: true},
	ConfigChecked:              {Name: "config-checked", Real: "UPDATE_BROKER_CONFIG and UPDATE_NAMESRV_CONFIG answer success to an unknown key, to a value that does not fit, and to a key that is read at start only; keys that name files may be set over the network", Ours: "such a change is refused with code 29 and the reason, one of a key that names a place on the machine with 16; of several keys all are changed or none", Fixed: true},
	RecreatedTopicAnew:         {Name: "recreated-topic-from-its-beginning", Real: "clients that are online while a topic is deleted and created again pull and commit where they were in the old one: past the end of the new one, its first messages are passed over", Ours: "they are sent to its beginning, and their old offsets are ignored"},
	PopDeadLetters:             {Name: "pop-dead-letters", Real: "a message that pop consumers never acknowledge comes back for ever: only a client that tells so ends it", Ours: "after the group's retryMaxTimes it goes to %DLQ%group"},
	PopOnTime:                  {Name: "pop-on-time", Real: "a popped message that is not acknowledged comes back 2 to 3.5 s after it is visible again", Ours: "at its millisecond", Fixed: true},
	CorrectionOnlyReads:        {Name: "correction-only-reads", Real: "QUERY_CORRECTION_OFFSET (308) removes the offsets of the groups that it is asked to leave out, in all topics", Ours: "they are left out of the answer and keep their offsets", Fixed: true},
	PopWithoutTimers:           {Name: "pop-without-timers", Real: "with timerWheelEnable=false nothing can be popped", Ours: "pop needs no timers"},
	PopInFlightShown:           {Name: "pop-in-flight-shown", Real: "nothing tells whether a popped message is acknowledged", Ours: "QUERY_CONSUME_QUEUE (321) tells of each message whether it is in flight to the group that is named, since when and until when; GET_CONSUME_STATS (208) with showWaiting how many of each queue are, and how many delayed messages are on their way to each topic"},
	PopBesideOrder:             {Name: "pop-beside-order", Real: "a pop without order is given again what its group was handed out in order and has not acknowledged", Ours: "it waits for that, as a pop in order does"},
	OlderRuntimeKeys:           {Name: "older-runtime-keys", Real: "GET_BROKER_RUNTIME_INFO (28) has neither brokerVersion nor getTransferedTps, by which exporters and consoles of RocketMQ 4 fail", Ours: "both are there, beside getTransferredTps"},
}
