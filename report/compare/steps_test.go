package compare_test

import (
	"html"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/desynctool/desynctool/report/bundle"
	"github.com/desynctool/desynctool/report/compare"
	"github.com/desynctool/desynctool/report/document"
	"github.com/desynctool/desynctool/report/page"
)

// madeBy are the things that a step may ask for, by the beginning of the words for them, as the page of each engine in
// docs/formats and docs/games lists what the players have. Players have nothing else that is read.
var madeBy = map[string][]string{
	"openttd":        {"order logs of", "the whole order log", "states of two peers, or hashes of them, from before"},
	"0ad":            {"order logs", "the whole order log", "states of", "the states of"},
	"spring":         {"order logs of", "the whole order log", "states of", "the states of"},
	"widelands":      {"order logs of", "the whole order log", "states of two peers, or hashes of them, from before", "traces of two peers that diverged"},
	"warzone2100":    {"order logs", "the whole order log", "traces of two peers that diverged"},
	"openra":         {},
	"godot-rollback": {"order logs", "the whole order log", "states of", "the states of"},
	"ggpo":           {},
	"rimworld":       {"traces of two peers that diverged"},
	"openrct2":       {},
	"generals":       {"traces of two peers that diverged"},
	"threads":        {}, // of Factorio, OpenRA and OpenRCT2
}

// TestStepsOfGames: no step asks for anything that players of the game cannot provide, and the text, the comment and the page have
// the same steps.
func TestStepsOfGames(t *testing.T) {
	samples := map[string]string{ // and the recipe in the first step
		"openttd/rng_poke": "openttd", "openttd/money_poke": "openttd", "openttd/town_poke": "openttd", "openttd/dropped_sign": "",
		"0ad/mp_late_damage": "0ad", "0ad/mp_orders_walkspeed": "0ad", "0ad/replay_walkspeed": "", "spring/pos_1ulp": "spring",
		"spring/silent_health": "spring", "spring/recoil": "", "widelands/cmdact_serial": "widelands", "warzone2100/player_power_3peer": "warzone2100",
		"openra": "", "godot-rollback/tank": "", "ggpo/vectorwar": "", "rimworld": "", "openrct2": "", "generals/groups": "",
		"generals/position": "", "threads/factorio-dat_diff": "", "threads/openra-diff": "", "threads/openrct2-report-cut": "",
	}
	for sample, recipe := range samples {
		t.Run(sample, func(t *testing.T) {
			path := "../../testdata/" + sample
			s, err := bundle.OpenPaths(path)
			if err != nil {
				t.Fatal(err)
			}
			defer s.Close()
			if s.Engine() == nil {
				t.Fatal("the engine is not known")
			}
			r, err := compare.Triage(s, compare.Builds{}, nil)
			if err != nil {
				t.Fatal(err)
			}
			engine, _, _ := strings.Cut(sample, "/")
			for _, step := range r.Next {
				_, wants, ok := strings.Cut(step, ": get ")
				if !ok {
					continue
				}
				for want := range strings.SplitSeq(wants, "; or ") {
					if !slices.ContainsFunc(madeBy[engine], func(made string) bool { return strings.HasPrefix(want, made) }) {
						t.Errorf("%q asks for %q", step, want)
					}
				}
			}
			command := "desynctool triage " + path + " --sim " + recipe
			if recipe != "" && (len(r.Next) == 0 || !strings.HasPrefix(r.Next[0], command+"  # ")) {
				t.Errorf("the first step is %q, expected %s", r.Next, command)
			}
			sameSteps(t, r)
		})
	}
}

// sameSteps compares the steps of the comment and of the page with the report's.
func sameSteps(t *testing.T, r *document.Report) {
	t.Helper()
	var comment, written strings.Builder
	if err := r.Comment(&comment); err != nil {
		t.Fatal(err)
	}
	var steps []string
	_, list, _ := strings.Cut(comment.String(), "\nNext:\n")
	for line := range strings.Lines(list) {
		step, ok := strings.CutPrefix(line, "- ")
		if !ok {
			break
		}
		steps = append(steps, plain(step))
	}
	var want []string
	for _, step := range r.Next {
		want = append(want, plain(step))
	}
	if len(want) > 4 {
		want = append(want[:4], plain("and more"))
	}
	if !slices.Equal(steps, want) {
		t.Errorf("the comment has the steps %q, expected %q", steps, want)
	}
	if err := page.Write(&written, r); err != nil {
		t.Fatal(err)
	}
	text := plain(html.UnescapeString(regexp.MustCompile(`<[^>]*>`).ReplaceAllString(written.String(), "")))
	for _, step := range r.Next {
		command, about := document.CutStep(step)
		if !strings.Contains(text, plain(command)) || !strings.Contains(text, plain(about)) {
			t.Errorf("the page lacks the step %q", step)
		}
	}
}

// plain leaves letters, digits and paths of a text.
func plain(text string) string {
	return regexp.MustCompile(`[^a-zA-Z0-9/.]+`).ReplaceAllString(text, "")
}
