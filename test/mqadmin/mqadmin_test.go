package mqadmin

import (
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/wheelmq/wheelmq/test/peer"
)

var update = flag.Bool("update", false, "record the answers about the real RocketMQ (with WHEELMQ_TARGET=peer)")

// transcripts is a directory for what the server answered, masked: the text of a new exception.
var transcripts = flag.String("transcripts", "", "directory for the masked answers")

// step is one command. Steps run in order on one server, because later ones
// look at what earlier ones made.
type step struct {
	name string
	// args follow mqadmin; NAMESRV, BROKER, OFFSETID, NOWHERE and UNIQUEID are filled in.
	args string
	// shape removes more than mask does; nil keeps everything.
	shape func(string) string
}

var steps = []step{
	{"clusterList", "clusterList -n NAMESRV", maskRows},
	{"clusterList-more", "clusterList -n NAMESRV -m", maskRows},
	{"topicList-fresh", "topicList -n NAMESRV", topicSet},

	{"updateTopic-cluster", "updateTopic -n NAMESRV -c DefaultCluster -t AT_Cluster -r 4 -w 4", nil},
	{"updateTopic-broker", "updateTopic -n NAMESRV -b BROKER -t AT_Broker -r 1 -w 1", nil},
	{"updateTopic-delay", "updateTopic -n NAMESRV -b BROKER -t AT_Delay -r 2 -w 2 -a +message.type=DELAY", nil},
	{"updateTopic-read-only", "updateTopic -n NAMESRV -c DefaultCluster -t AT_ReadOnly -r 2 -w 2 -p 4", nil},
	{"updateTopic-change", "updateTopic -n NAMESRV -c DefaultCluster -t AT_Cluster -r 8 -w 6", nil},
	{"updateTopic-bad-name", "updateTopic -n NAMESRV -c DefaultCluster -t bad^topic -r 2 -w 2", nil},
	{"updateTopic-system", "updateTopic -n NAMESRV -b BROKER -t SCHEDULE_TOPIC_XXXX -r 2 -w 2", nil},
	{"updateTopic-no-cluster", "updateTopic -n NAMESRV -c NoSuchCluster -t AT_Cluster", nil},
	{"topicList", "topicList -n NAMESRV", topicSet},

	{"topicRoute", "topicRoute -n NAMESRV -t AT_Cluster", nil},
	{"topicRoute-list", "topicRoute -n NAMESRV -l -t AT_Cluster", nil},
	{"topicRoute-read-only", "topicRoute -n NAMESRV -t AT_ReadOnly", nil},
	{"topicRoute-unknown", "topicRoute -n NAMESRV -t AT_NoSuchTopic", nil},

	{"sendMessage", "sendMessage -n NAMESRV -t AT_Broker -p from-mqadmin -k adminKey -c TagAdmin", nil},
	{"sendMessage-queue", "sendMessage -n NAMESRV -t AT_Delay -p from-mqadmin -b broker-a -i 1", nil},
	{"sendMessage-unicode", "sendMessage -n NAMESRV -t AT_Delay -p 消息 -k 键 -c 标签 -b broker-a -i 1", nil},

	{"topicStatus", "topicStatus -n NAMESRV -t AT_Delay", nil},
	{"topicStatus-empty", "topicStatus -n NAMESRV -t AT_Cluster", nil},
	{"topicStatus-schedule", "topicStatus -n NAMESRV -t SCHEDULE_TOPIC_XXXX", nil},
	{"topicStatus-unknown", "topicStatus -n NAMESRV -t AT_NoSuchTopic", nil},

	{"queryMsgById", "queryMsgById -n NAMESRV -t AT_Broker -i OFFSETID", nil},
	{"queryMsgById-nowhere", "queryMsgById -n NAMESRV -t AT_Broker -i NOWHERE", nil},
	{"queryMsgById-unique", "queryMsgById -n NAMESRV -t AT_Broker -i UNIQUEID", nil},
	{"queryMsgByUniqueKey", "queryMsgByUniqueKey -n NAMESRV -t AT_Broker -i UNIQUEID", nil},
	{"queryMsgByUniqueKey-unknown", "queryMsgByUniqueKey -n NAMESRV -t AT_Broker -i 7F0000010001000000000000000000FF", nil},
	{"queryMsgByKey", "queryMsgByKey -n NAMESRV -t AT_Broker -k viewKey", maskIndexKey},
	{"queryMsgByKey-sent", "queryMsgByKey -n NAMESRV -t AT_Broker -k adminKey -m 1", maskIndexKey},
	{"queryMsgByKey-unicode", "queryMsgByKey -n NAMESRV -t AT_Delay -k 键", maskIndexKey},
	{"queryMsgByKey-tags", "queryMsgByKey -n NAMESRV -t AT_Broker -k viewTag -p T", maskIndexKey},
	{"queryMsgByKey-unknown", "queryMsgByKey -n NAMESRV -t AT_Broker -k none-such", nil},
	{"queryMsgByKey-too-early", "queryMsgByKey -n NAMESRV -t AT_Broker -k viewKey -e 1000000000000", nil},
	{"queryMsgByKey-other-topic", "queryMsgByKey -n NAMESRV -t AT_Cluster -k viewKey", nil},
	{"queryMsgTraceById-no-topic", "queryMsgTraceById -n NAMESRV -i UNIQUEID", nil},

	{"consumeMessage", "consumeMessage -n NAMESRV -t AT_Broker -c 2", nil},
	{"consumeMessage-queue", "consumeMessage -n NAMESRV -t AT_Delay -b broker-a -i 1 -o 0 -c 2", nil},
	{"consumeMessage-beyond", "consumeMessage -n NAMESRV -t AT_Delay -b broker-a -i 1 -o 99 -c 2", nil},
	{"consumeMessage-unknown", "consumeMessage -n NAMESRV -t AT_NoSuchTopic -c 1", nil},

	{"updateSubGroup-cluster", "updateSubGroup -n NAMESRV -c DefaultCluster -g AG_Forbidden -s false", nil},
	{"updateSubGroup-broker", "updateSubGroup -n NAMESRV -b BROKER -g AG_Broker -s true -r 3 -q 2", nil},
	{"updateSubGroup-all", "updateSubGroup -n NAMESRV -b BROKER -g AG_All -s true -m true -d true -o true -q 2 -r 5 -i 1 -w 0 -a false", nil},
	{"topicRoute-retry", "topicRoute -n NAMESRV -t %RETRY%AG_Broker", nil},
	{"deleteSubGroup-cluster", "deleteSubGroup -n NAMESRV -c DefaultCluster -g AG_Forbidden", nil},
	{"deleteSubGroup-offsets", "deleteSubGroup -n NAMESRV -b BROKER -g AG_Broker -r true", nil},
	{"deleteSubGroup-unknown", "deleteSubGroup -n NAMESRV -b BROKER -g AG_NoSuchGroup", nil},

	{"deleteTopic", "deleteTopic -n NAMESRV -c DefaultCluster -t AT_Cluster", nil},
	{"deleteTopic-unknown", "deleteTopic -n NAMESRV -c DefaultCluster -t AT_NoSuchTopic", nil},
	{"topicRoute-deleted", "topicRoute -n NAMESRV -t AT_Cluster", nil},
	{"topicList-end", "topicList -n NAMESRV", topicSet},

	{"brokerStatus", "brokerStatus -n NAMESRV -b BROKER", maskStatus},
	{"brokerStatus-cluster", "brokerStatus -n NAMESRV -c DefaultCluster", maskStatus},
	{"updateTopic-transaction", "updateTopic -n NAMESRV -c DefaultCluster -t AT_Tx -r 2 -w 2 -a +message.type=TRANSACTION", nil},
	{"updateTopic-order", "updateTopic -n NAMESRV -c DefaultCluster -t AT_Order -r 2 -w 2 -o true", nil},
}

