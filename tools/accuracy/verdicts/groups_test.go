package verdicts_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/desynctool/desynctool/bisect/refsim"
	"github.com/desynctool/desynctool/bisect/refsim/session"
	"github.com/desynctool/desynctool/desk"
	"github.com/desynctool/desynctool/internal/testkit/effort"
	"github.com/desynctool/desynctool/report/document"
	"github.com/desynctool/desynctool/report/words"
	"github.com/desynctool/desynctool/tools/accuracy/verdicts"
)

func triaged(dirs []string) (*document.Report, error) {
	c, err := conclude(dirs, nil, nil)
	if err != nil {
		return nil, err
	}
	return words.Report(c), nil
}

func keyed(r *document.Report) (key string, weak, ok bool) {
	k, ok := desk.KeyOf(r)
	return k.Coarse, k.Weak, ok
}

// TestGroups: sessions of some bugs in different places fall into as many groups where the evidence is complete; the
// games' own messages are weak, and one peer alone has no key. The command in docs/desk-accuracy.md measures many more.
func TestGroups(t *testing.T) {
	effort.InTurn(t, 1, 3)
	game := verdicts.Reference{Names: 7}
	bugs, err := verdicts.Bugs([]verdicts.Game{game}, 8, 11, true, nil)
	if err != nil {
		t.Fatal(err)
	}
	if !effort.Full() {
		bugs = bugs[:2]
	}
	strikes := verdicts.Strikes(bugs, effort.Of(1, 2), 11)
	views := []verdicts.View{verdicts.Complete, verdicts.OnePeer, verdicts.Claimed}
	list, hidden, err := verdicts.Group(strikes, views, func(int) string { return t.TempDir() }, triaged, keyed, nil)
	if err != nil {
		t.Fatal(err)
	}
	of := func(v verdicts.View) verdicts.Agreement {
		return verdicts.Agree(slices.DeleteFunc(slices.Clone(list), func(g verdicts.Grouped) bool { return g.View != v }))
	}
	if len(hidden) > 0 {
		t.Errorf("never showed: %v", hidden)
	}
	if a := of(verdicts.Complete); a.Reports < len(strikes) || a.Purity < .98 || a.Completeness < .9 || a.Weak > 0 {
		t.Errorf("complete evidence: %+v\n%v", a, verdicts.Together(list))
	}
	if a := of(verdicts.OnePeer); a.Reports > 0 || a.Unkeyed == 0 {
		t.Errorf("one peer alone: %+v", a)
	}
	if a := of(verdicts.Claimed); a.Weak != a.Reports || a.Groups != 1 || a.Unkeyed > 0 {
		t.Errorf("claims alone: %+v", a)
	}
}

