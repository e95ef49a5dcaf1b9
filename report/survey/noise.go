package survey

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/desynctool/desynctool/anygame/states"
	"github.com/desynctool/desynctool/internal/lazyregexp"
	"github.com/desynctool/desynctool/internal/lists"
	"github.com/desynctool/desynctool/internal/prose"
	"github.com/desynctool/desynctool/snapshot"
)

// Columns that differ between peers in every dump from the first one on, or in 19 of 20, while nothing else differs in the
// first dumps, are probably noise: a clock, a path, the name of a machine, an address. So are values of no entity that
// differ and are equal again several times before anything else differs. They are put into tables of the class noise if something else differs
// later. If nothing else ever differs they stay where they are, unless all of them look like noise in several dumps: a clock in
// dumps of peers that are in sync is no divergence.
//
// Columns and tables that all states of one peer have in every row, and no state of the other, are missing in its dumps,
// not in its game: another build wrote them, or a server that keeps less. They are never compared, and reported as lost.

// fewestQuiet is the number of dumps in which only a column must differ to count as noise if its name and its values do
// not show it.
const fewestQuiet = 2

// fewestFixed is the number of dumps in which a text is the same before it counts as a property of the machine.
const fewestFixed = 3

// mostNamed is how many columns a note names.
const mostNamed = 5

// column is a column of a table.
type column struct{ label, component, field string }

// name returns the column as people see it, or the table if it is one.
func (c column) name() string {
	if c.field == "" {
		return "table " + prose.Name(c.label)
	}
	return prose.Name(c.component + "." + c.field)
}

// compared is what differs between two peers at one state point.
type compared struct {
	tick    uint64
	peers   [2]string
	columns map[column]bool
	looks   map[column]bool              // of these, those that look like noise
	clocks  map[column]bool              // of these, those that are certainly of a clock of the machine
	lacks   map[column]int               // columns, and tables without a name of a column, that one of the peers lacks
	own     map[column]bool              // those with the names of the peers themselves
	globals map[column][2]snapshot.Value // of those that belong to no entity
	other   bool                         // something else differs: rows, the random numbers
	width   int                          // columns of the first state
	tables  int                          // files that were compared, where each has one table
}

// add adds what differs in other tables.
func (c *compared) add(d *compared) {
	maps.Copy(c.columns, d.columns)
	maps.Copy(c.looks, d.looks)
	maps.Copy(c.clocks, d.clocks)
	maps.Copy(c.own, d.own)
	maps.Copy(c.globals, d.globals)
	maps.Copy(c.lacks, d.lacks)
	c.other = c.other || d.other
	c.width += d.width
	c.tables += d.tables
}

// NoisyColumn is a column that is probably noise.
type NoisyColumn struct {
	Table, Component, Field string
	Path                    string // in the states, empty if it has none
	// Looks is set if its name or its values look like a clock, a path, a machine or an address. Else it is the only
	// difference in several dumps.
	Looks bool
}

// OfEntity reports whether its rows are entities.
func (n NoisyColumn) OfEntity() bool { return n.Table != states.GlobalLabel }

func (n *NoisyColumn) column() column { return column{n.Table, n.Component, n.Field} }

// lacking takes the columns and tables that the dumps of a peer lack out of what differs, and returns which peer that is.
// A peer lacks them if no dump of it that was compared with another peer has them, at several ticks.
func lacking(list []compared) map[column]string {
	type by struct {
		column
		peers [2]string
	}
	dumps := map[[2]string]int{}
	times := map[by][2]int{} // how often the first and the second peer lacks it
	for _, c := range list {
		dumps[c.peers]++
		for col, side := range c.lacks {
			n := times[by{col, c.peers}]
			n[side]++
			times[by{col, c.peers}] = n
		}
	}
	found, partly := map[column]string{}, map[column]bool{}
	for at, n := range times {
		side := 0
		if n[1] > 0 {
			side = 1
		}
		if n[side] < max(fewestQuiet, dumps[at.peers]) {
			partly[at.column] = true
			continue
		}
		found[at.column] = max(found[at.column], at.peers[side])
	}
	maps.DeleteFunc(found, func(col column, _ string) bool { return partly[col] })
	for i := range list {
		c := &list[i]
		for col := range c.lacks {
			_, is := found[col]
			switch {
			case is:
				delete(c.columns, col)
			case col.field == "" && viewNames.MatchString(states.Words(col.label)):
				c.columns[col] = true
			case col.field == "":
				c.other = true
			}
		}
	}
	return found
}