// uniqueID is the client's id of the message that the queries are for.
const uniqueID = "7F000001000100000000000000000001"

// TestCommands runs every step and compares the masked output, standard error
// and exit code included, with testdata/<step>.txt, which is what the real broker's mqadmin
// printed. A listed exception replaces the recorded text for WheelMQ.
func TestCommands(t *testing.T) {
	t.Parallel()
	peer.RequireJava(t)
	target := peer.StartTarget(t, nil)
	admin := startAdmin(t)
	values := strings.NewReplacer("NAMESRV", target.NameServerAddr, "BROKER", target.BrokerAddr)
	var names []string
	for _, s := range slices.Concat(steps, offsetSteps, clusterSteps, singleSteps) {
		names = append(names, s.name)
	}
	exceptions := peer.CheckExceptions(t, "mqadmin", names)
	for _, s := range steps {
		t.Run(s.name, func(t *testing.T) {
			if s.name == "topicStatus-schedule" {
				// One message for each end of the list of levels; the later one stays for two hours.
				send(t, target, "AT_Delay", "DELAY\x0118\x02", "waits for two hours")
			}
			if s.name == "queryMsgById" {
				id := send(t, target, "AT_Broker", "UNIQ_KEY\x01"+uniqueID+"\x02KEYS\x01viewKey\x02TAGS\x01viewTag\x02", "look at me")
				values = strings.NewReplacer("NAMESRV", target.NameServerAddr, "BROKER", target.BrokerAddr,
					"OFFSETID", id, "NOWHERE", id[:16]+"00000000FFFFFFFF", "UNIQUEID", uniqueID)
			}
			runStep(t, target, admin, s, values)
		})
	}
	t.Logf("%d commands against %s, %d listed exceptions", len(steps), target.Kind, exceptions)
}

