package paste

import (
	"bytes"
	"encoding/binary"
	"unicode/utf16"
	"unicode/utf8"
)

// decoded returns a text in UTF-8 without a byte order mark, and notes on the changes.
func decoded(text []byte) (plain []byte, notes []string) {
	if rest, ok := bytes.CutPrefix(text, []byte("\xef\xbb\xbf")); ok {
		return rest, []string{"a byte order mark is taken off"}
	}
	if order := wide(text); order != nil {
		return narrow(text, order), []string{"the text is in UTF-16 and read as UTF-8"}
	}
	return text, nil
}

// wide returns the byte order of a text in UTF-16, nil if it is not in UTF-16. Without a
// byte order mark the text is one where at least three quarters of its first characters
// have a zero byte on the same side, and hardly any on the other.
func wide(text []byte) binary.ByteOrder {
	switch {
	case bytes.HasPrefix(text, []byte{0xff, 0xfe}):
		return binary.LittleEndian
	case bytes.HasPrefix(text, []byte{0xfe, 0xff}):
		return binary.BigEndian
	}
	head := text[:min(len(text), 512)&^1]
	if len(head) < 16 {
		return nil
	}
	var zero [2]int
	for i, b := range head {
		if b == 0 {
			zero[i&1]++
		}
	}
	enough, few := len(head)/2*3/4, len(head)/32
	switch {
	case zero[0] <= few && zero[1] >= enough:
		return binary.LittleEndian
	case zero[1] <= few && zero[0] >= enough:
		return binary.BigEndian
	}
	return nil
}

// isText16 reports whether a text is in UTF-16, by its bytes and its beginning in UTF-8.
func isText16(text, plain []byte) bool {
	return wide(text) != nil && !bytes.ContainsRune(plain[:min(len(plain), HeadLen)], utf8.RuneError)
}

// narrow returns a text in UTF-16 as UTF-8.
func narrow(text []byte, order binary.ByteOrder) []byte {
	out := make([]byte, 0, len(text)/2+len(text)/16)
	for i := 0; i+1 < len(text); i += 2 {
		r := rune(order.Uint16(text[i:]))
		if i == 0 && r == '\ufeff' {
			continue
		}
		if utf16.IsSurrogate(r) {
			low := rune(0)
			if i+3 < len(text) {
				low = rune(order.Uint16(text[i+2:]))
			}
			if r = utf16.DecodeRune(r, low); r != utf8.RuneError {
				i += 2
			}
		}
		out = utf8.AppendRune(out, r)
	}
	return out
}

// isBinary reports whether the beginning of a text has bytes that no text has.
func isBinary(text []byte) bool { return bytes.IndexByte(text[:min(len(text), HeadLen)], 0) >= 0 }
