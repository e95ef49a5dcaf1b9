package zeroad

import (
	"fmt"
	"math"
	"slices"
	"strconv"

	"github.com/desynctool/desynctool/engines/engine"
	"github.com/desynctool/desynctool/snapshot"
)

// nativeLine is one field of a native component.
type nativeLine struct {
	pos   int          // in the text
	field *nativeField // of the component's own table
	value []byte
}

func (l *nativeLine) name() string { return l.field.name }

// A group is a run of lines that describe one of many things, such as one shape in ObstructionManager. Each becomes a
// row of a separate table.
type group struct {
	label string // of the table, after the component's name

	// lead are the names of the lines by which a group is recognised. It ends
	// before a line that is not in lead or more, or that it already has.
	lead, more []string

	// key is the line with the number that is the second part of the row's key; if it is empty, groups are counted.
	key string

	// list is a line that may be repeated: its values are joined to one text.
	list string

	// each is a line that may be repeated; each occurrence makes a row, with its number as the second part of the key.
	each string
}

// request are the lines of a request for a path.
var request = []string{
	"range", "type", "goal x", "goal z", "goal u x", "goal u z", "goal v x", "goal v z", "goal hw", "goal hh", "maxdist",
	"pass class", "avoid moving units", "group", "notify",
}

// groups are the lists of 0.0.26's native components that have elements with more than one line. Without an entry here,
// repeated names are counted one by one, and an element that only one peer has shifts the elements after it.
var groups = map[string][]group{
	"TemplateManager": {{
		label: "template", lead: []string{"key", "length"}, each: "value",
	}},
	"ObstructionManager": {{
		label: "unit shape", key: "key",
		lead: []string{"key", "entity", "x", "z", "clearance"}, more: []string{"flags", "group"},
	}, {
		label: "static shape", key: "key",
		lead: []string{"key", "entity", "x", "z", "u.x"}, more: []string{"u.y", "v.x", "v.y", "hw", "hh", "flags", "group", "group2"},
	}},
	"RangeManager": {{
		label: "query", key: "key", list: "last match",
		lead: []string{"key", "min range"},
		more: []string{
			"max range", "yOrigin", "elevationBonus", "owners mask", "interface", "length", "flagsMask", "enabled",
			"parabolic", "account for size", "source",
		},
	}, {
		label: "entity", key: "key",
		lead: []string{"key", "x", "z"}, more: []string{"vision", "visibilities", "size", "vision sharing", "owner", "flags"},
	}},
	"Pathfinder": {
		{label: "short request", key: "ticket", lead: []string{"ticket", "x0", "z0", "clearance"}, more: request},
		{label: "long request", key: "ticket", lead: []string{"ticket", "x0", "z0"}, more: request},
	},
	"UnitMotionManager": {{label: "unit", key: "ent id", lead: []string{"ent id", "pushing pressure"}}},
	"UnitMotion":        {{label: "waypoint", lead: []string{"waypoint x", "waypoint z"}}},
	"VisualActor":       {{label: "selection", lead: []string{"key", "value"}}},
}

// joined are lists of plain numbers. One list is one text, in the row that has
// the number of the line "length" before it, counted from 0.
var joined = names("ObstructionManager.subdiv items", "RangeManager.modified entities")

// perPlayer are fields that are repeated once for each player, so that the first has no special place.
var perPlayer = names(
	"RangeManager.los reveal all", "RangeManager.global player visibility update",
	"RangeManager.shared los masks", "RangeManager.shared dirty visibility masks",
)

func names(list ...string) map[string]bool {
	set := make(map[string]bool, len(list))
	for _, name := range list {
		set[name] = true
	}
	return set
}

// fixedScale is the scale of the engine's fixed-point numbers.
const fixedScale = 1 << 16

