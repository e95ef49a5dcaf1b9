package refsim

import (
	"maps"
	"slices"
	"sync"

	"github.com/desynctool/desynctool/orderlog"
	"github.com/desynctool/desynctool/snapshot"
)

// names are the game's names for its things. Code uses their own names; all output of a Sim has these.
type names struct {
	archetypes [archetypes]string
	systems    [numSystems]string
	orders     [numOrderKinds]string

	// By their own names, of the archetypes' columns and of the caches.
	components, fields                   map[string]string
	caches, cacheComponents, cacheFields map[string]string
}

// ownNames are the unshuffled names.
var ownNames = sync.OnceValue(func() *names { return newNames(0) })

// namesOf returns the names of Config.Names.
func namesOf(shuffle uint64) *names {
	if shuffle == 0 {
		return ownNames()
	}
	return newNames(shuffle)
}

// newNames returns the names of a shuffle. Each name comes from another thing of the same sort: one permutation for the
// archetypes, one for the systems and so on. Fields have one for all components together, so that the names within a
// component stay distinct.
func newNames(shuffle uint64) *names {
	r := newRNG(shuffle, 4)
	deal := func(list []string) []string {
		if shuffle == 0 {
			return list
		}
		for i := len(list) - 1; i > 0; i-- {
			j := r.below(uint32(i + 1))
			list[i], list[j] = list[j], list[i]
		}
		return list
	}
	dealt := func(own map[string]bool) map[string]string {
		keys := slices.Sorted(maps.Keys(own))
		named := make(map[string]string, len(keys))
		for i, name := range deal(slices.Clone(keys)) {
			named[keys[i]] = name
		}
		return named
	}
	n := &names{systems: [numSystems]string(deal(Systems())), archetypes: [archetypes]string(deal(Archetypes()))}
	kinds := make([]string, numOrderKinds)
	for i := range orderKinds {
		kinds[i] = orderKinds[i].name
	}
	n.orders = [numOrderKinds]string(deal(kinds))

	components, fields := map[string]bool{}, map[string]bool{}
	for a := range archetype(archetypes) {
		for _, f := range newTable(a).fields {
			components[f.Component], fields[f.Field] = true, true
		}
	}
	n.components, n.fields = dealt(components), dealt(fields)
	components, fields, labels := map[string]bool{}, map[string]bool{}, map[string]bool{}
	for _, c := range cacheKinds {
		labels[c.label], components[c.component], fields[c.field] = true, true, true
	}
	n.caches, n.cacheComponents, n.cacheFields = dealt(labels), dealt(components), dealt(fields)
	return n
}

// cacheTable returns a cache without rows.
func (n *names) cacheTable(cache int) snapshot.Table {
	k := &cacheKinds[cache]
	c := snapshot.NewColumn(n.cacheComponents[k.component], n.cacheFields[k.field], k.typ, 0)
	return snapshot.Table{Label: n.caches[k.label], Class: snapshot.Cache, Columns: []snapshot.Column{c}}
}

// Systems returns the names of the systems in the order in which they run.
func (s *Sim) Systems() []string { return slices.Clone(s.names.systems[:]) }

// OrderKinds returns the table of kinds for an order log's header.
func (s *Sim) OrderKinds() []orderlog.OrderKind {
	list := OrderKinds()
	for i := range list {
		list[i].Name = s.names.orders[i]
	}
	return list
}

// PlaceName returns the game's name for the place of a fault.
func (s *Sim) PlaceName(place string) string {
	if i := slices.Index(systemNames[:], place); i >= 0 {
		return s.names.systems[i]
	}
	if i := slices.Index(Archetypes(), place); i >= 0 {
		return s.names.archetypes[i]
	}
	return place
}
