// Package check checks files against the rules of the formats in docs/, whatever program wrote them. A reader stops at
// the first problem, and accepts much that a writer should not write. This package continues where that is possible,
// and reports each broken rule.
//
// It uses the readers of the formats. The reference vectors in docs/vectors and the SDKs do not
// share code with them.
package check

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/desynctool/desynctool/internal/file/compression"
	"github.com/desynctool/desynctool/internal/file/files"
	"github.com/desynctool/desynctool/internal/lists"
)

// Level is the severity of breaking a rule.
type Level string

// Levels.
const (
	Error  Level = "error"  // the file does not conform
	Advice Level = "advice" // it conforms, and something costs more or shows less than it could
)

// Finding is one place where a rule is broken.
type Finding struct {
	Rule *Rule
	Text string // the content and the expected one

	// Where it is: the offset of a byte in the content, unpacked if the file is compressed, or, in a text of lines, a
	// line from 1. Neither is set for a finding about the whole file.
	Offset    int64
	HasOffset bool
	Line      int64
	In        string // the record: "frame 3, tick 7, order 2"; empty if there is none
}

// File has the findings in one file, or between the files of one folder.
type File struct {
	Path   string
	Format string // the name of the format; empty for problems between files
	Title  string // for people

	Findings []Finding // by their place in the file, at most Options.Most

	// Errors and Advices count all, also those beyond Options.Most.
	Errors, Advices int
}

// Result has the findings in some paths, file by file.
type Result []*File

// Diverged reports whether a file does not conform.
func (r Result) Diverged() bool {
	return slices.ContainsFunc(r, func(f *File) bool { return f.Errors > 0 })
}

// Incomplete is false: a file that cannot be read is an error.
func (r Result) Incomplete() bool { return false }

// Options changes how files are checked.
type Options struct {
	// Most is how many findings of a file are kept; 0 means DefaultMost.
	Most int
}

// DefaultMost is how many findings of a file are kept. All of them are counted.
const DefaultMost = 1000

// maxSnapInMemory bounds a compressed .snap, in bytes, which has to be unpacked to be read at
// any place.
const maxSnapInMemory = 1 << 30

// checker collects the findings of one file.
type checker struct {
	file *File
	most int
	said map[*Rule]bool // rules that are said once a file

	unknown   []string // names of facts that doctor does not compare
	unknownAt place    // of the first
}

// maxUnknown is how many unknown names of facts are listed.
const maxUnknown = 16

func newChecker(path string, k *kind, opts Options) *checker {
	c := &checker{file: &File{Path: path}, most: opts.Most, said: map[*Rule]bool{}}
	if k != nil {
		c.file.Format, c.file.Title = k.name, k.title
	}
	c.most = cmp.Or(c.most, DefaultMost)
	return c
}

// place is where a finding is. The zero place is the whole file.
type place struct {
	offset int64
	at     bool // offset is set
	line   int64
	in     string
}

func offsetAt(offset int64, in string) place { return place{offset: offset, at: true, in: in} }

func (c *checker) add(id string, p place, format string, args ...any) {
	rule := ruleOf(id)
	if rule.Level == Error {
		c.file.Errors++
	} else {
		c.file.Advices++
	}
	if len(c.file.Findings) < c.most {
		c.file.Findings = append(c.file.Findings, Finding{
			Rule: rule, Text: fmt.Sprintf(format, args...), Offset: p.offset, HasOffset: p.at, Line: p.line, In: p.in,
		})
	}
}

// once is add for problems that every record would have: only the first is reported.
func (c *checker) once(id string, p place, format string, args ...any) {
	rule := ruleOf(id)
	if c.said[rule] {
		return
	}
	c.said[rule] = true
	c.add(id, p, format, args...)
}

// kind is a format that can be checked.
type kind struct {
	name, title string
	begins      func(head []byte) bool
	check       func(c *checker, in *input) (facts, error)
}

// input is the content of a file.
type input struct {
	name    string
	content io.Reader   // from its start
	at      io.ReaderAt // the same, at any place; nil for a stream
	size    int64       // with at

	wanted map[uint64]bool // points for which an order log's hashes are kept
}

// headLen is how many bytes show the kind of a file.
const headLen = 4096

var kinds = []kind{
	{"order-log", "order log", func(h []byte) bool { return bytes.HasPrefix(h, []byte(logMagic)) }, checkLog},
	{"snap", "snapshot", func(h []byte) bool { return bytes.HasPrefix(h, []byte(snapMagic)) }, checkSnap},
	{"tick-signatures", "tick signatures", func(h []byte) bool { return bytes.HasPrefix(h, []byte(chainMagic)) }, checkChain},
	{"trace", "binary trace", func(h []byte) bool { return bytes.HasPrefix(h, []byte(traceMagic)) }, checkTrace},
	{"text-trace", "text trace", isTraceText, checkTraceText},
	{"peer-report", "peer report", isPeerReport, checkPeerReport},
}

