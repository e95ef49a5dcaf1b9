package generals

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/desynctool/desynctool/tracediff"
)

// matrix is the matrix that the next rows belong to.
type matrix struct {
	system, scope string
	rows          int // that were read
}

// maxNumbers is how many numbers of a line become sums.
const maxNumbers = 64

// line is reused for each line.
type line struct {
	text strings.Builder // without what became a sum
}

// axes are the names of the three numbers of a vector.
var axes = [...]string{"x", "y", "z"}

// checkpoint makes a line the current checkpoint.
func (s *source) checkpoint(e entry) {
	text := strings.TrimRight(strings.ToValidUTF8(string(e.text), "\uFFFD"), " ")
	if s.dump(text) {
		return
	}
	s.matrix = matrix{}
	s.generic(text, e.frame)
	if len(s.at.Sums) == 0 {
		s.at.Count, s.at.HasCount = 1, true
	}
}

// dump reads the lines of dumpVector3, dumpCoord3D, dumpReal and dumpMatrix3D: their numbers are the bits of
// floats. It returns false for any other line.
func (s *source) dump(text string) bool {
	if s.matrix.system != "" && s.matrix.rows < 3 && strings.HasPrefix(text, "      0x") {
		words := strings.Fields(text)
		if bits, ok := floats(words); ok && len(words) == 4 {
			s.at.System, s.at.Scope = s.matrix.system, s.matrix.scope
			for i, b := range bits {
				s.sum(fmt.Sprintf("m%d%d", s.matrix.rows, i), shown(b))
			}
			s.matrix.rows++
			return true
		}
	}
	function, rest, ok := strings.Cut(text, "() ")
	where, rest, found := strings.Cut(rest, " ")
	if !ok || !found {
		return false
	}
	system := function + " " + where
	switch function {
	case "dumpMatrix3D":
		s.at.System, s.at.Scope, s.at.Count, s.at.HasCount = system, rest, 1, true
		s.matrix = matrix{system: system, scope: rest}
		return true
	case "dumpVector3", "dumpCoord3D":
		words := strings.Fields(rest)
		if len(words) < 3 {
			return false
		}
		bits, ok := floats(words[len(words)-3:])
		if !ok {
			return false
		}
		s.at.System, s.at.Scope = system, strings.Join(words[:len(words)-3], " ")
		for i, b := range bits {
			s.sum(axes[i], shown(b))
		}
		return true
	case "dumpReal":
		words := strings.Fields(rest) // NAME BITS (DECIMAL)
		if len(words) < 2 {
			return false
		}
		bits, ok := floats(words[len(words)-2 : len(words)-1])
		if !ok {
			return false
		}
		s.at.System, s.at.Scope = system, strings.Join(words[:len(words)-2], " ")
		s.sum("", shown(bits[0]))
		return true
	}
	return false
}

// floats reads words that are the bits of floats: eight hex digits, with 0x before them or not.
func floats(words []string) ([]uint32, bool) {
	var out []uint32
	for _, w := range words {
		digits := strings.TrimPrefix(w, "0x")
		n, err := strconv.ParseUint(digits, 16, 32)
		if len(digits) != 8 || err != nil {
			return nil, false
		}
		out = append(out, uint32(n))
	}
	return out, true
}

// shown returns a float as the game's own %g/%8.8X: its bits decide, the decimal is exact.
func shown(bits uint32) string {
	return fmt.Sprintf("%s/%08X", strconv.FormatFloat(float64(math.Float32frombits(bits)), 'g', -1, 32), bits)
}

// sum adds a sum under a name that none has yet.
func (s *source) sum(name, value string) {
	base := name
	for n := 2; ; n++ {
		taken := false
		for i := range s.at.Sums {
			taken = taken || s.at.Sums[i].Name == name
		}
		if !taken {
			break
		}
		name = base + strconv.Itoa(n)
		if base == "" {
			name = "value" + strconv.Itoa(n)
		}
	}
	s.at.Sums = append(s.at.Sums, tracediff.Sum{Name: name, Value: []byte(value)})
}

