package description

import (
	"bytes"
	"errors"
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/desynctool/desynctool/notation"
	"github.com/desynctool/desynctool/snapshot"
)

const (
	// MaxLen is how many bytes a page may have.
	MaxLen = 1 << 20
	// maxList is how many elements a list of a page may have.
	maxList = 256
	// maxPattern is how many bytes a pattern may have.
	maxPattern = 4 << 10
)

// Parse reads a page. The path is the name in errors. The first thing that is wrong is the error, with its line.
func Parse(text []byte, file string) (*Description, error) {
	if len(text) > MaxLen {
		return nil, fmt.Errorf("%s: more than %d bytes, expected a page", file, MaxLen)
	}
	tree := &tree{}
	r := &reader{file: file, text: text, page: &Description{File: file}}
	err := toml().Parse(text, tree)
	if e := (*notation.Error)(nil); errors.As(err, &e) {
		r.fail(e.Offset, "%s", strings.TrimPrefix(e.Msg, "toml: "))
	} else if r.root(tree.root); r.err == nil && r.page.Game == "" {
		r.fail(0, `no name of the game, expected game = "…"`)
	}
	if r.err != nil {
		return nil, r.err
	}
	return r.page, nil
}

// toml returns the notation of pages.
func toml() *notation.Notation {
	list := notation.All()
	return &list[slices.IndexFunc(list, func(n notation.Notation) bool { return n.Name == "toml" })]
}

// value is a value of a page.
type value struct {
	at      int
	form    form
	text    string // of a text
	names   []string
	members []*value // of a table, or the elements of a list
}

// form is what a value is.
type form string

const (
	table form = "a table"
	list  form = "a list"
	text  form = "a text"
	other form = "a value that is no text"
)

// tree is the Sink that keeps a page.
type tree struct {
	at    int
	name  string
	root  *value
	stack []*value
}

func (t *tree) add(v *value) {
	v.at = t.at
	if len(t.stack) == 0 {
		t.root = v
		return
	}
	top := t.stack[len(t.stack)-1]
	top.names = append(top.names, t.name)
	top.members = append(top.members, v)
}

func (t *tree) open(f form) {
	v := &value{form: f}
	t.add(v)
	t.stack = append(t.stack, v)
}

// At implements notation.Placer.
func (t *tree) At(offset int) { t.at = offset }

// BeginMap implements notation.Sink.
func (t *tree) BeginMap(int) { t.open(table) }

// BeginList implements notation.Sink.
func (t *tree) BeginList(int) { t.open(list) }

// End implements notation.Sink.
func (t *tree) End(int) { t.stack = t.stack[:len(t.stack)-1] }

// Name implements notation.Sink.
func (t *tree) Name(name []byte) { t.name = string(name) }

// Item implements notation.Sink.
func (t *tree) Item(name []byte) { t.Name(name) }

// Scalar implements notation.Sink.
func (t *tree) Scalar(kind notation.Kind, content []byte) {
	if kind != notation.Text {
		t.add(&value{form: other})
		return
	}
	t.add(&value{form: text, text: string(content)})
}

// reader makes a Description of a page.
type reader struct {
	file string
	text []byte
	page *Description
	err  error
}

// fail notes the first fault.
func (r *reader) fail(at int, format string, args ...any) {
	if r.err == nil {
		line := 1 + bytes.Count(r.text[:min(at, len(r.text))], []byte("\n"))
		r.err = fmt.Errorf("%s: line %d: %s", r.file, line, fmt.Sprintf(format, args...))
	}
}

// key is a key of a table with what takes its value.
type key struct {
	name string
	take take
}

// take takes the value of a key.
type take func(name string, v *value)

// is reports whether a value is of a form, and notes a fault if it is not.
func (r *reader) is(name string, v *value, f form) bool {
	if v.form != f {
		r.fail(v.at, "%s is %s, expected %s", name, v.form, f)
	}
	return v.form == f
}