// TestBugs: a mistake that does not show in one place is planted in another one, each once.
func TestBugs(t *testing.T) {
	games := []verdicts.Game{verdicts.Reference{Names: 7}, verdicts.Reference{Names: 3}}
	all, err := verdicts.Bugs(games, 24, 11, false, nil)
	if err != nil {
		t.Fatal(err)
	}
	asked := map[string]bool{}
	shown, err := verdicts.Bugs(games, 24, 11, false, func(b verdicts.Bug) (bool, error) {
		asked[b.Name] = true
		return !strings.HasPrefix(b.Mistake, "bit-flip/") && b.Name != all[0].Name, nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(all) != len(refsim.Faults()) || len(shown) != len(all)-1 {
		t.Fatalf("%d of %d bugs, and %d without one mistake", len(all), len(refsim.Faults()), len(shown))
	}
	kinds := map[string]bool{}
	for _, b := range shown {
		kind, _, _ := strings.Cut(b.Mistake, "/")
		if kinds[kind] || kind == "bit-flip" || b.Name == all[0].Name || !asked[b.Name] {
			t.Errorf("%s is planted", b.Name)
		}
		kinds[kind] = true
	}
	failed := errors.New("no room")
	if _, err := verdicts.Bugs(games, 24, 11, false, func(verdicts.Bug) (bool, error) { return true, failed }); !errors.Is(err, failed) {
		t.Errorf("a session that cannot be played: %v", err)
	}
}

// TestMix: a folder of sessions shows nothing of their bugs except in truth.json.
func TestMix(t *testing.T) {
	dir := t.TempDir()
	bugs, err := verdicts.Bugs([]verdicts.Game{verdicts.Reference{Names: 7}}, 2, 11, true, nil)
	if err != nil {
		t.Fatal(err)
	}
	strikes := verdicts.Strikes(bugs, 1, 11)
	recorded := []verdicts.Recorded{{Bug: "openttd town", Dir: "../../../testdata/openttd/town_poke"}}
	list, err := verdicts.Mix(dir, strikes, verdicts.SystemsOf, recorded)
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(filepath.Join(dir, session.TruthName))
	if err != nil {
		t.Fatal(err)
	}
	var truth []verdicts.Planted
	if err := json.Unmarshal(text, &truth); err != nil || len(truth) != len(strikes)+1 || !slices.Equal(truth, list) {
		t.Fatalf("the truth is %v, %v, written were %v", truth, err, list)
	}
	entries, err := os.ReadDir(dir)
	if err != nil || len(entries) != len(truth)+1 {
		t.Fatalf("%d entries, %v, expected %d bundles and the truth", len(entries), err, len(truth))
	}
	for _, p := range truth {
		if r, err := triaged([]string{filepath.Join(dir, p.Bundle)}); err != nil || r.Status != document.Diverged {
			t.Errorf("%s: %v, %v", p.Bundle, r, err)
		}
		for _, said := range []string{"host/truth.json", "TRUTH.md"} {
			if _, err := os.Stat(filepath.Join(dir, p.Bundle, said)); err == nil {
				t.Errorf("%s has %s", p.Bundle, said)
			}
		}
	}
}

// TestAgree compares groupings that are small enough to count by hand.
func TestAgree(t *testing.T) {
	grouped := func(pairs ...string) (list []verdicts.Grouped) { // bug, key
		for i := 0; i < len(pairs); i += 2 {
			list = append(list, verdicts.Grouped{Bug: pairs[i], Key: pairs[i+1]})
		}
		return list
	}
	for _, test := range []struct {
		list                        []verdicts.Grouped
		pure, whole, homog, conform float64
		groups, mixed, split        int
	}{
		{grouped("a", "1", "a", "1", "b", "2", "b", "2"), 1, 1, 1, 1, 2, 0, 0},
		{grouped("a", "1", "a", "1", "b", "1", "b", "1"), .5, 1, 0, 1, 1, 1, 0},
		{grouped("a", "1", "a", "2", "b", "3", "b", "4"), 1, .5, 1, .5, 4, 0, 2}, // entropies: ln 4 of groups, ln 2 of groups given bugs
		{grouped("a", "1", "a", "1", "a", "2", "b", "2"), .75, .75, 1 - .5*math.Ln2/bits(1, 3), 1 - (-.75*(2./3*math.Log(2./3)+1./3*math.Log(1./3)))/math.Ln2, 2, 1, 1},
	} {
		a := verdicts.Agree(append(test.list, verdicts.Grouped{Bug: "c"}))
		for what, pair := range map[string][2]float64{
			"purity": {a.Purity, test.pure}, "completeness": {a.Completeness, test.whole},
			"homogeneity": {a.Homogeneity, test.homog}, "V-completeness": {a.Conformity, test.conform},
		} {
			if math.Abs(pair[0]-pair[1]) > 1e-9 {
				t.Errorf("%v: %s is %f, expected %f", test.list, what, pair[0], pair[1])
			}
		}
		if a.Groups != test.groups || a.Mixed != test.mixed || a.Split != test.split || a.Unkeyed != 1 {
			t.Errorf("%v: %+v", test.list, a)
		}
	}
}

// bits is the entropy of parts of these sizes.
func bits(sizes ...float64) (h float64) {
	var n float64
	for _, s := range sizes {
		n += s
	}
	for _, s := range sizes {
		h -= s / n * math.Log(s/n)
	}
	return h
}

// TestPairsOf counts pairs that share a level, or the strict fingerprint.
func TestPairsOf(t *testing.T) {
	report := func(bug, strict, field, component string) verdicts.Grouped {
		g := verdicts.Grouped{Bug: bug, View: verdicts.Complete, Strict: strict}
		for level, digest := range map[document.Level]string{document.LevelField: field, document.LevelComponent: component} {
			if digest != "" {
				g.Found = append(g.Found, document.Fingerprint{Level: level, Digest: digest})
			}
		}
		return g
	}
	list := []verdicts.Grouped{
		report("a", "s", "f", ""), report("a", "s", "", "f"), report("a", "", "f", "c"), report("a", "", "", ""),
		report("b", "", "f", "c"), {Bug: "a", View: verdicts.Untracked, Strict: "s"},
	}
	for level, want := range map[document.Level]verdicts.Pairs{
		document.LevelStrict:    {OneBug: 1, OfOneBug: 6, Others: 0, OfOthers: 4},
		document.LevelField:     {OneBug: 2, OfOneBug: 6, Others: 2, OfOthers: 4},
		document.LevelComponent: {OneBug: 1, OfOneBug: 6, Others: 1, OfOthers: 4},
		document.LevelArchetype: {OneBug: 1, OfOneBug: 6, Others: 0, OfOthers: 4},
	} {
		if got := verdicts.PairsOf(list, verdicts.Complete, level); got != want {
			t.Errorf("%s: %+v, expected %+v", level, got, want)
		}
	}
}

// TestNearest ranks groups by the finest fingerprint in common, then by how many, then by size.
func TestNearest(t *testing.T) {
	prints := func(levels ...document.Level) (list []document.Fingerprint) {
		for _, level := range levels {
			list = append(list, document.Fingerprint{Level: level, Digest: string(level)})
		}
		return list
	}
	var list []verdicts.Grouped
	for i, levels := range [][]document.Level{{document.LevelKind, document.LevelStep}, {document.LevelKind, document.LevelComponent}, {document.LevelKind}, {document.LevelKind}, {}} {
		list = append(list, verdicts.Grouped{Bug: fmt.Sprint(i), View: verdicts.Complete, Key: fmt.Sprint(i), Found: prints(levels...)})
	}
	list = append(list, list[3]) // the larger one
	for i := range 5 {
		list = append(list, verdicts.Grouped{Bug: fmt.Sprint(i), View: verdicts.Untracked, Key: "x", Found: prints(document.LevelKind, document.LevelComponent, document.LevelStep)})
	}
	if got, want := verdicts.Nearest(list, verdicts.Untracked), []int{0, 1, 3, 2, -1}; !slices.Equal(got, want) {
		t.Errorf("ranks %v, expected %v", got, want)
	}
}
