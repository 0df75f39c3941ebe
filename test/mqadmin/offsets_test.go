package mqadmin

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/apache/rocketmq-client-go/v2/consumer"

	"github.com/wheelmq/wheelmq/test/goclient"
	"github.com/wheelmq/wheelmq/test/peer"
	"github.com/wheelmq/wheelmq/test/suite"
	"github.com/wheelmq/wheelmq/test/wire"
)

// offsetSteps are about groups' progress and their clients: GROUP is online with one client, CLIENT,
// and has consumed and committed what queue 0 of OF_Topic had, three messages; OF_Offline has an
// offset of 1 there.
var offsetSteps = []step{
	{"updateSubGroupList", "updateSubGroupList -n NAMESRV -b BROKER -f GROUPLIST", nil},
	{"getConsumerConfig", "getConsumerConfig -n NAMESRV -g OF_List2", sorted},
	{"consumerProgress", "consumerProgress -n NAMESRV -g OF_Online", sorted},
	{"consumerProgress-topic", "consumerProgress -n NAMESRV -g OF_Offline -t OF_Topic", sorted},
	{"consumerProgress-offline", "consumerProgress -n NAMESRV -g OF_Offline", sorted},
	{"brokerConsumeStats", "brokerConsumeStats -n NAMESRV -b BROKER", onlyOffsetGroups},
	{"consumerConnection", "consumerConnection -n NAMESRV -g OF_Online", maskMembers},
	{"consumerStatus", "consumerStatus -n NAMESRV -g OF_Online", maskMembers},
	{"consumerStatus-client", "consumerStatus -n NAMESRV -g OF_Online -i CLIENT", maskRunning},
	{"consumerProgress-client", "consumerProgress -n NAMESRV -g OF_Online -s true", maskMembers},
	{"queryMsgById-consume", "queryMsgById -n NAMESRV -t OF_Topic -i OFFSETID -g OF_Online -d CLIENT", maskSpent},
	{"queryMsgById-consume-nobody", "queryMsgById -n NAMESRV -t OF_Topic -i OFFSETID -g OF_Online -d nobody", nil},
	{"producer", "producer -n NAMESRV -b BROKER", maskMembers},
	{"queryCq", "queryCq -n NAMESRV -t OF_Topic -q 0 -i 1 -c 5 -b BROKER", maskPlaces},
	{"queryCq-group", "queryCq -n NAMESRV -t OF_Topic -q 0 -i 0 -c 1 -g OF_Online -b BROKER", maskPlaces},
	{"queryCq-offline", "queryCq -n NAMESRV -t OF_Topic -q 0 -i 0 -c 1 -g OF_Offline -b BROKER", maskPlaces},
	{"queryCq-unknown", "queryCq -n NAMESRV -t OF_Topic -q 7 -i 0 -c 1 -b BROKER", nil},
	{"cloneGroupOffset", "cloneGroupOffset -n NAMESRV -s OF_Offline -d OF_Clone -t OF_Topic -o true", nil},
	{"consumerProgress-clone", "consumerProgress -n NAMESRV -g OF_Clone", sorted},
	{"resetOffsetByTime", "resetOffsetByTime -n NAMESRV -g OF_Offline -t OF_Topic -s 1000000000000", sorted},
	{"resetOffsetByTime-now", "resetOffsetByTime -n NAMESRV -g OF_Offline -t OF_Topic -s now", sorted},
	{"resetOffsetByTime-queue", "resetOffsetByTime -n NAMESRV -g OF_Offline -t OF_Topic -s 0 -b BROKER -q 0 -o 2", nil},
	{"resetOffsetByTime-beyond", "resetOffsetByTime -n NAMESRV -g OF_Offline -t OF_Topic -s 0 -b BROKER -q 0 -o 9", nil},
	{"resetOffsetByTime-group", "resetOffsetByTime -n NAMESRV -g OF_Nobody -t OF_Topic -s 0", sorted},
	{"resetOffsetByTime-topic", "resetOffsetByTime -n NAMESRV -g OF_Offline -t OF_NoTopic -s 0", nil},
	{"consumerProgress-reset", "consumerProgress -n NAMESRV -g OF_Offline", sorted},
	{"skipAccumulatedMessage", "skipAccumulatedMessage -n NAMESRV -g OF_Offline -t OF_Topic -f true", sorted},
	{"consumerProgress-skipped", "consumerProgress -n NAMESRV -g OF_Offline", sorted},
	{"sendMsgStatus", "sendMsgStatus -n NAMESRV -b broker-a -s 128 -c 3", maskSent},
	{"cleanExpiredCQ", "cleanExpiredCQ -n NAMESRV -b BROKER", nil},
	{"cleanUnusedTopic", "cleanUnusedTopic -n NAMESRV -b BROKER", nil},
	{"deleteExpiredCommitLog", "deleteExpiredCommitLog -n NAMESRV -b BROKER", nil},
	{"deleteSubGroup-with-offsets", "deleteSubGroup -n NAMESRV -b BROKER -g OF_Clone -r true", nil},
}

// sorted is for tables whose rows have no order. When the client commits on its retry topic, and at
// what rate it has consumed, is a matter of moments.
func sorted(text string) string {
	text = rate.ReplaceAllString(second.ReplaceAllString(text, "<time>"), "Consume TPS: <n>")
	lines := strings.Split(strings.TrimRight(text, "\n"), "\n")
	lines = slices.DeleteFunc(lines, func(line string) bool { return strings.HasPrefix(line, "%RETRY%OF_Online broker-a") })
	slices.Sort(lines)
	return strings.Join(lines, "\n") + "\n"
}