// members takes the members of a table, which is named in faults.
func (r *reader) members(name string, v *value, keys []key) {
	if !r.is(name, v, table) {
		return
	}
	for i, member := range v.names {
		k := slices.IndexFunc(keys, func(k key) bool { return k.name == member })
		if k < 0 {
			var known []string
			for _, k := range keys {
				known = append(known, k.name)
			}
			r.fail(v.members[i].at, "unknown key %.40q in %s, expected %s", member, name, strings.Join(known, ", "))
			return
		}
		keys[k].take(member, v.members[i])
	}
}

// table returns what takes a table with some keys.
func (r *reader) table(keys ...key) take {
	return func(name string, v *value) { r.members("["+name+"]", v, keys) }
}

// tables returns what takes a list of tables. A function returns the keys of each one, and a function that is called
// after they were taken.
func (r *reader) tables(begin func(v *value) (keys []key, end func())) take {
	return func(name string, v *value) {
		for _, one := range r.elements(name, v) {
			keys, end := begin(one)
			if r.members("[["+name+"]]", one, keys); r.err == nil {
				end()
			}
		}
	}
}

// elements returns the elements of a list.
func (r *reader) elements(name string, v *value) []*value {
	if !r.is(name, v, list) {
		return nil
	}
	if len(v.members) > maxList {
		r.fail(v.at, "%s has %d elements, expected at most %d", name, len(v.members), maxList)
		return nil
	}
	return v.members
}

// string returns what takes a text. A function returns what was expected instead, empty if the text is right.
func (r *reader) string(to *string, wrong func(string) string) take {
	return func(name string, v *value) {
		if !r.is(name, v, text) {
			return
		}
		if fault := wrong(v.text); fault != "" {
			r.fail(v.at, "%s is %.40q, %s", name, v.text, fault)
		}
		*to = v.text
	}
}

// strings is string for a list of texts.
func (r *reader) strings(to *[]string, wrong func(string) string) take {
	return func(name string, v *value) {
		for _, one := range r.elements(name, v) {
			var s string
			r.string(&s, wrong)(name, one)
			*to = append(*to, s)
		}
	}
}

// pattern returns what takes a regular expression with some named groups. Groups that end in _ may go on with any name.
func (r *reader) pattern(to **Pattern, groups ...string) take {
	return func(name string, v *value) {
		if !r.is(name, v, text) {
			return
		}
		if len(v.text) > maxPattern {
			r.fail(v.at, "%s has %d bytes, expected at most %d", name, len(v.text), maxPattern)
			return
		}
		compiled, err := regexp.Compile(v.text)
		if err != nil {
			r.fail(v.at, "%s is not a regular expression: %s", name, strings.TrimPrefix(err.Error(), "error parsing regexp: "))
			return
		}
		seen := map[string]bool{}
		for _, group := range compiled.SubexpNames() {
			known := slices.ContainsFunc(groups, func(g string) bool {
				if strings.HasSuffix(g, "_") {
					return len(group) > len(g) && strings.HasPrefix(group, g)
				}
				return group == g
			})
			if group != "" && !known || seen[group] {
				r.fail(v.at, "%s has the group %.40q, expected each of %s once", name, group, strings.Join(groups, ", "))
				return
			}
			seen[group] = group != ""
		}
		*to = &Pattern{Regexp: compiled, Line: 1 + bytes.Count(r.text[:v.at], []byte("\n"))}
	}
}

// patterns returns what takes a list of tables with one pattern each, which needs one of some groups.
func (r *reader) patterns(to *[]*Pattern, needed func(*Pattern) bool, expected string, groups ...string) take {
	return r.tables(func(v *value) ([]key, func()) {
		var p *Pattern
		return []key{{"pattern", r.pattern(&p, groups...)}}, func() {
			if p == nil || !needed(p) {
				r.fail(v.at, "no pattern with %s, expected one", expected)
			}
			*to = append(*to, p)
		}
	})
}

