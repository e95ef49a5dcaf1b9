package description

import (
	"bytes"
	"errors"
	"fmt"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/desynctool/desynctool/engines/engine"
	"github.com/desynctool/desynctool/engines/engine/messages"
	"github.com/desynctool/desynctool/internal/lazyregexp"
	"github.com/desynctool/desynctool/internal/lists"
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
	r := &reader{file: file, text: text, page: &Description{File: file, Stride: 1, Source: "log", lines: map[string]int{}}}
	err := toml().Parse(text, tree)
	if e := (*notation.Error)(nil); errors.As(err, &e) {
		r.fail(e.Offset, "%s", strings.TrimPrefix(e.Msg, "toml: "))
	} else if r.root(tree.root); r.err == nil && r.page.Title() == "" {
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
	kind    notation.Kind
	text    string // of a scalar
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
	v := &value{form: other, kind: kind, text: string(content)}
	if kind == notation.Text {
		v.form = text
	}
	t.add(v)
}

// reader makes a Description of a page.
type reader struct {
	file string
	text []byte
	page *Description
	err  error

	claims []*claim
}

// fail notes the first fault.
func (r *reader) fail(at int, format string, args ...any) {
	if r.err == nil {
		r.err = fmt.Errorf("%s: line %d: %s", r.file, r.lineOf(at), fmt.Sprintf(format, args...))
	}
}

// lineOf returns the line of an offset.
func (r *reader) lineOf(at int) int {
	return 1 + bytes.Count(r.text[:min(at, len(r.text))], []byte("\n"))
}

// key is a key of a table with the function that takes its value.
type key struct {
	name string
	take take
}

// take takes the value of a key.
type take func(name string, v *value)

// is reports whether a value has a form, and notes a fault if it does not.
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
			known := lists.Map(keys, func(k key) string { return k.name })
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
		if _, ok := r.page.lines[v.text]; !ok {
			r.page.lines[v.text] = r.lineOf(v.at)
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

// pattern returns what takes a regular expression.
func (r *reader) pattern(to **Pattern) take {
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
		*to = &Pattern{Regexp: compiled, Line: r.lineOf(v.at), at: v.at}
	}
}

// flag returns what takes true or false.
func (r *reader) flag(to *bool) take {
	return func(name string, v *value) {
		if v.kind != notation.Bool || v.form != other {
			r.fail(v.at, "%s is not true or false", name)
		}
		*to = v.text == "true"
	}
}

// number returns what takes a whole number within limits.
func (r *reader) number(to *uint64, least, most uint64) take {
	return func(name string, v *value) {
		n, err := strconv.ParseUint(v.text, 10, 64)
		if v.kind != notation.Number || v.form != other || err != nil || n < least || n > most {
			r.fail(v.at, "%s is not a number from %d to %d", name, least, most)
		}
		*to = n
	}
}

// line takes a pattern of checkpoints.
func (r *reader) line(v *value) ([]key, func()) {
	var p *Pattern
	var peer, scope string
	keys := []key{
		{"pattern", r.pattern(&p)}, {"peer", r.string(&peer, wrongName)}, {"scope", r.string(&scope, wrongName)},
	}
	return keys, func() {
		if p == nil || !isLine(p.Regexp) {
			r.fail(v.at, "no pattern with the groups tick and sum, or sum_NAME, expected one")
			return
		}
		p.Peer, p.Scope = r.template(v, p, "peer", peer), r.template(v, p, "scope", scope)
		r.groups(v, p, []string{peer, scope}, "tick", "sum", "sum_", "system", "scope", "peer")
		r.page.Lines = append(r.page.Lines, p)
	}
}

// claim takes a pattern of messages of a desync.
func (r *reader) claim(v *value) ([]key, func()) {
	c, p, lines, follow := &claim{}, (*Pattern)(nil), uint64(1), (*Pattern)(nil)
	keys := []key{
		{"pattern", r.pattern(&p)}, {"lines", r.number(&lines, 1, maxLines)}, {"follow", r.pattern(&follow)},
		{"peer", r.string(&c.peer, wrongName)}, {"local", r.string(&c.local, wrongName)}, {"remote", r.string(&c.remote, wrongName)},
		{"by", r.string(&c.by, wrongName)}, {"other", r.string(&c.other, wrongName)}, {"hex", r.number(&c.hex, 1, 16)},
		{"self_test", r.flag(&c.selfTest)}, {"reported", r.flag(&c.reported)}, {"weak", r.flag(&c.form.Weak)},
	}
	return keys, func() {
		if follow != nil {
			if follow.SubexpIndex("local") < 0 || follow.SubexpIndex("remote") < 0 {
				r.fail(v.at, "no pattern with the groups local and remote in follow, expected one")
			}
			r.groups(v, follow, nil, "name", "local", "remote")
			c.form.Follow = follow.Regexp
		}
		templates := []string{c.peer, c.local, c.remote}
		r.message(v, c, p, lines, templates, "tick", "local", "remote", "peer", "player", "text")
	}
}

// tick takes a pattern of lines with the tick of the messages after them.
func (r *reader) tick(v *value) ([]key, func()) {
	c, p := &claim{form: messages.Form{Kind: messages.Tick}}, (*Pattern)(nil)
	return []key{{"pattern", r.pattern(&p)}, {"next", r.flag(&c.next)}}, func() {
		if p != nil && !p.has("tick") {
			r.fail(v.at, "no pattern with the group tick, expected one")
		}
		r.message(v, c, p, 1, nil, "tick", "text")
	}
}

// fact takes a pattern of the game's lines about itself and the machine.
func (r *reader) fact(v *value) ([]key, func()) {
	c, p, lines := &claim{form: messages.Form{Kind: messages.Fact}}, (*Pattern)(nil), uint64(1)
	return []key{{"pattern", r.pattern(&p)}, {"lines", r.number(&lines, 1, maxLines)}}, func() {
		if p != nil {
			r.message(v, c, p, lines, nil, p.SubexpNames()[1:]...)
			return
		}
		r.message(v, c, p, lines, nil)
	}
}

// message adds a form of messages.
func (r *reader) message(v *value, c *claim, p *Pattern, lines uint64, templates []string, groups ...string) {
	if p == nil {
		r.fail(v.at, `no pattern, expected pattern = "…"`)
		return
	}
	r.groups(v, p, templates, groups...)
	c.peer, c.local, c.remote = r.template(v, p, "peer", c.peer), r.template(v, p, "local", c.local), r.template(v, p, "remote", c.remote)
	c.form.Pattern, c.form.Lines, c.form.Parse = p.Regexp, int(lines), c.finding
	r.claims = append(r.claims, c)
	r.page.Messages = append(r.page.Messages, messages.NewForm(c.form))
}

// template returns what a part of a message is made of: the group with the part's name if the page has no template.
func (r *reader) template(v *value, p *Pattern, part, given string) string {
	if given == "" && p.has(part) {
		return "${" + part + "}"
	}
	for _, name := range inTemplate(given) {
		if !p.has(name) {
			r.fail(v.at, "%s is %.40q, and the pattern has no group %.40q", part, given, name)
		}
	}
	return given
}

// inTemplate returns the names of the groups in a template.
func inTemplate(template string) (names []string) {
	return lists.Map(groupName.FindAllStringSubmatch(template, -1), func(match []string) string { return match[1] + match[2] })
}

var groupName = lazyregexp.New(`\$(?:(\w+)|\{(\w+)\})`)

// groups checks the groups of a pattern. Known groups have a meaning; a known group that ends in _ may go on with any
// name. Templates name the other groups.
func (r *reader) groups(v *value, p *Pattern, templates []string, known ...string) {
	expected := strings.Join(known, ", ")
	for _, t := range templates {
		known = append(known, inTemplate(t)...)
	}
	seen := map[string]bool{"": false}
	for _, group := range p.SubexpNames() {
		ok := slices.ContainsFunc(known, func(g string) bool {
			return group == g != strings.HasSuffix(g, "_") && strings.HasPrefix(group, g)
		})
		if group != "" && (!ok || seen[group]) {
			r.fail(p.at, "pattern has the group %.40q, expected each of %s once", group, expected)
			return
		}
		seen[group] = true
	}
}

// root takes the whole page.
func (r *reader) root(v *value) {
	d := r.page
	r.members("a page", v, []key{
		{"game", r.string(&d.Game, wrongName)},
		{"engine", r.string(&d.Engine, wrongName)},
		{"unit", r.string(&d.Unit, wrongName)},
		{"stride", r.number(&d.Stride, 1, 1<<32)},
		{"source", r.string(&d.Source, wrongName)},
		{"lead", func(name string, v *value) { d.Leads = []string{}; r.strings(&d.Leads, wrongName)(name, v) }},
		{"sums", r.table(
			key{"covers", r.string(&d.Sums.Covers, wrongName)},
			key{"cumulative", r.flag(&d.Sums.Cumulative)},
			key{"values", r.flag(&d.Sums.Values)},
			key{"complete", r.flag(&d.Sums.Complete)},
			key{"after", r.flag(&d.Sums.After)},
		)},
		{"files", r.table(
			key{"states", r.strings(&d.States, wrongGlob)},
			key{"logs", r.strings(&d.Logs, wrongGlob)},
			key{"inputs", r.strings(&d.Inputs, wrongGlob)},
			key{"other", r.strings(&d.Others, wrongGlob)},
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
		{"line", r.tables(r.line)},
		{"claim", r.tables(r.claim)},
		{"tick", r.tables(r.tick)},
		{"fact", r.tables(r.fact)},
		{"log", r.log},
	})
	for _, c := range r.claims {
		c.stride = d.Stride
	}
	for _, p := range d.Lines {
		if r.err == nil && (p.Peer == "") != (d.Lines[0].Peer == "") {
			const mixed = "the group peer is in some patterns of [[line]], expected it in all or none"
			r.err = fmt.Errorf("%s: line %d: %s", r.file, p.Line, mixed)
		}
	}
}

// log takes what the logs of the game have.
func (r *reader) log(name string, v *value) {
	l := &engine.Log{Logger: r.page.engine(), Names: map[string]string{}}
	var begins, contains []string
	r.table(
		key{"begins", r.strings(&begins, wrongName)},
		key{"contains", r.strings(&contains, wrongName)},
		key{"many_games", r.flag(&l.ManyGames)},
		key{"stack", r.string(&l.Stack, wrongName)},
		key{"calls", r.pairs(func(name, value string) { l.Calls = append(l.Calls, engine.Call{Function: name, Severity: value}) },
			"warning", "error", "assertion", "exception")},
		key{"names", r.pairs(func(name, value string) { l.Names[name] = value })},
	)(name, v)
	l.Marks = lists.Map(begins, func(text string) engine.Mark { return engine.Mark{Text: text, Begin: true} })
	l.Marks = append(l.Marks, lists.Map(contains, func(text string) engine.Mark { return engine.Mark{Text: text} })...)
	if len(l.Marks) == 0 {
		r.fail(v.at, "no begins or contains in [log], expected one")
	}
	r.page.Log = l
}

// pairs returns a take for a table of names and texts. If there are words, each text has to be one of them.
func (r *reader) pairs(add func(name, value string), words ...string) take {
	return func(name string, v *value) {
		if !r.is(name, v, table) {
			return
		}
		for i, one := range v.members {
			var text string
			r.string(&text, func(s string) string {
				if wrong := wrongName(s); wrong != "" || len(words) == 0 || slices.Contains(words, s) {
					return wrong
				}
				return "expected one of " + strings.Join(words, ", ")
			})(v.names[i], one)
			add(v.names[i], text)
		}
	}
}

// names takes the pattern of names, or several.
func (r *reader) names(name string, v *value) {
	one := func(name string, v *value) {
		var p *Pattern
		if r.pattern(&p)(name, v); p != nil {
			r.groups(v, p, nil, "tick", "peer")
		}
		if r.err == nil && !p.has("tick") && !p.has("peer") {
			r.fail(v.at, "%s has neither the group tick nor the group peer, expected one", name)
		}
		r.page.Name = append(r.page.Name, p)
	}
	r.table(key{"pattern", func(name string, v *value) {
		if v.form != list {
			one(name, v)
			return
		}
		for _, element := range r.elements(name, v) {
			one(name, element)
		}
	}})(name, v)
	if r.err == nil && len(r.page.Name) == 0 {
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
		{"position", r.strings(&t.Position, wrongPath)},
	}
	return keys, func() {
		same := func(o Table) bool { return o.Path == t.Path || o.Label == t.Label && t.Label != "" }
		switch {
		case t.Path == "\x00":
			r.fail(v.at, `no path in [[table]], expected path = "…"`)
		case t.Key == "" && t.Label == "" && t.Path == "" && len(t.Position) == 0:
			r.fail(v.at, "the path is empty, expected a key, a label or a position with it")
		case len(t.Position) > 2:
			r.fail(v.at, "the position has %d paths, expected both coordinates, or a text with both", len(t.Position))
		case slices.ContainsFunc(r.page.Tables, same):
			r.fail(v.at, "the path %.40q or its label a second time, expected each once", t.Path)
		}
		r.page.Tables = append(r.page.Tables, *t)
		for i, name := range v.names {
			below := map[string][]string{"key": {t.Key}, "position": t.Position}[name]
			for _, path := range below {
				r.page.lines[strings.TrimPrefix(t.Path+"."+path, ".")] = r.lineOf(v.members[i].at)
			}
		}
	}
}

// has reports whether a pattern has a group.
func (p *Pattern) has(group string) bool { return p.SubexpIndex(group) >= 0 }

func isLine(p *regexp.Regexp) bool {
	sum := func(group string) bool { return group == "sum" || strings.HasPrefix(group, "sum_") }
	return p.SubexpIndex("tick") >= 0 && slices.ContainsFunc(p.SubexpNames(), sum)
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

// IsPath reports whether a page can have a path.
func IsPath(path string) bool {
	return wrongPath(path) == "" && utf8.ValidString(path) && !strings.ContainsRune(path, '\uFFFD')
}

// wrongPath is wrongName for a path in a state.
func wrongPath(path string) string {
	if path == "" || slices.Contains(strings.Split(path, "."), "") {
		return "expected names with dots between them"
	}
	return ""
}
