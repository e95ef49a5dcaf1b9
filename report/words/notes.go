package words

import (
	"fmt"
	"slices"

	"github.com/desynctool/desynctool/bisect"
	"github.com/desynctool/desynctool/internal/prose"
	"github.com/desynctool/desynctool/report/document"
	"github.com/desynctool/desynctool/report/verdict"
)

// Missing lists the evidence that is lost or missing.
func Missing(c *verdict.Conclusion) []string {
	out := append([]string{}, c.Lost...)
	for _, n := range c.Lacking {
		switch n.What {
		case verdict.StatesOrHashes:
			out = append(out, bisect.LostStates)
		case verdict.PeerFiles:
			out = append(out, Need(n)+": nothing else confirms the game's message")
		case verdict.PlayersFiles:
			out = append(out, Need(n)+": the text has nothing to compare")
		case verdict.OtherPeer:
			out = append(out, fmt.Sprintf("evidence of a second peer: there is only evidence of %s", prose.Count(len(n.Of), "peer", "peers")))
		default:
			out = append(out, Need(n))
		}
	}
	return out
}

// Contradictions lists the pieces of evidence that cannot both be right.
func Contradictions(c *verdict.Conclusion) []string {
	out := []string{}
	for i := range c.Contradictions {
		out = append(out, Contradiction(&c.Contradictions[i]))
	}
	return out
}

// Contradiction describes which evidence contradicts which.
func Contradiction(k *verdict.Contradiction) string {
	switch k.Kind {
	case verdict.InputHash:
		return fmt.Sprintf("%s: the recorded input hash of %s does not match its orders (%s)", k.Peers[0], tick(k.At), prose.Count(k.Count, "such tick", "such ticks"))
	case verdict.TraceEnd:
		return fmt.Sprintf("the trace of %s at the end of %s has %s, the state that it left there has the root %s", k.Peers[0], tick(k.At), k.Sums[0], k.Sums[1])
	case verdict.TwoSums:
		return fmt.Sprintf("the messages give %s two checksums of one tick", k.Peers[0])
	case verdict.Collision:
		return fmt.Sprintf("the sync hashes of %s and %s %s are equal and their roots are not: a collision of the first 8 bytes", k.Peers[0], k.Peers[1], at(k.At))
	}
	return k.Text
}

// Notes lists the limits of the answer.
func Notes(c *verdict.Conclusion) []string {
	out := append(full(slices.Clone(c.Notes)), witnessNotes(c)...)
	if n := c.Inputs.Misplaced; n > 0 {
		out = append(out, prose.Count(n, "order was", "orders were")+" applied out of order")
	}
	return out
}

// Claims lists the engines' own statements, compared with the evidence.
func Claims(c *verdict.Conclusion) (out []document.ClaimDocument) {
	for i := range c.Statements {
		doc := c.Statements[i].ClaimDocument
		doc.Contradictions = contradictionsOf(theirs(&c.Statements[i]))
		out = append(out, doc)
	}
	return out
}

// contradictionsOf describes what contradicts a statement.
func contradictionsOf(s *verdict.Statement) []string {
	out := full(slices.Clone(s.Contradictions))
	if s.Equal != nil {
		out = append(out, fmt.Sprintf("the states are equal %s, after that tick", at(*s.Equal)))
	}
	if len(s.Cleared) > 0 {
		verb := "agrees with the replay of its log"
		if len(s.Cleared) > 1 {
			verb = "agree with the replays of their logs"
		}
		out = append(out, fmt.Sprintf("it accuses the wrong one: %s %s", join(s.Cleared, "and"), verb))
	}
	return out
}
