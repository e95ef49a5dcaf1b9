package describe

import (
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"

	"github.com/desynctool/desynctool/engines/engine"
	"github.com/desynctool/desynctool/engines/engine/description"
	"github.com/desynctool/desynctool/internal/file/compression"
	"github.com/desynctool/desynctool/internal/lists"
	"github.com/desynctool/desynctool/internal/prose"
	"github.com/desynctool/desynctool/orderlog"
	"github.com/desynctool/desynctool/report/formats"
	"github.com/desynctool/desynctool/report/survey"
	"github.com/desynctool/desynctool/tracediff"
)

// Check is how a page reads files, and where it does not fit.
type Check struct {
	Game   string
	Page   string // its path
	Files  []File
	Unused []Misfit // parts of the page that fit nothing, with their lines
}

// File is how a file is read.
type File struct {
	Path  string   `json:"path"`
	Kind  string   `json:"kind"` // states, logs, inputs, other; empty for files that no glob fits
	Title string   `json:"title,omitempty"`
	Peers []string `json:"peers"`
	// First and Last are ticks, nil if no tick is known.
	First       *uint64     `json:"first,omitempty"`
	Last        *uint64     `json:"last,omitempty"`
	States      int         `json:"states,omitempty"`
	Tables      []FileTable `json:"tables"`
	Checkpoints int         `json:"checkpoints,omitempty"`
	Claims      int         `json:"claims,omitempty"`
	Orders      int         `json:"orders,omitempty"`
	Misfits     []Misfit    `json:"misfits"`
	MoreMisfits int         `json:"more_misfits,omitempty"` // that are not kept
}

// FileTable is a table of the states in a file: in the state with the most rows.
type FileTable struct {
	Label   string `json:"table"`
	Class   string `json:"class"`
	Rows    int    `json:"rows"`
	Columns int    `json:"columns"`
}

// Misfit is a place at which a page and a file do not fit.
type Misfit struct {
	Line int    `json:"line,omitempty"` // 0 for the file as a whole
	Text string `json:"text"`           // the found text, and the expected one
}

// mostMisfits is how many misfits of a file are kept.
const mostMisfits = 100

// Diverged implements document.Result.
func (c *Check) Diverged() bool { return false }

// Incomplete implements document.Result: it reports whether something does not fit.
func (c *Check) Incomplete() bool {
	return len(c.Unused) > 0 || slices.ContainsFunc(c.Files, func(f File) bool { return len(f.Misfits) > 0 })
}

// checker checks a page.
type checker struct {
	survey *survey.Survey
	page   *description.Description
	lines  map[*description.Pattern]bool // patterns of lines that fitted one
}

// NewCheck checks the page of a survey.
func NewCheck(s *survey.Survey) *Check {
	c := &checker{survey: s, page: s.Page(), lines: map[*description.Pattern]bool{}}
	out := &Check{Game: c.page.Title(), Page: c.page.File}
	out.Files = lists.Map(s.Files(), c.file)
	out.Unused = c.unused()
	return out
}

// misfit notes that something does not fit.
func (f *File) misfit(line int, format string, args ...any) {
	if len(f.Misfits) == mostMisfits {
		f.MoreMisfits++
		return
	}
	f.Misfits = append(f.Misfits, Misfit{line, fmt.Sprintf(format, args...)})
}

// tick notes a tick.
func (f *File) tick(tick uint64) {
	if f.First == nil {
		f.First, f.Last = &tick, &tick
	}
	if tick < *f.First {
		f.First = &tick
	}
	if tick > *f.Last {
		f.Last = &tick
	}
}

// peer notes a peer.
func (f *File) peer(name string) {
	if name != "" && !slices.Contains(f.Peers, name) {
		f.Peers = append(f.Peers, name)
	}
}

// file reads a file.
func (c *checker) file(path string) File {
	kind := c.page.KindOf(path)
	f := File{Path: path, Kind: kind.String()}
	if kind == description.Other {
		return f
	}
	format := c.survey.Format(path)
	if format != nil {
		f.Title = format.Title
	}
	switch {
	case format == nil && kind == description.Undescribed:
		c.undescribed(&f)
	case format == nil:
		f.misfit(0, "nothing in it is read, expected %s as its glob has it", kind)
	case format.Snapshot != nil || format.Trace == nil && format.Log == nil:
		c.states(&f)
	case format.Trace != nil:
		c.trace(&f, format)
	default:
		c.orders(&f, format)
	}
	return f
}

// undescribed looks at a file that no glob fits and in which nothing is read by itself.
func (c *checker) undescribed(f *File) {
	content, err := c.survey.Open(f.Path)
	if err != nil {
		f.misfit(0, "%v", err)
		return
	}
	defer content.Close()
	head, err := io.ReadAll(io.LimitReader(content, formats.HeadLen))
	if err != nil {
		f.misfit(0, "%v", err)
		return
	}
	if known := formats.Recognize(f.Path, head); known != nil {
		f.Title = known.Title
		return
	}
	for kind := description.State; kind <= description.Other; kind++ {
		if c.page.Chooses(kind) {
			f.misfit(0, "no glob fits its name, expected one in states, logs, inputs, or other for what is no evidence")
			return
		}
	}
}

