package formats

import (
	"bytes"
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"unicode"

	"github.com/desynctool/desynctool/engines/engine"
	"github.com/desynctool/desynctool/internal/file/compression"
	"github.com/desynctool/desynctool/internal/file/files"
)

// NearestLen is how many leading bytes of a file Nearest looks at at most.
const NearestLen = 1 << 20

// Signs that count: a few bytes are alike by chance.
const (
	fewestLines   = 2
	shortestBegin = 6  // if other lines of the format confirm it, or no text begins so
	longEnough    = 10 // by itself
)

// Nearest names the format that a file of no known format seems to have, by its name and its leading bytes, and the
// first place where it differs from the format: "nearest is openra: line 1: "Plaier: x", expected it to begin with
// "Player: "". It is empty where nothing is near.
func Nearest(name string, head []byte) string {
	head = head[:min(len(head), NearestLen)]
	best, score := near{}, 0
	found := lineSigns(head)
	for i := range All() {
		n := near{format: &All()[i], lines: found[i]}
		n.compare(head)
		if s := n.score(); s > score {
			best, score = n, s
		}
	}
	if score == 0 {
		return nearestNamed(name, head)
	}
	text := "nearest is " + best.format.Name
	if best.lines >= fewestLines {
		text += fmt.Sprintf(" (with %d kinds of its lines)", best.lines)
	}
	return text + ": " + best.stop(name, head)
}

// near is how near a file is to a format.
type near struct {
	format *engine.Format
	lines  int    // kinds of other lines that are there
	begin  string // what it nearly begins with; empty if it does not
	edits  int    // bytes that differ from that
}

// score returns 0 for a format that is not near.
func (n *near) score() int {
	s := 0
	if n.lines >= fewestLines {
		s += n.lines
	}
	if n.begin != "" {
		s += 4 + len(n.begin)/4 - n.edits
	}
	return s
}

// compare compares the beginning of a file with the beginnings of the format.
func (n *near) compare(head []byte) {
	text := bytes.TrimLeft(bytes.TrimPrefix(head, []byte("\xef\xbb\xbf")), "\r\n")
	for _, begin := range n.format.Signs.Begins {
		edits := prefixEdits(begin, text)
		alone := len(begin) >= longEnough || strings.ContainsFunc(begin, unicode.IsControl)
		if len(begin) >= shortestBegin && (alone || n.lines > 0) && edits <= len(begin)/4 && (n.begin == "" || edits < n.edits) {
			n.begin, n.edits = begin, edits
		}
	}
}

// stop reports where the file differs from the format.
func (n *near) stop(name string, head []byte) string {
	if n.begin != "" && n.edits == 0 { // what is wrong is behind it
		if text := readError(n.format, name, head); text != "" {
			return text
		}
	}
	begin := n.begin
	if begin == "" && len(n.format.Signs.Begins) > 0 {
		begin = n.format.Signs.Begins[0]
	}
	return unlike(begin, head)
}

// unlike reports that a file does not begin as it should.
func unlike(begin string, head []byte) string {
	if strings.IndexByte(begin, '\x00') >= 0 || strings.IndexByte(begin, '\x1a') >= 0 || bytes.IndexByte(head[:min(len(head), HeadLen)], 0) >= 0 {
		have := head[:min(len(head), max(len(begin), 4))]
		at := 0
		for at < len(have) && at < len(begin) && have[at] == begin[at] {
			at++
		}
		return fmt.Sprintf("byte %d: the file begins with %q, expected %q", at, have, begin)
	}
	number := 0
	for line := range bytes.Lines(head) {
		number++
		if line = bytes.TrimRight(line, "\r\n"); len(bytes.TrimSpace(line)) == 0 {
			continue
		}
		if begin == "" {
			return fmt.Sprintf("line %d: %.40q, expected a line of it", number, line)
		}
		return fmt.Sprintf("line %d: %.40q, expected it to begin with %q", number, line, strings.TrimSuffix(begin, "\n"))
	}
	return fmt.Sprintf("the file ends, expected %q", begin)
}

