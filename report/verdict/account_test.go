package verdict

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/desynctool/desynctool/bisect"
	"github.com/desynctool/desynctool/report/document"
	"github.com/desynctool/desynctool/tracediff"
)

// match is a game with a known truth: what each player had in each tick, and which players left a log. Each log
// contains what its player's game reports: the players with another checksum than the player.
type match struct {
	players []string
	sums    map[string][]string // of each tick, by player
	logs    []string            // players who left one
	said    []Account
}

func drawMatch(t *rapid.T) *match {
	m := &match{sums: map[string][]string{}}
	ticks := rapid.IntRange(1, 3).Draw(t, "ticks")
	for i := range rapid.IntRange(2, 6).Draw(t, "players") {
		name := fmt.Sprintf("player%c", 'A'+i)
		m.players = append(m.players, name)
		for range ticks {
			m.sums[name] = append(m.sums[name], rapid.SampledFrom([]string{"0a", "0b", "0c"}).Draw(t, "sum"))
		}
	}
	for _, name := range rapid.Permutation(m.players).Draw(t, "order") {
		if !rapid.Bool().Draw(t, "left a log") {
			continue
		}
		a := Account{File: name + ".log", Peer: "log of " + name, Engine: "E"}
		for tick := range ticks {
			for _, other := range rapid.Permutation(m.players).Draw(t, "heard") {
				if m.sums[other][tick] != m.sums[name][tick] {
					a.Claims = append(a.Claims, tracediff.Claim{
						Text: "desync", Tick: uint64(tick), HasTick: true, Peers: []string{other},
						Values: []tracediff.ClaimedValue{{Value: m.sums[name][tick]}, {Peer: other, Value: strings.ToUpper(m.sums[other][tick])}},
					})
				}
			}
		}
		if len(a.Claims) > 0 {
			m.logs, m.said = append(m.logs, name), append(m.said, a)
		}
	}
	return m
}

// speaks returns the ticks in which a player's log has a message: all in which any player differs.
func (m *match) speaks(name string) (ticks []int) {
	for tick := range m.sums[name] {
		if slices.ContainsFunc(m.players, func(other string) bool { return m.sums[other][tick] != m.sums[name][tick] }) {
			ticks = append(ticks, tick)
		}
	}
	return ticks
}

// recognisable reports whether the logs show the owner of a player's log: another log contains that the player differs,
// and no other player had the same whenever the player's log has a message.
func (m *match) recognisable(name string) (named, only bool) {
	only = true
	for _, other := range m.players {
		same := true
		for _, tick := range m.speaks(name) {
			differs := m.sums[other][tick] != m.sums[name][tick]
			same = same && !differs
			named = named || differs && slices.Contains(m.logs, other)
		}
		only = only && (!same || other == name)
	}
	return named, only
}

