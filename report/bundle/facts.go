package bundle

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/desynctool/desynctool/report/document"
)

// Facts by the names that files have for them: the facts that have to be the same on all peers, and the facts about a
// machine.
var (
	GameFacts    = []string{"build", "version", "engine_version", "engine", "mods", "mod", "data", "data_hash", "data hash", "map", "ruleset", "settings", HostPeer}
	MachineFacts = []string{"os", "cpu", "arch", "compiler", "locale", "language", "lang", "timezone", "threads", "gpu", "driver"}
)

// HostPeer is the name of the fact that names the peer that hosts the match.
const HostPeer = "host peer"

// TickRate is the name of the fact about the number of ticks in a second.
const TickRate = "tick rate"

// OfGame and OfMachine report whether a fact that a file states by that name is about the game, or about a machine.
func OfGame(name string) bool    { return slices.Contains(GameFacts, name) }
func OfMachine(name string) bool { return slices.Contains(MachineFacts, name) }

// MustMatch reports whether a fact has to be the same on all peers.
func MustMatch(name string) bool { return name == TickRate || OfGame(name) }

// askedFor are the facts that should be known about any match, and other names for them.
var askedFor = [][]string{
	{"seed"}, {"start state"}, {"build", "version", "engine_version"}, {TickRate}, {"mods", "mod", "mod checksum"}, {"data hash", "data_hash", "data"},
	{"os"}, {"cpu", "arch"}, {"compiler"}, {"locale", "language", "lang"},
}

// Said is what the files of peers state about the game and the machines.
type Said struct{ all map[string]*known }

// known is one fact.
type known struct {
	must   bool
	values map[string][]string // by peer, all values in its files
}

// Say adds a fact that a file of a peer states; nothing if the value is empty.
func (s *Said) Say(peer, name, value string, must bool) {
	if value == "" {
		return
	}
	if s.all == nil {
		s.all = map[string]*known{}
	}
	k := s.all[name]
	if k == nil {
		k = &known{must, map[string][]string{}}
		s.all[name] = k
	}
	if !slices.Contains(k.values[peer], value) {
		k.values[peer] = append(k.values[peer], value)
	}
}

// Has reports whether a file states a fact.
func (s *Said) Has(name string) bool { return s.all[name] != nil }

// Facts compares the stated facts, in the order in which facts are listed. Peers are the peers with usable files: a
// peer that does not state a fact is listed.
func (s *Said) Facts(peers []string) (list []document.Fact) {
	order := []string{"game", "seed", "start state", "build", TickRate}
	rank := func(name string) int {
		if i := slices.Index(order, name); i >= 0 {
			return i
		}
		return len(order)
	}
	for _, name := range slices.SortedFunc(maps.Keys(s.all), func(a, b string) int {
		return cmp.Or(cmp.Compare(rank(a), rank(b)), cmp.Compare(a, b))
	}) {
		k := s.all[name]
		f := document.Fact{Name: name, Must: k.must, Values: map[string]string{}}
		for peer, values := range k.values {
			slices.Sort(values)
			f.Values[peer] = strings.Join(values, " and ")
		}
		for _, peer := range peers {
			if _, ok := f.Values[peer]; !ok {
				f.Untold = append(f.Untold, peer)
			}
		}
		f.Same = !f.Differs() && len(f.Untold) == 0
		list = append(list, f)
	}
	return list
}

// compareFacts compares what the peers' files state about the game and their machines.
func (d *doctor) compareFacts() {
	var said Said
	var usable []string
	for _, p := range d.peers {
		if p.usable() {
			usable = append(usable, p.Name)
		}
		for _, x := range p.files {
			if !x.usable() && p.usable() {
				continue
			}
			if x.seed != nil {
				said.Say(p.Name, "seed", fmt.Sprintf("%016x", *x.seed), true)
			}
			for _, f := range x.facts {
				if f.peer == "" || f.peer == p.Name {
					said.Say(p.Name, f.name, f.value, f.must)
				}
			}
		}
	}
	said.Add(d.logFacts)
	for _, names := range askedFor {
		if !slices.ContainsFunc(names, said.Has) {
			d.checkup.Unknown = append(d.checkup.Unknown, names[0])
		}
	}
	d.checkup.Facts = said.Facts(usable)
}

// Add adds facts that no other file states: the facts from games' own logs.
func (s *Said) Add(facts []document.Fact) {
	for _, f := range slices.DeleteFunc(slices.Clone(facts), func(f document.Fact) bool { return s.Has(f.Name) }) {
		for peer, value := range f.Values {
			s.Say(peer, f.Name, value, f.Must)
		}
	}
}

// ofRecording are the facts of a checkup that are about its recordings.
var ofRecording = []string{"game", "seed", "start state"}

// parameter begins the name of a fact that is a parameter of an order log.
const parameter = "parameter "

// Stated returns the facts of a checkup that are about the game and the machines, parameters of order logs by their own
// names.
func Stated(facts []document.Fact) []document.Fact {
	var said Said
	var peers []string
	for _, f := range facts {
		name, is := strings.CutPrefix(f.Name, parameter)
		if slices.Contains(ofRecording, name) || is && !OfGame(name) && !OfMachine(name) {
			continue
		}
		for peer, value := range f.Values {
			said.Say(peer, name, value, f.Must)
			peers = append(peers, peer)
		}
		peers = append(peers, f.Untold...)
	}
	slices.Sort(peers)
	return said.Facts(slices.Compact(peers))
}
