package mqadmin

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/wheelmq/wheelmq/test/peer"
	"github.com/wheelmq/wheelmq/test/wire"
)

// clusterSteps are about the name server, batches of topics, and messages as they lie. CL_Topic has
// two queues and a message in each, CL_Delay one message that was delayed, TR_Trace a trace of it.
var clusterSteps = []step{
	{"updateTopicList", "updateTopicList -n NAMESRV -b BROKER -f TOPICLIST", nil},
	{"updateTopicList-made", "topicRoute -n NAMESRV -t CL_List2", nil},
	{"updateTopicList-cluster", "updateTopicList -n NAMESRV -c DefaultCluster -f TOPICLIST", nil},
	{"updateSubGroupList-cluster", "updateSubGroupList -n NAMESRV -c DefaultCluster -f GROUPLIST", nil},
	{"updateSubGroup-attribute", "updateSubGroup -n NAMESRV -b BROKER -g CL_Attribute -s true -a +lite.bind.topic=CL_Topic", nil},
	{"updateTopicPerm", "updateTopicPerm -n NAMESRV -b BROKER -t CL_List1 -p 4", nil},
	{"updateTopicPerm-cluster", "updateTopicPerm -n NAMESRV -c DefaultCluster -t CL_List1 -p 6", nil},
	{"updateTopicPerm-same", "updateTopicPerm -n NAMESRV -b BROKER -t CL_List1 -p 6", nil},
	{"updateTopicPerm-unknown", "updateTopicPerm -n NAMESRV -b BROKER -t CL_None -p 4", nil},
	{"topicClusterList", "topicClusterList -n NAMESRV -t CL_Topic", nil},
	{"topicClusterList-unknown", "topicClusterList -n NAMESRV -t CL_None", nil},
	{"topicList-clusters", "topicList -n NAMESRV -c", onlyCluster},
	{"topicStatus-timer", "topicStatus -n NAMESRV -t rmq_sys_wheel_timer", nil},
	{"queryCq-schedule", "queryCq -n NAMESRV -t SCHEDULE_TOPIC_XXXX -q 17 -i 0 -c 3 -b BROKER", maskUnits},
	{"queryCq-timer", "queryCq -n NAMESRV -t rmq_sys_wheel_timer -q 0 -i 0 -c 1 -b BROKER", maskUnits},

	{"updateKvConfig", "updateKvConfig -n NAMESRV -s CL_NS -k aKey -v aValue", nil},
	{"deleteKvConfig", "deleteKvConfig -n NAMESRV -s CL_NS -k aKey", nil},
	{"updateOrderConf-put", "updateOrderConf -n NAMESRV -m put -t CL_Topic -v broker-a:2", nil},
	{"updateOrderConf-get", "updateOrderConf -n NAMESRV -m get -t CL_Topic", nil},
	{"updateOrderConf-get-none", "updateOrderConf -n NAMESRV -m get -t CL_None", nil},
	{"topicRoute-order", "topicRoute -n NAMESRV -t CL_Topic", nil},
	{"updateOrderConf-delete", "updateOrderConf -n NAMESRV -m delete -t CL_Topic", nil},
	{"wipeWritePerm", "wipeWritePerm -n NAMESRV -b broker-a", maskCount},
	{"topicRoute-wiped", "topicRoute -n NAMESRV -t CL_Topic", nil},
	{"addWritePerm", "addWritePerm -n NAMESRV -b broker-a", maskCount},
	{"topicRoute-writable", "topicRoute -n NAMESRV -t CL_Topic", nil},
	{"wipeWritePerm-unknown", "wipeWritePerm -n NAMESRV -b no-such-broker", nil},
	{"addWritePerm-unknown", "addWritePerm -n NAMESRV -b no-such-broker", nil},

	{"allocateMQ", "allocateMQ -n NAMESRV -t CL_Topic -i 127.0.0.1,127.0.0.3", jsonParts},
	{"printMsg", "printMsg -n NAMESRV -t CL_Topic", sorted},
	{"printMsg-body", "printMsg -n NAMESRV -t CL_Delay -d true", maskTimes},
	{"printMsgByQueue", "printMsgByQueue -n NAMESRV -t CL_Topic -a broker-a -i 0 -p true -f true -d true", nil},
	{"queryMsgByOffset", "queryMsgByOffset -n NAMESRV -t CL_Topic -b broker-a -i 0 -o 0", nil},
	{"queryMsgByOffset-beyond", "queryMsgByOffset -n NAMESRV -t CL_Topic -b broker-a -i 0 -o 99", nil},
	{"setConsumeMode", "setConsumeMode -n NAMESRV -b BROKER -t CL_Topic -g CL_Group -m POP -q 8", nil},
	{"setConsumeMode-cluster", "setConsumeMode -n NAMESRV -c DefaultCluster -t CL_Topic -g CL_Group -m PULL", nil},
	{"checkMsgSendRT", "checkMsgSendRT -n NAMESRV -t CL_Topic -a 4 -s 64", maskRT},
	{"queryMsgTraceById", "queryMsgTraceById -n NAMESRV -t TR_Trace -i TRACEID", maskTrace},
	{"producerConnection", "producerConnection -n NAMESRV -g CL_Producers -t CL_Topic", maskMembers},
	{"producerConnection-none", "producerConnection -n NAMESRV -g CL_None -t CL_Topic", nil},
	{"consumerProgress-all", "consumerProgress -n NAMESRV", onlyCluster},
	{"getConsumerConfig-none", "getConsumerConfig -n NAMESRV -g CL_None", nil},
	{"consumerConnection-none", "consumerConnection -n NAMESRV -g CL_None", nil},
	{"consumerProgress-none", "consumerProgress -n NAMESRV -g CL_None", nil},
	{"brokerConsumeStats-order", "brokerConsumeStats -n NAMESRV -b BROKER -o true", nil},
	{"statsAll-topic", "statsAll -n NAMESRV -t CL_Topic", maskStatsRows},
	{"statsAll", "statsAll -n NAMESRV", onlyClusterRows},
	{"getBrokerConfig", "getBrokerConfig -n NAMESRV -b BROKER", maskConfig},
	{"getBrokerConfig-cluster", "getBrokerConfig -n NAMESRV -c DefaultCluster", maskConfig},
	{"getNamesrvConfig", "getNamesrvConfig -n NAMESRV", maskConfig},
	{"statsAll-active", "statsAll -n NAMESRV -a -t CL_Topic", maskStatsRows},
}

