package verdict

import (
	"testing"

	"github.com/desynctool/desynctool/bisect"
	"github.com/desynctool/desynctool/orderlog"
	"github.com/desynctool/desynctool/report/document"
	"github.com/desynctool/desynctool/snapshot"
	"github.com/desynctool/desynctool/tracediff"
)

// digests are the fingerprints of a conclusion by level.
func digests(c *Conclusion) map[document.Level]string {
	out := map[document.Level]string{}
	for _, f := range c.Levels {
		out[f.Level] = f.Digest
	}
	return out
}

// rounded is a value that differs by the last bit of a float.
var rounded = snapshot.Change{
	Key: snapshot.Key{A: 7}, Component: "Health", Field: "hp", Kind: snapshot.KindFloat, BitsChanged: 1, ULP: 1,
	A: snapshot.Value{Type: snapshot.F32, Raw: []byte{0, 0, 0x80, 0x3f}}, B: snapshot.Value{Type: snapshot.F32, Raw: []byte{1, 0, 0x80, 0x3f}},
}

// inSystem is evidence of a divergent tick with its state, and traces that part in a system.
func inSystem(tick uint64, system string) Evidence {
	e := differAt(partedIn(tick, tick+1), tick+1)
	e.Session.Game = "refsim"
	e.Diff.Tables[0].Changes[0] = rounded // which looks like one class only
	e.Traces = []*tracediff.Result{{
		Traces: make([]tracediff.TraceInfo, 2), First: &tracediff.Difference{System: system, Tick: tracediff.Tick{Number: tick}},
		Bracket: &tracediff.Bracket{HasGood: true, Good: tracediff.Tick{Number: tick - 1}, Bad: tracediff.Tick{Number: tick}},
	}}
	e.Within = func(from, to uint64) (*Within, error) { return &Within{Tick: tick, System: system}, nil }
	return e
}

// TestFingerprint pins what separates one bug from others, and that it is the same each time.
func TestFingerprint(t *testing.T) {
	c := conclude(t, inSystem(60, "Combat"))
	want := []document.Fingerprint{
		{Level: document.LevelKind, Name: "refsim state"},
		{Level: document.LevelArchetype, Name: "Tank"},
		{Level: document.LevelComponent, Name: "Health"},
		{Level: document.LevelStep, Name: "Combat"},
		{Level: document.LevelField, Name: "Health.hp float"},
	}
	if len(c.Levels) != len(want) {
		t.Fatalf("the levels are %+v", c.Levels)
	}
	for i, f := range c.Levels {
		if f.Level != want[i].Level || f.Name != want[i].Name || len(f.Digest) != 16 {
			t.Errorf("level %d is %+v, expected %+v", i, f, want[i])
		}
	}
	const strict = "70b52cc0a34b7dae"
	if c.Fingerprint != strict {
		t.Errorf("the strict one is %s of %+v, expected %s", c.Fingerprint, c.Levels, strict)
	}
	again := inSystem(900, "Combat") // another time
	again.Lost = []string{"x"}
	if d := conclude(t, again); d.Fingerprint != c.Fingerprint {
		t.Errorf("the same bug in another tick is %s", d.Fingerprint)
	}
	other := conclude(t, inSystem(60, "Fog"))
	if other.Fingerprint == c.Fingerprint || digests(other)[document.LevelStep] == digests(c)[document.LevelStep] || digests(other)[document.LevelField] != digests(c)[document.LevelField] {
		t.Errorf("another system has %+v", other.Levels)
	}
	if d := conclude(t, inSync()); d.Fingerprint != "" || len(d.Levels) > 0 {
		t.Errorf("without a divergence it is %q, %v", d.Fingerprint, d.Levels)
	}
}

// TestFingerprintOfWhatIsKnown: states of later, or a wide bracket, have no field; each diverged
// verdict has the levels that it knows.
func TestFingerprintOfWhatIsKnown(t *testing.T) {
	several := inSystem(60, "Combat")
	several.Diff.Tables[0].Changes[0] = rounded
	several.Diff.Tables[0].Changes[0].A.Type, several.Diff.Tables[0].Changes[0].B.Type = snapshot.I32, snapshot.I32
	several.Diff.Tables[0].Changes[0].Kind = snapshot.KindInteger
	for _, test := range []struct {
		name   string
		e      Evidence
		strict bool
		has    []document.Level
	}{
		{"the tick's state and system", inSystem(60, "Combat"), true, []document.Level{document.LevelKind, document.LevelArchetype, document.LevelComponent, document.LevelStep, document.LevelField}},
		{"several classes look like it", several, false, []document.Level{document.LevelKind, document.LevelArchetype, document.LevelComponent, document.LevelStep, document.LevelField}},
		{"the tick's state", differAt(partedIn(60, 61), 61), false, []document.Level{document.LevelKind, document.LevelArchetype, document.LevelComponent, document.LevelField}},
		{"states of later", differAt(partedIn(60, 61), 361), false, []document.Level{document.LevelKind}},
		{"a wide bracket", differAt(partedIn(60, 90), 90), false, []document.Level{document.LevelKind}},
		{"the state that a peer loaded", loadedAt(60, 90, 90), false, []document.Level{document.LevelKind, document.LevelArchetype, document.LevelComponent, document.LevelField}},
		{"states after a peer loaded", loadedAt(60, 90, 100), false, []document.Level{document.LevelKind}},
		{"nothing but a bracket", partedIn(60, 90), false, []document.Level{document.LevelKind}},
		{"an order that made them diverge", missingAt(partedIn(60, 61), 60), true, []document.Level{document.LevelKind, document.LevelOrder, document.LevelCause}},
	} {
		c := conclude(t, test.e)
		var has []document.Level
		for _, f := range c.Levels {
			has = append(has, f.Level)
		}
		if len(has) != len(test.has) || (c.Fingerprint != "") != test.strict {
			t.Errorf("%s: levels %v, strict %q, expected %v, %v", test.name, has, c.Fingerprint, test.has, test.strict)
			continue
		}
		for i := range has {
			if has[i] != test.has[i] {
				t.Errorf("%s: levels %v, expected %v", test.name, has, test.has)
			}
		}
	}
}

