package remoting

import "fmt"

// firstRegular is V4_0_0. From it on versions are numbered in a row: ten patches to a minor version, ten
// minor versions to a major one, each with its snapshot before it.
const firstRegular = 213

// VersionName is RocketMQ's name of a protocol version, e.g. v5_5_0 or v4_9_8_snapshot. Those before 4.0
// are shown by their number.
func VersionName(version int32) string {
	if version < firstRegular-1 {
		return fmt.Sprintf("v%d", version)
	}
	patch, suffix := (version+1-firstRegular)/2, ""
	if version%2 == 0 {
		suffix = "_snapshot"
	}
	return fmt.Sprintf("v%d_%d_%d%s", 4+patch/100, patch/10%10, patch%10, suffix)
}