// nativeTypes are the types of native fields, by name, or by component and name where a name means different things.
// The dump does not distinguish a number without a fraction from an integer, so fields that are not listed here stay
// text.
var nativeTypes = func() map[string]snapshot.Type {
	types := map[string]snapshot.Type{}
	for typ, list := range map[snapshot.Type][]string{
		snapshot.Bool: {
			"Enabled", "MapRevealed", "account for size", "active", "anim once", "avoid moving units", "circular", "enabled",
			"facePointAfterMove", "floating", "global player visibility update", "global visibility update", "in world",
			"los circular", "los reveal all", "moving", "parabolic", "pushing", "relative", "trigger event",
		},
		snapshot.Fixed: {
			"CurrentPathElapsedTime", "ElapsedTime", "WaterManager.height", "acceleration", "altitude", "anim desync", "anim speed",
			"anim sync offset time", "anim sync repeat time", "b", "clearance", "constructionprogress", "current speed",
			"div size", "elevationBonus", "float depth", "g", "goal hh", "goal hw", "goal u x", "goal u z", "goal v x",
			"goal v z", "goal x", "goal z", "hh", "hw", "instant turn angle", "last turn speed", "last x", "last y diff", "last z",
			"max clearance", "max range", "maxdist", "min range", "r", "range", "rot x", "rot y", "rot y speed", "rot z",
			"speed multiplier", "target max range", "target min range", "target pos x", "target pos y", "u.x", "u.y", "v.x", "v.y",
			"vision", "waypoint x", "waypoint z", "world x0", "world x1", "world z0", "world z1", "x", "x0", "y", "yOrigin", "z", "z0",
		},
		snapshot.I64: {
			"#", "NumberOfPaths", "NumberOfQueuedPaths", "dirty visibility", "divs h", "divs w", "failed movements", "flags",
			"flagsMask", "followknownimperfectpath", "grid size", "height", "interface", "length", "los state",
			"los verts per side", "next id", "next ticket", "notify", "num ais", "num commands", "owner", "owners mask",
			"pass class", "pushing pressure", "query next", "seed", "shared dirty visibility masks", "shared los masks", "size",
			"static shape next", "tag", "target type", "territory", "ticket", "ticket type", "type", "unit shape next",
			"visibilities", "vision sharing", "width",
		},
		snapshot.Ref: {
			"control group", "control group 2", "ent id", "entity", "formation controller", "group", "group2", "source",
			"target entity", "turret parent",
		},
		snapshot.String: {
			"TemplateManager.key", "UnitMotion.pass class", "VisualActor.key", "VisualActor.value", "actor", "anchor", "anim name",
			"base actor", "sound group",
		},
	} {
		for _, name := range list {
			types[name] = typ
		}
	}
	return types
}()

// nativeField is what is known about a native field of one table.
type nativeField struct {
	table     *table
	name      string
	lead      []byte        // how a line of it begins
	typ       snapshot.Type // 0 for one of unknown type
	joined    bool
	perPlayer bool
	field     *field // of its type
	text      *field // of values that are not written as their type is

	after  *nativeField // that came after it the last time
	listed *nativeField // of the same name in another table of the component, where the last one went
	list   *table       // of the fields that repeat it

	// How often it was seen in a component, how many values its runs had and how
	// many of its values were JSON.
	component           int
	seen, runs, scripts uint64
}

// in returns f as a field of a component, counted from 0 in it.
func (f *nativeField) in(component int) *nativeField {
	if f.component != component {
		f.component, f.seen, f.runs, f.scripts = component, 0, 0, 0
	}
	return f
}

// of returns f, or the field of its name in another table.
func (f *nativeField) of(t *table) *nativeField {
	if f.table == t {
		return f
	}
	if f.listed == nil || f.listed.table != t {
		f.listed = t.nativeField(f.name)
	}
	return f.listed
}

// nativeField returns what is known about a name.
func (t *table) nativeField(name string) *nativeField {
	f := t.native[name]
	if f == nil {
		full := t.component + "." + name
		f = &nativeField{table: t, name: name, lead: append([]byte(name), separator...), joined: joined[full], perPlayer: perPlayer[full]}
		var ok bool
		if f.typ, ok = nativeTypes[full]; !ok {
			f.typ = nativeTypes[name]
		}
		t.native[name] = f
		t.all.made++
	}
	return f
}

// put sets a native field of the current row. A value that is not written as
// its type would be is kept, exactly, in a column of texts next to it.
func (t *table) put(line *nativeLine) error {
	f := line.field.of(t)
	switch f.typ {
	case 0:
		return t.text(&f.field, f.name, line.value)
	case snapshot.String:
		s := line.value
		if len(s) < 2 || s[0] != '"' || s[len(s)-1] != '"' {
			return t.text(&f.text, f.name+textSuffix, s)
		}
		return t.text(&f.field, f.name, s[1:len(s)-1])
	}
	bits, ok := parseNative(f.typ, line.value)
	if !ok {
		return t.text(&f.text, f.name+textSuffix, line.value)
	}
	if f.field == nil {
		f.field = t.newField(f.name, f.typ)
	}
	return t.setBits(f.field, bits)
}