// lackingNotes returns a note for each peer with dumps that lack columns.
func lackingNotes(found map[column]string) (notes []string) {
	names := map[string][]string{}
	for col, peer := range found {
		names[peer] = append(names[peer], col.name())
	}
	for _, peer := range slices.Sorted(maps.Keys(names)) {
		dir, name, _ := strings.Cut(peer, "\x00")
		slices.Sort(names[peer])
		notes = append(notes, fmt.Sprintf("the states of %s lack %s, which another peer's have: not compared",
			prose.Name(cmp.Or(name, filepath.Base(dir))), prose.Few(names[peer], mostNamed)))
	}
	return notes
}

// dump is what differs between any peers at one tick.
type dump struct {
	columns map[column]bool
	other   bool // rows or the random numbers differ
}

// dumpsOf returns what differs at each tick, the earliest first, and the columns that look like noise wherever they differ.
func dumpsOf(list []compared) (dumps []dump, looks map[column]bool) {
	lists.SortStable(list, func(a, b compared) int { return cmp.Compare(a.tick, b.tick) })
	looks = everywhere(list, func(c compared) map[column]bool { return c.looks })
	for i, c := range list {
		if i == 0 || c.tick > list[i-1].tick {
			dumps = append(dumps, dump{columns: map[column]bool{}})
		}
		last := &dumps[len(dumps)-1]
		last.other = last.other || c.other
		for col := range c.columns {
			last.columns[col] = true
		}
	}
	fixed := fixedTexts(list)
	for col := range looks {
		words := states.Words(col.component + "." + col.field)
		if col.field == "" {
			words = states.Words(col.label)
		}
		looks[col] = looks[col] || col.label == states.GlobalLabel && ownerNames.MatchString(states.Words(col.field)) || col.isLocal() || viewNames.MatchString(words) || len(dumps) >= fewestFixed && fixed[col]
	}
	return dumps, looks
}

// everywhere returns the columns that are in a set of each comparison in which they differ.
func everywhere(list []compared, set func(c compared) map[column]bool) map[column]bool {
	found := map[column]bool{}
	for _, c := range list {
		for col := range c.columns {
			before, known := found[col]
			found[col] = set(c)[col] && (before || !known)
		}
	}
	return found
}

// healings returns how often each column that differs between two peers is equal in their next dump.
func healings(list []compared) map[column]int {
	before, healed := map[[2]string]compared{}, map[column]int{}
	for _, c := range list {
		for col := range before[c.peers].columns {
			if !c.columns[col] {
				healed[col]++
			}
		}
		before[c.peers] = c
	}
	return healed
}

// fixedTexts returns the texts of no entity that each peer has the same in all dumps, such as the version of a library.
func fixedTexts(list []compared) map[column]bool {
	type of struct {
		column
		peer string
	}
	texts, fixed := map[of]string{}, map[column]bool{}
	for _, c := range list {
		for col := range c.columns {
			both, is := c.globals[col]
			for side, peer := range c.peers {
				text := string(both[side].Raw)
				before, known := texts[of{col, peer}]
				is = is && both[side].Type == snapshot.String && (!known || before == text)
				texts[of{col, peer}] = text
			}
			was, known := fixed[col]
			fixed[col] = is && (was || !known)
		}
	}
	return fixed
}

// restless returns the small numbers of no entity that go up and down in the dumps of each peer, by other steps: a machine
// measures those.
func restless(list []compared) map[column]bool {
	const fewest, largest = 5, 1 << 24 // dumps; numbers
	type between struct {
		column
		peers [2]string
	}
	type moves struct {
		last        [2]float64
		ups, downs  [2]int
		all, unlike int
	}
	found, of := map[column]bool{}, map[between]*moves{}
	for _, c := range list {
		for col, both := range c.globals {
			at := between{col, c.peers}
			m, later := of[at], of[at] != nil
			if !later {
				m = &moves{}
				of[at] = m
			}
			var steps [2]float64
			for side, v := range both {
				value, err := strconv.ParseFloat(v.String(), 64)
				if steps[side], m.last[side] = value-m.last[side], value; err != nil || math.Abs(value) >= largest {
					m.all = math.MinInt
				} else if later && steps[side] > 0 {
					m.ups[side]++
				} else if later && steps[side] < 0 {
					m.downs[side]++
				}
			}
			if m.all++; later && steps[0] != steps[1] {
				m.unlike++
			}
		}
	}
	for at, m := range of {
		was, known := found[at.column]
		found[at.column] = (was || !known) && m.all >= fewest && 2*m.unlike >= m.all && min(m.ups[0], m.ups[1], m.downs[0], m.downs[1]) >= 2
	}
	return found
}

