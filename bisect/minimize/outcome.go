package minimize

import (
	"context"
	"slices"
	"strings"

	"github.com/desynctool/desynctool/bisect"
	"github.com/desynctool/desynctool/snapshot"
)

// Test decides whether a candidate diverges. Several candidates are tested at once.
type Test interface {
	// Name identifies the test, in one line.
	Name() string
	// Run plays a candidate. An error ends the search: a problem with only one candidate is an Unknown outcome.
	Run(ctx context.Context, c *Candidate, from *snapshot.World) (Outcome, error)
}

// Resumer is a Test that can begin in the middle: Run takes states.
type Resumer interface {
	Test
	// States plays a candidate that does not diverge before its end, from a state if it
	// is not nil, and returns its states at ascending points, and how many ticks it
	// played. It returns no states if they cannot be taken out.
	States(ctx context.Context, c *Candidate, from *snapshot.World, points []uint64) ([]*snapshot.World, uint64, error)
}

// Verdict is a test's result for a candidate.
type Verdict string

// Verdicts.
const (
	InSync   Verdict = "in-sync"
	Diverges Verdict = "diverges"
	Unknown  Verdict = "unknown" // no verdict is possible
)

// Outcome is the result of one run of a test.
type Outcome struct {
	Verdict   Verdict
	Signature Signature
	// Point is the first state point that departs, nil if the test cannot report it.
	Point *uint64
	// Replays and Ticks are its cost.
	Replays int
	Ticks   uint64
	// Why describes what is unknown, or anything else that is odd.
	Why string
}

// Signature is the way in which a candidate diverges. Two divergences are the same if
// these are.
type Signature struct {
	Archetype string `json:"archetype,omitempty"`
	Component string `json:"component,omitempty"`
	Field     string `json:"field,omitempty"`
	// Kind is the kind of number that changed, or one of the kinds below.
	Kind string `json:"kind"`
}

// Kinds of divergences without a known value.
const (
	KindRows    = "rows"        // one side has an entity, the other has not
	KindSchema  = "schema"      // the sides have other columns or tables
	KindHash    = "hash"        // no state can be taken out
	KindCache   = "stale-cache" // the archetype is the cache
	KindCommand = "command"     // a command reports it, and nothing more
	KindBroken  = "broken"      // a simulator broke off; the archetype is how
	KindSum     = "checksum"    // the hash does not belong to the state
)

// String returns the signature for people.
func (s Signature) String() string {
	switch s.Kind {
	case KindHash:
		return "the state hash"
	case KindCommand:
		return "diverges, according to the command"
	case KindBroken:
		return "the simulator " + s.Archetype
	case KindSum:
		return "a hash that is not the state's"
	case KindCache:
		return "stale cache " + s.Archetype
	}
	name := s.Archetype
	if s.Component != "" {
		name = strings.TrimPrefix(name+"/"+s.Component+"."+s.Field, "/")
	}
	return name + ", " + s.Kind
}

// SignatureOf returns the way in which a replay departs: the first entry of the diff. Right after the system that
// departs that may be the RNG. At the end of a tick the RNG comes last, since everything that draws from it departs
// with it, and it departs with others.
func SignatureOf(d *bisect.Departure) Signature {
	if len(d.Caches) > 0 {
		return Signature{Archetype: d.Caches[0], Kind: KindCache}
	}
	if d.Diff == nil {
		return Signature{Kind: KindHash}
	}
	rng := d.Diff.RNG
	tables := d.Diff.Tables
	if len(tables) > 0 && tables[0].Class == snapshot.Archetype && (rng == nil || d.System == "") {
		return tableSignature(&tables[0])
	}
	if rng != nil {
		return Signature{Component: rng.Component, Field: rng.Field, Kind: string(rng.Kind)}
	}
	return Signature{Kind: KindHash}
}

func tableSignature(t *snapshot.TableDiff) Signature {
	s := Signature{Archetype: t.Label, Kind: KindSchema}
	switch {
	case len(t.Columns) > 0:
		s.Component, s.Field = t.Columns[0].Component, t.Columns[0].Field
		i := slices.IndexFunc(t.Changes, func(c snapshot.Change) bool { return c.Component == s.Component && c.Field == s.Field })
		if s.Kind = ""; i >= 0 {
			s.Kind = string(t.Changes[i].Kind)
		}
	case t.OnlyACount+t.OnlyBCount > 0:
		s.Kind = KindRows
	}
	return s
}

// plain reports whether only one column departs, so that what departed first is known.
func plain(d *bisect.Departure) bool {
	if d.Diff == nil {
		return true
	}
	values := 0
	for i := range d.Diff.Tables {
		if t := &d.Diff.Tables[i]; t.Class == snapshot.Archetype {
			values += max(1, len(t.Columns))
			if t.OnlyACount+t.OnlyBCount > 0 {
				values++
			}
		}
	}
	if d.Diff.RNG != nil {
		values++
	}
	return values == 1
}