// root takes the whole page.
func (r *reader) root(v *value) {
	d := r.page
	r.members("a page", v, []key{
		{"game", r.string(&d.Game, wrongName)},
		{"files", r.table(
			key{"states", r.strings(&d.States, wrongGlob)},
			key{"logs", r.strings(&d.Logs, wrongGlob)},
			key{"inputs", r.strings(&d.Inputs, wrongGlob)},
		)},
		{"names", r.names},
		{"state", r.table(
			key{"tick", r.string(&d.Tick, wrongPath)},
			key{"peer", r.string(&d.Peer, wrongPath)},
			key{"rng", r.strings(&d.RNG, wrongPath)},
			key{"noise", r.strings(&d.Noise, wrongPath)},
			key{"cache", r.strings(&d.Cache, wrongPath)},
		)},
		{"table", r.tables(r.oneTable)},
		{"line", r.patterns(&d.Lines, isLine, "the groups tick and sum, or sum_NAME",
			"tick", "sum", "sum_", "system", "peer")},
		{"claim", r.patterns(&d.Claims, isClaim, "the groups tick, peer, or local and remote",
			"tick", "local", "remote", "peer")},
	})
	for _, p := range d.Lines {
		if r.err == nil && p.has("peer") != d.Lines[0].has("peer") {
			const mixed = "the group peer is in some patterns of [[line]], expected it in all or none"
			r.err = fmt.Errorf("%s: line %d: %s", r.file, p.Line, mixed)
		}
	}
}

// names takes the pattern of names.
func (r *reader) names(name string, v *value) {
	r.table(key{"pattern", r.pattern(&r.page.Name, "tick", "peer")})(name, v)
	if p := r.page.Name; r.err == nil && (p == nil || !p.has("tick") && !p.has("peer")) {
		r.fail(v.at, "no pattern with the group tick or peer, expected one")
	}
}

// oneTable takes a table of states.
func (r *reader) oneTable(v *value) ([]key, func()) {
	t := &Table{Path: "\x00"}
	root := func(path string) string {
		if path == "" {
			return ""
		}
		return wrongPath(path)
	}
	keys := []key{
		{"path", r.string(&t.Path, root)},
		{"key", r.string(&t.Key, wrongPath)},
		{"label", r.string(&t.Label, wrongName)},
	}
	return keys, func() {
		same := func(o Table) bool { return o.Path == t.Path || o.Label == t.Label && t.Label != "" }
		switch {
		case t.Path == "\x00":
			r.fail(v.at, `no path in [[table]], expected path = "…"`)
		case t.Key == "" && t.Label == "" && t.Path == "":
			r.fail(v.at, "the path is empty, expected a key or a label with it")
		case slices.ContainsFunc(r.page.Tables, same):
			r.fail(v.at, "the path %.40q or its label a second time, expected each once", t.Path)
		}
		r.page.Tables = append(r.page.Tables, *t)
	}
}

// has reports whether a pattern has a group.
func (p *Pattern) has(group string) bool { return p.SubexpIndex(group) >= 0 }

func isLine(p *Pattern) bool {
	sum := func(group string) bool { return group == "sum" || strings.HasPrefix(group, "sum_") }
	return p.has("tick") && slices.ContainsFunc(p.SubexpNames(), sum)
}

func isClaim(p *Pattern) bool {
	return p.has("tick") || p.has("peer") || p.has("local") && p.has("remote")
}

// wrongName returns what was expected instead of the name of a game or a table, empty if it is right.
func wrongName(name string) string {
	control := func(r rune) bool { return r < ' ' || r == 0x7f || r == '\uFFFD' }
	if name == "" || len(name) > snapshot.MaxName || strings.ContainsFunc(name, control) {
		return fmt.Sprintf("expected a name of 1 to %d bytes", snapshot.MaxName)
	}
	return ""
}

// wrongGlob is wrongName for a glob.
func wrongGlob(glob string) string {
	if _, err := path.Match(glob, ""); err != nil || glob == "" || strings.HasPrefix(glob, "/") {
		return "expected a name with *, ? or [a-z], and folders before it with /"
	}
	return ""
}

// wrongPath is wrongName for a path in a state.
func wrongPath(path string) string {
	if path == "" || slices.Contains(strings.Split(path, "."), "") {
		return "expected names with dots between them"
	}
	return ""
}