// appearance is when a column differs.
type appearance struct {
	first  int // dump
	dumps  int
	healed []int // the last dumps before it is equal again
}

func appearances(dumps []dump) map[column]appearance {
	found := map[column]appearance{}
	for i, d := range dumps {
		for col := range d.columns {
			a, known := found[col]
			if a.dumps++; !known {
				a.first = i
			}
			if i+1 < len(dumps) && !dumps[i+1].columns[col] {
				a.healed = append(a.healed, i)
			}
			found[col] = a
		}
	}
	return found
}

// isLocal reports whether a column belongs to the connection or to where one player looks.
func (c column) isLocal() bool {
	in, _, _ := strings.Cut(states.Words(c.component), ".")
	return c.label == states.GlobalLabel && in == "local" || localNames.MatchString(states.Words(c.component+"."+c.field))
}

// isShown reports whether a column belongs to what one machine shows.
func (c column) isShown() bool {
	return c.label == states.GlobalLabel && shownParts.MatchString(states.Words(c.component))
}

// blinks reports whether a column differs and is equal again so often that it does not belong to the simulation, unless it is of
// entities: a value of one of them may be set again. A value of the simulation does so once others differ, too.
func (a appearance) blinks(dumps, began int) bool {
	before, _ := slices.BinarySearch(a.healed, began)
	return before >= 2 || a.first == 0 && len(a.healed) > 0 && 3*a.dumps >= dumps
}

// doubtful reports whether something differs in the first dumps, or is equal again in later ones: it may be noise.
func doubtful(list []compared) bool {
	dumps, _ := dumpsOf(list)
	for _, a := range appearances(dumps) {
		if a.first == 0 || len(a.healed) > 0 {
			return true
		}
	}
	return len(dumps) > 0 && dumps[0].other
}

// noise finds the columns that are noise. Alone is set if nothing else differs.
func noise(list []compared) (found []NoisyColumn, alone bool) {
	if len(list) == 0 {
		return nil, false
	}
	dumps, looks := dumpsOf(list)
	all := appearances(dumps)
	clocks, healed := everywhere(list, func(c compared) map[column]bool { return c.clocks }), healings(list)
	// two clocks may show the same by chance, also in the first dumps, and so may what looks like noise
	often := func(col column, a appearance) bool {
		return 2*a.dumps >= len(dumps) && a.first <= 2 && (clocks[col] || looks[col] && col.label == states.GlobalLabel && healed[col] >= fewestQuiet)
	}
	began := len(dumps) // the dump in which something else begins to differ
	always := map[column]bool{}
	for col, a := range all {
		shown := col.isShown()
		if shown && !col.isLocal() { // what begins to differ and stays different may be a divergence, if nothing else differs
			looks[col] = a.first == 0 || len(a.healed) > 0
		}
		switch {
		case shown, col.isLocal(), often(col, a), a.first == 0 && (20*a.dumps >= 19*len(dumps) || looks[col] && 2*a.dumps >= len(dumps)):
			always[col] = true
		case !a.blinks(len(dumps), len(dumps)) || col.label != states.GlobalLabel && !looks[col]:
			began = min(began, a.first)
		}
	}
	if i := slices.IndexFunc(dumps, func(d dump) bool { return d.other }); i >= 0 {
		began = min(began, i)
	}
	for last := -1; last != began; {
		last = began
		for col, a := range all {
			if !always[col] && !looks[col] && !a.blinks(len(dumps), began) {
				began = min(began, a.first)
			}
		}
	}
	for col, a := range all {
		if a.first < began && (looks[col] || col.label == states.GlobalLabel) && a.blinks(len(dumps), len(dumps)) {
			always[col] = true
		}
	}
	other := slices.ContainsFunc(dumps, func(d dump) bool { return d.other })
	for col, a := range all { // something else than noise and times that are equal again in some dumps
		isTime := col.label == states.GlobalLabel && timeNames.MatchString(states.Words(col.component+"."+col.field))
		other = other || !always[col] && !(isTime && len(dumps) > fewestFixed && 2*a.dumps >= len(dumps) && healed[col] > 0)
	}
	for col := range all {
		if !other && !always[col] {
			always[col], looks[col] = true, false
		}
	}
	quiet, more := 0, false
	rest := func(d dump) bool {
		return d.other || slices.ContainsFunc(slices.Collect(maps.Keys(d.columns)), func(col column) bool { return !always[col] })
	}
	for _, d := range dumps {
		if rest(d) {
			more = true
		} else {
			quiet++
		}
	}
	for col := range always {
		if looks[col] || quiet >= fewestQuiet && !rest(dumps[0]) {
			found = append(found, NoisyColumn{Table: col.label, Component: col.component, Field: col.field, Looks: looks[col]})
		}
	}
	lists.SortStable(found, func(a, b NoisyColumn) int {
		return cmp.Or(cmp.Compare(a.Table, b.Table), cmp.Compare(a.Component, b.Component), cmp.Compare(a.Field, b.Field))
	})
	return found, len(found) > 0 && !more && len(found) == len(always)
}

