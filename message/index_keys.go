package message

// IndexKeys are what a message can be looked up by. They alias the properties they were
// taken from; nil means absent.
type IndexKeys struct {
	UniqKey []byte
	Keys    []byte // separated by blanks, see NextKey
	Tags    []byte
}

// PropertyIndexKeys finds the keys of a message in one pass over its properties.
func PropertyIndexKeys(props []byte) (k IndexKeys) {
	for len(props) > 0 {
		name, value, rest, valid := nextProperty(props)
		if valid {
			switch string(name) {
			case PropertyUniqKey:
				k.UniqKey = value
			case PropertyKeys:
				k.Keys = value
			case PropertyTags:
				k.Tags = value
			}
		}
		props = rest
	}
	return k
}

// NextKey cuts the first key off a list separated by blanks; an empty key means that there
// is none left.
func NextKey(keys []byte) (key, rest []byte) {
	for len(keys) > 0 && keys[0] == ' ' {
		keys = keys[1:]
	}
	for i, c := range keys {
		if c == ' ' {
			return keys[:i], keys[i:]
		}
	}
	return keys, nil
}
