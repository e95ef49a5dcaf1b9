package playbook

import (
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/desynctool/desynctool/bisect"
	"github.com/desynctool/desynctool/orderlog"
	"github.com/desynctool/desynctool/report"
	"github.com/desynctool/desynctool/snapshot"
)

// TestClassesAreDescribed holds the classes against the page that reports refer to.
func TestClassesAreDescribed(t *testing.T) {
	page, err := os.ReadFile("../../docs/causes.md")
	if err != nil {
		t.Fatal(err)
	}
	var headings []string
	for line := range strings.Lines(string(page)) {
		if name, ok := strings.CutPrefix(strings.TrimSpace(line), "## "); ok {
			headings = append(headings, name)
		}
	}
	if !slices.Equal(headings, Classes()) {
		t.Errorf("docs/causes.md has the headings\n%v\nthe classes are\n%v", headings, Classes())
	}
}

// TestRank pins what stands first for traits that are the plainest of each kind.
func TestRank(t *testing.T) {
	tests := []struct {
		name   string
		traits traits
		want   []string // the first group
	}{
		{"checksum only", traits{kind: bisect.ChecksumOnly}, []string{ChecksumDefect}},
		{"blind checksum", traits{kind: bisect.BlindChecksum}, []string{ChecksumDefect}},
		{"a lost order", traits{kind: bisect.StateDiffers, inputs: orderlog.Missing, seen: true, rows: 1}, []string{InputDropped}},
		{"a late order", traits{kind: bisect.StateDiffers, inputs: orderlog.Late}, []string{InputLate}},
		{"the start", traits{kind: bisect.StateDiffers, initial: true}, []string{InitialState, DifferentData}},
		{"stale cache", traits{kind: bisect.StateDiffers, caches: []string{"x"}, seen: true, rows: 3, columns: 5, archetypes: 1}, []string{StaleCache}},
		{"one ulp", traits{kind: bisect.StateDiffers, seen: true, exact: true, floats: true, ulp: 1, rows: 4, columns: 1, archetypes: 1, fields: 1}, []string{Float}},
		{"one bit of a float", traits{kind: bisect.StateDiffers, seen: true, exact: true, floats: true, ulp: 1 << 40, bits: 1, rows: 1, columns: 1, archetypes: 1, fields: 1}, []string{BitFlip}},
		{"named by orders", traits{kind: bisect.StateDiffers, seen: true, exact: true, rows: 1, named: 1, columns: 1, archetypes: 1, opening: true, fields: 1}, []string{ImpureValidation, PredictionLeak}},
		{"traded values", traits{kind: bisect.StateDiffers, seen: true, exact: true, rows: 6, columns: 2, archetypes: 2, traded: 1, bothWays: 2, fields: 1}, []string{IterationOrder, UnstableSort, Locale}},
		{
			"traded values, other languages",
			traits{kind: bisect.StateDiffers, seen: true, exact: true, rows: 6, columns: 2, archetypes: 2, traded: 1, facts: []report.Fact{{Name: "locale"}}},
			[]string{Locale, IterationOrder, UnstableSort},
		},
		{"zeroes", traits{kind: bisect.StateDiffers, seen: true, exact: true, rows: 40, columns: 4, archetypes: 4, fields: 1, blank: 20, opening: true, system: "x", kinds: []snapshot.Kind{snapshot.KindInteger}}, []string{SaveForgets}},
		{"healed", traits{kind: bisect.StateDiffers, seen: true, exact: true, rows: 8, columns: 1, archetypes: 1, fields: 1, healed: true}, []string{SelfHealed}},
		{"the RNG alone", traits{kind: bisect.StateDiffers, seen: true, exact: true, rng: true, early: true, known: true}, []string{RNGLeak}},
	}
	for _, test := range tests {
		got := rank(&test.traits)
		var first []string
		sum := 0.0
		for _, c := range got {
			if c.Group == 1 {
				first = append(first, c.Class)
			}
			sum += c.Score
			if len(c.Signs) == 0 {
				t.Errorf("%s: %s stands without evidence", test.name, c.Class)
			}
		}
		if !slices.Equal(first, test.want) {
			t.Errorf("%s: %v stand first, expected %v", test.name, first, test.want)
		}
		if sum < 0.99 || sum > 1.01 {
			t.Errorf("%s: the scores add up to %v", test.name, sum)
		}
	}
	if got := rank(&traits{}); len(got) != 0 {
		t.Errorf("without a divergence there are causes: %v", got)
	}
}