// parseNative parses a value that is written as the engine writes its type.
func parseNative(typ snapshot.Type, text []byte) (bits uint64, ok bool) {
	switch typ {
	case snapshot.Bool:
		switch string(text) {
		case "true":
			return 1, true
		case "false":
			return 0, true
		}
		return 0, false
	case snapshot.Fixed:
		units, ok := parseFixed(text)
		return uint64(units), ok
	}
	n, ok := engine.ParseInt(text)
	return uint64(n), ok && (n >= 0 || typ != snapshot.Ref)
}

// parseFixed parses what the engine writes for a fixed-point number: the
// fewest decimals that it reads back as the same units. It reads by rounding
// towards zero.
func parseFixed(text []byte) (units int64, ok bool) {
	digits := text
	negative := len(digits) > 0 && digits[0] == '-'
	if negative {
		digits = digits[1:]
	}
	whole, digits, ok := leadingDigits(digits)
	if !ok || whole > math.MaxInt32 {
		return 0, false
	}
	units = int64(whole) * fixedScale
	if len(digits) > 0 {
		fraction, rest, ok := leadingDigits(digits[1:])
		decimals := len(digits) - 1
		if !ok || digits[0] != '.' || len(rest) > 0 || decimals > 9 {
			return 0, false
		}
		units += int64(fraction * fixedScale / pow10[decimals])
	}
	if negative {
		units = -units
	}
	var buf [32]byte
	return units, string(appendFixed(buf[:0], units)) == string(text)
}

// leadingDigits returns the number with which a text begins, at most 18 digits, and the rest.
func leadingDigits(text []byte) (n uint64, rest []byte, ok bool) {
	i := 0
	for ; i < len(text) && text[i] >= '0' && text[i] <= '9'; i++ {
		if i == 18 {
			return 0, nil, false
		}
		n = 10*n + uint64(text[i]-'0')
	}
	return n, text[i:], i > 0
}

var pow10 = [...]uint64{1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9}

// appendFixed appends units as the engine writes them.
func appendFixed(dst []byte, units int64) []byte {
	if units < 0 {
		dst = append(dst, '-')
		units = -units
	}
	dst = strconv.AppendInt(dst, units/fixedScale, 10)
	rest := uint64(units % fixedScale)
	if rest == 0 {
		return dst
	}
	dst = append(dst, '.')
	fraction, power := uint64(0), uint64(1)
	for {
		fraction *= 10
		power *= 10
		digit := rest*power/fixedScale - fraction
		fraction += digit
		switch {
		case fraction*fixedScale/power == rest:
			return append(dst, '0'+byte(digit))
		case digit <= 8 && (fraction+1)*fixedScale/power == rest:
			return append(dst, '1'+byte(digit))
		}
		dst = append(dst, '0'+byte(digit))
	}
}

// nativeFields makes rows of the lines of one component of the current entity.
// The component's own row exists already.
func (d *decoder) nativeFields(own *table, lines []nativeLine) error {
	known := groups[own.component]
	counted := make([]uint64, len(known))
	for i := 0; i < len(lines); {
		n, err := d.group(own, known, lines[i:], counted)
		if err != nil {
			return d.errorAt(lines[i].pos, "%w", err)
		}
		if n > 0 {
			i += n
			continue
		}
		line := &lines[i]
		f := line.field.in(d.component)
		nth := f.seen
		f.seen++
		switch {
		case f.joined:
			n, err = d.join(lines[i:], max(own.nativeField("length").in(d.component).seen, 1)-1)
		case f.name == "#" && i+1 < len(lines):
			n, err = 2, d.run(line, &lines[i+1])
		case nth == 0 && !f.perPlayer:
			n, err = 1, own.put(line)
		default:
			t := d.listed(f)
			t.add(d.entity, nth)
			n, err = 1, t.put(line)
		}
		if err != nil {
			return d.errorAt(line.pos, "%w", err)
		}
		i += n
	}
	return nil
}

// list returns the table of a list of the current component.
func (d *decoder) list(own *table, name string) *table {
	t := own.lists[name]
	if t == nil {
		t = d.tables.get(d.class, own.component+"."+name, own.component, true)
		if own.lists == nil {
			own.lists = map[string]*table{}
		}
		own.lists[name] = t
	}
	return t.open()
}

