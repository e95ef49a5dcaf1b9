// Package paste takes text apart that people paste: what surrounds a log or report in a post,
// and diffs of two of them.
//
// [Peel] looks for a file of a format that is known, or for a diff of two such files, and takes
// off what surrounds it: prose, Markdown fences, quoting, the time stamps and names of a chat, line
// numbers, BBCode and HTML. A diff is shown as the two files that it was made of, as far as its
// lines show them; see package partial for the marks between. What is in a text that is
// recognised as it is is never changed. docs/formats/paste.md has all of it.
//
// The package knows no format: [Known] decides what is one.
package paste

import (
	"bytes"
	"errors"
	"fmt"
	"slices"

	"github.com/desynctool/desynctool/internal/file/partial"
	"github.com/desynctool/desynctool/notation"
)

// Known is what is known of formats.
type Known struct {
	// Whole returns the name of the format of a file by its leading bytes, at most
	// HeadLen, "" if there is none.
	Whole func(head []byte) string
	// Lines returns the name of the format of a file by some whole lines from the middle of
	// it, at most HeadLen bytes, "" if there is none.
	Lines func(lines []byte) string
	// Takes returns how the reader of a format takes a file with lines missing. If it is nil, all readers take
	// excerpts.
	Takes func(format string) Way
	// Ticks returns the ticks of a text that has a checksum for each, in the log of any program; none for other texts.
	// If it is nil, no such logs are looked for.
	Ticks func(text []byte) []uint64
	// State returns the names of all fields of a text that is a state in an ordinary notation, or in lines with a name and a
	// value each; none for other texts. Plain is the text without what surrounds its lines. If it is nil, no states are looked
	// for.
	State func(text []byte) (fields map[string]bool, plain []byte)
}

// Way is how the reader of a format takes a file with lines missing.
type Way int

const (
	// Excerpts are taken with marks where lines are missing, see package partial.
	Excerpts Way = iota
	// Loose lines do not depend on each other: the lines that are there are taken without marks.
	Loose
	// WholeOnly files are taken, and no others.
	WholeOnly
)

// UnreadError reports that a text is a diff of two files in a format that is not read in excerpts.
type UnreadError struct{ Format string }

func (e *UnreadError) Error() string {
	return fmt.Sprintf("a diff of two files of the format %s: only whole files of it are read: the files themselves are needed", e.Format)
}

// HeadLen is how many bytes the functions of Known are given at most, and SearchLen how many
// leading bytes of a text are searched: where nothing is recognised in them the text is no
// paste.
const (
	HeadLen   = 4096
	SearchLen = 1 << 20
)

// maxFiles is how many files a text may hold.
const maxFiles = 1000

// maxTries is how many lines are tried as the first line of a file that are equal except for their numbers, and are
// followed by lines that are equal except for their numbers. A log has thousands of them. MaxShapes is how many such
// pairs are remembered.
const maxTries, maxShapes = 4, 1 << 12

// ErrNone reports that a text contains nothing that is known, or nothing that would have to be taken off.
var ErrNone = errors.New("nothing to take off")

// Paste is a text that was taken apart.
type Paste struct {
	// Files are those that were found, in their order. If there is only one, and its Folder is
	// empty, the text is that file, and something around it.
	Files []File
	// Notes list what was taken off and what is missing, one line each.
	Notes []string
}

// File is a file in a text.
type File struct {
	Folder string // of the side of a diff, or of one of several files; else empty
	Name   string // base name
	Format string // "" of a whole text in UTF-16 in which nothing is known
	Text   []byte // an excerpt if lines are missing

	label string // the line before it, if that may name its machine
}

// Alone reports whether the text is one file with something around it.
func (p *Paste) Alone() bool { return len(p.Files) == 1 && p.Files[0].Folder == "" }

// Peel takes a text apart. It returns ErrNone where there is nothing to do, and another error for a text that is too
// large to be a paste. Texts of files share no memory with the text.
func Peel(text []byte, known Known) (*Paste, error) {
	if known.Whole == nil || known.Lines == nil {
		return nil, ErrNone
	}
	plain, notes := decoded(text)
	if isBinary(plain) {
		return nil, ErrNone
	}
	p := &peeler{known: known, text: plain}
	p.notes = notes
	if err := p.run(); err != nil {
		return nil, err
	}
	if len(p.files) == 0 && p.unread != "" {
		return nil, &UnreadError{p.unread}
	}
	if len(p.files) == 0 && isText16(text, plain) {
		// Text around the messages of engines is not looked for here: any log may contain such messages.
		return &Paste{Files: []File{{Name: "paste", Text: plain}}, Notes: p.notes}, nil
	}
	if len(p.files) == 0 {
		return nil, ErrNone
	}
	out := &Paste{Files: p.named(), Notes: p.notes}
	if out.Alone() && bytes.Equal(out.Files[0].Text, text) {
		return nil, ErrNone
	}
	return out, nil
}

// peeler takes one text apart.
type peeler struct {
	known Known
	text  []byte
	hunks int

	files []File
	posts int    // files that are not of a diff
	label string // the last line before a block that may name its machine
	diffs int
	notes []string
	noted map[string]bool

	unread string // format of a diff that was left out
}

// note adds a line to the notes, once.
func (p *peeler) note(format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	if p.noted[text] {
		return
	}
	if p.noted == nil {
		p.noted = map[string]bool{}
	}
	p.noted[text] = true
	p.notes = append(p.notes, text)
}

