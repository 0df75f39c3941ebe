package message

import "bytes"

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
		entry := props
		if end := bytes.IndexByte(props, valueEnd); end >= 0 {
			entry, props = props[:end], props[end+1:]
		} else {
			props = nil
		}
		if len(entry) == 0 {
			continue
		}
		switch entry[0] {
		case PropertyUniqKey[0]:
			valueInto(&k.UniqKey, entry, PropertyUniqKey)
		case PropertyKeys[0]:
			valueInto(&k.Keys, entry, PropertyKeys)
		case PropertyTags[0]:
			valueInto(&k.Tags, entry, PropertyTags)
		}
	}
	return k
}

// valueInto sets value to that of an entry with this name, unless it is empty.
func valueInto(value *[]byte, entry []byte, name string) {
	n := len(name)
	if len(entry) > n+1 && entry[n] == nameEnd && string(entry[:n]) == name {
		*value = entry[n+1:]
	}
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