// singleSteps are what a broker alone is asked about replicas, controllers, RocksDB, cold data, lite
// and static topics.
var singleSteps = []step{
	{"haStatus", "haStatus -n NAMESRV -b BROKER", maskLogEnd},
	{"haStatus-cluster", "haStatus -n NAMESRV -c DefaultCluster", maskLogEnd},
	{"resetMasterFlushOffset", "resetMasterFlushOffset -n NAMESRV -b BROKER -o 0", nil},
	{"getBrokerEpoch", "getBrokerEpoch -n NAMESRV -b broker-a", nil},
	{"getSyncStateSet", "getSyncStateSet -a NAMESRV -b broker-a", nil},
	{"getControllerMetaData", "getControllerMetaData -a NAMESRV", nil},
	{"getControllerConfig", "getControllerConfig -a NAMESRV", nil},
	{"getColdDataFlowCtrInfo", "getColdDataFlowCtrInfo -n NAMESRV -b BROKER", nil},
	{"updateColdDataFlowCtrGroupConfig", "updateColdDataFlowCtrGroupConfig -n NAMESRV -b BROKER -g CL_Group -v 1000", nil},
	{"removeColdDataFlowCtrGroupConfig", "removeColdDataFlowCtrGroupConfig -n NAMESRV -b BROKER -g CL_Group", nil},
	{"setCommitLogReadAheadMode", "setCommitLogReadAheadMode -n NAMESRV -b BROKER -m 0", nil},
	{"switchTimerEngine", "switchTimerEngine -n NAMESRV -b BROKER -e F", nil},
	{"switchTimerEngine-rocksdb", "switchTimerEngine -n NAMESRV -b BROKER -e R", nil},
	{"rocksDBConfigToJson", "rocksDBConfigToJson -b BROKER -t topics", nil},
	{"checkRocksdbCqWriteProgress", "checkRocksdbCqWriteProgress -n NAMESRV -c DefaultCluster", nil},
	{"exportMetadata-groups", "exportMetadata -n NAMESRV -b BROKER -g -f EXPORT", maskExport},
	{"exportConfigs", "exportConfigs -n NAMESRV -c DefaultCluster -f EXPORT", maskExport},
	{"exportMetrics", "exportMetrics -n NAMESRV -c DefaultCluster -f EXPORT", maskExport},
	{"exportMetadata-topics", "exportMetadata -n NAMESRV -b BROKER -t -f EXPORT", maskExport},
	{"getBrokerLiteInfo", "getBrokerLiteInfo -n NAMESRV -b BROKER", maskRows},
	{"getParentTopicInfo", "getParentTopicInfo -n NAMESRV -p CL_Topic", nil},
	{"getLiteTopicInfo", "getLiteTopicInfo -n NAMESRV -p CL_Topic -l lt1", nil},
	{"getLiteGroupInfo", "getLiteGroupInfo -n NAMESRV -p CL_Topic -g CL_Group", maskMoment},
	{"triggerLiteDispatch", "triggerLiteDispatch -n NAMESRV -p CL_Topic -g CL_Group", nil},
	{"updateStaticTopic", "updateStaticTopic -n NAMESRV -t CL_Static -qn 4 -c DefaultCluster", maskExport},
	{"remappingStaticTopic", "remappingStaticTopic -n NAMESRV -t CL_Topic -c DefaultCluster", maskExport},
	{"exportPopRecord", "exportPopRecord -n NAMESRV -b BROKER -d true", nil},
	{"createUser", "createUser -n NAMESRV -b BROKER -u someone -p secret -t Normal", nil},
	{"listUser", "listUser -n NAMESRV -b BROKER", nil},
	{"getUser", "getUser -n NAMESRV -b BROKER -u someone", nil},
	{"createAcl", "createAcl -n NAMESRV -b BROKER -s User:someone -r Topic:CL_Topic -a Pub -d Allow", nil},
	{"listAcl", "listAcl -n NAMESRV -b BROKER", nil},
	{"getAcl", "getAcl -n NAMESRV -b BROKER -s User:someone", nil},
	{"updateAcl", "updateAcl -n NAMESRV -b BROKER -s User:someone -r Topic:CL_Topic -a Pub,Sub -d Allow", nil},
	{"deleteAcl", "deleteAcl -n NAMESRV -b BROKER -s User:someone", nil},
	{"updateUser", "updateUser -n NAMESRV -b BROKER -u someone -p other", nil},
	{"deleteUser", "deleteUser -n NAMESRV -b BROKER -u someone", nil},
	{"updateBrokerConfig", "updateBrokerConfig -n NAMESRV -b BROKER -k longPollingEnable -v true", nil},
	{"updateBrokerConfig-unknown", "updateBrokerConfig -n NAMESRV -b BROKER -k noSuchKeyAtAll -v 1", nil},
	{"updateBrokerConfig-wrong", "updateBrokerConfig -n NAMESRV -b BROKER -k longPollingEnable -v perhaps", nil},
	{"updateBrokerConfig-path", "updateBrokerConfig -n NAMESRV -b BROKER -k brokerConfigPath -v /tmp/x", nil},
	{"updateNamesrvConfig", "updateNamesrvConfig -n NAMESRV -k orderMessageEnable -v true", nil},
	{"updateNamesrvConfig-path", "updateNamesrvConfig -n NAMESRV -k configStorePath -v /tmp/x", nil},
	{"unknown-command", "noSuchCommand", nil},
	{"bad-option", "clusterList --bogus", nil},
	{"no-value", "topicRoute -n NAMESRV", nil},
}

