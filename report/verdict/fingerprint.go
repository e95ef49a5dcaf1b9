package verdict

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"math/bits"
	"slices"
	"strings"

	"github.com/desynctool/desynctool/bisect"
	"github.com/desynctool/desynctool/internal/lists"
	"github.com/desynctool/desynctool/report/document"
	"github.com/desynctool/desynctool/snapshot"
	"github.com/desynctool/desynctool/tracediff"
)

// maxNames is up to how many archetypes, components or fields that differ first separate a bug from others.
const maxNames = 8

// fingerprints separates reports of one bug from others, by properties that are the same each time that it strikes: not
// by a tick, entity, value, peer or path. Each level belongs to one question of the narrowing, and is there if evidence
// of the divergence itself answers the question; later states show what followed from it. The strict fingerprint covers
// all levels. It needs a place inside the tick and the fields that differ first there, which look like one class of
// mistakes only, or the orders that differ, or an experiment that confirms the cause.
func (c *Conclusion) fingerprints(t *traits) {
	if c.Word != nil {
		c.messagePrints()
		return
	}
	if !c.Diverged() {
		return
	}
	kind := string(c.Kind)
	switch {
	case c.InitialState:
		kind += ", from the start"
	case c.Loaded != nil:
		kind += ", by loading"
	}
	switch c.Runs {
	case RunsOfSelfTest:
		kind += ", in a self-test"
	case RunsOfReplay:
		kind += ", between a recording and its replay"
	}
	base := []string{c.Session.Game, kind}
	c.level(document.LevelKind, strings.Join(base, " "), base)
	has := map[document.Level]bool{}
	put := func(level document.Level, parts ...string) {
		if !slices.Contains(parts, "") {
			c.level(level, strings.Join(parts, " "), append(slices.Clone(base), parts...))
			has[level] = true
		}
	}
	list := func(level document.Level, names []string, parts ...string) {
		if put(level, append([]string{few(names)}, parts...)...); has[level] {
			c.Levels[len(c.Levels)-1].Of = names
		}
	}
	first := c.differsFirst()
	step := c.System
	if cp := c.Checkpoint; cp != nil && c.SystemBy == SystemByCheckpoint {
		step = checkpointName(cp)
	}
	if c.Restored != nil {
		step = "restore"
	}
	if c.Kind == bisect.ChecksumOnly && len(c.Cascade) > 0 {
		step = c.Cascade[0].System // its checksums show it
	}
	put(document.LevelStep, step)
	list(document.LevelArchetype, first.archetypes)
	list(document.LevelComponent, first.components)
	list(document.LevelField, first.fields, few(first.kinds))
	if has[document.LevelField] {
		c.Levels[len(c.Levels)-1].Pattern = t.pattern()
	}
	if in := &c.Inputs; in.Differ() && in.Parting != nil {
		if put(document.LevelOrder, string(in.Parting.Kind), in.Parting.Order); has[document.LevelOrder] {
			c.Levels[len(c.Levels)-1].Of = []string{string(in.Parting.Kind), in.Parting.Order}
		}
	} else {
		put(document.LevelOrder, "named", t.order)
	}
	if len(c.Causes) == 1 && c.Causes[0].Confirmed() {
		put(document.LevelCause, c.Causes[0].Class)
	}
	order := document.Levels()
	lists.SortStable(c.Levels, func(a, b document.Fingerprint) int {
		return slices.Index(order, a.Level) - slices.Index(order, b.Level)
	})
	place := (has[document.LevelStep] || c.InitialState || c.Loaded != nil) && has[document.LevelField]
	if place && c.told() || c.Inputs.Differ() && has[document.LevelOrder] || has[document.LevelCause] {
		all := []string{t.form()}
		for _, f := range c.Levels {
			all = append(all, string(f.Level), f.Name)
		}
		c.Fingerprint = digest(all)
	}
	if line := c.line(); line != nil { // not in the strict one: lines move with each commit
		put(document.LevelCode, line...)
	}
}

// pattern describes how values differ, as far as that is the same each time that a bug strikes.
func (t *traits) pattern() string {
	switch s := t.shape; {
	case s == nil || !t.exact:
	case s.floats && s.near && !s.flipped:
		return document.PatternRounding
	case s.single != nil && s.single.Kind == snapshot.KindFloat && s.single.BitsChanged == 1:
		return document.PatternOneBit
	case s.traded > 0:
		return document.PatternExchanged
	}
	return ""
}

// form describes how values differ: in about how many entities, whether by rounding, whether a column differs one way
// or both. Bugs that meet in a place differ in their form.
func (t *traits) form() string {
	s := t.shape
	if s == nil || !t.exact {
		return "not known"
	}
	rows := min(bits.Len(uint(s.rows)), 6)
	if s.floats {
		rows = s.rows // roundings look alike except for their number
	}
	bit := s.single != nil && s.single.BitsChanged == 1
	return fmt.Sprint(rows, s.archetypes, s.scattered > 0, bit, s.floats, s.near, s.only[0] > 0, s.only[1] > 0)
}

// told reports whether one class of mistakes is left, confirmed or by everything that the divergence looks like, so
// that two bugs of the same place can be separated. An engine's own checkpoints are finer than that.
func (c *Conclusion) told() bool {
	switch {
	case len(c.Causes) > 0:
		return len(c.Causes) == 1
	case len(c.Likenesses) > 0:
		return len(c.Likenesses[0].Classes) == 1
	}
	return c.Checkpoint != nil && c.Checkpoint.Sure
}

