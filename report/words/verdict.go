package words

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/desynctool/desynctool/bisect"
	"github.com/desynctool/desynctool/internal/lists"
	"github.com/desynctool/desynctool/internal/prose"
	"github.com/desynctool/desynctool/report/verdict"
	"github.com/desynctool/desynctool/tracediff"
)

// Verdict describes what happened in at most four sentences: differences in the game itself if there are any, what is
// known, then what is not.
func Verdict(c *verdict.Conclusion) []string {
	if text := otherGame(c); text != "" {
		return append([]string{text}, verdictLines(c)...)
	}
	return verdictLines(c)
}

// otherGame describes what about the game differs between peers, "" if no difference is known: another build, data or
// tick rate explains a desync better than everything else.
func otherGame(c *verdict.Conclusion) string {
	var parts []string
	for _, f := range c.Facts {
		if !f.Must {
			continue
		}
		values := lists.Map(slices.Sorted(maps.Keys(f.Values)), func(peer string) string { return prose.Name(f.Values[peer]) + " on " + peer })
		parts = append(parts, f.Name+" "+strings.Join(values, ", "))
	}
	if len(parts) == 0 {
		return ""
	}
	return fmt.Sprintf("The peers do not play the same game: %s.", strings.Join(parts, "; "))
}

func verdictLines(c *verdict.Conclusion) []string {
	switch {
	case c.Word != nil:
		return told(c)
	case c.Alone:
		return append([]string{alone(c)}, says(c)...)
	case !c.Diverged():
		return failed(c, undiverged(c))
	case c.Bracket == nil:
		return failed(c, withoutBracket(c))
	}
	if c.Runs != verdict.RunsOfPeers {
		return failed(c, []string{parted(c), why(c), twice(c)})
	}
	if c.OnlyHistories {
		return failed(c, onlyHistories(c))
	}
	sentences := []string{parted(c)}
	if c.LikelyNoise {
		sentences = append(sentences, "Nothing else differs in any dump: this is probably noise, such as a clock or a path, which a page can name (desynctool describe).")
	}
	sentences = append(sentences, why(c), who(c))
	sentences = append(sentences, inCode(c)...)
	if unreplayed(c) { // the source
		return sentences
	}
	return failed(c, sentences)
}

// onlyHistories reports that only the peers' history hashes differ.
func onlyHistories(c *verdict.Conclusion) []string {
	b := c.Bracket
	text := fmt.Sprintf("The history hashes of %s and %s differ %s", b.A, b.B, at(verdict.MomentOf(b.Bad)))
	since := "before it"
	if b.Good != nil {
		text += fmt.Sprintf(" and are equal %s", at(verdict.MomentOf(*b.Good)))
		since = "in between"
	}
	return []string{
		text + "; every state that both left is equal.",
		fmt.Sprintf("Either they diverged %s and came back, or one of them recorded another past than it had.", since),
		"Nobody else confirms what a peer recorded of its past: hashes or states of every tick would show which.",
	}
}

// failed adds after the first sentence that the simulator failed, if it did.
func failed(c *verdict.Conclusion, sentences []string) []string {
	if c.SimFailed == "" {
		return sentences
	}
	return slices.Insert(sentences, 1, "The simulator failed: "+c.SimFailed+".")
}

// unreplayed reports whether it is not known who is wrong since the simulator failed.
func unreplayed(c *verdict.Conclusion) bool {
	return c.SimFailed != "" && !c.OwnFailed && len(c.Guilty) == 0 && !c.Inputs.Differ()
}

func alone(c *verdict.Conclusion) string {
	switch n := len(c.Covers); n {
	case 0:
		return "Nothing can be compared: there is evidence of one peer only."
	case 1:
		return fmt.Sprintf("Nothing can be compared: there is evidence of one peer only, %s.", c.Covers[0].Name)
	default:
		return fmt.Sprintf("Nothing can be compared: the evidence of %d peers has nothing in common.", n)
	}
}

// says quotes a game's message about a desync that nothing confirms.
func says(c *verdict.Conclusion) []string {
	for i := range c.Statements {
		if s := &c.Statements[i]; s.Standing != tracediff.Borne {
			return []string{fmt.Sprintf("Yet the game reports %s, and nothing here confirms that.", prose.Quote(s.Text))}
		}
	}
	return nil
}

