package verdict

import (
	"slices"

	"github.com/desynctool/desynctool/internal/lists"
	"github.com/desynctool/desynctool/report/document"
)

// The files of a peer show only what that peer recorded. Where two peers' files agree, they confirm each other. Where
// states differ, the report shows both. Other findings rest on the files of one peer only: a forger who has that peer's
// files could have written them.

// rests finds the steps that rest on the word of one peer alone.
func (c *Conclusion) rests() {
	for i := range c.Answers {
		if a := &c.Answers[i]; a.State == document.RungFound || a.State == document.RungTrouble {
			a.RestsOn = c.restsOn(a.Step)
		}
	}
}

// restsOn returns the peers that the finding of a step depends on: each of them alone reported it, and no other peer
// confirms it. It returns nil if the finding rests on more than that.
func (c *Conclusion) restsOn(step Step) []string {
	switch step {
	case StepInputs:
		return c.orderWord()
	case StepBracket, StepTick:
		switch {
		case c.OnlyHistories && step == StepBracket:
			return eachOnce(c.Bracket.A, c.Bracket.B)
		case step == StepTick && c.TickBy == TickByWord && c.Word != nil:
			return c.Word.alone()
		}
	case StepSystem:
		if c.SystemBy == SystemByReplay {
			return eachOnce(c.Guilty...)
		}
	case StepPeers:
		switch {
		case c.Word != nil:
			return c.Word.alone()
		case len(c.Guilty) > 0:
			return c.replayedWord()
		case c.Inputs.Differ():
			return c.orderWord()
		}
	case StepCause:
		switch {
		case c.Cache != nil:
			return eachOnce(c.Cache.Peer)
		case len(c.Causes) > 0 && (c.Causes[0].Standing == Shown || c.Causes[0].Standing == NotExcluded):
			return c.replayedWord()
		}
	case StepClaims:
		if c.Word != nil {
			return c.Word.alone()
		}
		return eachOnce(lists.Map(c.Statements, func(x Statement) string { return x.By })...)
	}
	return nil
}

// orderWord returns the peers that alone show that the parting order was, or was not, applied: a log may lack an order
// that its peer applied, and have an order that no peer sent.
func (c *Conclusion) orderWord() (list []string) {
	d := c.Inputs.Parting
	if d == nil {
		return nil
	}
	if len(d.Have)+len(d.Lack) == 0 {
		if list = eachOnce(d.Peer); c.Inputs.Logs == 2 {
			list = eachOnce(d.Peer, d.Base)
		}
		return list
	}
	for _, side := range [][]string{d.Lack, d.Have} {
		if len(side) == 1 {
			list = append(list, side[0])
		}
	}
	return list
}

// alone returns the writer of the message, if no other peer's log has the same.
func (w *Word) alone() []string {
	if len(w.Mutual) > 0 {
		return nil
	}
	return eachOnce(w.By)
}

// replayedWord returns the peer with the log that was replayed, if no other peer's log has the same orders.
func (c *Conclusion) replayedWord() []string {
	switch s := c.Inputs.State; {
	case c.Borrowed != nil:
		return eachOnce(c.Borrowed.From)
	case s == InputsSame || s == InputsSameUntil || s == InputsHarmless:
		return nil
	}
	return eachOnce(c.Guilty...)
}

// eachOnce returns the names that are known, each once.
func eachOnce(names ...string) (list []string) {
	for _, name := range names {
		if name != "" && !slices.Contains(list, name) {
			list = append(list, name)
		}
	}
	return list
}