// believed reports whether columns are noise although nothing else differs: all look like it, or one does and the others are
// restless, and most columns are equal. In the dumps of one state point alone that is not certain, unless they are clocks
// and most columns are equal.
func believed(found []NoisyColumn, list []compared) (is, certain bool) {
	most := slices.ContainsFunc(list, func(c compared) bool { return 2*len(found) >= c.width })
	company, restless := !most && slices.ContainsFunc(found, func(n NoisyColumn) bool { return n.Looks }), restless(list)
	is = !slices.ContainsFunc(found, func(n NoisyColumn) bool { return !n.Looks && !(company && restless[n.column()]) })
	isClock := func(n NoisyColumn) bool {
		return !most && !slices.ContainsFunc(list, func(c compared) bool {
			return c.columns[n.column()] && !c.clocks[n.column()]
		})
	}
	return is, is && (!once(list) || !slices.ContainsFunc(found, func(n NoisyColumn) bool { return !isClock(n) }))
}

// once reports whether the states of only one state point were compared.
func once(list []compared) bool {
	return !slices.ContainsFunc(list, func(c compared) bool { return c.tick != list[0].tick })
}

// The ends of the notes about columns that are noise, probably noise, and perhaps noise.
const (
	isNoise      = "between peers in every dump: taken for noise and not compared"
	probablyOnly = "between peers in every dump, and nothing else does: probably noise, such as a clock or a path"
	isNoiseOnce  = "between the peers and look like noise: not compared"
	perhapsOnly  = "and look like noise, and nothing else does in the states of the only tick: not compared"
)

// noiseNote returns the note about columns, empty if there are none.
func noiseNote(found []NoisyColumn, end string) string {
	names := lists.Map(found, func(x NoisyColumn) string { return x.column().name() })
	slices.Sort(names)
	verb := " differ "
	if len(names) == 0 {
		return ""
	} else if len(names) == 1 {
		verb, end = " differs ", strings.Replace(end, "and look ", "and looks ", 1)
	}
	return prose.Few(names, mostNamed) + verb + end
}

// compareStates compares two states. It returns nil if they cannot be compared.
func compareStates(first, second seen) *compared {
	a, b := first.world, second.world
	x, errA := snapshot.Hold(a)
	y, errB := snapshot.Hold(b)
	if errA != nil || errB != nil {
		return nil
	}
	d, err := snapshot.Compare(x, y, snapshot.DiffOptions{Limit: 64})
	if err != nil {
		return nil
	}
	out := &compared{
		tick: a.Point.Tick, peers: [2]string{first.peer, second.peer}, tables: 1,
		columns: map[column]bool{}, looks: map[column]bool{}, clocks: map[column]bool{}, own: map[column]bool{}, globals: map[column][2]snapshot.Value{}, lacks: map[column]int{}, other: d.RNG != nil,
	}
	for i := range a.Tables {
		out.width += len(a.Tables[i].Columns)
	}
	for _, t := range d.Tables {
		if !t.InA && first.lacks(t.Label) || !t.InB && second.lacks(t.Label) {
			side := 0
			if t.InA {
				side = 1
			}
			out.lacks[column{label: t.Label}] = side
			continue
		}
		if rows := t.OnlyACount+t.OnlyBCount > 0; rows && viewNames.MatchString(states.Words(t.Label)) { // which units a player selected
			out.columns[column{label: t.Label}] = true
		} else {
			out.other = out.other || rows
		}
		for _, ch := range t.Changes {
			col := column{t.Label, ch.Component, ch.Field}
			whole := ch.Component + "." + ch.Field // saved_at.nanos
			out.clocks[col] = t.Label == states.GlobalLabel && isClock(whole, ch.A) && isClock(whole, ch.B)
			out.looks[col] = out.clocks[col] || looksNoisy(ch.Field, ch.A) && looksNoisy(ch.Field, ch.B) || t.Label == states.GlobalLabel && (unitNames.MatchString(states.Words(ch.Field)) || durations.Match(ch.A.Raw) && durations.Match(ch.B.Raw))
			if t.Label == states.GlobalLabel {
				out.globals[col] = [2]snapshot.Value{ch.A, ch.B}
			}
			out.own[col] = t.Label == states.GlobalLabel && isName(ch.A, first.peer) && isName(ch.B, second.peer)
		}
		for _, c := range t.Columns {
			col := column{t.Label, c.Component, c.Field}
			out.columns[col] = true
			if p := c.Pattern(); p.Kind == snapshot.PatternAbsent && c.Rows == c.Both {
				out.lacks[col] = p.Side
			}
		}
	}
	return out
}

