// Package verdict concludes what happened to a session from all of its evidence: whether the peers diverged, in which
// tick, which system of it, which archetype, which component, who is wrong, and what kind of mistake looks like that.
// It is the only place that decides any of this.
//
// Each step takes what one comparison found. A step that the evidence does not answer stays
// open, with the artifacts that would close it. Everything in a Conclusion is typed, so that
// it can be written down as a literal and compared; package words makes sentences of it.
//
//	session  → Evidence → Conclude → *Conclusion → words.Report → document.Report
package verdict

import (
	"slices"
	"strings"

	"github.com/desynctool/desynctool/bisect"
	"github.com/desynctool/desynctool/internal/prose"
	"github.com/desynctool/desynctool/orderlog"
	"github.com/desynctool/desynctool/report/document"
	"github.com/desynctool/desynctool/snapshot"
)

// Conclude draws the conclusion. Without a divergence the conclusion has none; if nothing could be compared, it lists
// what would be needed. The same evidence gives the same Conclusion. An error comes from Evidence.Within.
func Conclude(e Evidence) (*Conclusion, error) {
	c := &Conclusion{Given: e.Given, Session: e.Session, Engine: e.Engine, Replayer: e.Replayer, Facts: differing(e.Facts), Stated: e.Stated, Covers: e.Covers, Lost: unique(e.Lost), Warnings: e.Warnings}
	if l := e.Lab; l != nil {
		c.Simulators.Sim = l.Sim
		if l.Given {
			c.Simulators.Own = l.Own
		}
	}
	if e.Bisect == nil {
		c.alone()
		if c.hear(e); c.Word != nil {
			c.answerWord()
			c.rests()
			c.fingerprints(nil)
		}
		c.gameLogs(e)
		c.lastly(e)
		return c, nil
	}
	e = withoutNoise(e)
	if c.Witnessed = e.Bisect.Witnessed; c.Witnessed != nil {
		c.Simulators.Sim = c.Witnessed.Spec
	}
	c.Paths = map[string]string{}
	for _, p := range e.Bisect.Peers {
		c.Paths[p.Name] = p.Path
	}
	c.inputs(e)
	c.kind(e)
	if c.Bracket != nil {
		if err := c.narrow(e); err != nil {
			return nil, err
		}
	}
	c.recorded(e)
	c.checkSums(e)
	c.statements(e)
	c.crossCheck(e)
	c.show(e)
	c.lost(e)
	c.hear(e)
	c.code(e)
	t := observe(e, c)
	c.causes(e, t)
	c.causeByCode()
	c.answer(e)
	c.rests()
	c.fingerprints(t)
	c.gameLogs(e)
	c.lastly(e)
	return c, nil
}

// withoutNoise returns the evidence without a difference between states that is probably noise: every checksum agrees, and
// nothing but values which are not entities' differs, in each dump of several ticks.
func withoutNoise(e Evidence) Evidence {
	if e.Bisect.Kind != bisect.BlindChecksum || len(e.LikelyNoise) == 0 {
		return e
	}
	b := *e.Bisect
	b.Kind, b.Bracket, b.Groups, b.Splits, b.Caches = "", nil, nil, nil, nil
	b.Notes = slices.DeleteFunc(slices.Clone(b.Notes), func(text string) bool { return text == b.Blind })
	b.Lost = append(slices.Clone(b.Lost), prose.Few(e.LikelyNoise, 5)+": the only difference, in every state, while every checksum agrees: probably noise, and not compared")
	e.Bisect, e.Parted, e.Diff = &b, nil, nil
	return e
}

// differing returns the facts that are not the same on all peers.
func differing(facts []document.Fact) []document.Fact {
	return slices.DeleteFunc(slices.Clone(facts), func(f document.Fact) bool { return !f.Differs() })
}

