package words

import (
	"slices"
	"strings"
	"testing"

	"github.com/desynctool/desynctool/report/verdict"
	"github.com/desynctool/desynctool/tracediff"
)

// heard is the conclusion of one log with one message of tick 7, where there is nothing else.
func heard(t *testing.T, arbiter bool, c tracediff.Claim) *verdict.Conclusion {
	t.Helper()
	c.Tick, c.HasTick = 7, true
	out, err := verdict.Conclude(verdict.Evidence{Leaves: []string{"demo, *.d"}, Accounts: []verdict.Account{{
		File: "x/a.log", Peer: "a.log", Engine: "Chess", Arbiter: arbiter, TickName: func(uint64) string { return "move 7" }, Claims: []tracediff.Claim{c},
	}}})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// TestTold pins what is said, and asked, where there is only the word of a game.
func TestTold(t *testing.T) {
	two := []tracediff.ClaimedValue{{Value: "1a"}, {Peer: "Bob", Value: "2b"}}
	for _, test := range []struct {
		name    string
		arbiter bool
		claim   tracediff.Claim
		want    []string
		next    string
	}{
		{"two checksums", false, tracediff.Claim{Peers: []string{"Bob"}, Values: two}, []string{
			"Chess reports in a.log that the peers had diverged by move 7: a.log has 1a, Bob has 2b.",
			"Nothing else here shows since when, or what differs: the files of Bob would show more.",
		}, "ask Bob for these files of that match: demo, *.d"},
		{"a field", false, tracediff.Claim{Peers: []string{"Bob"}, Values: two, Of: "gold"}, []string{
			"Chess reports in a.log that the peers had diverged by move 7: gold: a.log has 1a, Bob has 2b.",
			"Nothing else here shows since when, or what else differs: the files of Bob would show more.",
		}, "ask Bob for these files of that match: demo, *.d"},
		{"by name", false, tracediff.Claim{By: "Al", Peers: []string{"Bob"}, Values: []tracediff.ClaimedValue{{Peer: "Al", Value: "1a"}, {Peer: "Bob", Value: "2b"}}}, []string{
			"Chess reports on Al that the peers had diverged by move 7: Al has 1a, Bob has 2b.",
			"Nothing else here shows since when, or what differs: the files of Bob and Al would show more.",
		}, "ask Bob and Al for these files of that match: demo, *.d"},
		{"a server", true, tracediff.Claim{Peers: []string{"Bob"}, Values: []tracediff.ClaimedValue{{Peer: "Bob", Value: "1a"}, {Value: "2b"}}}, []string{
			"Chess reports that the peers had diverged by move 7: Bob has 1a; it expected 2b.",
			"Nothing else here shows since when, or what differs: the files of Bob would show more.",
		}, "ask Bob for these files of that match: demo, *.d"},
		{"nobody named", false, tracediff.Claim{Values: []tracediff.ClaimedValue{{Value: "1a"}, {Value: "2b"}}}, []string{
			"Chess reports in a.log that the peers had diverged by move 7: a.log has 1a, another peer has 2b.",
			"Nothing else here shows since when, or what differs: the files of another peer would show more.",
		}, "ask another peer for these files of that match: demo, *.d"},
		{"words", false, tracediff.Claim{Text: "Bob desynced", Peers: []string{"Bob"}}, []string{
			"Chess reports in a.log “Bob desynced”, in move 7; it accuses Bob.",
			"Nothing confirms it yet: no state and no checksum was compared, and the files of Bob would show more.",
		}, "ask Bob for these files of that match: demo, *.d"},
		{"data", false, tracediff.Claim{Text: "maps differ", Values: two, Data: true}, []string{
			"Chess reports in a.log that the machines had different data before the game began: a.log has 1a, Bob has 2b.",
			"That is no divergence of a game: the machines need the same version, maps and mods first.",
		}, "compare the version, the maps and the mods of both machines, or check the game's files on both"},
		{"a long quotation", false, tracediff.Claim{Text: strings.Repeat("so it went on ", 40) + "1a 2b", Values: []tracediff.ClaimedValue{{Peer: "expected", Value: "1a"}, {Peer: "actual", Value: "2b"}}, Quoted: true}, []string{
			"Quoted, perhaps by a person: “so it went on so it went on so it went on so it went on so it went on so it went on so it went on so it went on so it went on so it went on so it went on so it…”, in move 7: 1a was expected, 2b was found.",
			"Nothing confirms these values yet: no state and no log was compared, and the files of another peer would show more.",
		}, "ask another peer for these files of that match: demo, *.d"},
		{"quoted data", false, tracediff.Claim{Text: "Map check failed", Quoted: true, Data: true}, []string{
			"Quoted, perhaps by a person: “Map check failed”, in move 7.",
			"That is about data before the game, and no divergence of one: the machines need the same version, maps and mods first.",
		}, "compare the version, the maps and the mods of both machines, or check the game's files on both"},
		{"its own words", false, tracediff.Claim{Text: "Bob left (desync)", Peers: []string{"Bob"}, Reported: true}, []string{
			"Chess reports in a.log “Bob left (desync)”, in move 7.",
			"Nothing confirms it yet: no state and no checksum was compared, and the files of Bob would show more.",
		}, "ask Bob for these files of that match: demo, *.d"},
		{"a field", false, tracediff.Claim{Text: "gold out of sync", Of: "gold"}, []string{
			"Chess reports in a.log “gold out of sync”, in move 7, about gold.",
			"Nothing confirms it yet: no state and no checksum was compared, and the files of another peer would show more.",
		}, "ask another peer for these files of that match: demo, *.d"},
		{"a name with a full stop", false, tracediff.Claim{Text: "Co. desynced", Peers: []string{"Bob & Co."}}, []string{
			"Chess reports in a.log “Co. desynced”, in move 7; it accuses “Bob & Co.”.",
			"Nothing confirms it yet: no state and no checksum was compared, and the files of “Bob & Co.” would show more.",
		}, "ask “Bob & Co.” for these files of that match: demo, *.d"},
		{"a quotation", false, tracediff.Claim{Text: "Bob 1a 2b", Peers: []string{"Bob"}, Values: two, Quoted: true}, []string{
			"Quoted, perhaps by a person: “Bob 1a 2b”, in move 7; it accuses Bob.",
			"Nothing confirms these values yet: no state and no log was compared, and the files of Bob would show more.",
		}, "ask Bob for these files of that match: demo, *.d"},
		{"a self-test", false, tracediff.Claim{Text: "twice", SelfTest: true}, []string{
			"One machine computed two results in move 7: the self-test of Chess reports “twice”.",
			"The inputs were the same: either the game does not compute the same each time, or what it saves and loads again is not all of its state.",
			"The cause is not known: the same test again would tell these apart, if the same inputs then fail in another tick, or in none.",
		}, "run the same test of the same inputs again, twice or more: if it fails in another tick, or not at all, the game does not compute the same each time"},
		{"a self-test after loading", false, tracediff.Claim{Text: "loaded", SelfTest: true, Loaded: true}, []string{
			"One machine computed two results in move 7: the self-test of Chess reports “loaded”.",
			"They differ before the tick is computed: where the second run has only just loaded what the first saved, saving and loading changed the state; in a rejoin test ticks may lie between.",
			"What is left out or changed is not known: both states as text would show it.",
		}, "have the game write both states as text, and give them to desynctool diff"},
		{"a replay", false, tracediff.Claim{Text: "departs", Replay: true, By: "me", Values: []tracediff.ClaimedValue{{Peer: "me", Value: "1a"}, {Peer: "Bob", Value: "2b"}}}, []string{
			"A replay differs from its recording in move 7: Chess reports “departs”.",
			"The first run is the recording, the second run the replay: either the game does not compute the same each time, or the replay was made with another build, with other data or on another kind of machine.",
			"The cause is not known: a second replay by the same build on the machine that recorded it would tell these apart.",
		}, "replay it again by the same build, with the same data, on the machine that recorded it: if it agrees then, the build, the data or the machine made the difference"},
	} {
		c := heard(t, test.arbiter, test.claim)
		if got := Verdict(theirs(c)); !slices.Equal(got, test.want) {
			t.Errorf("%s:\n%q\nwant\n%q", test.name, got, test.want)
		}
		if next := Next(theirs(c)); len(next) == 0 || next[0].String() != test.next {
			t.Errorf("%s: next %q, want %q", test.name, next, test.next)
		}
	}
}
