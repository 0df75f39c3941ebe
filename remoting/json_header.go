package remoting

import "strconv"

// decodeJSON reads a JSON header. It is as tolerant as the real server: unknown fields are
// skipped, numbers may be strings, extFields' values may be of any type.
func decodeJSON(header []byte, cmd *Command) error {
	s := scanner{b: header, scratch: &cmd.Ext.scratch}
	if !s.consume('{') {
		return s.fail("an object")
	}
	if s.consume('}') {
		return s.end()
	}
	for {
		key, err := s.text()
		if err != nil {
			return err
		}
		if !s.consume(':') {
			return s.fail("a colon")
		}
		if err := decodeJSONField(&s, key, cmd); err != nil {
			return err
		}
		if s.consume(',') {
			continue
		}
		if s.consume('}') {
			return s.end()
		}
		return s.fail("a comma or the end of the object")
	}
}

func decodeJSONField(s *scanner, key []byte, cmd *Command) (err error) {
	switch string(key) {
	case "code":
		cmd.Code, err = s.int32()
	case "version":
		cmd.Version, err = s.int32()
	case "opaque":
		cmd.Opaque, err = s.int32()
	case "flag":
		cmd.Flag, err = s.int32()
	case "language":
		var name []byte
		if name, err = s.value(); err == nil {
			cmd.Language = languageOf(name)
		}
	case "remark":
		var remark []byte
		if remark, err = s.value(); err == nil && len(remark) > 0 {
			cmd.Remark = string(remark)
		}
	case "extFields":
		err = decodeJSONExt(s, &cmd.Ext)
	default:
		_, err = s.value()
	}
	return err
}

func decodeJSONExt(s *scanner, ext *Fields) error {
	if !s.consume('{') {
		v, err := s.value()
		if err == nil && v != nil {
			return s.fail("extFields as an object")
		}
		return err
	}
	if s.consume('}') {
		return nil
	}
	for {
		if done, err := s.plainFields(ext); done || err != nil {
			return err
		}
		key, err := s.text()
		if err != nil {
			return err
		}
		if !s.consume(':') {
			return s.fail("a colon")
		}
		value, err := s.value()
		if err != nil {
			return err
		}
		if value != nil {
			ext.list = append(ext.list, Field{Key: key, Value: value})
		}
		if s.consume(',') {
			continue
		}
		if s.consume('}') {
			return nil
		}
		return s.fail("a comma or the end of extFields")
	}
}

// plainFields reads fields as clients write them, "key":"value" without blanks and without
// escapes in keys, up to the end of the object or the first field that is written otherwise.
func (s *scanner) plainFields(ext *Fields) (done bool, err error) {
	b := s.b
	for at := s.at; at < len(b) && b[at] == '"'; at++ {
		key := at + 1
		keyEnd := shortText(b, key)
		value := keyEnd + 3
		if value >= len(b) || b[keyEnd] != '"' || b[keyEnd+1] != ':' || b[keyEnd+2] != '"' {
			return false, nil
		}
		at = shortText(b, value)
		text := b[value:at:at]
		if at < len(b) && b[at] == '\\' {
			s.at = at
			if text, err = s.escapedText(value); err != nil {
				return false, err
			}
			at, s.at = s.at, key-1
		} else {
			at++
		}
		if at >= len(b) || b[at] != ',' && b[at] != '}' {
			return false, nil
		}
		ext.Add(b[key:keyEnd:keyEnd], text)
		s.at = at + 1
		if b[at] == '}' {
			return true, nil
		}
	}
	return false, nil
}

// jsonHead is what appendJSONHeader writes: keys in the real server's alphabetical order.
type jsonHead struct {
	code, flag, opaque int32
	language           string
	version            int32
	remark             string
	ext                *ExtWriter
}

func appendJSONHeader(dst []byte, h jsonHead) []byte {
	dst = append(dst, `{"code":`...)
	dst = strconv.AppendInt(dst, int64(h.code), 10)
	if h.ext != nil && h.ext.present {
		dst = append(dst, `,"extFields":{`...)
		dst = append(dst, h.ext.buf...)
		dst = append(dst, '}')
	}
	dst = append(dst, `,"flag":`...)
	dst = strconv.AppendInt(dst, int64(h.flag), 10)
	dst = append(dst, `,"language":"`...)
	dst = append(dst, h.language...)
	dst = append(dst, `","opaque":`...)
	dst = strconv.AppendInt(dst, int64(h.opaque), 10)
	if h.remark != "" {
		dst = append(dst, `,"remark":`...)
		dst = AppendJSONString(dst, h.remark)
	}
	dst = append(dst, `,"serializeTypeCurrentRPC":"JSON","version":`...)
	dst = strconv.AppendInt(dst, int64(h.version), 10)
	return append(dst, '}')
}
