package compare

import (
	"slices"
	"strconv"
	"strings"

	"github.com/desynctool/desynctool/report/bundle"
	"github.com/desynctool/desynctool/report/bundle/gamelog"
	"github.com/desynctool/desynctool/report/document"
)

// gameLogs gathers what only some of the peers have in their games' own logs, and the facts that these state. Facts
// that other files state are taken from these: values are distinguished only where they are written alike.
func (g *gatherer) gameLogs() {
	names := map[string]string{}
	for _, p := range g.e.Bisect.Peers {
		names[p.Path] = p.Name
	}
	logs := g.s.GameLogs(names, g.split())
	g.e.GameLogs = logs.Compared
	g.e.Lost = append(g.e.Lost, logs.Lost...)
	g.e.Facts = withFacts(g.e.Facts, logs)
	g.e.Stated = logs.Stated
}

// stated keeps when the match was played, and all facts of the game and of the machines: first the facts of our own
// logs, traces and states, then the facts that games wrote next to messages of desyncs, then the facts of games' own
// logs.
func (g *gatherer) stated() {
	var beside bundle.Said
	for _, a := range g.e.Accounts {
		for name, value := range a.Facts {
			if (bundle.OfGame(name) || bundle.OfMachine(name)) && a.Placed {
				beside.Say(a.Peer, name, value, bundle.MustMatch(name))
			}
		}
	}
	g.said.Add(beside.Facts(nil))
	g.said.Add(g.e.Stated)
	var peers []string
	for _, p := range g.e.Peers {
		peers = append(peers, p.Name)
	}
	g.e.Stated = g.said.Facts(peers)
	g.e.Session.Played = g.s.Played()
}

// withFacts adds the facts that no other file states.
func withFacts(facts []document.Fact, logs *bundle.GameLogs) []document.Fact {
	for _, f := range logs.Facts {
		if !slices.ContainsFunc(facts, func(known document.Fact) bool { return known.Name == f.Name }) {
			facts = append(facts, f)
		}
	}
	return facts
}

// split is where the peers diverged in the game's own words: the end of the bracket.
func (g *gatherer) split() gamelog.Split {
	b := g.e.Bisect.Bracket
	if b == nil {
		return gamelog.Split{}
	}
	at := gamelog.Split{Known: true, Number: b.Bad.Tick}
	name := g.e.TickName(b.Bad.Tick)
	if name == "" {
		return at
	}
	for _, word := range strings.Fields(name) {
		if n, err := strconv.ParseUint(word, 10, 63); err == nil {
			at.Number = n
		} else {
			at.Unit = strings.ToLower(word)
		}
	}
	return at
}
