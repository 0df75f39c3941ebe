package fastjson

// Entry is one pair of a map whose keys are objects: both are JSON already.
type Entry struct{ Key, Value []byte }

// AppendObjectKeyed appends a map whose keys are objects the way Java's classes insist on:
// `{{"brokerName":"a","queueId":0,"topic":"T"}:{…},…}`. No strict parser reads it.
func AppendObjectKeyed(dst []byte, entries []Entry) []byte {
	dst = append(dst, '{')
	for i, e := range entries {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = append(dst, e.Key...)
		dst = append(dst, ':')
		dst = append(dst, e.Value...)
	}
	return append(dst, '}')
}
