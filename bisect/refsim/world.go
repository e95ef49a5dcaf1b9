package refsim

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/desynctool/desynctool/snapshot"
)

// World returns a copy of the state, the caches included. The caller adds the peer's name and history.
func (s *Sim) World() *snapshot.World {
	w := &snapshot.World{Head: snapshot.Head{
		Seed:  s.config.Seed,
		Point: snapshot.Point{Tick: s.tick},
		RNG:   s.rng.append(nil),
		Meta:  s.config.Params(),
	}}
	for _, t := range s.byLabel {
		w.Tables = append(w.Tables, t.world())
	}
	w.Tables = append(w.Tables, s.Caches()...)
	return w
}

func (t *table) world() snapshot.Table {
	dst := snapshot.Table{Label: t.label, Class: snapshot.Archetype, Keys: cloneKeys(t.keys())}
	for i := range t.fields {
		f := &t.fields[i]
		c := snapshot.NewColumn(f.Component, f.Field, f.Type, f.Scale)
		f.view(&c)
		c.Data, c.Ends, c.Present = slices.Clone(c.Data), slices.Clone(c.Ends), slices.Clone(c.Present)
		dst.Columns = append(dst.Columns, c)
	}
	return dst
}

func cloneKeys(k snapshot.Keys) snapshot.Keys {
	return snapshot.Keys{A: slices.Clone(k.A), B: slices.Clone(k.B)}
}

// Load returns the game that World saved. It continues exactly like the saved one, including its caches; if w has none
// they are computed from the state. Mistakes that happen once are made only if their tick is still to come.
func Load(w *snapshot.World, mistakes ...Fault) (*Sim, error) {
	if err := w.Validate(); err != nil {
		return nil, err
	}
	if w.Point.Phase != "" {
		return nil, fmt.Errorf("the state has %s, expected the beginning of a tick", w.Point)
	}
	if len(w.RNG) != rngSize {
		return nil, fmt.Errorf("RNG state has %d bytes, expected %d", len(w.RNG), rngSize)
	}
	config, err := savedConfig(w)
	if err != nil {
		return nil, err
	}
	s, err := newSim(config, w.Point.Tick, mistakes)
	if err != nil {
		return nil, err
	}
	s.rng.load(w.RNG)
	omitted := s.faulty(saveOmitsField, &unsaved)
	for _, t := range s.tables {
		src := w.Table(snapshot.Archetype, t.label)
		if src == nil {
			return nil, fmt.Errorf("archetype %s is missing", t.label)
		}
		if err := t.load(src, omitted); err != nil {
			return nil, fmt.Errorf("archetype %s: %w", t.label, err)
		}
	}
	if err := s.check(); err != nil {
		return nil, err
	}
	s.computeCaches()
	if err := s.loadCaches(w); err != nil {
		return nil, err
	}
	return s, nil
}

// savedConfig reads the configuration from the archetype Match, and the archetype's name from the metadata.
func savedConfig(w *snapshot.World) (Config, error) {
	c, err := ParseParams(map[string]string{"names": cmp.Or(w.Meta["names"], "0")})
	if err != nil {
		return Config{}, err
	}
	c.Seed = w.Seed
	n := namesOf(c.Names)
	t := w.Table(snapshot.Archetype, n.archetypes[match])
	if t == nil || t.Rows() != 1 {
		return Config{}, fmt.Errorf("archetype %s does not have one row", n.archetypes[match])
	}
	for _, p := range []struct {
		field string
		typ   snapshot.Type
		dst   *int
	}{{"entities", snapshot.U32, &c.Entities}, {"players", snapshot.U8, &c.Players}} {
		col := t.Column(n.components["Rules"], n.fields[p.field])
		if col == nil || col.Type != p.typ {
			return Config{}, fmt.Errorf("archetype %s has no column %s.%s of %s", t.Label, n.components["Rules"], n.fields[p.field], p.typ)
		}
		*p.dst = int(col.Uint(0))
	}
	return c.withDefaults()
}

// check checks what the systems rely on: ids, and numbers that are used as
// indexes.
func (s *Sim) check() error {
	for _, want := range []struct {
		of   archetype
		rows int
	}{{player, s.config.Players}, {headquarters, s.config.Players}, {squad, s.config.Players * s.squads()}} {
		if n := s.tables[want.of].rows(); n != want.rows {
			return fmt.Errorf("archetype %s has %d rows, expected %d", kinds[want.of].label, n, want.rows)
		}
	}
	if s.tables[oreField].rows() == 0 {
		return fmt.Errorf("archetype OreField has no rows")
	}
	for i := range s.tables[squad].id {
		if s.tables[squad].id[i] != uint64(i/s.squads()) || s.tables[squad].index[i] != uint64(i%s.squads()) {
			return fmt.Errorf("archetype Squad, row %d: unexpected key", i)
		}
	}
	limit, next := int64(s.width)*cellSize, s.tables[match].serial.Next.v[0]
	for a, t := range s.tables {
		for i, id := range t.id {
			switch {
			case t.index == nil && (id%(1<<archetypeBits) != uint64(a) || id>>archetypeBits >= next):
				return fmt.Errorf("archetype %s: id %d belongs to another archetype or does not exist yet", t.label, id)
			case t.position != nil && (uint64(t.position.X.v[i]) >= uint64(limit) || uint64(t.position.Y.v[i]) >= uint64(limit)):
				return fmt.Errorf("archetype %s, entity %d: position is off the map", t.label, t.id[i])
			case t.owner != nil && int(t.owner.Player.v[i]) >= s.config.Players:
				return fmt.Errorf("archetype %s, entity %d: owner is player %d of %d", t.label, t.id[i], t.owner.Player.v[i], s.config.Players)
			case t.member != nil && int(t.member.Squad.v[i]) >= s.squads():
				return fmt.Errorf("archetype %s, entity %d: member of squad %d of %d", t.label, t.id[i], t.member.Squad.v[i], s.squads())
			}
		}
	}
	return nil
}