var (
	noisyNames = lazyregexp.New(`(?i)(^|[^a-z])(time|clock|date|stamp|timestamp|written|saved|path|file|dir|folder|host|hostname|machine|pid|process|thread|addr|address|ptr|pointer|handle|fps|ping|latency|rtt|(memory|mem|heap|rss)_?(kb|mb|kib|mib|bytes|used|size)?|working.?set|allocs?|allocations|gc|cpu|os|user|locale|local|session|guid|uuid|nonce|mailbox|message_queue|uptime|realtime|since_(start|startup|launch|boot)|elapsed|(frame_?)?delta_?(t|s|ms|seconds|real)|jitter|took|laufzeit|rechenzeit|runtime|perf|ups|tps|(real|wall|render|draw|frame|cpu|gpu)_?(s|secs?|seconds|ms|millis|us|micros|ns|nanos))([^a-z]|$)`)
	// unitNames are of times if they are the whole name of a value that belongs to no entity, and of the memory of a process.
	unitNames = lazyregexp.New(`(?i)^(secs?|seconds|ms|msecs?|millis|us|usecs?|micros|ns|nanos)$|_[kmg]i?b$`)
	// localNames are of values that no simulation has: of the connection, and of where one player looks.
	localNames = lazyregexp.New(`(^|[^a-z])(fps|ping|latency|rtt|camera|mouse|viewport|draw_?calls)([^a-z]|$)`)
	// shownParts are the names of the parts of a program that show and play what a machine simulates.
	shownParts = lazyregexp.New(`(^|[^a-z])(view|ui|gui|hud|interface|gfx|fx|vfx|render|renderer|rendering|audio|sound|screen|window|display)([^a-z]|$)`)
	// viewNames are of what a machine shows and plays, and of what it is. A simulation may have values with other such names,
	// like visible, model or country.
	viewNames = lazyregexp.New(`(^|[^a-z])(cam|screen|zoom|gfx|render|rendered|renderer|batch|batches|audio|sound|sfx|music|volume|shake|cursor|ui|gui|hud|` +
		`selected|selection|hover|hovered|highlight|interp|interpolated|lerp|tween|sprite|image_(index|speed|angle|alpha|blend)|focus|debug|diag|diagnostics?|` +
		`instance_?id|hash_?code|mutex|mu|sema|unity_?version|engine_?version|gpu|driver|adapter|resolution|window|display|monitor|dpi|lang|language|device|machine|hardware)([^a-z]|$)`)
	noisyTexts = lazyregexp.New(`^(0x[0-9a-fA-F]{8,16}|<?[A-Za-z][\w.]*( object at|:) 0x[0-9a-fA-F]{6,16}>?|[A-Za-z][\w.$]*@[0-9a-f]{5,8}|<?[A-Za-z]\w*#\d{6,20}>?|[A-Za-z]:\\.*|/.*|~/.*|\d{4}-\d\d-\d\d.*|.*\d\d:\d\d:\d\d.*)$`)
	// ownerNames are of the player at the machine, or who wrote the file, as values of no entity.
	ownerNames = lazyregexp.New(`(?i)(^|\.)(writer|author|me|self|whoami|steam_?id|(local|my)_?(id|name|player|slot|index|seat|team|client)|is_?(authority|server|host|master|client|local|owner)|user_?name|nick_?name|nick|account|slot|seat|player_?name|player|spieler|joueur|uhrzeit|rechner)$`)
	// clockNames are of clocks of the machine, and of nothing that a simulation counts. dates are texts with a date of these years and
	// a time of day: a game may have another calendar.
	clockNames = lazyregexp.New(`(?i)(^|[^a-z])(written|(written|saved|created|exported|dumped|captured|recorded|logged)_?(at|on|time|secs?|ms|msecs?|millis|us|usecs?|micros|ns|nanos)|` +
		`(wall|unix|epoch)_?(clock|time|secs?|seconds|ms|msecs?|millis|us|usecs?|micros|ns|nanos)|uptime)([^a-z]|$)`)
	dates = lazyregexp.New(`^"?(20\d\d-\d\d-\d\d[T ]\d\d:\d\d|[A-Z][a-z]{2},? [A-Z0-9][A-Za-z0-9]+ +\d{1,2} \d\d:\d\d(:\d\d)?.* 20\d\d"?$)`)
	// durations are texts of measured times, "8.279ms". timeNames are of times, also of those that a simulation counts.
	durations = lazyregexp.New(`^"?\d+\.\d+ ?(ms|µs|us|ns)"?$`)
	timeNames = lazyregexp.New(`(^|[^a-z])(time|clock|stamp|timestamp|date|at|secs?|seconds|ms|msecs?|millis|us|usecs?|micros|ns|nsecs?|nanos)$`)
	// epochs are times since 1970, with fractions of seconds.
	epochs = lazyregexp.New(`^1[5-9]\d{8}(\.\d+|\d{3}|\d{6}|\d{9})$`)
)

