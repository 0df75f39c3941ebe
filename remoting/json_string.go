package remoting

import "unicode/utf8"

const hexDigits = "0123456789abcdef"

// AppendJSONString appends a quoted JSON string. Control characters are escaped and bytes
// that are not UTF-8 become U+FFFD, for a peer would close the connection over either.
func AppendJSONString[T string | []byte](dst []byte, s T) []byte {
	dst = append(dst, '"')
	start := 0
	for i := plainPrefix(s); i < len(s); {
		c := s[i]
		if c >= utf8.RuneSelf {
			r, n := utf8.DecodeRuneInString(string(s[i:min(i+utf8.UTFMax, len(s))]))
			if r == utf8.RuneError && n == 1 {
				dst = append(append(dst, s[start:i]...), "\uFFFD"...)
				start = i + 1
			}
			i += n
			continue
		}
		i++
		if c >= 0x20 && c != '"' && c != '\\' {
			continue
		}
		dst = append(dst, s[start:i-1]...)
		start = i
		switch c {
		case '"', '\\':
			dst = append(dst, '\\', c)
		case '\n':
			dst = append(dst, '\\', 'n')
		case '\t':
			dst = append(dst, '\\', 't')
		case '\r':
			dst = append(dst, '\\', 'r')
		default:
			dst = append(dst, '\\', 'u', '0', '0', hexDigits[c>>4], hexDigits[c&0xF])
		}
	}
	dst = append(dst, s[start:]...)
	return append(dst, '"')
}

// plainPrefix is how many bytes at the start of s, a multiple of eight, are written as they
// are.
func plainPrefix[T string | []byte](s T) int {
	i := 0
	for ; len(s)-i >= 8; i += 8 {
		w := uint64(s[i]) | uint64(s[i+1])<<8 | uint64(s[i+2])<<16 | uint64(s[i+3])<<24 |
			uint64(s[i+4])<<32 | uint64(s[i+5])<<40 | uint64(s[i+6])<<48 | uint64(s[i+7])<<56
		// A byte below 0x20 borrows, or has its highest bit set already.
		if (w|(w-0x20*eachByte))&highBits|zeroBytes(w^'"'*eachByte)|zeroBytes(w^'\\'*eachByte) != 0 {
			break
		}
	}
	return i
}
