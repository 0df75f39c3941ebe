package remoting_test

import (
	"testing"

	"github.com/wheelmq/wheelmq/remoting"
)

// goldenRequest is the first recorded request of a Java client with the code.
func goldenRequest(tb testing.TB, code int32) []byte {
	tb.Helper()
	for _, g := range goldenFrames(tb) {
		if g.Kind == "request" && g.Code == code && g.Peer == "java-5.5.0" && g.Serialize == "JSON" {
			return g.raw
		}
	}
	tb.Fatalf("no golden request %d", code)
	return nil
}

func BenchmarkDecodeSendV2(b *testing.B) {
	frame := goldenRequest(b, remoting.SendMessageV2)
	var cmd remoting.Command
	var header remoting.SendMessageRequest
	b.ReportAllocs()
	for b.Loop() {
		if err := remoting.Decode(frame, &cmd); err != nil {
			b.Fatal(err)
		}
		if err := header.Decode(&cmd.Ext); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkDecodePull(b *testing.B) {
	frame := goldenRequest(b, remoting.PullMessage)
	var cmd remoting.Command
	var header remoting.PullMessageRequest
	b.ReportAllocs()
	for b.Loop() {
		if err := remoting.Decode(frame, &cmd); err != nil {
			b.Fatal(err)
		}
		if err := header.Decode(&cmd.Ext); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkAppendReplyPull(b *testing.B) {
	header := remoting.PullMessageResponse{NextBeginOffset: 1234567, MaxOffset: 1234568}
	parts := [][]byte{make([]byte, 1000)}
	var reply remoting.Reply
	var out []byte
	b.ReportAllocs()
	for b.Loop() {
		reply.Reset()
		reply.Remark = "FOUND"
		header.Encode(&reply.Ext)
		reply.Parts = append(reply.Parts, parts...)
		out = remoting.AppendReplyHead(out[:0], 42, &reply)
	}
}

// The paths of a send and a pull allocate nothing once their buffers have grown.
func TestHotPath_Allocations(t *testing.T) {
	send, pull := goldenRequest(t, remoting.SendMessageV2), goldenRequest(t, remoting.PullMessage)
	var cmd remoting.Command
	var sendHeader remoting.SendMessageRequest
	var pullHeader remoting.PullMessageRequest
	var reply remoting.Reply
	var out []byte
	allocs := testing.AllocsPerRun(100, func() {
		if remoting.Decode(send, &cmd) != nil || sendHeader.Decode(&cmd.Ext) != nil {
			t.Fatal("send")
		}
		if remoting.Decode(pull, &cmd) != nil || pullHeader.Decode(&cmd.Ext) != nil {
			t.Fatal("pull")
		}
		reply.Reset()
		reply.Remark = "FOUND"
		(&remoting.PullMessageResponse{MaxOffset: 7}).Encode(&reply.Ext)
		out = remoting.AppendReplyHead(out[:0], cmd.Opaque, &reply)
	})
	if allocs != 0 {
		t.Fatalf("%v allocations, want none", allocs)
	}
}

// Headers that name each field once go over them without an allocation too.
func TestHeaders_Allocations(t *testing.T) {
	var pop remoting.PopMessageRequest
	var ack remoting.AckMessageRequest
	var commit remoting.UpdateConsumerOffsetRequest
	var popped remoting.PopMessageResponse
	for code, header := range map[int32]func(*remoting.Fields) error{
		remoting.PopMessage: pop.Decode, remoting.AckMessage: ack.Decode, remoting.UpdateConsumerOffset: commit.Decode,
	} {
		request := goldenRequest(t, code)
		var cmd remoting.Command
		var reply remoting.ExtWriter
		if allocs := testing.AllocsPerRun(100, func() {
			if remoting.Decode(request, &cmd) != nil || header(&cmd.Ext) != nil {
				t.Fatal(remoting.RequestCodeName(code))
			}
			reply.Reset()
			popped.Encode(&reply)
		}); allocs != 0 {
			t.Errorf("%s: %v allocations, want none", remoting.RequestCodeName(code), allocs)
		}
	}
}
