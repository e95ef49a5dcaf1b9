package words

import (
	"fmt"
	"strings"

	"github.com/desynctool/desynctool/internal/prose"
	"github.com/desynctool/desynctool/report/verdict"
)

// Prospect describes why evidence can answer a step, or why it cannot.
func Prospect(p *verdict.Prospect) string {
	p = theirs(p)
	switch p.Step {
	case verdict.StepBracket, verdict.StepField:
		switch {
		case p.Can:
			return fmt.Sprintf("states of %s that two peers or more have, %d to %d", prose.Count(p.Points, "state point", "state points"), p.From, p.To)
		case len(p.Have) > 1:
			return "no two peers have a state of the same state point"
		}
		return lacking("states", p)
	case verdict.StepSystem:
		switch {
		case p.Can:
			return fmt.Sprintf("traces of %d peers with checkpoints inside ticks", len(p.Have))
		case len(p.Needs) > 0 && p.Needs[0].What == verdict.SystemTraces:
			return "the checkpoints are of whole ticks"
		}
		if len(p.Needs) == 0 && len(p.Unmade) > 0 {
			return "no file of this game has checkpoints inside ticks"
		}
		return "no traces of the same ticks from two peers; a simulator may replay the tick (bisect --sim --drill)"
	case verdict.StepTick:
		switch {
		case p.Can && p.By == "":
			return "by replaying the orders in a simulator (bisect --sim)"
		case !p.Can:
			return "no hashes or checkpoints of the same ticks from two peers"
		}
	}
	switch {
	case p.Can && len(p.Lack) > 0:
		return fmt.Sprintf("%s of %d peers, ticks %d to %d in common; %s", p.By, len(p.Have), p.From, p.To, lackText(p))
	case p.Can:
		return fmt.Sprintf("%s of %d peers, ticks %d to %d in common", p.By, len(p.Have), p.From, p.To)
	case len(p.Have) > 1:
		return fmt.Sprintf("no two peers have %s of the same ticks", p.By)
	}
	return lacking(p.By, p)
}

func lacking(what string, p *verdict.Prospect) string {
	if len(p.Have) == 1 {
		return fmt.Sprintf("%s of %s only; %s", what, p.Have[0], lackText(p))
	}
	return fmt.Sprintf("no %s of any peer", what)
}

func lackText(p *verdict.Prospect) string {
	if len(p.Lack) == 0 {
		return "there are no other peers"
	}
	return strings.Join(p.Lack, ", ") + " left none"
}
