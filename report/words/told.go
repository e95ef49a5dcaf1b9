package words

import (
	"cmp"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/desynctool/desynctool/internal/lists"
	"github.com/desynctool/desynctool/internal/prose"
	"github.com/desynctool/desynctool/report/document"
	"github.com/desynctool/desynctool/report/verdict"
	"github.com/desynctool/desynctool/tracediff"
)

// maxTold is how many peers, groups and pairs a sentence names.
const maxTold = 3

// told describes the game's messages where there is no other evidence: which peer's game wrote them, about which peers
// and when, what confirms them, and what is not known.
func told(c *verdict.Conclusion) []string {
	w := c.Word
	switch w.Kind {
	case verdict.WordSelfTest:
		if w.Claim.Loaded {
			return []string{selfTest(w), twice(c), "What is left out or changed is not known: both states as text would show it."}
		}
		return []string{selfTest(w), twice(c), "The cause is not known: " + separates(c) + "."}
	case verdict.WordReplay:
		return []string{departing(w), twice(c), "The cause is not known: " + separates(c) + "."}
	case verdict.WordSums:
		out := []string{sumsTold(w)}
		if text := mutual(w); text != "" {
			out = append(out, text)
		}
		text := "Nothing else here shows "
		if len(out) > 1 {
			text = "Nothing else shows "
		}
		return append(out, text+unknown(w)+": "+wanted(c)+".")
	}
	if w.Kind == verdict.WordData {
		return []string{dataTold(w), "That is no divergence of a game: the machines need the same version, maps and mods first."}
	} else if w.Claim.Data {
		return []string{said(w), "That is about data before the game, and no divergence of one: the machines need the same version, maps and mods first."}
	}
	if w.Claim.Told {
		return []string{
			"A person writes: " + prose.Quote(w.Claim.Text) + ".",
			"Nothing in the text was understood as values of two peers, a state or a message of a game, and " + wanted(c) + ".",
		}
	}
	if len(w.Claim.Values) > 1 {
		return []string{said(w), "Nothing confirms these values yet: no state and no log was compared, and " + wanted(c) + "."}
	}
	return []string{said(w), "Nothing confirms it yet: no state and no checksum was compared, and " + wanted(c) + "."}
}

// unknown names what a message with two checksums does not show. It may show when they differ, and a value that differs.
func unknown(w *verdict.Word) string {
	when, what := "when they diverged", "what differs"
	if w.At != nil {
		when = "since when"
	}
	isNamed := func(v tracediff.ClaimedValue) bool { return strings.Contains(strings.TrimSpace(v.Value), " ") }
	if w.Claim.Of != "" || slices.ContainsFunc(w.Claim.Values, isNamed) {
		what = "what else differs"
	}
	return when + ", or " + what
}

// speaker names the game.
func speaker(w *verdict.Word) string {
	if w.Engine == "" {
		return "The game"
	}
	return w.Engine
}

// isUnowned reports whether the peer of a log is called after the log itself.
func isUnowned(l verdict.WordLog) bool {
	return l.By == verdict.OwnerByPath && strings.Contains(l.Peer, ".")
}

// writer names the peer whose program wrote a message: "in the log of Bob".
func writer(w *verdict.Word) string {
	switch {
	case w.By == "":
		return ""
	case slices.ContainsFunc(w.Logs, func(l verdict.WordLog) bool { return l.Peer == w.By && isUnowned(l) }):
		return "in " + w.By // called after the file itself
	case slices.ContainsFunc(w.Logs, func(l verdict.WordLog) bool { return l.Peer == w.By }):
		return "in the log of " + w.By
	}
	return "on " + w.By
}

