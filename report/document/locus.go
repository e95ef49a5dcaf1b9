package document

import (
	"github.com/desynctool/desynctool/internal/lists"
	"maps"
	"slices"
	"strings"
)

// LocusPeers returns the peers with values in the locus: first the peers that were compared, then others in the order
// of the session. Every rendering has them in this order.
func LocusPeers(r *Report) []string {
	var names []string
	add := func(name string) {
		if !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	if r.Compared != nil {
		add(r.Compared.Peers[0])
		add(r.Compared.Peers[1])
	}
	has := map[string]bool{}
	for i := range r.Locus {
		for name := range r.Locus[i].Values {
			has[name] = true
		}
	}
	for _, p := range r.Peers {
		if has[p.Name] {
			add(p.Name)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(has)) {
		add(name)
	}
	return names
}

// FactPeers returns the peers that state a fact: in the order of the session, then the peers that left nothing else, by
// name.
func (r *Report) FactPeers(f *Fact) []string {
	var names []string
	for _, p := range r.Peers {
		if _, has := f.Values[p.Name]; has {
			names = append(names, p.Name)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(f.Values)) {
		if !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names
}

// Compared is which states were compared, and how much of them differs.
type Compared struct {
	Peers  [2]string `json:"peers"`
	Point  uint64    `json:"point"`
	Native string    `json:"native,omitempty"` // the engine's own name of it
	// Values counts all differing values, Rows are the entities that only one side has.
	Values uint64      `json:"values"`
	Rows   []LocusRows `json:"rows"`
	// Columns counts the differing values of each column.
	Columns []LocusColumn `json:"columns"`
	// Summary has each field once, over all archetypes: the field with most values first, then those of which one side has
	// no values, then caches. It lacks the RNG.
	Summary []FieldSummary `json:"summary,omitempty"`
	// Drawn is set if one peer drew more numbers from the RNG, whose generator is known.
	Drawn *Drawn `json:"drawn,omitempty"`
	// Schema are columns that only one side has, or that have different types or scales.
	Schema []LocusSchema `json:"schema,omitempty"`
	// Reordered are the tables with the same rows, without ids, in another order on both sides.
	Reordered []string `json:"reordered,omitempty"`
	// Entities are the entities that all of these belong to, the entities of the locus first; Others counts the rest.
	// Together they count every value and every row once.
	Entities []Entity `json:"entities,omitempty"`
	Others   *Others  `json:"others,omitempty"`
}

// Drawn is how many more numbers a peer drew from the RNG than the other.
type Drawn struct {
	Peer string `json:"peer"`
	More uint64 `json:"more"`
}

// LocusSchema is a column that is not the same on both sides.
type LocusSchema struct {
	Archetype string `json:"archetype"`
	Cache     bool   `json:"cache,omitempty"`
	Component string `json:"component"`
	Field     string `json:"field"`
	// Types are the column's types, by peer; a peer that lacks the column has none.
	Types map[string]string `json:"types"`
}

// Text describes how the column differs: "only on host", "u64 on host, u32 on client".
func (s *LocusSchema) Text() string {
	parts := lists.Map(slices.Sorted(maps.Keys(s.Types)), func(peer string) string { return s.Types[peer] + " on " + peer })
	if len(parts) == 1 {
		for peer := range s.Types {
			return "only on " + peer
		}
	}
	return strings.Join(parts, ", ")
}

// LocusColumn is a column in which values differ.
type LocusColumn struct {
	Archetype string `json:"archetype"`
	Cache     bool   `json:"cache,omitempty"`
	ColumnDocument
	// Listed are its first values by key, if a report's locus lacks values: at most 4,000 in all columns.
	Listed *ListedValues `json:"listed,omitempty"`
}

// ListedValues are values of a column, one for each key. Long values end with "…".
type ListedValues struct {
	Keys   []string    `json:"keys"`
	Values [2][]string `json:"values"` // in the order of Compared.Peers
}

// LocusField is one value that differs.
type LocusField struct {
	Archetype string `json:"archetype"`
	Cache     bool   `json:"cache,omitempty"`  // a cache's value, not one of the state
	Entity    *int   `json:"entity,omitempty"` // its place in Compared.Entities
	FieldDocument
	// Raw are the bits of numbers, as hex digits, the most significant first; empty
	// for other kinds.
	Raw map[string]string `json:"raw,omitempty"`
}

// LocusRows are entities that only one side has.
type LocusRows struct {
	Archetype string   `json:"archetype"`
	Cache     bool     `json:"cache,omitempty"`
	Peer      string   `json:"peer"` // that has them
	Keys      []string `json:"keys"` // the first
	Count     uint64   `json:"count"`
}
