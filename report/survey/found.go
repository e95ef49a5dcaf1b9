package survey

import (
	"bufio"
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/desynctool/desynctool/anygame/states"
	"github.com/desynctool/desynctool/engines/engine"
	"github.com/desynctool/desynctool/engines/engine/description"
	"github.com/desynctool/desynctool/internal/file/compression"
	"github.com/desynctool/desynctool/internal/file/limits"
	"github.com/desynctool/desynctool/internal/lists"
	"github.com/desynctool/desynctool/notation"
	"github.com/desynctool/desynctool/report/formats"
	"github.com/desynctool/desynctool/snapshot"
)

// Formats returns all known formats, followed by the found ones.
func (s *Survey) Formats() []engine.Format { return s.list }

// Notes are remarks on the findings.
func (s *Survey) Notes() []string { return s.notes }

// Page returns the page that describes the files, nil if none does.
func (s *Survey) Page() *description.Description { return s.page }

// Known returns a file of a known format, empty if there is none. If there is one, a survey finds nothing.
func (s *Survey) Known() string { return s.known }

// Files returns the files that were examined, in the order of the paths and their names.
func (s *Survey) Files() []string { return s.all }

// Format returns the format that was found for a file, nil if nothing in it is read.
func (s *Survey) Format(path string) *engine.Format {
	for i := range s.own {
		if f := &s.own[i]; f.Paths(path) {
			return f
		}
	}
	return nil
}

// Tables returns the tables of the states, as far as they were read, and how their rows are identified.
func (s *Survey) Tables() []states.FoundTable { return s.seen.Tables }

// RNG returns the paths to the state of the random number generator.
func (s *Survey) RNG() []string { return s.seen.RNG }

// Noise returns the columns that are probably noise. If nothing else differs, they are compared nevertheless.
func (s *Survey) Noise() (list []NoisyColumn, compared bool) { return s.noisy, s.quiet }

// Group is some files of one folder with names of one form.
type Group struct {
	Kind  description.Kind // State, Log or Input
	Files []string         // paths
	Title string           // their content

	// Tick and Peer are the paths to these in a state, empty if it has none.
	Tick, Peer string
	// Named is set if the names of the files show the tick, NamesPeer if they show the peer.
	Named, NamesPeer bool
	// Pattern is the pattern of the names in the notation of a page, empty if they show neither the tick nor the peer, or
	// if no pattern can.
	Pattern string
	// Globs fit the names. The later ones fit fewer others.
	Globs []string
	// Lines are regular expressions for the lines of logs with checksums that no page describes.
	Lines []string
}

// Groups returns the found groups, states first.
func (s *Survey) Groups() (out []Group) {
	parts := map[string]bool{} // files with a table of a state that begins with another file
	for _, list := range s.parts {
		for _, path := range list {
			parts[path] = true
		}
	}
	for _, g := range s.order {
		one := Group{
			Kind: description.State, Title: g.notation.Title,
			Tick: g.found.Tick, Peer: g.found.Peer, Named: g.tick >= 0, NamesPeer: g.namesPeer(),
		}
		for _, base := range g.bases {
			if path := filepath.Join(g.dir, base); !s.rest[path] || parts[path] {
				one.Files = append(one.Files, path)
			}
		}
		if g.several {
			one.Named = false
		}
		out = g.put(out, one)
	}
	for _, kind := range []description.Kind{description.Log, description.Input} {
		of := map[*group]*Group{}
		var order []*group
		for _, l := range s.found {
			if (l.trace == nil) != (kind == description.Input) {
				continue
			}
			one := of[l.group]
			if one == nil {
				one = &Group{Kind: kind, Title: l.title(), NamesPeer: l.group.namesPeer()}
				of[l.group] = one
				order = append(order, l.group)
			}
			one.Files = append(one.Files, l.path)
			if l.sums != nil && one.Lines == nil {
				one.Lines = l.sums.Expressions()
			}
		}
		for _, g := range order {
			out = g.put(out, *of[g])
		}
	}
	return out
}