// said quotes the message.
func said(w *verdict.Word) string {
	text := speaker(w) + " reports"
	if w.Kind == verdict.WordQuoted {
		text = "Quoted, perhaps by a person:"
	} else if by := writer(w); by != "" {
		text += " " + by
	}
	quote := prose.Quote(w.Claim.Text)
	text += " " + quote
	if w.At != nil {
		text += ", in " + tick(*w.At)
	}
	isCut := func(g verdict.WordSum) bool {
		return !strings.Contains(quote, strings.TrimSuffix(shownSum(g.Sum), "…"))
	}
	if of := w.Claim.Of; of != "" {
		text += ", about " + of
	}
	if n := len(w.Sums); n > 1 && n <= maxTold && slices.ContainsFunc(w.Sums, isCut) {
		text += ": " + strings.Join(lists.Map(w.Sums, func(g verdict.WordSum) string { return sumTold(&g) }), ", ")
	}
	if w.Claim.Reported && len(w.Accused) > 1 {
		text += fmt.Sprintf("; %s report it at the same time", upTo(w.Accused, maxTold))
		if w.AllAtOnce() {
			text += ": they are one side, the peer that they left is the other, and either side may be wrong"
		}
		return text + "."
	} else if w.Claim.Reported {
		return text + "."
	}
	if w.AllAtOnce() {
		return text + fmt.Sprintf(". It accuses %s at once: they are one side, the peer that accuses them is the other, and either side may be wrong.", upTo(w.Accused, maxTold))
	}
	if len(w.Accused) > 0 {
		text += "; it accuses " + upTo(w.Accused, maxTold)
	}
	return text + "."
}

// sumsTold describes which peer has which checksum according to a game's message.
func sumsTold(w *verdict.Word) string {
	text := speaker(w) + " reports"
	if by := writer(w); by != "" && len(w.Mutual) == 0 {
		text += " " + by
	}
	text += " that the peers had diverged"
	if w.At != nil {
		text += " by " + tick(*w.At)
	}
	var parts []string
	right := ""
	for i := range w.Sums[:min(len(w.Sums), maxTold)] {
		if g := &w.Sums[i]; len(g.Peers) == 0 && g.Right {
			right = fmt.Sprintf("; it expected %s", shownSum(g.Sum))
			continue
		}
		parts = append(parts, sumTold(&w.Sums[i]))
	}
	if n := len(w.Sums) - maxTold; n > 0 {
		parts = append(parts, prose.Count(n, "more checksum is stated", "more checksums are stated"))
	}
	if of := w.Claim.Of; of != "" {
		parts[0] = of + ": " + parts[0]
	}
	if w.Others > 0 {
		right += "; " + prose.Count(w.Others, "other value differs", "other values differ") + " too"
	}
	return text + ": " + strings.Join(parts, ", ") + right + "."
}

// dataTold reports that machines had different data before a game.
func dataTold(w *verdict.Word) string {
	text := speaker(w) + " reports"
	if by := writer(w); by != "" {
		text += " " + by
	}
	text += " that the machines had different data before the game began: "
	var parts []string
	for i := range w.Sums[:min(len(w.Sums), maxTold)] {
		parts = append(parts, sumTold(&w.Sums[i]))
	}
	if len(parts) == 0 {
		parts = []string{prose.Quote(w.Claim.Text)}
	}
	return text + strings.Join(parts, ", ") + "."
}

// sumWidth is how many columns of a checksum a sentence shows.
const sumWidth = 36

// shownSum returns a checksum for a sentence. One that is so long that it has quotation marks loses them with its end.
func shownSum(sum string) string {
	bare, long := strings.CutPrefix(sum, "“")
	short := prose.Shorten(bare, sumWidth)
	if begin := strings.TrimSuffix(short, "…"); long && begin != short && strings.Trim(begin, "0123456789abcdefABCDEFx") == "" {
		return short
	}
	return prose.Shorten(sum, sumWidth)
}

func sumTold(g *verdict.WordSum) string {
	sum := shownSum(g.Sum)
	verb := "has"
	if len(g.Peers) > 1 {
		verb = "have"
	}
	switch {
	case len(g.Peers) == 1 && g.Peers[0] == "expected":
		return sum + " was expected"
	case len(g.Peers) == 1 && g.Peers[0] == "actual":
		return sum + " was found"
	case len(g.Peers) == 1 && slices.Contains([]string{"computed", "calculated", "received"}, g.Peers[0]):
		return sum + " was " + g.Peers[0]
	case len(g.Peers) == 0:
		return "the log itself has " + sum
	case g.Right:
		return fmt.Sprintf("%s %s %s, which was expected", upTo(g.Peers, maxTold), verb, sum)
	}
	return fmt.Sprintf("%s %s %s", upTo(g.Peers, maxTold), verb, sum)
}