// readError returns why the reader of a format does not take a file, "" if the format has no reader that reports it.
func readError(f *engine.Format, name string, head []byte) string {
	var err error
	switch {
	case f.Snapshot != nil && f.Snapshot.Parts == nil:
		_, err = f.Snapshot.Open(bytes.NewReader(head), int64(len(head)), name)
	case f.Log != nil:
		_, err = f.Log(bytes.NewReader(head), name)
	}
	if err == nil {
		return ""
	}
	return strings.TrimPrefix(err.Error(), name+": ")
}

// lineSigns returns of how many kinds lines are there, for each of [All]. A kind counts once,
// so that a word that is in many lines of any text is one.
func lineSigns(head []byte) []int {
	list := All()
	count := make([]int, len(list))
	if bytes.IndexByte(head[:min(len(head), HeadLen)], 0) >= 0 {
		return count
	}
	seen := map[string]bool{}
	for line := range bytes.Lines(head) {
		line = bytes.TrimLeft(line, " \t")
		for i := range list {
			for _, sign := range list[i].Signs.Lines {
				key := list[i].Name + "\x00" + sign
				if !seen[key] && bytes.HasPrefix(line, []byte(sign)) {
					seen[key] = true
					count[i]++
				}
			}
		}
	}
	return count
}

// prefixEdits returns how many bytes have to be changed, added or left out so that a text begins
// with something: the least edit distance to one of the text's prefixes.
func prefixEdits(begin string, text []byte) int {
	text = text[:min(len(text), 2*len(begin))]
	row := make([]int, len(text)+1) // distance of begin[:i] to text[:k]
	for k := range row {
		row[k] = k
	}
	for i := range len(begin) {
		before := row[0]
		row[0] = i + 1
		for k := range text {
			d := before
			if begin[i] != text[k] {
				d++
			}
			before = row[k+1]
			row[k+1] = min(d, before+1, row[k]+1)
		}
	}
	least := row[0]
	for _, d := range row {
		least = min(least, d)
	}
	return least
}

// patterns are the names of files of a format, without names that any text may have.
var patterns = sync.OnceValue(func() map[string]*regexp.Regexp {
	out := map[string]*regexp.Regexp{}
	placeholder := regexp.MustCompile(`<[^>]*>|\*`)
	for _, f := range All() {
		var any []string
		for pattern := range strings.SplitSeq(f.Files, ", ") {
			base := pattern[strings.LastIndexByte(pattern, '/')+1:]
			switch base {
			case "*.log", "*.txt", "*.csv", "stdout.txt":
				continue
			}
			if strings.ContainsAny(base, " {}") {
				continue
			}
			parts := placeholder.Split(base, -1)
			for i := range parts {
				parts[i] = regexp.QuoteMeta(parts[i])
			}
			any = append(any, strings.Join(parts, ".+"))
		}
		if len(any) > 0 {
			out[f.Name] = regexp.MustCompile(`^(?i:` + strings.Join(any, "|") + `)$`)
		}
	}
	return out
})

// Reserved returns the formats whose files have a name like this one, whatever is in it. Names that any text may have
// do not count, and neither does the suffix of a compression.
func Reserved(name string) (list []*engine.Format) {
	base := compression.PlainName(filepath.Base(name))
	for i := range All() {
		f := &All()[i]
		if pattern := patterns()[f.Name]; pattern != nil && pattern.MatchString(base) || slices.Contains(f.Extensions, filepath.Ext(base)) {
			list = append(list, f)
		}
	}
	return list
}

// nearestNamed is Nearest by the name of a file alone.
func nearestNamed(name string, head []byte) string {
	list := Reserved(name)
	if len(list) == 0 {
		return ""
	}
	text := "by its name it would be " + list[0].Name
	if len(list[0].Signs.Begins) > 0 {
		text += ": " + unlike(list[0].Signs.Begins[0], head)
	}
	return text
}

// Unrecognized describes what a file of no known format looks like and which format is nearest. The bytes are its
// first, at most [NearestLen].
func Unrecognized(name string, head []byte) string {
	text := "not a file of a known format, but " + Looks(head[:min(len(head), HeadLen)])
	if nearest := Nearest(name, head); nearest != "" {
		text += "; " + nearest
	}
	return text
}

// UnrecognizedFile is Unrecognized for a file, which may be compressed.
func UnrecognizedFile(tree files.Tree, path string) string {
	head, err := headOf(tree, path, NearestLen)
	if err != nil {
		return "not a file of a known format"
	}
	return Unrecognized(path, head)
}
