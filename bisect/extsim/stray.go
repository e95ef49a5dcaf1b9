package extsim

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"fmt"
	"strconv"
	"unicode/utf8"
)

// maxStray is how many bytes of the first line that is not a reply are shown.
const maxStray = 60

// strayText reports that the next bytes are not a reply but text that the target printed where only replies belong. It
// is empty if a reply or nothing may follow.
func strayText(r *bufio.Reader, limit uint32) string {
	head, _ := r.Peek(lengthSize)
	if !isText(head) {
		return ""
	}
	if len(head) == lengthSize && binary.LittleEndian.Uint32(head) <= limit { // a very large state may come
		if head, _ = r.Peek(lengthSize + 1); len(head) > lengthSize && isArray(head[lengthSize]) {
			return ""
		}
	}
	all, _ := r.Peek(min(r.Buffered(), maxStray)) // how much more has arrived by now is chance: a line is shown
	line, _, ended := bytes.Cut(all, []byte("\n"))
	text := strconv.Quote(string(line))
	if !ended && r.Buffered() > maxStray {
		text += "…"
	}
	return fmt.Sprintf("it printed %s where only replies belong: a target prints everything else to stderr", text)
}

// isArray reports whether a value that begins with a byte is an array, as replies are.
func isArray(first byte) bool { return first>>4 == 9 || first == 0xdc || first == 0xdd }

// isText reports whether bytes may be printed text.
func isText(b []byte) bool {
	for _, c := range b {
		if c < ' ' && c != '\t' && c != '\n' && c != '\r' && c != 0x1b || c == 0x7f {
			return false
		}
	}
	return len(b) > 0 && (utf8.Valid(b) || b[0] == 0xef)
}