var (
	okCount   = regexp.MustCompile(`OK, \d+`)
	unitPlace = regexp.MustCompile(`physicOffset=\d+, physicSize=\d+, tagsCode=(-?\d+|<millis>)`)
	moment    = regexp.MustCompile(`<millis> \(\d+ s ago\)`)
	logEnd    = regexp.MustCompile(`(#MasterCommitLogMaxOffset\s+)\d+`)
	rt        = regexp.MustCompile(`(true) +\d+|Avg RT: .*`)
	exported  = regexp.MustCompile(`(/\S+/)?(CL_Static-)?(\S+\.json|<millis>\.(before|after))`)
	timesOf   = regexp.MustCompile(`(TIMER_\w+_MS|storeSize|bodyCRC)=\d+, |TIMER_\w+_MS=\d+, |__WMQ_SRC=[^,]*, `)
	queueID   = regexp.MustCompile(`"queueId":\d+`)
	costs     = regexp.MustCompile(`\d+ms`)
)

func maskCount(text string) string { return okCount.ReplaceAllString(text, "OK, <n>") }
func maskUnits(text string) string {
	return unitPlace.ReplaceAllString(text, "physicOffset=<n>, physicSize=<n>, tagsCode=<n>")
}
func maskMoment(text string) string { return moment.ReplaceAllString(text, "<millis> (<n> s ago)") }
func maskLogEnd(text string) string { return logEnd.ReplaceAllString(text, "${1}<n>") }
func maskRT(text string) string     { return rt.ReplaceAllString(text, "$1 <rt>") }
func maskExport(text string) string { return exported.ReplaceAllString(text, "<file>") }