// TestFingerprintByLoading: a difference that a peer loaded is another bug than one that it computed.
func TestFingerprintByLoading(t *testing.T) {
	loaded, computed := digests(conclude(t, loadedAt(60, 90, 90))), digests(conclude(t, differAt(partedIn(60, 61), 61)))
	for level, digest := range loaded {
		if digest == computed[level] {
			t.Errorf("%s is the same: %s", level, digest)
		}
	}
}

// TestFingerprintOfOrders: a tree that was dropped is not a line that is missing, and an order of
// another kind is another bug.
func TestFingerprintOfOrders(t *testing.T) {
	tree, sign := missingAt(partedIn(60, 61), 60), missingAt(partedIn(60, 61), 60)
	tree.Orders.Differences[0].Order, sign.Orders.Differences[0].Order = "plant tree", "place sign"
	twice := missingAt(partedIn(60, 61), 60)
	twice.Orders.Differences[0].Order, twice.Orders.Differences[0].Kind = "plant tree", orderlog.Duplicated
	line := missingAt(inSync(), 60) // in one log only: no divergence at all
	line.Orders.Differences[0].Order = "plant tree"
	word := missingAt(inSync(), 60) // confirmed by the game's message
	word.Orders.Differences[0].Order = "plant tree"
	word.Orders.Claims = []orderlog.PeerClaim{{Kind: orderlog.ClaimDesync, Text: "out of sync"}}
	seen := map[string]string{}
	for name, e := range map[string]Evidence{"tree": tree, "sign": sign, "twice": twice, "word": word} {
		c := conclude(t, e)
		if other, ok := seen[c.Fingerprint]; ok || c.Fingerprint == "" {
			t.Errorf("%s and %s have the fingerprint %q", name, other, c.Fingerprint)
		}
		seen[c.Fingerprint] = name
	}
	if c := conclude(t, line); c.Fingerprint != "" || len(c.Levels) > 0 {
		t.Errorf("a line that one log lacks has %+v", c.Levels)
	}
}

// TestFingerprintOfCheckpoints: two bugs of an engine with a sync stream differ in the first
// checkpoint and in what of it differs; players' numbers do not separate them.
func TestFingerprintOfCheckpoints(t *testing.T) {
	of := func(scope string) *Conclusion {
		c := &Conclusion{Kind: bisect.StateDiffers, System: "Act", SystemBy: SystemByCheckpoint, Tick: &Moment{Number: 161431}, TickBy: TickByCheckpoint}
		c.Session.Game = "Widelands"
		c.Checkpoint = &Checkpoint{CheckpointDocument: document.CheckpointDocument{Kind: "changed", System: "Act", Scope: scope}, Sure: true}
		c.fingerprints(&traits{})
		return c
	}
	a, b, same := of("CmdAct"), of("BobSetPosition"), of("CmdAct7")
	if x, y := digests(a)[document.LevelStep], digests(b)[document.LevelStep]; x == "" || x == y {
		t.Errorf("two classes of the stream have the step %q", x)
	}
	if digests(a)[document.LevelStep] != digests(same)[document.LevelStep] {
		t.Error("the number of a player separates")
	}
}

// TestConfirmedCause: only a cause that an experiment confirmed is part of it.
func TestConfirmedCause(t *testing.T) {
	of := func(s Standing) *Conclusion {
		c := &Conclusion{Kind: bisect.StateDiffers, Causes: []Cause{{Class: RNGLeak, Standing: s}}}
		c.fingerprints(&traits{})
		return c
	}
	if a, b := of(Looks), of(Shown); a.Fingerprint != "" || b.Fingerprint == "" || digests(b)[document.LevelCause] == "" || digests(a)[document.LevelCause] != "" {
		t.Errorf("levels %+v and %+v", a.Levels, b.Levels)
	}
}
