package survey

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/desynctool/desynctool/anygame/states"
	"github.com/desynctool/desynctool/engines/engine/description"
	"github.com/desynctool/desynctool/internal/file/compression"
	"github.com/desynctool/desynctool/internal/lazyregexp"
	"github.com/desynctool/desynctool/snapshot"
)

// Some games write each table of a state into a separate file: units_300.csv next to players_300.csv. Files in one
// folder with tables that have different columns are such parts of one state, and a word of their names is the table.
// Files with the same columns are the states of several peers, unless the same names are in several folders.

// divide finds the groups of a folder that are parts of one state, and names their tables.
func (s *Survey) divide(folder []*group) {
	if len(folder) < 2 {
		return
	}
	for _, g := range folder {
		g.schema = &states.Schema{Hints: s.hints()}
		for i := range g.samples {
			_ = g.schema.Learn(g.notation, g.samples[i].text)
		}
		for i := range g.samples {
			g.look(&g.samples[i])
		}
		g.findTick()
	}
	folder = slices.DeleteFunc(slices.Clone(folder), func(g *group) bool { // it cannot be read, or is no evidence
		return g.samples[0].states == 0 || g.isOnlyOne()
	})
	if len(folder) < 2 {
		return
	}
	columns := make([]map[column]bool, len(folder))
	unlike := false
	for i, g := range folder {
		columns[i] = g.columns()
		unlike = unlike || !alike(columns[0], columns[i])
	}
	begin, end := varying(folder)
	if elsewhere := s.elsewhere(folder); !unlike && (!elsewhere || folder[0].notation.Name != "csv" || namesPeers(folder, begin)) {
		return
	} else if !elsewhere {
		begin, end = withoutPeers(folder, columns, begin, end)
		begin, end = withoutCommon(folder, begin, end)
	}
	for _, g := range folder {
		words := g.words(g.bases[0])
		g.from, g.to = begin, len(words)-end
		g.table = strings.Join(slices.DeleteFunc(words[g.from:g.to], func(w string) bool { return w == "" }), "_")
		if g.table == "" {
			g.table = filepath.Base(g.bases[0])
		}
	}
	s.assemble(folder)
}

// isOnlyOne reports whether a group is one file that nothing shows to be evidence: it has at most one state.
func (g *group) isOnlyOne() bool {
	first := &g.samples[0]
	return g.alone && first.states < 2 && !(first.cut && len(first.ticks) > 0)
}

// varying returns how many words at the begin and at the end of all names of a folder are the same.
func varying(folder []*group) (begin, end int) {
	first := folder[0].words(folder[0].bases[0])
	begin, end = len(first), len(first)
	for _, g := range folder[1:] {
		words := g.words(g.bases[0])
		same := 0
		for same < min(len(words), begin) && shapeOf(words[same]) == shapeOf(first[same]) {
			same++
		}
		begin, same = same, 0
		for same < min(len(words)-begin, len(first)-begin, end) && shapeOf(words[len(words)-1-same]) == shapeOf(first[len(first)-1-same]) {
			same++
		}
		end = same
	}
	return begin, end
}

// elsewhere reports whether another folder has two files of the same names as a folder, so that folders are the peers.
func (s *Survey) elsewhere(folder []*group) bool {
	shared := map[string]int{}
	for _, g := range s.order {
		if g.dir != folder[0].dir && slices.ContainsFunc(folder, func(own *group) bool { return own.shape == g.shape }) {
			shared[g.dir]++
		}
	}
	for _, n := range shared {
		if n > 1 {
			return true
		}
	}
	return false
}

// namesPeers reports whether a word of the names is one for a peer.
func namesPeers(folder []*group, i int) bool {
	return slices.ContainsFunc(folder, func(g *group) bool {
		return slices.Contains([]string{"host", "guest", "client", "server", "local", "remote"}, strings.ToLower(g.word(g.bases[0], i)))
	})
}