func TestHear(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := drawMatch(t)
		w := Hear(m.said)
		if len(m.said) == 0 {
			if w != nil {
				t.Fatalf("%+v of no log", w)
			}
			return
		}
		if w.Kind != WordSums || len(w.Torn) > 0 {
			t.Fatalf("kind %d, torn %q", w.Kind, w.Torn)
		}
		of := map[string]string{} // players, by the names that the word has for them
		for _, p := range m.players {
			of[p] = p
		}
		var matched []string
		for i, owner := range m.logs {
			log := w.Logs[i]
			switch named, only := m.recognisable(owner); {
			case named && only:
				if log.By != OwnerMatched || log.Peer != owner {
					t.Errorf("the log of %s: %+v, expected to be recognised", owner, log)
				}
				matched = append(matched, owner)
			case named:
				if log.By != OwnerOpen || log.Peer != "" {
					t.Errorf("the log of %s: %+v, expected to be anybody's of several", owner, log)
				}
			default:
				if log.By != OwnerByPath || log.Peer != "log of "+owner {
					t.Errorf("the log of %s: %+v, expected to be called after its path", owner, log)
				}
				of[log.Peer] = owner
			}
		}

		tick := len(m.sums[m.players[0]])
		for _, owner := range m.logs {
			tick = min(tick, m.speaks(owner)[0])
		}
		if w.At == nil || w.At.Number != uint64(tick) {
			t.Fatalf("at %+v, expected tick %d", w.At, tick)
		}
		got := map[string]string{}
		for _, g := range w.Sums {
			for _, name := range g.Peers {
				if _, twice := got[of[name]]; twice {
					t.Errorf("%s is in two groups", name)
				}
				got[of[name]] = strings.ToLower(g.Sum)
			}
		}
		want := map[string]string{}
		var mutual [][2]string
		for i, owner := range m.logs {
			if !slices.Contains(m.speaks(owner), tick) {
				continue
			}
			if w.Logs[i].By != OwnerOpen {
				want[owner] = m.sums[owner][tick]
			}
			for _, other := range m.players {
				if m.sums[other][tick] == m.sums[owner][tick] {
					continue
				}
				want[other] = m.sums[other][tick]
				if owner < other && slices.Contains(matched, owner) && slices.Contains(matched, other) {
					mutual = append(mutual, [2]string{owner, other})
				}
			}
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("checksums (-want +got):\n%s", diff)
		}
		sums := slices.Sorted(maps.Values(want))
		if n := len(slices.Compact(sums)); n != len(slices.DeleteFunc(slices.Clone(w.Sums), func(g WordSum) bool { return len(g.Peers) == 0 })) {
			t.Errorf("%d groups of %d checksums: %+v", len(w.Sums), n, w.Sums)
		}
		slices.SortFunc(mutual, func(a, b [2]string) int { return strings.Compare(a[0]+a[1], b[0]+b[1]) })
		if diff := cmp.Diff(mutual, w.Mutual); diff != "" {
			t.Errorf("accuse each other (-want +got):\n%s", diff)
		}
		seen := map[string]bool{}
		for _, p := range w.Peers() {
			if seen[p.Name] || p.Name == "" || p.Mentioned == p.ClaimLog {
				t.Errorf("peer %+v", p)
			}
			seen[p.Name] = true
			if of[p.Name] == p.Name && p.ClaimLog != slices.Contains(matched, p.Name) {
				t.Errorf("%+v, recognised are the logs of %q", p, matched)
			}
		}
		for _, owner := range m.logs {
			for _, other := range m.players {
				if differ := slices.ContainsFunc(m.speaks(owner), func(i int) bool { return m.sums[other][i] != m.sums[owner][i] }); differ && !seen[other] {
					t.Errorf("%s is accused by %s and not among the peers", other, owner)
				}
			}
		}
	})
}

func claimOf(tick uint64, c tracediff.Claim) tracediff.Claim {
	c.Tick, c.HasTick = tick, true
	return c
}

