package refsim

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/desynctool/desynctool/internal/lists"
	"github.com/desynctool/desynctool/snapshot"
	"github.com/desynctool/desynctool/snapshot/merkle"
)

// table contains the entities of one archetype, ascending by id. The components that the archetype has are not nil.
type table struct {
	archetype archetype
	*kind
	label string // the game's name for it

	id        []uint64
	index     []uint64 // second part of the key, for squads only
	keysDirty bool

	fields []field // ascending by component, then field

	position   *position
	velocity   *velocity
	heading    *heading
	altitude   *altitude
	health     *health
	weapon     *weapon
	owner      *owner
	goal       *goal
	corpse     *corpse
	production *production
	cargo      *cargo
	bank       *bank
	market     *market
	morale     *morale
	fatigue    *fatigue
	member     *member
	formation  *formation
	vision     *vision
	deposit    *deposit
	flight     *flight
	power      *power
	sweep      *sweep
	profile    *profile
	score      *score
	rules      *rules
	serial     *serial

	// Where the caches list each row. They are not part of the state.
	gridCell  cells[uint32]
	sightCell cells[uint32]

	digests tableDigests
	// restored is set from a restore to the next hash.
	restored *baseTable
}

func newTable(a archetype) *table {
	k := &kinds[a]
	t := &table{archetype: a, kind: k, label: k.label, keysDirty: true}
	switch a {
	case match:
		t.rules, t.serial = with[rules](t), with[serial](t)
	case player:
		t.bank, t.market, t.profile = with[bank](t), with[market](t), with[profile](t)
		t.score, t.vision = with[score](t), with[vision](t)
	case squad:
		t.formation = with[formation](t)
		t.index = []uint64{}
	case oreField:
		t.position, t.deposit = with[position](t), with[deposit](t)
	case projectile:
		t.position, t.velocity, t.flight = with[position](t), with[velocity](t), with[flight](t)
		t.owner, t.corpse = with[owner](t), with[corpse](t)
	default:
		t.position, t.health = with[position](t), with[health](t)
		t.owner, t.corpse = with[owner](t), with[corpse](t)
		if k.speed > 0 {
			t.velocity, t.heading, t.goal = with[velocity](t), with[heading](t), with[goal](t)
		}
		if k.flies {
			t.altitude = with[altitude](t)
		}
		if k.reach > 0 {
			t.weapon = with[weapon](t)
			if k.speed > 0 {
				t.member = with[member](t)
			}
		}
		if k.hauls > 0 {
			t.cargo = with[cargo](t)
		}
		if k.nerve {
			t.morale = with[morale](t)
		}
		if k.tires {
			t.fatigue = with[fatigue](t)
		}
		if k.output != 0 {
			t.power = with[power](t)
		}
		if a.makes() {
			t.production = with[production](t)
		}
		if a == radar {
			t.sweep = with[sweep](t)
		}
	}
	t.sortFields()
	t.digests.columns = make([]merkle.Hash, 1+len(t.fields))
	return t
}

// with returns a component for a table, and adds its fields to the table's.
func with[Component any](t *table) *Component {
	c := new(Component)
	t.fields = append(t.fields, componentFields(c)...)
	return c
}

// rename gives the table and its columns the names that the game has for them.
func (t *table) rename(n *names) {
	t.label = n.archetypes[t.archetype]
	for i := range t.fields {
		f := &t.fields[i]
		f.Component, f.Field = n.components[f.Component], n.fields[f.Field]
	}
	t.sortFields()
}

func (t *table) sortFields() {
	lists.SortStable(t.fields, func(a, b field) int {
		return cmp.Or(strings.Compare(a.Component, b.Component), strings.Compare(a.Field, b.Field))
	})
}

// rows returns the number of rows, the dead included.
func (t *table) rows() int { return len(t.id) }

// alive reports whether row i has not died.
func (t *table) alive(i int) bool { return t.corpse.Expires.v[i] == 0 }

// moves reports whether Movement moves the table's rows.
func (t *table) moves() bool { return t.goal != nil }

// solid reports whether the table's rows are in the spatial grid.
func (t *table) solid() bool { return t.health != nil }

// add appends a row of zeroes with an id above all others of the table.
func (t *table) add(id uint64) (row int) {
	row = len(t.id)
	t.id = append(t.id, id)
	t.keysDirty = true
	for i := range t.fields {
		t.fields[i].grow()
	}
	t.gridCell.grow()
	t.sightCell.grow()
	return row
}

// remove takes out rows, which are ascending.
func (t *table) remove(rows []int) {
	t.id = removeRows(t.id, rows)
	t.keysDirty = true
	for i := range t.fields {
		t.fields[i].remove(rows)
	}
	t.gridCell.remove(rows)
	t.sightCell.remove(rows)
}

// find returns the row of an id.
func (t *table) find(id uint64) (row int, ok bool) {
	lo, hi := 0, len(t.id)
	for lo < hi {
		if mid := int(uint(lo+hi) >> 1); t.id[mid] < id {
			lo = mid + 1
		} else {
			hi = mid
		}
	}
	return lo, lo < len(t.id) && t.id[lo] == id
}

func (t *table) keys() snapshot.Keys { return snapshot.Keys{A: t.id, B: t.index} }

// load sets the rows from src, which must have t's columns. Those that are
// omitted, by their own names, are left at zero.
func (t *table) load(src *snapshot.Table, omitted []string) error {
	if src.Keys.Parts() != t.keys().Parts() {
		return fmt.Errorf("keys have %d parts, expected %d", src.Keys.Parts(), t.keys().Parts())
	}
	if len(src.Columns) != len(t.fields) {
		return fmt.Errorf("%d columns, expected %d", len(src.Columns), len(t.fields))
	}
	t.id = slices.Clone(src.Keys.A)
	if src.Keys.B != nil {
		t.index = slices.Clone(src.Keys.B)
	}
	t.keysDirty = true
	for i := range t.fields {
		f, c := &t.fields[i], &src.Columns[i]
		if c.Name() != f.Name() || c.Type != f.Type || c.Scale != f.Scale {
			return fmt.Errorf("column %s of %s, expected %s of %s", c.Name(), c.Type, f.Name(), f.Type)
		}
		if slices.Contains(omitted, f.own) {
			for range t.id {
				f.grow()
			}
			continue
		}
		if err := f.load(c); err != nil {
			return fmt.Errorf("column %s: %w", f.Name(), err)
		}
	}
	return nil
}