// withoutPeers leaves the first or the last of the words that vary out if it is the peer: each table has files of all
// peers, with the same columns.
func withoutPeers(folder []*group, columns []map[column]bool, begin, end int) (int, int) {
	for _, first := range []bool{true, false} {
		peers := map[string]map[string]bool{} // of each table
		good := true
		of := map[string]int{}
		for i, g := range folder {
			words := g.words(g.bases[0])
			words = words[begin : len(words)-end]
			if good = good && len(words) > 1; !good {
				break
			}
			peer, table := words[0], strings.Join(words[1:], " ")
			if !first {
				peer, table = words[len(words)-1], strings.Join(words[:len(words)-1], " ")
			}
			if peers[table] == nil {
				peers[table], of[table] = map[string]bool{}, i
			}
			peers[table][peer] = true
			good = good && alike(columns[of[table]], columns[i])
		}
		if !good || len(peers) < 2 || len(peers)*len(folder) < 4 {
			continue
		}
		for _, names := range peers {
			good = good && len(names) > 1 && len(names)*len(peers) == len(folder)
		}
		if good && first {
			return begin + 1, end
		} else if good {
			return begin, end + 1
		}
	}
	return begin, end
}

// withoutCommon leaves out the first and the last of the words that are left where they are the same in all names.
func withoutCommon(folder []*group, begin, end int) (int, int) {
	first := folder[0].words(folder[0].bases[0])
	same := func(at func(words []string) int) bool {
		return !slices.ContainsFunc(folder, func(g *group) bool {
			words := g.words(g.bases[0])
			return len(words) <= begin+end+1 || words[at(words)] != first[at(first)]
		})
	}
	for same(func([]string) int { return begin }) {
		begin++
	}
	for same(func(words []string) int { return len(words) - 1 - end }) {
		end++
	}
	return begin, end
}

// alike reports whether two files mostly have the same columns.
func alike(a, b map[column]bool) bool {
	shared := 0
	for c := range a {
		if b[c] {
			shared++
		}
	}
	return 2*shared > max(len(a), len(b)) || len(a)+len(b) == 0
}

// columns returns the columns of the first file that was read.
func (g *group) columns() map[column]bool {
	out := map[column]bool{}
	text := g.samples[0].text
	if g.torn[g.samples[0].base] {
		text = untorn(text)
	}
	worlds, err := g.schema.Decode(g.notation, text)
	if err != nil && !g.samples[0].cut {
		return out
	}
	for _, w := range worlds {
		for _, t := range w.Tables {
			for _, c := range t.Columns {
				out[column{t.Label, c.Component, c.Field}] = true
			}
		}
	}
	return out
}

// assemble joins the files of each state: files with the same names except for the table. The first is the one that is
// opened.
func (s *Survey) assemble(folder []*group) {
	firsts := map[string]string{}
	shared := map[string]map[string]bool{} // tables of each state
	timed := false
	for _, g := range folder {
		timed = timed || g.timed()
		for _, base := range g.bases {
			rest := g.withoutTable(base)
			if shared[rest] == nil {
				shared[rest] = map[string]bool{}
			}
			shared[rest][g.table] = true
		}
	}
	for _, g := range folder {
		if !slices.ContainsFunc(g.bases, func(base string) bool { return len(shared[g.withoutTable(base)]) > 1 }) {
			g.table = "" // whole states, or something else
			if !timed || g.timed() {
				continue
			}
			for _, base := range g.bases {
				s.rest[filepath.Join(g.dir, base)] = true
			}
			s.notes = append(s.notes, fmt.Sprintf("%s has no tick as the files next to it have: not compared", filepath.Join(g.dir, g.bases[0])))
			continue
		}
		for _, base := range g.bases {
			path := filepath.Join(g.dir, base)
			rest := g.withoutTable(base)
			first, ok := firsts[rest]
			if !ok {
				firsts[rest] = path
				continue
			}
			s.parts[first] = append(s.parts[first], path)
			s.rest[path] = true
		}
	}
}