// kind takes over where the peers diverged, and names the divergence: by the order logs, where states and checksums
// show nothing of it.
func (c *Conclusion) kind(e Evidence) {
	b := e.Bisect
	c.Kind, c.Bracket, c.Exact, c.Groups = b.Kind, b.Bracket, b.Exact, b.Groups
	c.Cache, c.Caches = staleCache(e), b.Caches
	c.LikelyNoise = c.Kind == bisect.StateDiffers && (e.OnlyNoise || len(e.LikelyNoise) > 0)
	for i := range b.Noise {
		if label := b.Noise[i].Label; !slices.Contains(c.Noise, label) {
			c.Noise = append(c.Noise, label)
		}
	}
	if c.Bracket != nil {
		c.InitialState, c.Loaded, c.OnlyHistories = b.InitialState, b.Loaded, b.OnlyHistories
		if b.Healed != nil {
			healed := MomentOf(*b.Healed)
			c.Healed = &healed
		}
		c.Splits = b.Splits
		c.Within = b.Healed != nil && b.Healed.Same(b.Bracket.Bad) && b.Bracket.By == bisect.ByChecksums
	}
	c.SimFailed = b.SimFailed
	logs := e.Orders != nil && (e.Orders.Verdict == orderlog.Simulation || e.Orders.Verdict == orderlog.InitialState || e.Orders.State.First != nil)
	diverged := b.Diverged() || logs || c.Inputs.Differ() || slices.ContainsFunc(b.Traces, diverged) || slices.ContainsFunc(e.Traces, diverged)
	switch {
	case c.Kind != "" || !diverged:
	case c.Bracket == nil && c.Inputs.Differ():
		c.Kind = bisect.InputsDiffer
	case c.Cache != nil:
		c.Kind = bisect.StaleCache
	default:
		c.Kind = bisect.StateDiffers
	}
}

// lastly takes the warnings about the evidence, and the text that asks for more.
func (c *Conclusion) lastly(e Evidence) {
	if b := e.Bisect; b != nil {
		c.Warnings = unique(slices.Concat(b.Warnings, warningsOf(e.Orders), e.Warnings))
	}
	if e.Ask != nil && !(c.Word != nil && c.Word.Claim.Data) && (!c.Diverged() || c.Tick == nil) && (len(c.Lost)+len(c.Lacking) > 0 || c.Alone) {
		c.Ask = e.Ask()
	}
}

func warningsOf(o *orderlog.Comparison) []string {
	if o == nil {
		return nil
	}
	return o.Warnings
}

// unique returns texts without repetitions.
func unique(list []string) (out []string) {
	for _, text := range list {
		if !slices.Contains(out, text) {
			out = append(out, text)
		}
	}
	return out
}

// alone concludes of evidence that cannot be compared: every step is open.
func (c *Conclusion) alone() {
	c.Alone = true
	var names []string
	for i := range c.Covers {
		p := &c.Covers[i]
		t := document.TriagedPeer{Name: p.Name}
		if s, ok := p.span(CoversStates); ok {
			t.Snapshots = int(s.Count)
		}
		_, t.OrderLog = p.span(CoversOrders)
		_, t.Trace = p.span(CoversCheckpoints)
		c.Peers = append(c.Peers, t)
		names = append(names, p.Name)
		c.Held.States += t.Snapshots
		c.Held.Logs += btoi(t.OrderLog)
		c.Held.Traces += btoi(t.Trace)
	}
	if len(c.Covers) < 2 {
		c.Lacking = []Need{{What: OtherPeer, Of: names}}
	} else {
		c.Lacking = needs(StatesOrHashes)
	}
	c.put(StepPreflight, document.RungTrouble)
	for _, p := range Prospects(c.Covers, c.Engine) {
		c.put(p.Step, document.RungOpen, slices.Concat(p.Needs, p.Unmade)...)
	}
}

func btoi(b bool) int {
	if b {
		return 1
	}
	return 0
}

// lost adds up what is lost or lacking.
func (c *Conclusion) lost(e Evidence) {
	c.Notes = e.Bisect.Notes
	list := slices.Concat(e.Bisect.Lost, e.Lost)
	if c.Witnessed != nil {
		list = append(list, c.Witnessed.Failed...)
	}
	if o := e.Orders; o != nil {
		for i := range o.Peers {
			if text := o.Peers[i].Error; text != "" {
				list = append(list, text)
			}
		}
		c.LogsUnsure = o.Incomplete()
	}
	// A text that goes on with how much of the file was used includes all problems of the file.
	c.Lost = slices.DeleteFunc(unique(list), func(text string) bool {
		return slices.ContainsFunc(list, func(more string) bool { return strings.HasPrefix(more, text+"; ") })
	})
	if !c.Search.Compares() {
		c.Lacking = needs(StatesOrHashes)
	}
}

// valuesDiffer reports whether the states that were compared differ in more than which columns their files have.
func (c *Conclusion) valuesDiffer() bool {
	return c.Compared != nil && c.Compared.Values+uint64(len(c.Compared.Rows)) > 0
}

// label names an archetype, or the RNG.
func label(name string) string { return snapshot.LabelName(name) }