// maskTimes takes away what a delay leaves on a message, and the identity that copies have here.
func maskTimes(text string) string { return timesOf.ReplaceAllString(text, "") }
func maskTrace(text string) string {
	return second.ReplaceAllString(costs.ReplaceAllString(text, "<n>ms"), "<time>")
}
func maskStatsRows(text string) string { return sorted(maskRows(text)) }

// onlyClusterRows are maskStatsRows of this test's topics.
func onlyClusterRows(text string) string { return maskStatsRows(onlyCluster(text)) }

// configValues are the keys whose values both servers have: defaults, and what the test sets.
var configValues = []string{
	"brokerName", "brokerClusterName", "brokerId", "brokerPermission", "autoCreateTopicEnable", "autoCreateSubscriptionGroup", "deleteWhen", "fileReservedTime",
	"flushDiskType", "longPollingEnable", "maxMessageSize", "messageDelayLevel", "timerWheelEnable", "traceTopicEnable", "transactionCheckMax",
	"transactionTimeOut", "orderMessageEnable", "clusterTest", "scanNotActiveBrokerInterval",
}

// maskConfig keeps titles and known values; of everything else it keeps the shape. The keys come in the order of a
// hash table.
func maskConfig(text string) string {
	lines := strings.Split(strings.TrimRight(text, "\n"), "\n")
	for i, line := range lines {
		if key, _, found := strings.Cut(line, " = "); found && !slices.Contains(configValues, key) {
			lines[i] = "<key> = <value>"
		} else if key, found := strings.CutSuffix(line, " ="); found && !strings.Contains(key, " ") {
			lines[i] = "<key> = <value>"
		}
	}
	slices.Sort(lines)
	return strings.Join(slices.Compact(lines), "\n") + "\n"
}

// onlyCluster keeps the rows of this test's topics and groups, and the titles.
func onlyCluster(text string) string {
	lines := slices.DeleteFunc(strings.Split(strings.TrimRight(text, "\n"), "\n"), func(line string) bool {
		return !strings.HasPrefix(line, "#") && !strings.Contains(line, "CL_")
	})
	return sorted(strings.Join(lines, "\n"))
}

// jsonParts is for queues that are dealt out in the order of a hash table.
func jsonParts(text string) string {
	text = queueID.ReplaceAllString(text, `"queueId":<n>`)
	return sorted(strings.ReplaceAll(strings.Trim(strings.TrimSpace(text), "{}"), "],", "],\n"))
}

const topicList = `[{"topicName":"CL_List1","readQueueNums":2,"writeQueueNums":2},{"topicName":"CL_List2","readQueueNums":3,"writeQueueNums":3,"perm":6}]`