// startAdmin starts a JVM for the commands of one test.
func startAdmin(t *testing.T) *peer.Admin {
	t.Helper()
	admin, err := peer.StartAdmin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := admin.Close(); err != nil {
			t.Error(err)
		}
	})
	return admin
}

func send(t *testing.T, target *peer.Target, topic, properties, body string) string {
	t.Helper()
	id, err := peer.Send(t.Context(), target.BrokerAddr, topic, 0, properties, []byte(body))
	if err != nil {
		t.Fatal(err)
	}
	return id
}

func runStep(t *testing.T, target *peer.Target, admin *peer.Admin, s step, values *strings.Replacer) {
	t.Helper()
	args := strings.Fields(s.args)
	for i := range args {
		args[i] = values.Replace(args[i])
	}
	stdout, stderr, exit, err := admin.Run(args...)
	if err != nil {
		t.Fatal(err)
	}
	got := mask(stdout)
	if s.shape != nil {
		got = s.shape(got)
	}
	if stderr != "" {
		got += "--- stderr\n" + mask(stderr)
	}
	if exit != 0 {
		got += fmt.Sprintf("--- exit code %d\n", exit)
	}
	if *transcripts != "" {
		if err := os.WriteFile(filepath.Join(*transcripts, s.name+".txt"), []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	file := filepath.Join("testdata", s.name+".txt")
	if *update {
		if target.Kind != peer.Real {
			t.Fatal("-update records the real RocketMQ only: set WHEELMQ_TARGET=peer")
		}
		if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	recorded, err := os.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		t.Fatalf("no recorded answer: run the test with WHEELMQ_TARGET=peer and -update")
	}
	if err != nil {
		t.Fatal(err)
	}
	want := string(recorded)
	exception, listed := peer.FindException(t, "mqadmin/"+s.name)
	if listed && exception.Peer != want {
		t.Errorf("the exception's transcript is not what was recorded from the real broker:\n%s", diff(want, exception.Peer))
	}
	if listed && target.Kind == peer.Ours {
		want = exception.Ours
	}
	if got != want {
		t.Errorf("mqadmin %s\n%s", strings.Join(args, " "), diff(want, got))
	}
}

// diff shows the lines that only one of two texts has, in place.
func diff(want, got string) string {
	a, b := strings.Split(want, "\n"), strings.Split(got, "\n")
	// Longest common subsequence over lines; the texts are short.
	length := make([][]int, len(a)+1)
	for i := range length {
		length[i] = make([]int, len(b)+1)
	}
	for i := len(a) - 1; i >= 0; i-- {
		for j := len(b) - 1; j >= 0; j-- {
			if a[i] == b[j] {
				length[i][j] = length[i+1][j+1] + 1
			} else {
				length[i][j] = max(length[i+1][j], length[i][j+1])
			}
		}
	}
	var out strings.Builder
	i, j := 0, 0
	for i < len(a) || j < len(b) {
		switch {
		case i < len(a) && j < len(b) && a[i] == b[j]:
			out.WriteString("  " + a[i] + "\n")
			i++
			j++
		case j == len(b) || i < len(a) && length[i+1][j] >= length[i][j+1]:
			out.WriteString("- " + a[i] + "\n")
			i++
		default:
			out.WriteString("+ " + b[j] + "\n")
			j++
		}
	}
	return out.String()
}