// onlyOffsetGroups keeps the rows of this test's groups: others have offsets of their own.
func onlyOffsetGroups(text string) string {
	var rows []string
	for line := range strings.Lines(text) {
		if strings.Contains(line, " OF_O") || strings.HasPrefix(line, "#") {
			rows = append(rows, strings.TrimSpace(line))
		}
	}
	return sorted(strings.Join(rows, "\n"))
}

var (
	second    = regexp.MustCompile(`\d{4}-\d\d-\d\d \d\d:\d\d:\d\d`)
	rate      = regexp.MustCompile(`Consume TPS: .*`)
	member    = regexp.MustCompile(`\S+@client-\d+`)
	remote    = regexp.MustCompile(`/127\.0\.0\.1:\d+|\b\d+\.\d+\.\d+\.\d+(:\d+)?`)
	subbed    = regexp.MustCompile(`"?subVersion"?[:=]\d+`)
	instant   = regexp.MustCompile(`Timestamp=\d+`)
	spent     = regexp.MustCompile(`spentTimeMills=\d+`)
	place     = regexp.MustCompile(`physicOffset=\d+, physicSize=\d+`)
	sendTook  = regexp.MustCompile(`rt=\d+ms`)
	sendWhere = regexp.MustCompile(`queueOffset=\d+`)
	adminID   = regexp.MustCompile(`\S+@\d+#\d+|\S+@DEFAULT\S*`)
)

func maskMembers(text string) string {
	text = member.ReplaceAllString(text, "<client>")
	text = adminID.ReplaceAllString(text, "<admin>")
	text = remote.ReplaceAllString(text, "<addr>")
	return sorted(text)
}

// maskRunning keeps what of a client's report on itself is the same in every run: its lines' names.
func maskRunning(text string) string {
	lines := strings.Split(instant.ReplaceAllString(maskMembers(text), "Timestamp=<time>"), "\n")
	for i, line := range lines {
		name, _, found := strings.Cut(line, " : ")
		if found {
			lines[i] = name + " : <value>"
		}
	}
	return strings.Join(lines, "\n")
}

func maskSpent(text string) string { return spent.ReplaceAllString(text, "spentTimeMills=<n>") }

func maskPlaces(text string) string {
	return subbed.ReplaceAllString(place.ReplaceAllString(text, "physicOffset=<n>, physicSize=<n>"), `"subVersion":<n>`)
}

func maskSent(text string) string {
	return sendWhere.ReplaceAllString(sendTook.ReplaceAllString(text, "rt=<n>ms"), "queueOffset=<n>")
}

// groupList is the file that updateSubGroupList reads.
const groupList = `[{"groupName":"OF_List1"},{"groupName":"OF_List2","retryMaxTimes":5}]`

// prepareOffsets makes what the steps look at, and returns the text's values.
func prepareOffsets(t *testing.T, target *peer.Target) *strings.Replacer {
	t.Helper()
	goclient.Quiet()
	c := wire.Dial(t, target.BrokerAddr)
	c.MustCreateTopic(t, "OF_Topic", 1)
	const messages = 3
	for range messages - 1 {
		send(t, target, "OF_Topic", "TAGS\x01a\x02", "look at me")
	}
	id := send(t, target, "OF_Topic", "TAGS\x01b\x02", "look at me")
	wire.Introduce(t, target.BrokerAddr, "OF_Offline", "OF_Topic")
	wire.Introduce(t, target.BrokerAddr, "OF_Clone", "OF_Topic")
	if answer := c.Commit(t, "OF_Offline", "OF_Topic", 0, 1); answer.Code != wire.Success {
		t.Fatal(answer)
	}
	goclient.Consumer(t, target.NameServerAddr, "OF_Online", "OF_Topic", goclient.Succeeds, consumer.WithConsumerModel(consumer.Clustering))
	suite.Eventually(t, 3*time.Minute, "the group commits", func() bool {
		answer := c.QueryOffset(t, "OF_Online", "OF_Topic", 0, map[string]string{"setZeroIfNotFound": "false"})
		return answer.Code == wire.Success && answer.Int64(t, "offset") == messages
	})
	ids, _ := c.ConsumerIDs(t, "OF_Online")
	if len(ids) != 1 {
		t.Fatalf("members %v", ids)
	}
	// Until it has measured twice, the Go client computes its rates as 0/0 and cannot tell anything.
	suite.Eventually(t, 3*time.Minute, "the client tells how it runs", func() bool {
		const getConsumerRunningInfo = 307
		answer := c.Call(t, getConsumerRunningInfo, map[string]string{"consumerGroup": "OF_Online", "clientId": ids[0], "jstackEnable": "false"}, nil)
		return len(answer.Body) > 0
	})
	file := filepath.Join(t.TempDir(), "groups.json")
	if err := os.WriteFile(file, []byte(groupList), 0o600); err != nil {
		t.Fatal(err)
	}
	return strings.NewReplacer("NAMESRV", target.NameServerAddr, "BROKER", target.BrokerAddr, "OFFSETID", id, "CLIENT", ids[0], "GROUPLIST", file)
}

// TestOffsetCommands compares what mqadmin does with groups' offsets and clients.
func TestOffsetCommands(t *testing.T) {
	t.Parallel()
	peer.RequireJava(t)
	target := peer.StartTarget(t, nil)
	admin := startAdmin(t)
	values := prepareOffsets(t, target)
	for _, s := range offsetSteps {
		t.Run(s.name, func(t *testing.T) { runStep(t, target, admin, s, values) })
	}
	answer := wire.Dial(t, target.BrokerAddr).QueryOffset(t, "OF_Clone", "OF_Topic", 0, map[string]string{"setZeroIfNotFound": "false"})
	if answer.Code != wire.QueryNotFound {
		t.Errorf("the offsets of a group deleted with them: %v", answer)
	}
}