// run finds all files: in the text as it is, or without what comes before all its lines. Pieces of files are looked for
// where nothing else is found.
func (p *peeler) run() error {
	if isDocument(p.text) {
		return nil
	}
	texts := [][]byte{p.text}
	for {
		if err := p.search(p.start); err != nil || len(p.files) > 0 {
			return err
		}
		rest := p.common(p.text)
		if rest == nil || len(texts) == maxLayers {
			break
		}
		p.text, texts = rest, append(texts, rest)
	}
	for _, p.text = range texts {
		if err := p.search(p.piece); err != nil || len(p.files) > 0 {
			return err
		}
	}
	for _, p.text = range texts {
		if p.known.Ticks == nil || len(p.text) > PostLen {
			continue
		}
		for _, take := range []func(){p.byRole, p.byMark, p.blocks} {
			if take(); len(p.files) > 0 {
				return nil
			}
		}
	}
	return nil
}

// isDocument reports whether a text, or its part that was read, is nothing but a document in a notation that prose and
// logs cannot be in: a post is not, and to try each line of a large document as the begin of a file takes seconds.
func isDocument(text []byte) bool {
	n := notation.Of("", text[:min(len(text), HeadLen)], len(text) <= HeadLen)
	if n == nil || !slices.Contains([]string{"json", "python", "lua", "rust", "javascript", "textproto", "toml"}, n.Name) {
		return false
	}
	var fault *notation.Error
	err := n.Check(text)
	return err == nil || errors.As(err, &fault) && fault.Cut
}

// search tries each line as the first one of a file. Begin takes the file that begins at a
// line, and leaves the lines after it.
func (p *peeler) search(begin func(ls *lines, fenced *fence) (bool, error)) error {
	ls := &lines{text: p.text}
	var in *fence
	vain := map[uint64]int{} // how often a line began nothing, by its shape and the next one's
	for !ls.ended() {
		if len(p.files) == 0 && ls.at > SearchLen {
			return nil
		}
		if len(p.files) >= maxFiles {
			return fmt.Errorf("more than %d files in one text", maxFiles)
		}
		if outer, closed := in.closed(ls.peek()); closed {
			in = outer
			ls.next()
			continue
		}
		if in.nests() {
			if inner := opens(ls); inner != nil {
				inner.outer = in
				in = inner
				continue
			}
		}
		if line := ls.peek(); in == nil && isLabel(line) {
			p.label, _ = named(line)
		}
		if shape := ls.shape(); vain[shape] < maxTries {
			found, err := begin(ls, in)
			if err != nil {
				return err
			}
			if found {
				continue
			}
			if len(vain) == maxShapes {
				clear(vain)
			}
			vain[shape]++
		}
		ls.next()
	}
	return nil
}

// start takes a whole file or a diff that begins at the current line.
func (p *peeler) start(ls *lines, in *fence) (bool, error) {
	return p.layers(ls, in, func(b *body) (bool, error) {
		if p.known.Whole(b.head(4)) != "" {
			if found, err := p.sideBySide(b); found || err != nil {
				return found, err
			}
			return p.whole(b)
		}
		return p.diff(b)
	})
}

// piece takes lines from the middle of a file that begin at the current line.
func (p *peeler) piece(ls *lines, in *fence) (bool, error) {
	return p.layers(ls, in, func(b *body) (bool, error) {
		head := b.head(8)
		format := p.known.Lines(head)
		if format == "" {
			return false, nil
		}
		if p.way(format) == Loose {
			return true, p.post(b, format, nil)
		}
		text := partial.Head{Format: format}.Line()
		text = append(text, partial.Gap{}.Line()...)
		return true, p.post(b, format, text)
	})
}

func (p *peeler) way(format string) Way {
	if p.known.Takes == nil {
		return Excerpts
	}
	return p.known.Takes(format)
}

// whole takes a file that begins at the first line of a body.
func (p *peeler) whole(b *body) (bool, error) {
	format := p.known.Whole(b.head(4))
	return true, p.post(b, format, nil)
}

// post takes the lines of a body as a file, after some text.
func (p *peeler) post(b *body, format string, text []byte) error {
	b.take()
	start := b.ls.number + 1
	for {
		line, ok := b.next()
		if !ok {
			break
		}
		text = append(append(text, line...), '\n')
	}
	if b.ls.ended() && !b.closed && len(p.text) > 0 && p.text[len(p.text)-1] != '\n' {
		text = text[:len(text)-1] // as it was
	}
	b.say(p)
	if start > 1 {
		p.note("the text before line %d is left out", start)
	}
	p.posts++
	p.files = append(p.files, File{Format: format, Text: text, label: p.label})
	p.label = ""
	return nil
}

// named gives all files their names.
func (p *peeler) named() []File {
	one := len(p.files) == 1 || p.posts == 0 && p.diffs == 1
	post, out := 0, p.files
	labels := map[string]bool{"": true}
	for _, f := range out {
		if labels[f.label] { // one without, or two with the same
			labels = nil
			break
		}
		labels[f.label] = true
	}
	for i := range out {
		if f := &out[i]; f.Folder == "" {
			post++
			f.Name = "paste.txt"
			if !one {
				if f.Folder = f.label; labels == nil {
					f.Folder = fmt.Sprintf("post%d", post)
				}
			}
		}
	}
	return out
}
