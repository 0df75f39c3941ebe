package remoting_test

import (
	"testing"

	"github.com/wheelmq/wheelmq/remoting"
)

// FuzzDecode: no bytes make the decoder fail otherwise than by an error, and what it accepts
// survives an encoding and a decoding.
func FuzzDecode(f *testing.F) {
	for i, g := range goldenFrames(f) {
		if i%40 == 0 && len(g.raw) < 1000 {
			f.Add(g.raw)
		}
	}
	f.Add(frameOf(`{"extFields":{"k":"\ud83d\ude00\ud83d"},"remark":"\u0000"}`, "x"))
	f.Fuzz(func(t *testing.T, frame []byte) {
		var cmd, again, third remoting.Command
		if remoting.Decode(frame, &cmd) != nil {
			return
		}
		encoded := remoting.AppendCommand(nil, &cmd)
		if n, err := remoting.FrameLength(encoded); err == nil && n != len(encoded) {
			t.Fatalf("the length word tells %d of %d bytes", n, len(encoded))
		}
		if err := remoting.Decode(encoded, &again); err != nil {
			t.Fatalf("%q: %v", encoded, err)
		}
		// Text that is no UTF-8 is mended by the first encoding, nothing by the second.
		if err := remoting.Decode(remoting.AppendCommand(nil, &again), &third); err != nil || text(&third) != text(&again) {
			t.Fatalf("%q:\n got %s, %v\nwant %s", encoded, text(&third), err, text(&again))
		}
	})
}

// FuzzDecodeRocketMQ is FuzzDecode for the binary header alone.
func FuzzDecodeRocketMQ(f *testing.F) {
	for i, g := range goldenFrames(f) {
		if i%10 == 0 && g.Serialize == "ROCKETMQ" {
			f.Add(g.raw[8:])
		}
	}
	f.Fuzz(func(t *testing.T, header []byte) {
		n := len(header)
		if n >= 1<<24-8 {
			return
		}
		frame := append([]byte{0, byte((n + 4) >> 16), byte((n + 4) >> 8), byte(n + 4), 1, byte(n >> 16), byte(n >> 8), byte(n)}, header...)
		var cmd, again remoting.Command
		if remoting.Decode(frame, &cmd) != nil {
			return
		}
		if err := remoting.Decode(remoting.AppendCommandBinary(nil, &cmd), &again); err != nil || text(&again) != withoutEmpty(&cmd) {
			t.Fatalf("got %s, %v\nwant %s", text(&again), err, withoutEmpty(&cmd))
		}
	})
}
