package message

import "testing"

func TestRecallHandle(t *testing.T) {
	t.Parallel()
	text := AppendRecallHandle(nil, "GT_Delay", "broker-a", 1796003214001, []byte("FD000000000000000000000000000002684230946E0995B87973000D"))
	const want = "djEgR1RfRGVsYXkgYnJva2VyLWEgMTc5NjAwMzIxNDAwMSBGRDAwMDAwMDAwMDAwMDAwMDAwMDAwMDAwMDAwMDAwMjY4NDIzMDk0NkUwOTk1Qjg3OTczMDAwRA=="
	if string(text) != want {
		t.Errorf("the handle is %s, want %s", text, want)
	}
	h, ok := ParseRecallHandle(want)
	if wantHandle := (RecallHandle{"GT_Delay", "broker-a", 1796003214001, "FD000000000000000000000000000002684230946E0995B87973000D"}); !ok || h != wantHandle {
		t.Errorf("read %+v, %v, want %+v", h, ok, wantHandle)
	}
	if _, ok := ParseRecallHandle("djEgR1RfRGVsYXkgYnJva2VyLWEgMTc5NjAwMzIxNDAwMSBGRDAwMDAwMDAwMDAwMDAwMDAwMDAwMDAwMDAwMDAwMjY4NDIzMDk0NkUwOTk1Qjg3OTczMDAwRA"); !ok {
		t.Error("a handle without padding is not read")
	}
	for _, bad := range []string{"", "?", "djEgYSBi", "djIgVCBCIDEgSw=="} {
		if h, ok := ParseRecallHandle(bad); ok {
			t.Errorf("%q is read as %+v", bad, h)
		}
	}
	if h, ok := ParseRecallHandle("djEgVCBCIHggSw=="); !ok || h.DeliverMs != -1 {
		t.Errorf("an instant that is no number is read as %+v, %v", h, ok)
	}
}
