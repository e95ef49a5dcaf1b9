package golden

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/desynctool/desynctool/internal/lists"
)

// Table has the results of runs on several platforms: replays × platforms.
type Table struct {
	Runs []Run `json:"runs"` // by platform, build and content
	// Broken are the replays that diverged in at least one run, by name.
	Broken []Broken `json:"broken"`
	// Common are the properties that all runs in which a replay diverged share, and not all others.
	Common []Common `json:"common"`
	// Unread lists the results that could not be used.
	Unread []string `json:"unread,omitempty"`
}

// Broken is a replay that diverged.
type Broken struct {
	Replay string `json:"replay"`
	// Runs and Held are the runs in which it diverged and in which it did not, by their numbers in Table.Runs.
	Runs []int `json:"runs"`
	Held []int `json:"held"`
	// Moment reports whether it diverged in the same tick everywhere, Agree whether it reached the same hash there.
	Moment bool `json:"same_tick"`
	Agree  bool `json:"same_hash"`
	// Common are the properties that these runs share, and not all runs in Held.
	Common []Common `json:"common"`
}

// Common is a property that all runs of one side share: "arch" is "arm64".
type Common struct {
	Name  string `json:"name"`
	Value string `json:"value"`
	// How many of the other runs have the same value, another one, or none.
	Same    int `json:"others_same"`
	Other   int `json:"others_differ"`
	Unknown int `json:"others_unknown"`
}

// Why a replay of results is not counted.
const (
	NotInResults = "it is not in the results"
	OtherGolden  = "the results belong to another golden trace"
)

// Merge returns the table of runs, of the given replays: those that a run does not have were not played. The same runs
// in any order, even repeated, give the same table.
func Merge(entries []Entry, runs []Run) *Table {
	t := &Table{Runs: []Run{}, Broken: []Broken{}, Common: []Common{}}
	keys := map[string]bool{}
	for _, r := range runs {
		r.Replays = outcomes(entries, r.Replays)
		if len(r.Facts) == 0 {
			r.Facts = nil
		}
		if key := keyOf(&r); !keys[key] {
			keys[key] = true
			t.Runs = append(t.Runs, r)
		}
	}
	lists.SortStable(t.Runs, func(a, b Run) int {
		return cmp.Or(cmp.Compare(a.Platform, b.Platform), cmp.Compare(a.Game, b.Game), cmp.Compare(a.Build.Build, b.Build.Build), cmp.Compare(keyOf(&a), keyOf(&b)))
	})
	var broke, held []int
	for i := range t.Runs {
		switch results := t.Runs[i].results(); {
		case results[Diverged] > 0:
			broke = append(broke, i)
		case results[Same] > 0:
			held = append(held, i)
		}
	}
	t.Common = t.common(broke, held)
	for i := range entries {
		if e := &entries[i]; e.Err != nil && !slices.ContainsFunc(t.Runs, func(r Run) bool { return r.Replays[i].Result == Unusable }) {
			t.Unread = append(t.Unread, fmt.Sprintf("%s: %v", e.Name, e.Err))
		}
		if b := t.broken(i, entries[i].Name); b != nil {
			t.Broken = append(t.Broken, *b)
		}
	}
	return t
}

// keyOf returns all facts of a run, as a text.
func keyOf(r *Run) string {
	b, err := json.Marshal(r)
	if err != nil {
		panic(err) // it is of texts, numbers and digests
	}
	return string(b)
}

// outcomes returns a run's outcome for each entry.
func outcomes(entries []Entry, list []Outcome) []Outcome {
	out := make([]Outcome, len(entries))
	by := map[string]*Outcome{}
	for i := range list {
		by[list[i].Replay] = &list[i]
	}
	for i, e := range entries {
		o, known := by[e.Name]
		if !known {
			o = &Outcome{Replay: e.Name, Result: NotPlayed, Why: NotInResults}
		}
		out[i] = *o
		if m := e.Manifest; m == nil {
			continue
		} else if known && o.Golden != nil && *o.Golden != m.Trace {
			out[i] = Outcome{Replay: e.Name, Result: NotPlayed, Why: OtherGolden}
		}
		golden := e.Manifest.Trace
		out[i].Golden, out[i].Ticks = &golden, e.Manifest.Ticks()
	}
	return out
}

