package words

import (
	"fmt"
	"slices"

	"github.com/desynctool/desynctool/bisect"
	"github.com/desynctool/desynctool/internal/lists"
	"github.com/desynctool/desynctool/report/verdict"
)

// whoWitnessed names the peer that is wrong according to the game's replays of the recordings.
func whoWitnessed(c *verdict.Conclusion) string {
	w := c.Witnessed
	switch {
	case len(c.Guilty) > 0 && c.Borrowed != nil:
		return fmt.Sprintf("Wrong, by the log of %s alone: %s. %s does what %s computes of it; the log of %s is not there, so it may have been given other orders.",
			c.Borrowed.From, join(c.Guilty, "and"), c.Borrowed.From, w.Game, c.Borrowed.Peer)
	case len(c.Guilty) > 0:
		text := fmt.Sprintf("%s: %s, which %s from what %s computes of %s", wrongly(w), join(c.Guilty, "and"), verb(c.Guilty, "departs", "depart"), w.Game, ownLogs(c.Guilty))
		if good := innocent(c); len(good) > 0 {
			text += fmt.Sprintf("; %s %s with it", join(good, "and"), verb(good, "agrees", "agree"))
		}
		return text + "."
	}
	return "Which peer is wrong is not known: " + unwitnessed(c) + "."
}

// wrongly begins the sentence of who is wrong.
func wrongly(w *bisect.Witnessed) string {
	if len(w.Forced) > 0 {
		return "Wrong, by another version, which was forced to play"
	}
	return "Wrong"
}

// unwitnessed explains why replays by the game do not show which peer is wrong.
func unwitnessed(c *verdict.Conclusion) string {
	w := c.Witnessed
	departing := departingOf(w)
	switch {
	case w.Differ != nil:
		return "the game does not do the same twice, " + differing(w)
	case w.Elsewhere(c.Bracket):
		return fmt.Sprintf("%s %s from what %s computes of %s before the peers diverged, so it is not the game that they played: another version, other data or other settings",
			join(departing, "and"), verb(departing, "departs", "depart"), w.Game, ownLogs(departing))
	case len(departing) > 0 && len(w.Forced) > 0:
		return fmt.Sprintf("%s %s from what %s computes of %s, which may be what the other version does (%s)", join(departing, "and"), verb(departing, "departs", "depart"), w.Game, ownLogs(departing), w.Forced[0])
	case len(departing) > 1:
		return fmt.Sprintf("%s all depart from the results of %s for their logs", join(departing, "and"), w.Game)
	case c.Replayed:
		return fmt.Sprintf("as far as it can be compared, each peer does what %s computes of its log", w.Game)
	case len(w.Failed) > 0:
		return w.Failed[0]
	}
	return fmt.Sprintf("the files that %s leaves cannot be compared with the files of the peers", w.Game)
}

// differing describes where two replays of the same orders diverge.
func differing(w *bisect.Witnessed) string {
	of := "the log of " + join(w.Twice, "and")
	if len(w.Twice) > 1 {
		of = "the logs of " + join(w.Twice, "and")
	}
	when := "before " + point(verdict.MomentOf(w.Differ.Bad))
	if g := w.Differ.Good; g != nil {
		when = between(verdict.MomentOf(*g), verdict.MomentOf(w.Differ.Bad))
	}
	return fmt.Sprintf("two replays of %s by %s, which has the same orders, diverge %s", of, w.Game, when)
}

// departingOf returns the peers that depart from their replays.
func departingOf(w *bisect.Witnessed) (names []string) {
	if w == nil {
		return nil
	}
	for i := range w.Replays {
		if r := &w.Replays[i]; r.Departs != nil {
			names = append(names, r.Peer)
		}
	}
	return names
}

// innocent returns the peers that agree with their replays until the peers had diverged.
func innocent(c *verdict.Conclusion) (names []string) {
	for i := range c.Witnessed.Replays {
		r := &c.Witnessed.Replays[i]
		if !slices.Contains(c.Guilty, r.Peer) && (r.Departs != nil || r.Agrees != nil && *r.Agrees >= c.Bracket.Bad.Tick) {
			names = append(names, r.Peer)
		}
	}
	return names
}

// verb returns a form by how many there are.
func verb(list []string, one, more string) string {
	if len(list) == 1 {
		return one
	}
	return more
}

// ownLogs names the logs that were played.
func ownLogs(list []string) string { return verb(list, "its own log", "their own logs") }

// witnessedLine is what the replays show, for a table.
func witnessedLine(c *verdict.Conclusion) string {
	w := c.Witnessed
	switch {
	case w.Differ != nil:
		return w.Game + " does not do the same twice"
	case len(c.Guilty) > 0:
		return "from the replay of its log by " + w.Game
	case w.Elsewhere(c.Bracket):
		return w.Game + " is not the game that they played"
	case !c.Replayed:
		return w.Game + " could not play the recordings"
	}
	return "the replays by " + w.Game + " do not separate them"
}

// witnessNotes describes how each peer compares with the replay of its log, and whether the game does the same twice.
func witnessNotes(c *verdict.Conclusion) (out []string) {
	w := c.Witnessed
	if w == nil {
		return nil
	}
	for i := range w.Replays {
		r := &w.Replays[i]
		switch {
		case r.Departs != nil && r.Departs.Good != nil:
			out = append(out, fmt.Sprintf("%s departs from the replay of its log by %s %s", r.Peer, w.Game, between(verdict.MomentOf(*r.Departs.Good), verdict.MomentOf(r.Departs.Bad))))
		case r.Departs != nil:
			out = append(out, fmt.Sprintf("%s differs from the replay of its log by %s %s; earlier ones were not compared", r.Peer, w.Game, at(verdict.MomentOf(r.Departs.Bad))))
		case r.Agrees != nil:
			out = append(out, fmt.Sprintf("%s agrees with the replay of its log by %s up to state point %d, the last that was compared", r.Peer, w.Game, *r.Agrees))
		default:
			out = append(out, fmt.Sprintf("the replay of %s's log by %s cannot be compared with the files of %s: %s", r.Peer, w.Game, r.Peer, r.Why))
		}
	}
	if w.Differ != nil {
		out = append(out, differing(w))
	} else if len(w.Twice) > 0 {
		of := "two replays of the log of " + w.Twice[0]
		if len(w.Twice) > 1 {
			of = "the replays of the logs of " + join(w.Twice, "and") + ", which have the same orders,"
		}
		out = append(out, of+" do not differ in what was compared")
	}
	out = append(out, lists.Map(w.Forced, func(text string) string { return text + "; it was played all the same" })...)
	if w.Narrowed {
		out = append(out, "the replays narrow the stretch in which the peers diverged")
	}
	return out
}

// departsAlone reports that peers depart from their replays though nothing shows that the peers differ from each other,
// empty if none does.
func departsAlone(c *verdict.Conclusion) string {
	w := c.Witnessed
	switch list := departingOf(w); {
	case w == nil:
		return ""
	case w.Differ != nil:
		return "The game does not do the same twice: " + differing(w) + "."
	case len(list) == 0:
		return ""
	default:
		return fmt.Sprintf("Yet %s %s from what %s computes of %s: it went wrong where nothing of the others shows it, or the game is not the one that they played.",
			join(list, "and"), verb(list, "departs", "depart"), w.Game, ownLogs(list))
	}
}