// looksNoisy reports whether a name or a value is one of a clock, a path, a machine or an address.
func looksNoisy(field string, v snapshot.Value) bool {
	if noisyNames.MatchString(states.Words(field)) || epochs.MatchString(v.String()) {
		return true
	}
	return (v.Type == snapshot.String || v.Type == snapshot.Scalar) && noisyTexts.MatchString(strings.TrimPrefix(string(v.Raw), `"`))
}

// isClock reports whether a value is one of a clock of the machine, by its name or its digits.
func isClock(field string, v snapshot.Value) bool {
	return clockNames.MatchString(states.Words(field)) || epochs.MatchString(v.String()) || dates.Match(v.Raw)
}

// isName reports whether a text is the name of the peer in whose state it is.
func isName(v snapshot.Value, peer string) bool {
	dir, name, _ := strings.Cut(peer, "\x00")
	name, text := strings.ToLower(cmp.Or(name, filepath.Base(dir))), strings.ToLower(strings.Trim(string(v.Raw), `"`))
	return (v.Type == snapshot.String || v.Type == snapshot.Scalar) && text != "" &&
		(text == name || min(len(text), len(name)) > 2 && (strings.Contains(text, name) || strings.Contains(name, text)))
}

// ownNames takes the columns with the names of the peers out of what differs: those that contain them in
// every state.
func ownNames(list []compared) map[column]bool {
	own, times := map[column]bool{}, map[column]int{}
	for _, c := range list {
		for col, is := range c.own {
			if is {
				times[col]++
			}
			own[col] = true
		}
	}
	maps.DeleteFunc(own, func(col column, _ bool) bool { return times[col] < len(list) })
	for i := range list {
		list[i].columns = maps.Clone(list[i].columns)
		maps.DeleteFunc(list[i].columns, func(col column, _ bool) bool { return own[col] })
	}
	return own
}

// divide moves the columns that are noise into tables of that class.
func divide(w *snapshot.World, noise map[column]bool) {
	if len(noise) == 0 {
		return
	}
	for i := range w.Tables {
		t := &w.Tables[i]
		if t.Class != snapshot.Archetype {
			continue
		}
		if noise[column{label: t.Label}] {
			t.Class = snapshot.Noise
			continue
		}
		apart := snapshot.Table{Label: t.Label, Class: snapshot.Noise, Keys: t.Keys}
		t.Columns = slices.DeleteFunc(t.Columns, func(c snapshot.Column) bool {
			is := noise[column{t.Label, c.Component, c.Field}]
			if is {
				apart.Columns = append(apart.Columns, c)
			}
			return is
		})
		described := w.Table(snapshot.Noise, t.Label)
		switch {
		case len(apart.Columns) == 0:
		case described != nil:
			described.Columns = append(described.Columns, apart.Columns...)
		default:
			w.Tables = append(w.Tables, apart)
		}
	}
	w.Sort()
}
