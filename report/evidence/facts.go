package evidence

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/desynctool/desynctool/report"
)

// Facts by the names that files have for them: what has to be the same on all peers, and
// what belongs to a machine.
var (
	GameFacts    = []string{"build", "version", "engine_version", "engine", "mods", "mod", "data", "data_hash", "data hash", "map", "ruleset", "settings"}
	MachineFacts = []string{"os", "cpu", "arch", "compiler", "locale", "language", "lang", "timezone", "threads", "gpu", "driver"}
)

// TickRate is the name of the fact how many ticks a second has.
const TickRate = "tick rate"

// MustMatch reports whether a fact has to be the same on all peers.
func MustMatch(name string) bool { return name == TickRate || slices.Contains(GameFacts, name) }

// askedFor are the facts that should be known of any match, and other names of them.
var askedFor = [][]string{
	{"seed"}, {"start state"}, {"build", "version", "engine_version"}, {TickRate}, {"mods", "mod", "mod checksum"}, {"data hash", "data_hash", "data"},
	{"os"}, {"cpu", "arch"}, {"compiler"}, {"locale", "language", "lang"},
}

// compareFacts compares what the peers' files say of the game and of their machines.
func (d *doctor) compareFacts() {
	type known struct {
		must   bool
		values map[string][]string
	}
	all := map[string]*known{}
	say := func(peer string, f fact) {
		k := all[f.name]
		if k == nil {
			k = &known{f.must, map[string][]string{}}
			all[f.name] = k
		}
		if !slices.Contains(k.values[peer], f.value) {
			k.values[peer] = append(k.values[peer], f.value)
		}
	}
	for _, p := range d.peers {
		for _, x := range p.files {
			if !x.usable() && p.usable() {
				continue
			}
			if x.seed != nil {
				say(p.Name, fact{name: "seed", value: fmt.Sprintf("%016x", *x.seed), must: true})
			}
			for _, f := range x.facts {
				if f.peer == "" || f.peer == p.Name {
					say(p.Name, f)
				}
			}
		}
	}
	for _, f := range d.logFacts {
		if all[f.Name] == nil {
			for peer, value := range f.Values {
				say(peer, fact{name: f.Name, value: value, must: f.Must})
			}
		}
	}
	for _, names := range askedFor {
		if !slices.ContainsFunc(names, func(name string) bool { return all[name] != nil }) {
			d.checkup.Unknown = append(d.checkup.Unknown, names[0])
		}
	}
	order := []string{"game", "seed", "start state", "build", TickRate}
	rank := func(name string) int {
		if i := slices.Index(order, name); i >= 0 {
			return i
		}
		return len(order)
	}
	for _, name := range slices.SortedFunc(maps.Keys(all), func(a, b string) int {
		return cmp.Or(cmp.Compare(rank(a), rank(b)), cmp.Compare(a, b))
	}) {
		k := all[name]
		f := report.Fact{Name: name, Must: k.must, Same: true, Values: map[string]string{}}
		first := ""
		for peer, values := range k.values {
			slices.Sort(values)
			f.Values[peer] = strings.Join(values, " and ")
			first = f.Values[peer]
		}
		for _, v := range f.Values {
			f.Same = f.Same && v == first
		}
		for _, p := range d.peers {
			if _, ok := f.Values[p.Name]; !ok && p.usable() {
				f.Untold = append(f.Untold, p.Name)
			}
		}
		f.Same = f.Same && len(f.Untold) == 0
		d.checkup.Facts = append(d.checkup.Facts, f)
	}
}