// results counts the outcomes of a run.
func (r *Run) results() map[Result]int {
	n := map[Result]int{}
	for i := range r.Replays {
		n[r.Replays[i].Result]++
	}
	return n
}

// broken returns what is said of a replay by its number, nil if it diverged nowhere.
func (t *Table) broken(n int, name string) *Broken {
	b := &Broken{Replay: name, Runs: []int{}, Held: []int{}, Moment: true, Agree: true}
	var first *First
	for i := range t.Runs {
		o := &t.Runs[i].Replays[n]
		switch o.Result {
		case Same:
			b.Held = append(b.Held, i)
		case Diverged:
			b.Runs = append(b.Runs, i)
			if first == nil {
				first = o.First
			}
			b.Moment = b.Moment && sameMoment(first, o.First)
			b.Agree = b.Agree && b.Moment && first.Got == o.First.Got
		}
	}
	if first == nil {
		return nil
	}
	b.Common = t.common(b.Runs, b.Held)
	return b
}

func sameMoment(a, b *First) bool {
	same := func(x, y *uint64) bool { return (x == nil) == (y == nil) && (x == nil || *x == *y) }
	return a.Start == b.Start && same(a.Tick, b.Tick) && same(a.Differs, b.Differs) && same(a.Equal, b.Equal) && a.System == b.System
}

// properties are what a run reports about where it ran.
func (r *Run) properties() map[string]string {
	p := map[string]string{}
	maps.Copy(p, r.Facts)
	set := func(name, value string) {
		if value != "" {
			p[name] = value
		}
	}
	if os, arch, ok := strings.Cut(r.Platform, "/"); ok && !strings.Contains(arch, "/") {
		set("os", os)
		set("arch", arch)
	} else {
		set("platform", r.Platform)
	}
	set("game", r.Game)
	set("build", r.Build.Build)
	return p
}

// common returns the properties that all of some runs share, and that another one is known not to have.
func (t *Table) common(runs, others []int) []Common {
	list := []Common{}
	if len(runs) == 0 {
		return list
	}
	shared := t.Runs[runs[0]].properties()
	for _, i := range runs[1:] {
		own := t.Runs[i].properties()
		maps.DeleteFunc(shared, func(name, value string) bool { return own[name] != value })
	}
	for _, name := range slices.Sorted(maps.Keys(shared)) {
		c := Common{Name: name, Value: shared[name]}
		for _, i := range others {
			switch value, ok := t.Runs[i].properties()[name]; {
			case !ok:
				c.Unknown++
			case value == c.Value:
				c.Same++
			default:
				c.Other++
			}
		}
		if c.Other > 0 {
			list = append(list, c)
		}
	}
	return list
}

func (t *Table) any(result Result) bool {
	return slices.ContainsFunc(t.Runs, func(r Run) bool { return r.results()[result] > 0 })
}

// Diverged reports whether a replay diverged anywhere.
func (t *Table) Diverged() bool { return t.any(Diverged) }

// Failed reports whether something that is kept, or a file with results, cannot be used.
func (t *Table) Failed() bool { return t.any(Unusable) || len(t.Unread) > 0 }

// Incomplete reports whether a replay was not played.
func (t *Table) Incomplete() bool { return t.any(NotPlayed) || len(t.Runs) == 0 }

// Interrupted reports whether a run was ended early.
func (t *Table) Interrupted() bool {
	return slices.ContainsFunc(t.Runs, func(r Run) bool { return r.Interrupted })
}

// Labels are distinct names of the runs: the platform, with the build if that distinguishes two, and with a number if
// nothing does.
func (t *Table) Labels() []string {
	platforms := map[string]int{}
	for i := range t.Runs {
		platforms[t.Runs[i].Platform]++
	}
	labels, used := make([]string, len(t.Runs)), map[string]int{}
	for i := range t.Runs {
		r := &t.Runs[i]
		label := r.Platform
		if r.Build.Build != "" && platforms[r.Platform] > 1 {
			label += " " + r.Build.Build
		}
		if used[label]++; used[label] > 1 {
			label += fmt.Sprintf(" #%d", used[label])
		}
		labels[i] = label
	}
	return labels
}