// mutual names the peers that accuse each other, "" if none do.
func mutual(w *verdict.Word) string {
	pairs := lists.Map(w.Mutual, func(p [2]string) string { return p[0] + " and " + p[1] })
	if len(pairs) == 0 {
		return ""
	}
	text := upTo(pairs, maxTold) + " accuse each other"
	var matched []string
	for _, log := range w.Logs {
		if log.By == verdict.OwnerMatched {
			matched = append(matched, fmt.Sprintf("%s is the log of %s", log.Called, log.Peer))
		}
	}
	if len(matched) > 0 {
		text += ", so " + upTo(matched, maxTold)
	}
	return text + "."
}

// wanted names the files that would show more, and the peers that have them.
func wanted(c *verdict.Conclusion) string {
	absent := c.Word.Absent()
	switch {
	case c.Word.Claim.Told:
		return "the files of two peers of that match would show more"
	case len(absent) > 0:
		return fmt.Sprintf("the files of %s would show more", upTo(absent, maxTold))
	case len(c.Word.Logs) > 1:
		return "states or hashes of both would show more"
	}
	return "the files of another peer would show more"
}

// selfTest reports that a self-test failed.
func selfTest(w *verdict.Word) string {
	text := "One machine computed two results"
	if w.At != nil {
		text += " in " + tick(*w.At)
	}
	text += fmt.Sprintf(": the self-test of %s reports %s", cmp.Or(w.Engine, "the game"), prose.Quote(w.Claim.Text))
	return text + "."
}

// departing reports that a replay departs from its recording.
func departing(w *verdict.Word) string {
	text := "A replay differs from its recording"
	if w.At != nil {
		text += " in " + tick(*w.At)
	}
	return fmt.Sprintf("%s: %s reports %s.", text, cmp.Or(w.Engine, "the game"), prose.Quote(w.Claim.Text))
}

// twice explains what it means if one game was computed twice, with two results.
func twice(c *verdict.Conclusion) string {
	if c.Runs == verdict.RunsOfReplay {
		return fmt.Sprintf("The %s is the recording, the %s the replay: either the game does not compute the same each time, or the replay was made with another build, with other data or on another kind of machine.", tracediff.FirstRun, tracediff.SecondRun)
	}
	if w := c.Word; w != nil && w.Claim.Loaded {
		return "They differ before the tick is computed: where the second run has only just loaded what the first saved, saving and loading changed the state; in a rejoin test ticks may lie between."
	}
	return "The inputs were the same: either the game does not compute the same each time, or what it saves and loads again is not all of its state."
}

// separates describes what would distinguish these.
func separates(c *verdict.Conclusion) string {
	if c.Runs == verdict.RunsOfReplay {
		return "a second replay by the same build on the machine that recorded it would tell these apart"
	}
	return "the same test again would tell these apart, if the same inputs then fail in another tick, or in none"
}

// files names what a game leaves.
func files(list []string) string {
	if len(list) == 0 {
		return "the log of the game"
	}
	return strings.Join(list, "; ")
}

// tellPeers describes which peers agree according to a game's message.
func tellPeers(c *verdict.Conclusion) (found, evidence string) {
	w := c.Word
	if len(w.Torn) > 0 {
		return "not known", "the messages give " + join(w.Torn, "and") + " two checksums of one tick"
	}
	var parts []string
	for i := range w.Sums {
		g := &w.Sums[i]
		switch {
		case len(g.Peers) > 0:
			parts = append(parts, strings.Join(g.Peers, " = "))
		case g.Right:
			parts = append(parts, "what the server expected")
		default:
			parts = append(parts, "the log's own")
		}
	}
	evidence = "by the checksums in the messages"
	if w.Claim.Of != "" {
		evidence = "by the values in the messages"
	}
	if c.Majority > 0 {
		evidence += "; the majority may be wrong"
	}
	return strings.Join(parts, " ≠ "), evidence
}

// tellClaims describes how far a game's message goes.
func tellClaims(c *verdict.Conclusion) (found, evidence string) {
	quote := prose.Quote(c.Word.Claim.Text)
	switch c.Word.Kind {
	case verdict.WordSelfTest:
		return "a self-test failed", quote
	case verdict.WordReplay:
		return "the replay departs", quote
	case verdict.WordSums:
		if c.Word.Claim.Of != "" {
			return "two values of one tick", quote
		}
		return "two checksums of one tick", quote
	case verdict.WordQuoted:
		if c.Word.Claim.Told {
			return "a person's words", quote
		}
		return "quoted, perhaps", quote
	case verdict.WordData:
		return "different data", quote
	}
	return "nothing confirms it yet", quote
}