// states reads states.
func (c *checker) states(f *File) {
	content, err := c.survey.States(f.Path)
	if err != nil {
		f.misfit(0, "%v", err)
		return
	}
	f.States = len(content.Worlds)
	timeless, nobody := 0, 0
	for _, w := range content.Worlds {
		if f.peer(w.Peer); w.Peer == "" {
			nobody++
		}
		if w.Point.Known() {
			f.tick(w.Point.Tick)
		} else {
			timeless++
		}
		for i := range w.Tables {
			t := &w.Tables[i]
			one := FileTable{t.Label, t.Class.String(), t.Rows(), len(t.Columns)}
			k := slices.IndexFunc(f.Tables, func(o FileTable) bool { return o.Label == one.Label && o.Class == one.Class })
			if k < 0 {
				f.Tables = append(f.Tables, one)
			} else if one.Rows > f.Tables[k].Rows {
				f.Tables[k] = one
			}
		}
	}
	expected := func(path, group string) string {
		switch {
		case path != "" && c.page.Names(group):
			return fmt.Sprintf("expected it at %s, or the group %s of a pattern in [names]", prose.Name(path), group)
		case path != "":
			return "expected it at " + prose.Name(path)
		}
		return fmt.Sprintf("expected the group %s of a pattern in [names]", group)
	}
	if timeless > 0 && (c.page.Tick != "" || c.page.Names("tick")) {
		f.misfit(0, "%s without a tick, %s", prose.Count(timeless, "state", "states"), expected(c.page.Tick, "tick"))
	}
	if nobody > 0 && (c.page.Peer != "" || c.page.Names("peer")) {
		f.misfit(0, "%s without a peer, %s", prose.Count(nobody, "state", "states"), expected(c.page.Peer, "peer"))
	}
	for _, m := range content.Misfits {
		f.misfit(m.Line, "%s", m.Text)
	}
}

// trace reads a log with checkpoints or messages.
func (c *checker) trace(f *File, format *engine.Format) {
	t := format.Trace
	if t.Read != nil {
		c.checkpoints(f, t)
	}
	if t.Claims != nil {
		c.read(f, func(r io.Reader) error {
			log, err := t.Claims(r, f.Path)
			if err == nil && log != nil { // a log of checksums need not have messages
				f.Claims = len(log.Claims)
			}
			return err
		})
	}
	c.read(f, func(r io.Reader) error {
		var to description.Checkpoint
		return engine.EachLine(r, f.Path, func(line []byte, pos tracediff.Position) bool {
			for _, p := range c.page.Lines {
				c.lines[p] = c.lines[p] || p.Match(line)
			}
			ok, misfit := c.page.Checkpoint(line, &to)
			if !ok && misfit == "" {
				_, misfit = c.page.Claim(line)
			}
			if misfit != "" {
				f.misfit(int(pos.Line), "%s", misfit)
			}
			return true
		})
	})
	if f.Checkpoints+f.Claims == 0 && c.page.KindOf(f.Path) == description.Log && len(c.page.Lines) > 0 {
		f.misfit(0, "no line with a checkpoint or a message, expected some that a pattern of [[line]] or [[claim]] fits")
	}
}

// checkpoints counts the checkpoints of all peers of a log.
func (c *checker) checkpoints(f *File, t *tracediff.Format) {
	peers := 1
	if t.Peers != nil {
		c.read(f, func(r io.Reader) error {
			names, err := t.Peers(r, f.Path)
			for _, name := range names {
				f.peer(name)
			}
			peers = max(1, len(names))
			return err
		})
	}
	for peer := range peers {
		c.read(f, func(r io.Reader) error {
			source, err := t.Read(r, f.Path, peer)
			if err != nil {
				return err
			}
			f.peer(source.Header().Peer)
			return eachOf(source.Next, func(record *tracediff.Record) {
				f.tick(record.Tick())
				if record.Checkpoint != nil {
					f.Checkpoints++
				}
			})
		})
	}
}

// orders reads inputs.
func (c *checker) orders(f *File, format *engine.Format) {
	c.read(f, func(r io.Reader) error {
		source, err := format.Log(r, f.Path)
		if err != nil {
			return err
		}
		f.peer(source.Header().Peer)
		return eachOf(source.Next, func(record orderlog.Record) {
			if record.Tick != nil {
				f.tick(record.Tick.Number)
				f.Orders += len(record.Tick.Orders)
			}
		})
	})
}

// eachOf reads records to their end.
func eachOf[R any](next func() (R, error), do func(R)) error {
	for {
		record, err := next()
		switch {
		case err == io.EOF || errors.Is(err, tracediff.ErrRunning):
			return nil
		case err != nil:
			return err
		}
		do(record)
	}
}

// read opens a file. An error in it is a misfit.
func (c *checker) read(f *File, read func(io.Reader) error) {
	content, err := c.survey.Open(f.Path)
	if err == nil {
		err = errors.Join(read(content), content.Close())
	}
	if err != nil {
		f.misfit(0, "%s", prose.OneLine(err.Error()))
	}
}

// unused returns the parts of the page that fit nothing.
func (c *checker) unused() (out []Misfit) {
	add := func(line int, format string, args ...any) {
		out = append(out, Misfit{line, fmt.Sprintf(format, args...)})
	}
	files := c.survey.Files()
	for kind := description.State; kind < description.Other; kind++ {
		for _, glob := range c.page.Globs(kind) {
			if !slices.ContainsFunc(files, func(path string) bool { return description.Fits(glob, path) }) {
				add(c.page.Line(glob), "no file has a name that %s fits", prose.Name(glob))
			}
		}
	}
	for _, p := range c.page.Name {
		if !slices.ContainsFunc(files, func(path string) bool { return p.MatchString(compression.PlainName(filepath.Base(path))) }) {
			add(p.Line, "no file has a name that the pattern fits")
		}
	}
	for _, p := range c.page.Lines {
		if !c.lines[p] {
			add(p.Line, "no line of a log fits the pattern")
		}
	}
	for _, path := range c.survey.Missing() {
		add(c.page.Line(path), "no state has %s", prose.Name(path))
	}
	lists.SortStable(out, func(a, b Misfit) int { return a.Line - b.Line })
	return out
}
