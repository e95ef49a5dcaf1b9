package gamelog

import (
	"bytes"
	"cmp"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/desynctool/desynctool/engines"
)

// said are the facts that lines "name: value" state, by the games' names for them; [named] has the engines' own names
// too. Facts that have to be the same on all peers are taken from the first lines only, see firm.
var said = map[string]string{
	"operating system": "os", "os": "os", "platform": "os",
	"cpu": "cpu", "processor": "cpu", "processor type": "cpu", "hardware config": "cpu",
	"compiler version": "compiler", "compiler": "compiler", "runtime version": "runtime",
	"locale": "locale", "language": "language", "culture": "locale", "timezone": "timezone", "time zone": "timezone",
	"gpu": "gpu", "renderer": "gpu", "gl renderer": "gpu", "graphics card": "gpu", "driver": "driver", "gl version": "driver",
	"engine version": "engine_version",
	"game version":   "version", "build": "build", "build id": "build", "map": "map", "data hash": "data hash", "data checksum": "data hash",
	"ruleset": "ruleset", "settings": "settings",
}

// named is said with the names of single engines.
var named = sync.OnceValue(func() map[string]string {
	all := maps.Clone(said)
	for _, log := range engines.Logs() {
		maps.Copy(all, log.Names)
	}
	return all
})

// firm is the number of lines in which facts that must be the same on all peers are looked for in lines "name: value":
// later lines may be about anything.
const firm = 200

// fact takes a fact about the game or the machine from a message, if it has one.
func (r *reader) fact(b []byte) {
	if r.mods.open {
		r.mods.item(b)
	}
	b = bytes.TrimSpace(b)
	if r.logger.Facts != nil {
		r.logger.Facts(b, r)
	}
	i := bytes.IndexAny(b[:min(len(b), 40)], ":=")
	if i < 2 {
		return
	}
	name, value := lower(bytes.TrimSpace(b[:i])), bytes.TrimSpace(b[i+1:])
	if strings.HasSuffix(name, "mods") {
		r.mods.begin(name, value)
		return
	}
	fact := named()[name]
	if own := r.opts.Own; own != nil {
		fact = cmp.Or(own.Names[name], fact)
	}
	if fact == "" || len(value) == 0 {
		return
	}
	switch fact {
	case "cpu":
		value, _, _ = bytes.Cut(value, []byte("; "))
	case "engine_version":
		r.log.Relay = r.log.Relay || bytes.HasSuffix(value, []byte("(Dedicated)"))
		value = bytes.TrimSpace(withoutSuffix(value, "(Headless)", "(Dedicated)"))
	case "version", "build", "map", "data hash", "ruleset", "settings":
		if r.log.Lines > firm || r.log.Logger != "" && !r.logger.ManyGames {
			return // a known logger has its own lines for that
		}
	}
	r.Know(fact, value)
}

// Mod keeps the name of a mod.
func (r *reader) Mod(name string) { r.mods.add(name) }

// Know keeps a fact, the first of its name.
func (r *reader) Know(name string, value []byte) {
	value = bytes.TrimSpace(value)
	if len(value) == 0 || len(value) > maxValue || slices.ContainsFunc(r.log.Facts, func(f Fact) bool { return f.Name == name }) {
		return
	}
	if text := strings.ToValidUTF8(string(masked(nil, value, false)), ""); text != "" {
		r.log.Facts = append(r.log.Facts, Fact{name, text, r.log.Lines})
	}
}

func lower(b []byte) string { return strings.ToLower(string(b)) }

func withoutSuffix(b []byte, list ...string) []byte {
	for _, s := range list {
		b = bytes.TrimSuffix(b, []byte(s))
	}
	return b
}

// modList collects the mods that a log lists.
type modList struct {
	names map[string]bool
	open  bool // a heading came, the lines that follow are the list
	set   bool // the first mod is marked: it is indented, or has a mark before it
	begun bool
}

// headings are the texts before the colon above a list of mods.
var headings = []string{"mods", "active mods", "loaded mods", "enabled mods", "list of loaded mods", "list of active mods", "running mods", "installed mods", "mods active", "mods loaded"}

// begin takes a line "mods: …": the list itself, by commas, or the heading of lines that
// follow.
func (m *modList) begin(name string, value []byte) {
	if _, after, ok := strings.Cut(name, "display: "); ok { // Unreal
		name = after
	}
	if !slices.Contains(headings, name) {
		return
	}
	if m.open, m.begun = len(value) == 0, false; m.open {
		return
	}
	for one := range bytes.SplitSeq(bytes.Trim(value, "[]{}()"), []byte(",")) {
		m.add(string(bytes.TrimSpace(one)))
	}
}

// item takes a line after the heading. The list ends with the first line that is not set as the
// first one is, or that names no version where nothing sets the lines apart.
func (m *modList) item(b []byte) {
	name := bytes.TrimLeft(b, "-*•\t ")
	set := len(name) < len(b)
	if !m.begun {
		m.begun, m.set = true, set
	}
	name = bytes.TrimSpace(bytes.TrimPrefix(name, []byte("Display: ")))
	if rest, ok := bytes.CutPrefix(name, []byte(`"`)); ok { // "Name"  v06 (uid) by …
		title, more, _ := bytes.Cut(rest, []byte(`"`))
		name = title
		if words := bytes.Fields(more); len(words) > 0 {
			name = append(append(title[:len(title):len(title)], ' '), words[0]...)
		}
	} else if set != m.set || !set && !versioned(name) || len(name) > 120 {
		m.open = false
		return
	}
	m.add(string(name))
}

// versioned reports whether a text ends with a version: 1.2, v3.
func versioned(b []byte) bool {
	words := bytes.Fields(b)
	if len(words) < 2 {
		return false
	}
	last := bytes.TrimPrefix(words[len(words)-1], []byte("v"))
	return len(last) > 0 && isDigit(last[0])
}

func (m *modList) add(name string) {
	name = strings.ToValidUTF8(strings.TrimSpace(name), "")
	if name == "" || len(name) > maxValue || len(m.names) == maxMods {
		return
	}
	if m.names == nil {
		m.names = map[string]bool{}
	}
	m.names[name] = true
}

func (m *modList) sorted() []string { return slices.Sorted(maps.Keys(m.names)) }
