package evidence

import (
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/desynctool/desynctool/report"
)

// judge says what was lost, what can be narrowed, and what to ask for.
func (d *doctor) judge() {
	for _, x := range d.files {
		for _, t := range x.Trouble {
			d.troubled(x, t)
		}
		d.checkup.Files = append(d.checkup.Files, x.CheckedFile)
	}
	d.checkup.Lost = append(d.checkup.Lost, d.s.Lost()...)
	d.checkup.Warnings = append(d.checkup.Warnings, d.s.Warnings()...)
	for _, l := range d.tree.Lost() {
		if strings.Contains(l, "encrypted") {
			d.ask("", "the archive without a password")
		} else {
			d.ask("", "the archive once more: a part of it could not be read")
		}
	}
	if len(d.peers) < 2 {
		who := "nobody"
		if len(d.peers) == 1 {
			who = d.peers[0].Name
		}
		d.lose("evidence of %d peer(s), at least 2 are needed", len(d.peers))
		d.ask("", "the same files from another player of that match, best of all the host: what we have is of %s alone", who)
	}
	d.narrowing()
	d.checkup.Ask = d.text()
}

// troubled weighs what is wrong with a file: evidence that is lost, or a warning if other
// files make up for it.
func (d *doctor) troubled(x *examined, t report.FileTrouble) {
	needless := t.Kind == "misnamed" || t.Kind == "duplicate"
	if t.Kind == "stale" {
		needless = !slices.ContainsFunc(d.peers, func(p *patient) bool { return p.Name == x.Peer && !p.usable() })
	}
	if needless {
		d.checkup.Warnings = append(d.checkup.Warnings, x.Path+": "+t.Text)
		return
	}
	d.lose("%s: %s: %s", x.Path, t.Kind, t.Text)
	name := filepath.Base(x.Path)
	switch t.Kind {
	case "stale":
		d.ask(x.Peer, "your files of this match: those that we have are of another one")
	case "lacking": // it is all that there was
	case "empty":
		d.ask(x.Peer, "%s once more: the one that we have is empty. Please close the game before you copy it", name)
	case "truncated":
		d.ask(x.Peer, "%s once more: the one that we have is cut off. Please close the game before you copy it", name)
	default:
		d.ask(x.Peer, "%s once more: the one that we have is damaged", name)
	}
}

// narrowing says which steps the evidence allows, and what is asked for to allow more.
func (d *doctor) narrowing() {
	orders := d.overlap("inputs", "orders")
	states := d.window()
	hashes, checkpoints := d.tick(orders)
	if states {
		d.step("values", true, "states of the same state points")
	} else {
		d.step("values", false, "no states of the same state point from two peers")
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

func (d *doctor) step(name string, can bool, format string, args ...any) {
	d.checkup.Steps = append(d.checkup.Steps, report.NarrowingStep{Step: name, Can: can, Why: fmt.Sprintf(format, args...)})
}

// overlap judges a step for which two peers must have evidence of a kind of the same ticks.
func (d *doctor) overlap(name, what string) bool {
	have, lack := d.with(what)
	first, last, ok := shared(have, what)
	switch {
	case ok && len(lack) > 0:
		d.step(name, true, "%s of %d peers, ticks %d to %d in common; %s", what, len(have), first, last, lackText(lack))
	case ok:
		d.step(name, true, "%s of %d peers, ticks %d to %d in common", what, len(have), first, last)
	case len(have) > 1:
		d.step(name, false, "the %s of no two peers are of the same ticks", what)
	case len(have) == 1:
		d.step(name, false, "%s of %s alone; %s", what, have[0].Name, lackText(lack))
	default:
		d.step(name, false, "no %s of any peer", what)
	}
	return ok
}

// window judges whether states can bracket the tick: whether two peers have the same
// state point.
func (d *doctor) window() bool {
	counts := map[uint64]int{}
	for _, p := range d.peers {
		for point := range p.points {
			counts[point]++
		}
	}
	var common []uint64
	for _, point := range slices.Sorted(maps.Keys(counts)) {
		if counts[point] > 1 {
			common = append(common, point)
		}
	}
	have, _ := d.with("states")
	switch {
	case len(common) > 0:
		d.step("window", true, "states of %d state points that two peers or more have, %d to %d", len(common), common[0], common[len(common)-1])
	case len(have) > 1:
		d.step("window", false, "the states of no two peers are of the same state point")
	default:
		d.step("window", false, "states of %d peer(s)", len(have))
	}
	return len(common) > 0
}

// tick judges whether the tick can be found, and the system in it. It reports whether two
// peers have hashes, and checkpoints, of the same ticks; orders says that they have orders.
func (d *doctor) tick(orders bool) (hashes, checkpoints bool) {
	hashed, _ := d.with("hashes")
	_, _, hashes = shared(hashed, "hashes")
	traced, _ := d.with("checkpoints")
	_, _, checkpoints = shared(traced, "checkpoints")
	switch {
	case hashes:
		d.overlap("tick", "hashes")
	case checkpoints:
		d.overlap("tick", "checkpoints")
	case orders && slices.ContainsFunc(d.peers, func(p *patient) bool { return p.first }):
		d.step("tick", true, "by replaying the orders in a simulator (bisect --sim)")
	default:
		d.step("tick", false, "no hashes or checkpoints of the same ticks from two peers")
	}
	inside := 0
	for _, p := range traced {
		if p.systems {
			inside++
		}
	}
	switch {
	case inside > 1 && checkpoints:
		d.step("system", true, "traces of %d peers with checkpoints inside ticks", inside)
	case checkpoints:
		d.step("system", false, "the checkpoints are of whole ticks")
	default:
		d.step("system", false, "no traces of the same ticks from two peers; a simulator may replay the tick (bisect --sim --drill)")
	}
	return hashes, checkpoints
}

func lackText(lack []string) string {
	if len(lack) == 0 {
		return "there is no other peer"
	}
	return strings.Join(lack, ", ") + " left none"
}