// listed returns the table of the values that repeat a field of the current component.
func (d *decoder) listed(f *nativeField) *table {
	if f.list == nil {
		f.list = d.list(f.table, f.name)
	}
	return f.list.open()
}

// group makes a row of a group, if lines begin with one, and returns how many
// lines it took.
func (d *decoder) group(own *table, groups []group, lines []nativeLine, counted []uint64) (int, error) {
	for k := range groups {
		g := &groups[k]
		if !g.begins(lines) {
			continue
		}
		n := g.length(lines)
		switch {
		case g.each != "":
			return n, d.eachOf(own, g, lines[:n])
		case g.key == "":
			counted[k]++
			return n, d.row(own, g, counted[k]-1, lines[:n])
		}
		key, ok := engine.ParseInt(lines[0].value)
		if !ok || key < 0 {
			return 0, nil
		}
		return n, d.row(own, g, uint64(key), lines[:n])
	}
	return 0, nil
}

func (g *group) begins(lines []nativeLine) bool {
	if len(lines) < len(g.lead) {
		return false
	}
	for i, name := range g.lead {
		if lines[i].name() != name {
			return false
		}
	}
	return true
}

// length returns how many lines belong to the group at the beginning of lines.
func (g *group) length(lines []nativeLine) int {
	n := len(g.lead)
	for ; n < len(lines); n++ {
		field := lines[n].field
		if field.name == g.list || field.name == g.each {
			continue
		}
		if !slices.Contains(g.more, field.name) || slices.ContainsFunc(lines[:n], func(l nativeLine) bool { return l.field == field }) {
			break
		}
	}
	return n
}

// row makes one row of a group. If keys begin again, another list of the same shape begins, which is a separate table.
func (d *decoder) row(own *table, g *group, key uint64, lines []nativeLine) error {
	first := d.list(own, g.label)
	t := first
	if first.others > 0 {
		t = d.list(own, another(g.label, first.others))
	}
	if !t.follows(d.entity, key) {
		first.others++
		d.tables.record.stop() // the table of a row depends on the lines before
		t = d.list(own, another(g.label, first.others))
	}
	t.add(d.entity, key)
	var list []byte
	hasList := false
	for i := range lines {
		line := &lines[i]
		switch line.name() {
		case g.key:
		case g.list:
			if hasList {
				list = append(list, ' ')
			}
			list, hasList = append(list, line.value...), true
		default:
			if err := t.put(line); err != nil {
				return err
			}
		}
	}
	if g.list != "" {
		return t.text(&t.nativeField(g.list).field, g.list, list)
	}
	return nil
}

func another(label string, n int) string { return label + "#" + strconv.Itoa(n+1) }

// eachOf makes a row of each repeated line of a group.
func (d *decoder) eachOf(own *table, g *group, lines []nativeLine) error {
	t := d.list(own, g.label)
	for i := range lines {
		if lines[i].name() != g.each {
			continue
		}
		key, ok := engine.ParseInt(lines[i].value)
		if !ok || key < 0 {
			return errorKey(lines[i].value)
		}
		t.add(d.entity, uint64(key))
		if err := t.put(&lines[0]); err != nil {
			return err
		}
	}
	d.tables.record.opened(t) // perhaps without a row
	return nil
}

func errorKey(value []byte) error { return fmt.Errorf("%.40q, expected a positive number", value) }

// join makes one row of a list of plain values.
func (d *decoder) join(lines []nativeLine, list uint64) (int, error) {
	field := lines[0].field
	t := d.listed(field)
	if !t.follows(d.entity, list) {
		return 0, errTwice
	}
	t.add(d.entity, list)
	var text []byte
	n := 0
	for ; n < len(lines) && lines[n].field == field; n++ {
		if n > 0 {
			text = append(text, ' ')
		}
		text = append(text, lines[n].value...)
	}
	return n, t.text(&field.of(t).field, field.name, text)
}

// run makes a row of a run of equal values. Its key is where the run begins, so that runs before and after a change
// stay the same.
func (d *decoder) run(count, value *nativeLine) error {
	n, ok := engine.ParseInt(count.value)
	if !ok || n <= 0 || n > 1<<32 {
		return errorKey(count.value)
	}
	f := value.field.in(d.component)
	t := d.listed(f)
	t.add(d.entity, f.runs)
	f.runs += uint64(n)
	if err := t.put(count); err != nil {
		return err
	}
	return t.put(value)
}