// prepareCluster makes what the steps look at, and returns the text's values.
func prepareCluster(t *testing.T, target *peer.Target) *strings.Replacer {
	t.Helper()
	const traceID = "7F000001000100000000000000000002"
	c := wire.Dial(t, target.BrokerAddr)
	for name, queues := range map[string]int{"CL_Topic": 2, "CL_Delay": 1, "TR_Trace": 1} {
		c.MustCreateTopic(t, name, queues)
	}
	for queueID := range 2 {
		c.MustSend(t, wire.Send{Topic: "CL_Topic", QueueID: queueID, Properties: "UNIQ_KEY\x01" + traceID + "\x02", Body: []byte("lies there")})
	}
	c.MustSend(t, wire.Send{Topic: "CL_Delay", Properties: wire.Properties("DELAY", "1", "UNIQ_KEY", traceID), Body: []byte("was late")})
	c.MustSend(t, wire.Send{Topic: "CL_Delay", Properties: wire.Properties("DELAY", "18", "UNIQ_KEY", traceID), Body: []byte("is late")})
	c.MustSend(t, wire.Send{Topic: "CL_Delay", Properties: wire.Properties("TIMER_DELAY_SEC", "7000", "UNIQ_KEY", traceID), Body: []byte("is late")})
	c.Settle(t, "CL_Delay", 0, 1)
	c.MustSend(t, wire.Send{Topic: "TR_Trace", Properties: wire.Properties("KEYS", traceID, "UNIQ_KEY", "7F000001000100000000000000000003"), Body: trace(traceID)})
	wire.Introduce(t, target.BrokerAddr, "CL_Group", "CL_Topic")
	if answer := c.Commit(t, "CL_Group", "CL_Topic", 0, 1); answer.Code != wire.Success {
		t.Fatal(answer)
	}
	c.HeartbeatProducer(t, "here@client-1", "CL_Producers")
	dir := t.TempDir()
	file := filepath.Join(dir, "topics.json")
	if err := os.WriteFile(file, []byte(topicList), 0o600); err != nil {
		t.Fatal(err)
	}
	groups := filepath.Join(dir, "groups.json")
	if err := os.WriteFile(groups, []byte(`[{"groupName":"CL_List1"},{"groupName":"CL_List2","retryMaxTimes":5}]`), 0o600); err != nil {
		t.Fatal(err)
	}
	return strings.NewReplacer("NAMESRV", target.NameServerAddr, "BROKER", target.BrokerAddr, "TOPICLIST", file, "TRACEID", traceID, "EXPORT", dir, "GROUPLIST", groups)
}

// trace is what a client's trace of a send and of its consumption looks like.
func trace(id string) []byte {
	sent := []string{"Pub", "1796003094867", "DefaultRegion", "CL_Producers", "CL_Topic", id, "aTag", "aKey", "127.0.0.1:10911", "10", "3", "0",
		"7F0000010000000000000000000000FF", "true", "127.0.0.9"}
	before := []string{"SubBefore", "1796003094877", "DefaultRegion", "CL_Group", "REQUEST", id, "0", "aKey"}
	after := []string{"SubAfter", "REQUEST", id, "4", "true", "aKey", "0"}
	var text strings.Builder
	for _, fields := range [][]string{sent, before, after} {
		fmt.Fprintf(&text, "%s\x02", strings.Join(fields, "\x01"))
	}
	return []byte(text.String())
}

// TestClusterCommands compares what mqadmin shows and changes of a cluster.
func TestClusterCommands(t *testing.T) {
	t.Parallel()
	runSteps(t, clusterSteps)
}

// TestSingleCommands compares what mqadmin asks for that one broker alone need not have.
func TestSingleCommands(t *testing.T) {
	t.Parallel()
	runSteps(t, singleSteps)
}

func runSteps(t *testing.T, steps []step) {
	t.Helper()
	peer.RequireJava(t)
	target := peer.StartTarget(t, nil)
	admin := startAdmin(t)
	values := prepareCluster(t, target)
	for _, s := range steps {
		t.Run(s.name, func(t *testing.T) { runStep(t, target, admin, s, values) })
	}
}

// TestExitCodes runs commands as operators do, each in a JVM of its own: that is how the others count, too.
func TestExitCodes(t *testing.T) {
	t.Parallel()
	peer.RequireJava(t)
	target := peer.StartTarget(t, nil)
	for _, tt := range []struct {
		args string
		exit int
	}{
		{"topicStatus -n " + target.NameServerAddr + " -t none", 0},
		{"clusterList --bogus", 1},
	} {
		_, stderr, exit, err := peer.MQAdmin(t.Context(), strings.Fields(tt.args)...)
		if err != nil || exit != tt.exit {
			t.Errorf("mqadmin %s ends with %d, want %d: %v\n%s", tt.args, exit, tt.exit, err, stderr)
		}
	}
}
