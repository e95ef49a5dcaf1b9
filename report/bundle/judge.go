package bundle

import (
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/desynctool/desynctool/internal/file/files"
	"github.com/desynctool/desynctool/internal/prose"
	"github.com/desynctool/desynctool/report/document"
	"github.com/desynctool/desynctool/report/verdict"
	"github.com/desynctool/desynctool/report/words"
)

// judge notes what was lost, what can be narrowed, and what to ask for.
func (d *doctor) judge() {
	for _, x := range d.files {
		for _, t := range x.Trouble {
			d.troubled(x, t)
		}
		d.checkup.Files = append(d.checkup.Files, x.CheckedFile)
	}
	for _, lost := range d.s.Lost() {
		path, text, _ := strings.Cut(lost, ": ")
		if !slices.ContainsFunc(d.checkup.Lost, func(l string) bool { return strings.HasPrefix(l, path+": ") && strings.HasSuffix(l, text) }) {
			d.checkup.Lost = append(d.checkup.Lost, lost)
		}
	}
	d.checkup.Warnings = append(d.checkup.Warnings, d.s.Warnings()...)
	for _, lost := range d.tree.Lost() {
		switch lost.Why {
		case files.Encrypted:
			d.ask("", "the archive without a password")
		case files.Unreadable:
			d.ask("", "the archive again: a part of it could not be read")
		}
	}
	if len(d.peers) < 2 {
		d.lone()
	}
	d.narrowing()
	d.checkup.Ask = d.text()
}

// troubled weighs what is wrong with a file: evidence that is lost, or a warning if other
// files make up for it.
func (d *doctor) troubled(x *examined, t document.FileTrouble) {
	needless := t.Kind == "misnamed" || t.Kind == "duplicate"
	if t.Kind == "stale" {
		needless = !slices.ContainsFunc(d.peers, func(p *patient) bool { return p.Name == x.Peer && !p.usable() })
	}
	if needless {
		d.checkup.Warnings = append(d.checkup.Warnings, prose.Path(x.Path)+": "+t.Text)
		return
	}
	d.lose("%s: %s: %s", prose.Path(x.Path), t.Kind, t.Text)
	name := prose.Path(filepath.Base(x.Path))
	switch t.Kind {
	case "stale":
		d.ask(x.Peer, "your files of this match: the files that we have belong to another one")
	case "lacking", "several", "limit", "not opened": // the files contain no more, or the reader of the report may raise the limit
	case "contradicted":
		d.ask(x.Peer, "%s again, the original: our copy contradicts itself or your other files", name)
	case "empty":
		d.ask(x.Peer, "%s again: the one that we have is empty. Please close the game before you copy it", name)
	case "truncated":
		d.ask(x.Peer, "%s again: the one that we have is cut off. Please close the game before you copy it", name)
	default:
		d.ask(x.Peer, "%s again: the one that we have is damaged", name)
	}
}

// stepNames are the names that a checkup has for the steps of a triage.
var stepNames = map[verdict.Step]string{
	verdict.StepInputs: "inputs", verdict.StepBracket: "window", verdict.StepTick: "tick", verdict.StepSystem: "system", verdict.StepField: "values",
}

// narrowing notes which steps the evidence allows, and which files would allow more.
func (d *doctor) narrowing() {
	var states, hashes, checkpoints bool
	prospects := verdict.Prospects(d.covered(), d.s.Engine())
	d.checkup.Next = document.StepLines(words.Ahead(d.s.Given(), d.s.Engine(), prospects))
	for _, p := range prospects {
		d.checkup.Steps = append(d.checkup.Steps, document.NarrowingStep{Step: stepNames[p.Step], Can: p.Can, Why: words.Prospect(&p)})
		switch p.Step {
		case verdict.StepBracket:
			states = p.Can
		case verdict.StepTick:
			hashes, checkpoints = p.By == verdict.CoversHashes && p.Can, p.By == verdict.CoversCheckpoints && p.Can
		}
	}
	if len(d.peers) < 2 {
		return
	}
	if !states && !hashes && !checkpoints {
		d.lose("nothing that can be compared: no states of the same state point, and no hashes or checkpoints of the same ticks, from two peers")
	}
	d.askForStates(states)
	d.askForThoseOfOne("orders", "order log", "order log or replay")
	if !hashes {
		d.askForThoseOfOne("checkpoints", "checksum trace", "checksum trace or sync log")
	}
}

// covered returns what the peers' evidence covers.
func (d *doctor) covered() (list []verdict.Covered) {
	for _, p := range d.peers {
		spans := p.Covers
		kind := func(what string) int {
			return slices.IndexFunc(spans, func(c document.Coverage) bool { return c.What == what })
		}
		if i := kind("signatures"); i >= 0 && kind("hashes") < 0 { // a signature contains the hash of the state
			spans = append(slices.Clip(spans), spans[i])
			spans[len(spans)-1].What = "hashes"
		}
		list = append(list, verdict.Covered{
			Name: p.Name, Spans: spans, Points: slices.Sorted(maps.Keys(p.points)), FromStart: p.first, Systems: p.systems,
		})
	}
	return list
}