// generic splits a message: numbers become sums that are named after the word before them, the rest is the system.
// "object 12" is the scope, and the current frame is left out.
func (s *source) generic(text string, frame uint64) {
	s.reader.text.Reset()
	out := &s.reader.text
	current := strconv.FormatUint(frame, 10)
	for i := 0; i < len(text); {
		end := i
		if i == 0 || !wordByte(text[i-1]) {
			end = numberEnd(text, i)
		}
		if end == i || len(s.at.Sums) == maxNumbers {
			out.WriteByte(text[i])
			i++
			continue
		}
		value := text[i:end]
		name := wordBefore(text[:i])
		switch lower := strings.ToLower(name); {
		case lower == "frame" && value == current:
			out.WriteByte('#')
		case lower == "cpp" || lower == "h":
			out.WriteString(value) // a line of source
		case (lower == "object" || lower == "obj") && s.at.Scope == "" && strings.Trim(value, "0123456789") == "":
			s.at.Scope = "object " + value
			out.WriteByte('#')
		default:
			if lower == "is" {
				name = ""
			}
			out.WriteByte('#')
			s.sum(name, plain(value))
		}
		i = end
	}
	if s.at.System = strings.TrimSpace(out.String()); s.at.System == "" {
		s.at.System = "(no text)"
	}
}

// plain returns the value of a number: of a float with its bits the exact decimal, the bits of others as
// bytes are written.
func plain(value string) string {
	if decimal, bits, ok := strings.Cut(value, "/"); ok && decimal != "" {
		if list, ok := floats([]string{bits}); ok {
			return shown(list[0])
		}
	}
	if digits, ok := strings.CutPrefix(value, "0x"); ok {
		return "0x" + strings.ToLower(digits)
	}
	return value
}

func digit(c byte) bool    { return c >= '0' && c <= '9' }
func hexDigit(c byte) bool { return digit(c) || c >= 'A' && c <= 'F' || c >= 'a' && c <= 'f' }
func wordByte(c byte) bool {
	return hexDigit(c) || c >= 'G' && c <= 'Z' || c >= 'g' && c <= 'z' || c == '_'
}

// numberEnd returns where the number that begins at i ends, i if there is none: 0x and hex digits, eight
// upper-case hex digits, a decimal, or a decimal, a slash and eight hex digits. A number ends where its
// word does.
func numberEnd(text string, i int) int {
	ends := func(end int) bool { return end == len(text) || !wordByte(text[end]) }
	hex := func(from int) int {
		end := from
		for end < len(text) && hexDigit(text[end]) {
			end++
		}
		return end
	}
	if strings.HasPrefix(text[i:], "0x") || strings.HasPrefix(text[i:], "0X") {
		if end := hex(i + 2); end > i+2 && ends(end) {
			return end
		}
		return i
	}
	if end := hex(i); end == i+8 && ends(end) && strings.ToUpper(text[i:end]) == text[i:end] {
		return end
	}
	end := i
	if end < len(text) && (text[end] == '-' || text[end] == '+') {
		end++
	}
	first := end
	for end < len(text) && (digit(text[end]) || text[end] == '.' && end > first && end+1 < len(text) && digit(text[end+1])) {
		end++
	}
	if end == first {
		for _, word := range []string{"inf", "nan", "1.#INF", "1.#QNAN", "1.#IND"} {
			if strings.HasPrefix(text[first:], word+"/") {
				end = first + len(word)
			}
		}
		if end == first {
			return i
		}
	}
	if end+2 < len(text) && (text[end] == 'e' || text[end] == 'E') { // %g of what is large or small
		at := end + 1
		if text[at] == '-' || text[at] == '+' {
			at++
		}
		from := at
		for at < len(text) && digit(text[at]) {
			at++
		}
		if at > from {
			end = at
		}
	}
	if strings.HasPrefix(text[end:], ".#") { // 1.#INF of older runtimes
		at := end + 2
		for at < len(text) && text[at] >= 'A' && text[at] <= 'Z' {
			at++
		}
		end = at
	}
	if end < len(text) && text[end] == '/' {
		if bits := hex(end + 1); bits == end+9 && ends(bits) {
			return bits
		}
	}
	if !ends(end) {
		return i
	}
	return end
}

// wordBefore returns the word before a number, without the separator.
func wordBefore(text string) string {
	text = strings.TrimRight(text, " \t:=(<[,")
	from := len(text)
	for from > 0 && wordByte(text[from-1]) && len(text)-from < 64 {
		from--
	}
	word := text[from:]
	if word != "" && numberEnd(word, 0) == len(word) {
		return "" // a number before it
	}
	return word
}