// tellPreflight counts the peers and the peers with a log.
func tellPreflight(c *verdict.Conclusion) string {
	logs, all := 0, len(c.Peers)
	for i := range c.Peers {
		if !c.Peers[i].Mentioned {
			logs++
		}
	}
	if c.Runs != verdict.RunsOfPeers {
		return "two runs of one game"
	}
	text := prose.Count(all, "peer", "peers")
	if c.Word == nil {
		return fmt.Sprintf("%s, %d only mentioned", text, all-logs)
	}
	switch {
	case c.Word.Claim.Told:
		return "a text that a person wrote"
	case c.Word.Kind == verdict.WordQuoted && logs > 0:
		return named(c, "a text that may quote a message")
	case isPost(c.Word):
		return named(c, "a text with messages")
	case logs == 0 || all > 2 && isOfOthers(c.Word):
		return prose.Count(all-logs, "peer", "peers") + ", only mentioned: the owner of the log is not known"
	case logs == all && all == 1:
		return text + ", with a log"
	case logs == all:
		return text + ", each with a log"
	}
	return fmt.Sprintf("%s, %d of them with a log", text, logs)
}

// named counts the peers that a text names.
func named(c *verdict.Conclusion, text string) string {
	if n := len(lists.Where(c.Peers, func(p document.TriagedPeer) bool { return p.Mentioned || p.Group > 0 })); n > 1 {
		return prose.Count(n, "peer", "peers") + ", in " + text
	}
	return text
}

// isOfOthers reports whether the only log is called after itself and has the values of two or more peers: one may be its owner.
func isOfOthers(w *verdict.Word) bool {
	isOwn := func(g verdict.WordSum) bool { return slices.Contains(g.Peers, w.By) || len(g.Peers) == 0 }
	return len(w.Logs) == 1 && isUnowned(w.Logs[0]) && len(w.Sums) > 1 && !slices.ContainsFunc(w.Sums, isOwn)
}

// isPost reports whether messages are from one text for people, not from a log.
func isPost(w *verdict.Word) bool {
	return len(w.Logs) == 1 && w.Logs[0].By == verdict.OwnerByPath && slices.Contains([]string{".md", ".markdown", ".html"}, strings.ToLower(filepath.Ext(w.Logs[0].File)))
}

// nextTold returns which files to ask for, and which peers, by name.
func nextTold(c *verdict.Conclusion) []document.Step {
	switch c.Runs {
	case verdict.RunsOfSelfTest:
		if c.Word.Claim.Loaded {
			return []document.Step{advice("have the game write both states as text, and give them to desynctool diff")}
		}
		return []document.Step{
			advice("run the same test of the same inputs again, twice or more: if it fails in another tick, or not at all, the game does not compute the same each time"),
			advice("if it fails in the same tick each time, look for state that is not saved, or not loaded again as it was"),
			advice("have the game save both states of that tick, and give them to desynctool diff"),
		}
	case verdict.RunsOfReplay:
		return []document.Step{
			advice("replay it again by the same build, with the same data, on the machine that recorded it: if it agrees then, the build, the data or the machine made the difference"),
			advice("if it departs again, replay it twice and compare both replays: if these differ from each other, the game does not compute the same each time"),
		}
	}
	if c.Word.Claim.Data {
		return []document.Step{advice("compare the version, the maps and the mods of both machines, or check the game's files on both")}
	}
	var out []document.Step
	var leaves string
	for _, n := range c.Lacking {
		if n.What == verdict.StatesOrHashes {
			text := "ask " + upTo(n.Of, maxTold) + " for states of that match, or hashes of them"
			if len(n.Files) > 0 {
				text += ": " + files(n.Files)
			}
			return append(out, advice("%s", text))
		}
		leaves = files(n.Files)
	}
	absent := c.Word.Absent()
	of := "another peer"
	if c.Word.Claim.Told {
		of = "two peers"
	}
	if n := len(absent) - maxAsked; n > 0 {
		of = fmt.Sprintf("%s and %d more, which the list of peers names,", strings.Join(absent[:maxAsked], ", "), n)
	} else if n > -maxAsked {
		of = join(absent, "and")
	}
	out = append(out, advice("ask %s for these files of that match: %s", of, leaves))
	if c.Ask != "" {
		out = append(out, ask(c))
	}
	return out
}

// maxAsked is how many peers are named.
const maxAsked = 8
