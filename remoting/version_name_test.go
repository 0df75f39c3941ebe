package remoting

import "testing"

func TestVersionName(t *testing.T) {
	t.Parallel()
	for version, want := range map[int32]string{
		0: "v0", 121: "v121", 213: "v4_0_0", 317: "v4_5_2", 333: "v4_6_0", 399: "v4_9_3", 400: "v4_9_4_snapshot", 401: "v4_9_4",
		407: "v4_9_7", 413: "v5_0_0", 433: "v5_1_0", 475: "v5_3_1", Version: "v5_5_0",
	} {
		if got := VersionName(version); got != want {
			t.Errorf("%d is %s, want %s", version, got, want)
		}
	}
}