// undiverged reports that nothing is known to differ.
func undiverged(c *verdict.Conclusion) []string {
	text := "No difference was found"
	if r := c.OwnReplay; r != nil {
		text += fmt.Sprintf(" between what %s recorded and a replay of its own %s", prose.Name(r.Peer), prose.Count(r.Orders, "order", "orders"))
	}
	if len(c.Noise) > 0 {
		text += " in what the files count as state"
	}
	lost := len(c.Lost) + len(c.Lacking)
	if lost > 0 || c.LogsUnsure && len(c.Statements) == 0 && c.Inputs.State != verdict.InputsLogs {
		text += " in what could be read"
	}
	nothing := false
	if !c.Search.Compares() {
		text = "No state was compared"
		switch nothing = c.Inputs.Line == "" && !c.Search.Partial; {
		case nothing && len(c.Lost) > 0 && c.Lost[0] != bisect.LostStates && c.Lost[0] != bisect.LostSums: // a file
			text = "Nothing can be compared: " + c.Lost[0]
		case nothing:
			text = "Nothing can be compared: there are no states or hashes of two peers"
		case c.Search.Partial:
			text = "The values that change often in the logs are equal, and other values were not compared"
		}
	} else if s := searched(c); s != "" {
		text += ": " + s
	}
	switch in := &c.Inputs; {
	case in.Line == "":
	case in.Count == 0 && in.Window != nil:
		text += fmt.Sprintf("; the orders are equal (%d)", in.Window.Orders)
	case in.State == verdict.InputsLogs:
		text += "; the order logs differ"
	default:
		text += "; " + in.Line
	}
	out := []string{text + "."}
	if r := c.OwnReplay; r != nil {
		out = append(out, fmt.Sprintf("This does not show whether other peers had the same orders: one that was lost, changed or late on its way is replayed as %s had it.", prose.Name(r.Peer)))
	}
	if list := c.Noise; len(list) > 0 {
		differs := "differs"
		if len(list) > 1 {
			differs = "differ"
		}
		out = append(out, fmt.Sprintf("%s %s, which the files declare to be noise: no state hash covers it.", upTo(list, maxTold), differs))
	}
	if in := &c.Inputs; in.State == verdict.InputsLogs {
		out = append(out, fmt.Sprintf("Nothing shows that the peers were given different orders: %s; %s. A log may lack what its peer applied.", Difference(in.Parting), unborne(in)))
	}
	out = append(out, says(c)...)
	if text := departsAlone(c); text != "" {
		out = append(out, text)
	}
	if lost > 0 && !nothing {
		out = append(out, fmt.Sprintf("%s lost or lacking, which may hide a difference.", prose.Count(lost, "piece of evidence is", "pieces of evidence are")))
	} else if n := len(c.Contradictions); n > 0 {
		out = append(out, fmt.Sprintf("%s, so that this is not certain.", prose.Count(n, "piece of evidence contradicts another", "pieces of evidence contradict others")))
	}
	return out
}

// withoutBracket describes a divergence that is not a divergence of states.
func withoutBracket(c *verdict.Conclusion) []string {
	switch {
	case c.Kind == bisect.ChecksumOnly:
		text := "Only checksums differ, the states are equal"
		if n := c.Search.Points; n > 0 {
			text += fmt.Sprintf(" at all %s", prose.Count(n, "common state point", "common state points"))
		}
		out := []string{text + "."}
		if s := c.Checksums; s != nil {
			what := "checksums"
			if s.By == "" {
				what = "recorded hashes"
			}
			out = append(out, fmt.Sprintf("The %s %s: %s.", what, span(s), groups(s.Groups)))
		}
		return append(out, why(c))
	case c.Kind == bisect.InputsDiffer:
		text := "The peers were given different orders"
		if in := &c.Inputs; in.By == verdict.BorneByGame {
			text += ", and a game reports that they diverged"
		} else if in.By == verdict.BorneByHash {
			text += ", and recorded hashes differ after that"
		} else if !c.Search.Compares() {
			text += "; no state was compared"
		} else {
			text += "; no state is known to differ"
		}
		out := []string{text + "."}
		if s := blamed(c); s != "" {
			out = append(out, s)
		}
		return append(out, why(c))
	case c.Kind == bisect.StaleCache && c.Cache == nil:
		return staleCaches(c)
	case c.Kind == bisect.StaleCache:
		k := c.Cache
		text := fmt.Sprintf("Data that %s derives from its state was stale: its game reports %s after %s", k.Peer, prose.Quote(k.Text),
			tick(verdict.Moment{Number: k.After, Native: k.NativeAfter}))
		if k.Before != nil {
			text += fmt.Sprintf(", before %s", both(verdict.Moment{Number: *k.Before, Native: k.NativeBefore}))
		}
		out := []string{text + "."}
		if c.Search.Compares() {
			out = append(out, "The states are equal: "+searched(c)+".")
		} else {
			out = append(out, "The orders are equal, and no state was compared.")
		}
		return append(out, why(c))
	case c.Inputs.Line != "" && c.Inputs.Hashes != nil:
		return []string{fmt.Sprintf("The order logs show that the states differ: %s.", c.Inputs.Basis)}
	case len(c.Statements) > 0:
		return []string{fmt.Sprintf("The engine reports that the peers diverged: %s.", prose.Quote(c.Statements[0].Text))}
	case c.Inputs.Line != "" && c.Inputs.State != verdict.InputsUnknown && c.Inputs.State != verdict.InputsApart:
		return []string{fmt.Sprintf("The order logs show that the states differ: %s.", c.Inputs.Basis)}
	}
	return []string{"The checksums of the peers differ."}
}

// staleCaches reports that only caches differ.
func staleCaches(c *verdict.Conclusion) []string {
	k := c.Caches
	text := fmt.Sprintf("Data that %s and %s derive from their states differs %s: %s", k.A, k.B, at(verdict.MomentOf(k.Bad)), join(k.Labels, "and"))
	if k.Good != nil {
		text += fmt.Sprintf("; it was equal %s", at(verdict.MomentOf(*k.Good)))
	}
	if k.Again != nil {
		text += fmt.Sprintf("; it is equal again %s", at(verdict.MomentOf(*k.Again)))
	}
	return []string{text + ".", "The states themselves are equal: " + searched(c) + ".", why(c)}
}