// level adds a level.
func (c *Conclusion) level(level document.Level, name string, parts []string) {
	c.Levels = append(c.Levels, document.Fingerprint{Level: level, Name: name, Digest: digest(append([]string{string(level)}, parts...))})
}

// firstDifferences are what differs first, by names, sorted.
type firstDifferences struct {
	archetypes, components, fields, kinds []string
}

// differsFirst returns what differs after the first system that leaves the peers different, as
// far as a trace shows it, else at the end of the divergent tick, at the start, or in the state that a
// peer loaded; of an engine's trace the checkpoint that differs first.
func (c *Conclusion) differsFirst() (d firstDifferences) {
	blind := c.Kind == bisect.BlindChecksum // what the checksums leave out is the same at any time
	exact := c.Compared != nil && (blind || (c.narrowed() || c.InitialState || c.Loaded != nil) && c.Later == 0)
	var traced []string // label/Component.field
	for _, scope := range c.within.scopes() {
		if _, column, fine := strings.Cut(scope, "/"); fine && strings.Contains(column, ".") {
			traced = append(traced, scope)
		}
	}
	if cp := c.Checkpoint; cp != nil && cp.Sure && !exact {
		d.fields, d.kinds = differingSumsOf(cp), []string{cp.Kind}
		return d
	}
	if cp := c.Checkpoint; cp != nil && cp.Nearby && c.Compared == nil {
		d.fields = detailNames(cp.Details())
		return d
	}
	differ := c.Archetypes
	if blind { // no tick is known, and no checksum covers what differs
		differ = c.MayBeFirst()
	}
	for _, a := range differ {
		if c.Written || exact {
			d.archetypes = append(d.archetypes, label(a))
		}
	}
	if slices.Contains(d.archetypes, snapshot.RNG) && (exact || c.Written) {
		d.components, d.fields, d.kinds = append(d.components, snapshot.RNG), append(d.fields, snapshot.RNG), append(d.kinds, "rng")
	}
	if !exact {
		for _, scope := range traced {
			_, column, _ := strings.Cut(scope, "/")
			component, _, _ := strings.Cut(column, ".")
			d.components, d.fields, d.kinds = append(d.components, component), append(d.fields, column), append(d.kinds, "traced")
		}
		d.sort()
		return d
	}
	for i := range c.Compared.Columns {
		k := &c.Compared.Columns[i]
		column := k.Component + "." + k.Field
		if k.Cache || label(k.Archetype) == snapshot.RNG || !slices.Contains(differ, k.Archetype) || len(traced) > 0 && !slices.Contains(traced, k.Archetype+"/"+column) {
			continue
		}
		d.components, d.fields = append(d.components, k.Component), append(d.fields, column)
	}
	for _, rows := range c.Compared.Rows {
		if !rows.Cache && slices.Contains(differ, rows.Archetype) {
			d.components, d.fields = append(d.components, "rows"), append(d.fields, "rows")
			d.kinds = append(d.kinds, "rows")
		}
	}
	for i := range c.Locus {
		if f := &c.Locus[i]; !f.Cache && label(f.Archetype) != snapshot.RNG && slices.Contains(d.fields, f.Component+"."+f.Field) {
			d.kinds = append(d.kinds, string(f.Kind))
		}
	}
	d.sort()
	return d
}

func (d *firstDifferences) sort() {
	for _, list := range []*[]string{&d.archetypes, &d.components, &d.fields, &d.kinds} {
		slices.Sort(*list)
		*list = slices.Compact(*list)
	}
}

// few joins names, empty if there are none or too many to separate anything.
func few(names []string) string {
	if len(names) > maxNames {
		return ""
	}
	return strings.Join(names, "+")
}

// checkpointName is the place of an engine's checkpoint inside its tick, without the numbers of players and objects
// that a scope may end with, and with the place in its details.
func checkpointName(cp *Checkpoint) string {
	name := []string{cp.System, strings.TrimRight(cp.Scope, "0123456789")}
	if d := cp.Details(); d != nil {
		name = append(name, detailNames(d)...)
	}
	return strings.Join(strings.Fields(strings.Join(name, " ")), " ")
}

// stackNames is how many frames of a call stack name a place.
const stackNames = 6

// detailNames are the details that name a place in any session: of a call stack the innermost frames that all peers
// have, and the first ones that differ; of a path each step without what is counted or numbered.
func detailNames(d *document.Details) (names []string) {
	switch d.Kind {
	case tracediff.Stack:
		for i, line := range d.Same {
			if 0 < i && i <= stackNames {
				names = append(names, line.Text)
			}
		}
		var apart []string
		for _, p := range d.Peers {
			if len(p.Rest) > 0 && len(d.Same) > 0 { // else they are of other things
				apart = append(apart, p.Rest[0].Text)
			}
		}
		slices.Sort(apart)
		names = append(names, slices.Compact(apart)...)
	case tracediff.Path:
		for _, line := range d.Same {
			step, _, _ := strings.Cut(line.Text, " ")
			names = append(names, step)
		}
	}
	return names
}

// differingSumsOf returns the names of the sums that differ at a checkpoint; the main one has none, and is "value".
func differingSumsOf(cp *Checkpoint) (names []string) {
	seen := map[string]string{}
	for _, name := range cp.Differing() {
		name = cmp.Or(name, "value")
		if seen[name] == "" {
			names = append(names, name)
			seen[name] = name
		}
	}
	slices.Sort(names)
	return names
}

// digest hashes texts to 16 hex digits.
func digest(parts []string) string {
	h := sha256.New()
	for _, p := range parts {
		h.Write([]byte(p + "\x00"))
	}
	return hex.EncodeToString(h.Sum(nil)[:8])
}