// put appends what was found of a group, with its globs and its pattern.
func (g *group) put(out []Group, one Group) []Group {
	if len(one.Files) == 0 {
		return out
	}
	add := func(glob string) {
		if !slices.Contains(one.Globs, glob) {
			one.Globs = append(one.Globs, glob)
		}
	}
	for _, path := range one.Files {
		add(g.glob(filepath.Base(path), true))
	}
	for _, path := range one.Files {
		add(g.glob(filepath.Base(path), false))
	}
	for _, file := range one.Files {
		add(path.Join(Literal(filepath.Base(g.dir)), g.glob(filepath.Base(file), false)))
	}
	if one.Pattern = g.pattern(one); !g.proves(one) {
		one.Pattern = ""
	}
	return append(out, one)
}

// signs are the characters with a meaning in a glob.
const signs = `*?[\\`

// Literal returns a glob that matches only a text.
func Literal(text string) string {
	var out strings.Builder
	for _, r := range text {
		if r == utf8.RuneError { // which no page contains
			r = '?'
		} else if strings.ContainsRune(signs, r) {
			out.WriteByte('\\')
		}
		out.WriteRune(r)
	}
	return out.String()
}

// AnyNumbers is Literal with any digits in place of digits.
func AnyNumbers(text string) string {
	var out strings.Builder
	for _, p := range partsOf(text) {
		if p.digits {
			out.WriteByte('*')
		} else {
			out.WriteString(Literal(p.text))
		}
	}
	return out.String()
}

// glob returns a glob for names like one: with any numbers, and with any peer if it is the peer that names show.
func (g *group) glob(base string, peers bool) string {
	var out strings.Builder
	parts := g.pieces(base)
	for i, word := range numbered(parts) {
		if parts[i].digits || peers && word >= 0 && slices.Contains(g.peer, word) {
			if !strings.HasSuffix(out.String(), "*") {
				out.WriteByte('*')
			}
			continue
		}
		out.WriteString(Literal(parts[i].text))
	}
	return out.String()
}

// pattern returns the pattern of the names of some files of the group.
func (g *group) pattern(of Group) string {
	tick := g.tick >= 0 && of.Named && !g.dated
	if !tick && !of.NamesPeer {
		return ""
	}
	base := filepath.Base(of.Files[0])
	var out strings.Builder
	out.WriteByte('^')
	parts, in := g.pieces(base), false
	words := numbered(parts)
	for i, p := range parts {
		peer := !g.inTick(i) && (words[i] >= 0 && slices.Contains(g.peer, words[i]) ||
			in && words[i] < 0 && i+1 < len(parts) && slices.Contains(g.peer, words[i+1]))
		switch {
		case peer && !in:
			out.WriteString("(?P<peer>" + letters(g.peers(of)) + "+)")
		case peer:
		case i == g.tick && tick:
			out.WriteString("(?P<tick>[0-9]+)")
		case p.digits:
			out.WriteString("[0-9]+")
		default:
			out.WriteString(regexp.QuoteMeta(p.text))
		}
		in = peer
	}
	out.WriteByte('$')
	return out.String()
}

// peers returns the peers that the names of some files show.
func (g *group) peers(of Group) []string {
	return lists.Map(of.Files, func(path string) string { return g.peerOf(filepath.Base(path)) })
}

// letters returns the class of the characters of some names, in the notation of a pattern.
func letters(names []string) string {
	for _, class := range []string{"[A-Za-z]", "[A-Za-z0-9]", "[A-Za-z0-9_]"} {
		all := regexp.MustCompile("^" + class + "+$")
		if !slices.ContainsFunc(names, func(name string) bool { return !all.MatchString(name) }) {
			return class
		}
	}
	return "."
}

// proves reports whether a pattern shows the tick and the peer of all files as their names do.
func (g *group) proves(of Group) bool {
	compiled, err := regexp.Compile(of.Pattern)
	if err != nil || of.Pattern == "" {
		return false
	}
	d := &description.Description{Name: []*description.Pattern{{Regexp: compiled}}}
	return !slices.ContainsFunc(of.Files, func(path string) bool {
		base := filepath.Base(path)
		plain := compression.PlainName(base)
		peer, _, _ := inName(d, plain, "peer")
		digits, _, has := inName(d, plain, "tick")
		tick, named := g.tickOf(base)
		found, _ := description.TickOf([]byte(digits))
		return !compiled.MatchString(plain) || peer != g.peerOf(base) || of.Named && (has != named || tick != found)
	})
}

// Content is the content of a file with states.
type Content struct {
	Worlds  []*snapshot.World
	Misfits []Misfit
}

