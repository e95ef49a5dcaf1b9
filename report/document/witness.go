package document

import (
	"fmt"

	"github.com/desynctool/desynctool/bisect"
	"github.com/desynctool/desynctool/internal/prose"
)

// WitnessDocument is the result of a game that played the recordings of the peers again.
type WitnessDocument struct {
	Sim     string          `json:"sim"`  // as the command line has it
	Game    string          `json:"game"` // with its version, if it reports one
	Replays []WitnessReplay `json:"replays"`
	// Twice are the peers whose logs gave two replays of the same orders that were compared, one peer if its log was
	// played twice; Differ is where the replays diverge, null if they do not.
	Twice  []string         `json:"twice"`
	Differ *BracketDocument `json:"differ"`
	// Narrowed reports whether the replays made the bracket of the peers narrower.
	Narrowed bool     `json:"narrowed"`
	Forced   []string `json:"forced,omitempty"` // recordings of another version that were played anyway
	Failed   []string `json:"failed"`           // recordings that were not played, and why
}

// WitnessReplay is how a peer compares with the replay of its log.
type WitnessReplay struct {
	Peer    string           `json:"peer"`
	Departs *BracketDocument `json:"departs"` // null if it does not, as far as they were compared
	Agrees  *uint64          `json:"agrees"`  // the last state point up to which they were compared and agree
	Why     string           `json:"why,omitempty"`
}

// Witness returns the document of a game's replays, nil for none.
func Witness(w *bisect.Witnessed) *WitnessDocument {
	if w == nil {
		return nil
	}
	d := &WitnessDocument{Sim: w.Spec, Game: w.Game, Replays: []WitnessReplay{}, Twice: list(w.Twice), Differ: Bracket(w.Differ), Narrowed: w.Narrowed, Forced: w.Forced, Failed: list(w.Failed)}
	for i := range w.Replays {
		r := &w.Replays[i]
		d.Replays = append(d.Replays, WitnessReplay{r.Peer, Bracket(r.Departs), r.Agrees, r.Why})
	}
	return d
}

// witnessRows print what a game said.
func witnessRows(out *Text, w *bisect.Witnessed) {
	if w == nil {
		return
	}
	s := out.Style
	for i := range w.Replays {
		r := &w.Replays[i]
		name := s.name.Sprint(prose.Name(r.Peer))
		switch {
		case r.Departs != nil && r.Departs.Good != nil:
			out.Row("replay", name, s.bad.Sprint(" departs"), fmt.Sprintf(" from the replay of its log by %s %s, and agrees %s", w.Game, atNames(r.Departs.Bad), atNames(*r.Departs.Good)))
		case r.Departs != nil:
			out.Row("replay", name, s.bad.Sprint(" departs"), fmt.Sprintf(" from the replay of its log by %s %s", w.Game, atNames(r.Departs.Bad)))
		case r.Agrees != nil:
			out.Row("replay", name, s.good.Sprint(" agrees"), fmt.Sprintf(" with the replay of its log by %s up to state point %d", w.Game, *r.Agrees))
		default:
			out.Row("replay", name, " cannot be compared with the replay of its log: ", Safe(r.Why))
		}
	}
	if w.Differ != nil {
		out.Row("again", s.bad.Sprint("two replays of the same orders diverge "), atNames(w.Differ.Bad))
	}
	for _, text := range w.Forced {
		out.Row("replay", s.warn.Sprint("forced: "), Safe(text))
	}
	for _, text := range w.Failed {
		out.Row("replay", s.bad.Sprint("failed: "), Safe(text))
	}
}