func kindOf(head []byte) *kind {
	for i := range kinds {
		if kinds[i].begins(head) {
			return &kinds[i]
		}
	}
	return nil
}

// errOther means that a file is not of a kind that can be checked.
var errOther = errors.New("not a file that check knows: an order log, a .snap, a trace, binary or as key=value lines, tick signatures, or a peer's report")

// Check checks files, and folders with everything in them. The error lists the paths that could not be read or have no
// known format; the others are in the result. Files of other formats in a folder are skipped.
func Check(tree files.Tree, paths []string, opts Options) (Result, error) {
	var out Result
	var errs error
	for _, path := range paths {
		stat, err := tree.Stat(path)
		switch {
		case err != nil:
			errs = errors.Join(errs, err)
		case stat.IsDir():
			list, err := checkFolder(tree, path, opts)
			if len(list) == 0 && err == nil {
				err = fmt.Errorf("%s: no order log, .snap, trace, tick signatures or peer report of desynctool in this folder", path)
			}
			out, errs = append(out, list...), errors.Join(errs, err)
		case !stat.Mode().IsRegular():
			errs = errors.Join(errs, fmt.Errorf("%s: not a regular file", path))
		default:
			f, _, err := checkFile(tree, path, opts)
			if err != nil {
				errs = errors.Join(errs, err)
				continue
			}
			out = append(out, f)
		}
	}
	return out, errs
}

// checkFile checks one file by itself.
func checkFile(tree files.Tree, path string, opts Options) (*File, facts, error) {
	return checkWith(tree, path, opts, nil)
}

// checkWith is checkFile that keeps the hashes of an order log of the points wanted.
func checkWith(tree files.Tree, path string, opts Options, wanted map[uint64]bool) (*File, facts, error) {
	f, err := tree.Open(path)
	if err != nil {
		return nil, facts{}, err
	}
	defer f.Close()
	stat, err := f.Stat()
	if err != nil {
		return nil, facts{}, err
	}
	return checkContent(f, stat.Size(), path, opts, wanted)
}

// source is what a file is read from.
type source interface {
	io.Reader
	io.ReaderAt
}

func checkContent(f source, size int64, path string, opts Options, wanted map[uint64]bool) (*File, facts, error) {
	content, packing, err := compression.Unpack(f, 0)
	if err != nil {
		return nil, facts{}, fmt.Errorf("%s: %w", path, err)
	}
	if closer, ok := content.(io.Closer); ok {
		defer closer.Close()
	}
	head := make([]byte, headLen)
	n, err := io.ReadFull(content, head)
	if err != nil && err != io.EOF && err != io.ErrUnexpectedEOF {
		return nil, facts{}, fmt.Errorf("%s: %w", path, err)
	}
	head = head[:n]
	k := kindOf(head)
	switch {
	case n == 0:
		return nil, facts{}, fmt.Errorf("%s: empty file, expected an order log, a .snap, a trace, tick signatures or a peer's report", path)
	case k == nil && bytes.HasPrefix(head, []byte("%desynctool ")):
		return nil, facts{}, fmt.Errorf("%s: the text twin of a binary file, %w; dump --reverse turns it back, and checks it", path, errOther)
	case k == nil:
		return nil, facts{}, fmt.Errorf("%s: %w", path, errOther)
	}
	in := &input{name: path, content: io.MultiReader(bytes.NewReader(head), content), wanted: wanted}
	if packing == "" {
		in.at, in.size = f, size
	}
	c := newChecker(path, k, opts)
	known, err := k.check(c, in)
	if err != nil {
		return nil, facts{}, fmt.Errorf("%s: %w", path, err)
	}
	if len(c.unknown) > 0 {
		slices.Sort(c.unknown)
		c.add("record-names", c.unknownAt, "doctor does not compare %s", strings.Join(quotedAll(slices.Compact(c.unknown)), ", "))
	}
	known.sort(c)
	return c.file, known, nil
}

// sort puts findings in the order of their places, findings about the whole file last.
func (facts) sort(c *checker) {
	rank := func(f *Finding) int64 {
		switch {
		case f.HasOffset:
			return f.Offset
		case f.Line > 0:
			return f.Line
		}
		return 1<<63 - 1
	}
	lists.SortStable(c.file.Findings, func(a, b Finding) int {
		x, y := rank(&a), rank(&b)
		switch {
		case x < y:
			return -1
		case x > y:
			return 1
		}
		return 0
	})
}