// untimed reports whether files have no tick, and are settings and the like: states in a folder below theirs have ticks, or
// files or logs next to them or below have ticks or checksums, and theirs show nothing of a state.
func (s *Survey) untimed(g *group) bool {
	below := g.dir + string(filepath.Separator)
	if g.given || g.kind != description.Undescribed || g.timed() {
		return false
	}
	where := ""
	for _, other := range s.order {
		switch at := other.dir + string(filepath.Separator); {
		case !other.timed() || !strings.HasPrefix(at, below):
		case at != below:
			where = "files in folders below it have"
		case g.isSettings():
			where = "files next to it have"
		}
	}
	logged := func(l log) bool {
		return l.trace != nil && strings.HasPrefix(l.group.dir+string(filepath.Separator), below)
	}
	if where == "" && g.isSettings() && slices.ContainsFunc(s.found, logged) {
		where = "log next to it or below has"
	}
	timed := func(other *group) bool { return other.timed() }
	if where == "" && g.namesSettings() && (len(s.found) > 0 || slices.ContainsFunc(s.order, timed)) {
		where = "other files have"
	}
	if where == "" {
		return false
	}
	s.notes = append(s.notes, fmt.Sprintf("%s has no tick as the %s: not compared", filepath.Join(g.dir, g.bases[0]), where))
	return true
}

// settings are words of the names of files with settings.
var settings = lazyregexp.New(`(?i)^(setting|configuration|cfg|option|preferences|profile|keybinds|hardware|sysinfo)$|(settings|config|options|prefs)$`)

// namesSettings reports whether a word of the files' names means settings: GameUserSettings.ini
func (g *group) namesSettings() bool {
	return slices.ContainsFunc(g.words(g.bases[0]), settings.MatchString)
}

// isSettings reports whether files are called settings, or are single values and not called states.
func (g *group) isSettings() bool {
	return g.namesSettings() ||
		!slices.ContainsFunc(g.words(g.bases[0]), states.NamesState) && !slices.ContainsFunc(g.found.Tables, func(t states.FoundTable) bool { return t.HasRows() })
}

// timed reports whether the names or the files of a group have ticks.
func (g *group) timed() bool {
	return g.tick >= 0 || g.showsTicks()
}

// showsTicks reports whether the files of a group have ticks.
func (g *group) showsTicks() bool {
	return slices.ContainsFunc(g.samples, func(p sample) bool { return len(p.ticks) > 0 })
}

// withoutTable returns all numbers and words of a name but the table.
func (g *group) withoutTable(base string) string {
	var out []string
	for i, word := range g.words(base) {
		if i < g.from || i >= g.to {
			out = append(out, word)
		}
	}
	for _, p := range g.pieces(base) {
		if p.digits {
			out = append(out, p.text)
		}
	}
	if tick, _, ok := inName(g.page, compression.PlainName(base), "tick"); ok {
		out = append(out, tick)
	}
	return strings.Join(out, " ")
}

// join adds the tables of the other files of a state.
func (s *Survey) join(worlds []*snapshot.World, path string) ([]*snapshot.World, error) {
	for _, other := range s.parts[path] {
		part := s.groups[s.groupOf(other)]
		text, err := s.read(other, wholeText)
		if err != nil {
			return nil, err
		}
		more, err := part.decode(text, other)
		if err != nil {
			return nil, err
		}
		worlds = merge(worlds, more, part.table)
	}
	return worlds, nil
}

// merge adds the tables of some states to others of the same points and peers. A label that is taken becomes another one.
func merge(worlds, more []*snapshot.World, label string) []*snapshot.World {
	for _, w := range more {
		i := slices.IndexFunc(worlds, func(v *snapshot.World) bool {
			return v.Peer == w.Peer && (v.Point.Same(w.Point) || !v.Point.Known() || !w.Point.Known())
		})
		if i < 0 {
			worlds = append(worlds, w)
			continue
		}
		v := worlds[i]
		if !v.Point.Known() {
			v.Point = w.Point
		}
		switch {
		case v.RNG == nil:
			v.RNG, v.Meta = w.RNG, w.Meta
		case w.RNG != nil:
			v.SetRNG(slices.Concat(v.RNG, w.RNG), "")
		}
		for _, t := range w.Tables {
			if v.Table(t.Class, t.Label) != nil {
				t.Label = label
			}
			v.Tables = append(v.Tables, t)
		}
		v.Sort()
	}
	return worlds
}