// said is the conclusion of accounts where there is nothing else.
func said(t *testing.T, accounts ...Account) *Conclusion {
	t.Helper()
	c, err := Conclude(Evidence{Accounts: accounts, Covers: []Covered{}, Leaves: []string{"a log, *.log"}})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestWords(t *testing.T) {
	sums := func(own, other string) []tracediff.ClaimedValue {
		return []tracediff.ClaimedValue{{Value: own}, {Peer: "Bob", Value: other}}
	}
	for name, c := range map[string]struct {
		account Account
		kind    WordKind
		status  document.Status
		peers   string
		groups  [][]string
		asks    []string
	}{
		"two checksums": {
			Account{Peer: "x.log", Engine: "E", Claims: []tracediff.Claim{claimOf(7, tracediff.Claim{Peers: []string{"Bob"}, Values: sums("1", "2")})}},
			WordSums, document.Diverged, "x.log(1), Bob(2)?", [][]string{{"x.log"}, {"Bob"}}, []string{"Bob"},
		},
		"the same checksum twice": {
			Account{Peer: "x.log", Claims: []tracediff.Claim{claimOf(7, tracediff.Claim{Peers: []string{"Bob"}, Values: sums("1", "1")})}},
			WordOnly, document.Inconclusive, "x.log(1), Bob(1)?", [][]string{{"x.log", "Bob"}}, []string{"Bob"},
		},
		"words only": {
			Account{Peer: "server", Claims: []tracediff.Claim{{Peers: []string{"Bob"}, Text: "Bob left (desync error)"}}},
			WordOnly, document.Inconclusive, "server(0), Bob(0)?", nil, []string{"Bob"},
		},
		"nobody is named": {
			Account{Peer: "x.log", Claims: []tracediff.Claim{claimOf(7, tracediff.Claim{Values: []tracediff.ClaimedValue{{Value: "1"}, {Value: "2"}}})}},
			WordSums, document.Diverged, "x.log(1), another peer(2)?", [][]string{{"x.log"}, {"another peer"}}, nil,
		},
		"a quotation": {
			Account{Peer: "x.log", Claims: []tracediff.Claim{claimOf(7, tracediff.Claim{Peers: []string{"Bob"}, Values: sums("1", "2"), Quoted: true})}},
			WordQuoted, document.Inconclusive, "x.log(1), Bob(2)?", [][]string{{"x.log"}, {"Bob"}}, []string{"Bob"},
		},
		"a server takes one for right": {
			Account{Peer: "x.log", Arbiter: true, Claims: []tracediff.Claim{claimOf(7, tracediff.Claim{Peers: []string{"Bob"}, Values: []tracediff.ClaimedValue{{Peer: "Bob", Value: "1"}, {Value: "2"}}})}},
			WordSums, document.Diverged, "Bob(1)?", [][]string{{"Bob"}}, []string{"Bob"},
		},
		"a self-test": {
			Account{Peer: "x.log", Claims: []tracediff.Claim{claimOf(7, tracediff.Claim{SelfTest: true})}},
			WordSelfTest, document.Diverged, "first run(0), second run(0)", nil, nil,
		},
		"a self-test with both checksums": {
			Account{Peer: "x.log", Claims: []tracediff.Claim{claimOf(7, tracediff.Claim{SelfTest: true, Values: []tracediff.ClaimedValue{{Value: "1"}, {Value: "2"}}})}},
			WordSelfTest, document.Diverged, "first run(1), second run(2)", [][]string{{"first run"}, {"second run"}}, nil,
		},
		"a replay": {
			Account{Peer: "x.log", Claims: []tracediff.Claim{claimOf(7, tracediff.Claim{Replay: true, By: "this replay", Values: []tracediff.ClaimedValue{{Peer: "Bob", Value: "1"}, {Peer: "this replay", Value: "2"}}})}},
			WordReplay, document.Diverged, "first run(1), second run(2)", [][]string{{"first run"}, {"second run"}}, nil,
		},
		"a replay of recordings that differ": {
			Account{Peer: "x.log", Claims: []tracediff.Claim{
				claimOf(7, tracediff.Claim{Replay: true, By: "this replay", Values: []tracediff.ClaimedValue{{Peer: "Bob", Value: "1"}, {Peer: "this replay", Value: "2"}}}),
				claimOf(7, tracediff.Claim{Replay: true, By: "this replay", Values: []tracediff.ClaimedValue{{Peer: "Eve", Value: "3"}, {Peer: "this replay", Value: "2"}}}),
			}},
			WordSums, document.Diverged, "x.log(2), Bob(1)?, Eve(3)?", [][]string{{"Bob"}, {"x.log"}, {"Eve"}}, []string{"Bob", "Eve"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			c.account.File = c.account.Peer
			got := said(t, c.account)
			if got.Word.Kind != c.kind || document.StatusOf(got) != c.status || (got.Kind == bisect.Claimed) != (c.status == document.Diverged) {
				t.Errorf("kind %d, %s, %q", got.Word.Kind, document.StatusOf(got), got.Kind)
			}
			var peers []string
			for _, p := range got.Peers {
				text := fmt.Sprintf("%s(%d)", p.Name, p.Group)
				if p.Mentioned {
					text += "?"
				}
				peers = append(peers, text)
			}
			if text := strings.Join(peers, ", "); text != c.peers {
				t.Errorf("peers %s, expected %s", text, c.peers)
			}
			if diff := cmp.Diff(c.groups, got.Groups); diff != "" {
				t.Errorf("groups (-want +got):\n%s", diff)
			}
			var asked []string
			for _, n := range got.Lacking {
				asked = append(asked, n.Of...)
			}
			if diff := cmp.Diff(c.asks, asked); diff != "" {
				t.Errorf("asks (-want +got):\n%s", diff)
			}
			if got.Fingerprint != "" || len(got.Levels) != 2 {
				t.Errorf("fingerprint %q, levels %+v", got.Fingerprint, got.Levels)
			}
		})
	}
}

// Reports of one message have one fingerprint, for any names and any time; reports of another message, or another game,
// have another.
func TestMessageFingerprint(t *testing.T) {
	account := func(engine, text string, tick uint64, name, a, b string) Account {
		return Account{File: "f", Peer: "f", Engine: engine, Claims: []tracediff.Claim{claimOf(tick, tracediff.Claim{
			Text: text, Peers: []string{name}, Values: []tracediff.ClaimedValue{{Value: a}, {Peer: name, Value: b}},
		})}}
	}
	rapid.Check(t, func(t *rapid.T) {
		draw := func(engine, form string) []document.Fingerprint {
			name := rapid.StringMatching(`[A-Za-z][A-Za-z0-9_\[\] .-]{0,12}[A-Za-z0-9]`).Draw(t, "name")
			tick := rapid.Uint64Range(0, 1<<40).Draw(t, "tick")
			a, b := rapid.StringMatching(`[0-9a-f]{8,32}`).Draw(t, "own"), rapid.StringMatching(`[0-9a-f]{8,32}`).Draw(t, "other")
			c := &Conclusion{Word: Hear([]Account{account(engine, fmt.Sprintf(form, tick, a, b, name), tick, name, a, b)})}
			c.messagePrints()
			return c.Levels
		}
		const one, another = "Checksum for beat %d mismatched: %s (sim) != %s (%s).", "desync in %d: %s, not %s, says <%s>"
		if x, y := draw("E", one), draw("E", one); !cmp.Equal(x, y) {
			t.Errorf("of one message (-one +other):\n%s", cmp.Diff(x, y))
		}
		if x, y := draw("E", one), draw("E", another); x[0].Digest != y[0].Digest || x[1].Digest == y[1].Digest {
			t.Errorf("of two messages: %+v and %+v", x, y)
		}
		if x, y := draw("E", one), draw("F", one); x[0].Digest == y[0].Digest || x[1].Digest == y[1].Digest {
			t.Errorf("of two games: %+v and %+v", x, y)
		}
	})
}

// A log is not recognised by an accusation that it does not return, nor as the log of a peer that it accuses itself,
// nor where logs with the same name disagree.
func TestOwners(t *testing.T) {
	account := func(name, own string, others ...string) Account {
		a := Account{File: name, Peer: name}
		for i := 0; i < len(others); i += 2 {
			a.Claims = append(a.Claims, claimOf(1, tracediff.Claim{Peers: []string{others[i]}, Values: []tracediff.ClaimedValue{{Value: own}, {Peer: others[i], Value: others[i+1]}}}))
		}
		return a
	}
	found := func(names ...string) (list []Account) { // by a server, of Bob, in each log
		for _, name := range names {
			claims := []tracediff.Claim{claimOf(1, tracediff.Claim{Peers: []string{"Bob"}, Values: []tracediff.ClaimedValue{{Peer: "Bob", Value: "1"}, {Value: "2"}}})}
			list = append(list, Account{File: name, Peer: name, Arbiter: true, Claims: claims})
		}
		return list
	}
	for name, c := range map[string]struct {
		accounts []Account
		want     string
	}{
		"what a server found":       {found("Al"), "?"},
		"in the accused's folder":   {found("Bob"), "?"}, // a folder may be called after what it is about
		"in a folder of each":       {found("Al", "Bob"), "Al Bob"},
		"in folders of other names": {found("first", "second"), "? ?"},
		"one accuses the other":     {[]Account{account("a", "1", "X", "2"), account("b", "3", "N", "1")}, "a b"},
		"both accuse each other":    {[]Account{account("a", "1", "X", "2"), account("b", "2", "N", "1")}, "N X"},
		"one accuses both":          {[]Account{account("a", "1", "N", "2", "X", "2"), account("b", "2", "N", "1")}, "a X"},
		"several would fit":         {[]Account{account("a", "1", "X", "2"), account("b", "2", "N", "1", "M", "1")}, "? X"},
		"one contradicts another":   {[]Account{account("a", "1", "X", "2"), account("b", "2", "N", "1"), account("c", "2", "N", "4")}, "a X c"},
		"two of the same disagree":  {[]Account{account("a", "1", "X", "2"), account("b", "2", "N", "1", "M", "5"), account("c", "2", "N", "1", "M", "6")}, "N ? ?"},
		"the name says it already":  {[]Account{{File: "a", Peer: "Al", Said: true, Claims: account("a", "1", "X", "2").Claims}, account("b", "2", "N", "1")}, "Al X"},
	} {
		var got []string
		for _, log := range owners(c.accounts) {
			got = append(got, log.Peer)
		}
		if text := strings.Join(got, " "); text != strings.ReplaceAll(c.want, "?", "") {
			t.Errorf("%s: %s, expected %s", name, text, c.want)
		}
	}
}

// Tens of thousands of peers, each with a different checksum, are grouped as quickly as a few.
func TestHearMany(t *testing.T) {
	const n = 60_000
	a := Account{File: "a.log", Peer: "a.log"}
	for i := range n {
		name := fmt.Sprint("P", i)
		a.Claims = append(a.Claims, claimOf(7, tracediff.Claim{Text: name, Peers: []string{name}, Values: []tracediff.ClaimedValue{{Value: "ff"}, {Peer: name, Value: fmt.Sprintf("%08x", i+1<<16)}}}))
	}
	w := Hear([]Account{a})
	if len(w.Sums) != n+1 || len(w.Accused) != n || len(w.Mentioned) != n || len(w.Torn) != 0 {
		t.Errorf("%d checksums, %d accused, %d mentioned, %d torn", len(w.Sums), len(w.Accused), len(w.Mentioned), len(w.Torn))
	}
	c := &Conclusion{}
	c.Peers = []document.TriagedPeer{{Name: "P1"}}
	c.mentioned(w)
	if len(c.Peers) != n {
		t.Errorf("%d peers", len(c.Peers))
	}
}