// Misfit is a place where a file does not fit its format.
type Misfit struct {
	Line int // 0 for the file as a whole
	Text string
}

// States reads a file with states, one by one.
func (s *Survey) States(path string) (*Content, error) {
	g := s.groups[s.groupOf(path)]
	if g == nil || g.schema == nil {
		return nil, fmt.Errorf("%s: no states are read", path)
	}
	text, err := s.read(path, limits.State.Max()+1)
	if err == nil && limits.State.Over(int64(len(text))) {
		err = limits.State.Reached(path, int64(len(text)))
	}
	if err != nil {
		return nil, err
	}
	line := func(at int) int { return 1 + bytes.Count(text[:min(at, len(text))], []byte("\n")) }
	worlds, found, err := g.schema.Read(g.notation, text)
	out := &Content{Worlds: worlds}
	if found != nil {
		for _, m := range found.Misfits {
			out.Misfits = append(out.Misfits, Misfit{line(m.Offset), m.Text})
		}
	}
	if fault := (*notation.Error)(nil); errors.As(err, &fault) {
		out.Misfits = append(out.Misfits, Misfit{line(fault.Offset), fault.Msg})
	} else if err != nil {
		out.Misfits = append(out.Misfits, Misfit{0, err.Error()})
	}
	base := filepath.Base(path)
	for _, w := range worlds {
		if n, ok := g.tickOf(base); ok && !w.Point.Known() {
			w.Point = snapshot.Point{Tick: n}
		}
		g.named(w, base)
		w.Peer = cmp.Or(w.Peer, g.peerOf(base))
		divide(w, s.noise)
	}
	return out, nil
}

// Open returns the content of a file, which may be compressed.
func (s *Survey) Open(path string) (io.ReadCloser, error) {
	f, err := s.tree.Open(path)
	if err != nil {
		return nil, err
	}
	content, err := formats.Content(bufio.NewReaderSize(f, formats.HeadLen), path)
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return opened{content, f}, nil
}

// opened is the content of a file that is open.
type opened struct {
	io.ReadCloser
	file io.Closer
}

func (o opened) Close() error { return errors.Join(o.ReadCloser.Close(), o.file.Close()) }

// Missing returns the paths of the page that are in none of the examined states.
func (s *Survey) Missing() (out []string) {
	hints := s.hints()
	if hints == nil || len(s.order) == 0 {
		return nil
	}
	for _, path := range hints.Paths() {
		if !slices.ContainsFunc(s.order, func(g *group) bool { return g.schema.Has(path) }) {
			out = append(out, path)
		}
	}
	return out
}

// title returns the contents of a log in words.
func (l *log) title() string {
	switch {
	case l.trace == nil:
		return l.order.Title()
	case l.sums != nil:
		return l.sums.Title()
	}
	return l.trace.Title
}

// ground returns where the page has the places of the rows of its tables, nil if it has none.
func (s *Survey) ground() *snapshot.Ground {
	if s.page == nil {
		return nil
	}
	out := &snapshot.Ground{X: "x", Y: "y"}
	for _, t := range s.page.Tables {
		for _, found := range s.seen.Tables {
			if found.Path != t.Path || !found.HasRows() || len(t.Position) == 0 {
				continue
			}
			var columns [2]string
			for i, path := range t.Position {
				path = strings.TrimPrefix(t.Path+"."+path, ".")
				for _, c := range found.Columns {
					switch c.Path {
					case path, path + ".0":
						columns[i] = c.Component + "." + c.Field
					case path + ".1": // of a text with both
						columns[1] = cmp.Or(columns[1], c.Component+"."+c.Field)
					}
				}
			}
			if columns[0] == "" || len(t.Position) == 2 && columns[1] == "" {
				continue
			}
			if len(t.Position) == 2 && len(out.Positions) == 0 {
				out.X, out.Y = axis(t.Position[0]), axis(t.Position[1])
			}
			out.Positions = append(out.Positions, snapshot.Position{Kind: found.Label, Archetype: found.Label, X: columns[0], Y: columns[1]})
		}
	}
	if len(out.Positions) == 0 {
		return nil
	}
	return out
}

// axis returns the name of an axis on a map: the last name in a path that is not a number.
func axis(path string) string {
	name := path[strings.LastIndexByte(path, '.')+1:]
	if strings.Trim(name, "0123456789") == "" {
		return path
	}
	return cmp.Or(name, path)
}
