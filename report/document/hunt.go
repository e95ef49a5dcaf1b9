package document

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/desynctool/desynctool/bisect"
	"github.com/desynctool/desynctool/bisect/hunt"
	"github.com/desynctool/desynctool/bisect/minimize"
	"github.com/desynctool/desynctool/internal/prose"
)

// huntDocument is desynctool.hunt/1: the findings of a hunt, and what it covered.
type huntDocument struct {
	Head
	Sim      string           `json:"sim"`
	Against  string           `json:"against,omitempty"`
	First    string           `json:"first"` // seed of the first session, in hexadecimal
	Sessions uint64           `json:"sessions"`
	Stopped  string           `json:"stopped,omitempty"` // "interrupted"
	Modes    []hunt.ModeCount `json:"modes"`
	Cannot   []hunt.Cannot    `json:"cannot"`
	Covered  huntCovered      `json:"covered"`
	Never    hunt.Never       `json:"never"`
	Findings []huntDocFound   `json:"findings"`
	Dir      string           `json:"dir"` // empty if nothing is kept
}

// huntCovered is what the sessions had in them.
type huntCovered struct {
	Ticks      uint64              `json:"ticks"`           // of the sessions, each once
	Stepped    uint64              `json:"simulated_ticks"` // of all instances in all modes
	Orders     uint64              `json:"orders"`
	Kinds      []hunt.KindCoverage `json:"kinds"`
	Archetypes []hunt.RowCoverage  `json:"archetypes"`
	Systems    []string            `json:"systems"`
}

// huntDocFound is a finding.
type huntDocFound struct {
	Fingerprint string             `json:"fingerprint"`
	Name        string             `json:"name"`
	Sessions    uint64             `json:"sessions"`
	Seed        string             `json:"seed"` // of the first session that failed, in hexadecimal
	From        string             `json:"from"` // of the one that the smallest was made of
	Mode        bisect.TrialMode   `json:"mode"`
	Depth       int                `json:"depth,omitempty"`
	Predict     []uint32           `json:"predict,omitempty"`
	Point       *uint64            `json:"point"` // the first state point that departed, null if the simulator broke off
	System      string             `json:"system,omitempty"`
	Signature   minimize.Signature `json:"signature"`
	Broke       hunt.Broke         `json:"broke,omitempty"`
	Why         string             `json:"why,omitempty"`
	Means       string             `json:"means"`
	Smallest    hunt.Smaller       `json:"smallest"`
	Dir         string             `json:"dir"`
	Log         string             `json:"log"`
	Repeat      string             `json:"repeat"` // the command that plays its session again
	Replay      string             `json:"replay"` // the command that plays the smallest one, empty if there is none
}

// HuntCommands has the commands that play the findings of a hunt again.
type HuntCommands struct {
	// Session are the arguments of a command that plays a session, except for its seed.
	Session []string
	// Replay returns the arguments of a command that plays the log at a path in the mode of a finding, nil if there is
	// none.
	Replay func(f *hunt.Finding, log string) []string
}

// Hunt returns the document of a hunt.
func Hunt(r *hunt.Result, c HuntCommands) Document {
	return Document{
		StatusOf(r),
		func() any { return huntJSON(r, c) },
		func(out *Text, all bool) { huntText(out, r, c, all) },
	}
}

// huntFindingDocument is desynctool.hunt-finding/1: one finding, as its folder has it.
type huntFindingDocument struct {
	Head
	huntDocFound
}

// HuntFinding returns the document of a finding that is kept in the folder dir. It does not count sessions, since their
// number grows.
func HuntFinding(f *hunt.Finding, dir, log string, c HuntCommands) Document {
	first := *f
	first.Sessions = 1
	found := func() huntDocFound { return huntFound(&first, dir, log, c) }
	return Document{
		Diverged,
		func() any { return &huntFindingDocument{head("hunt-finding", Diverged, nil), found()} },
		func(out *Text, all bool) { foundText(out, 1, found()) },
	}
}

// hexadecimal is how seeds are written.
func hexadecimal(seed uint64) string { return "0x" + strconv.FormatUint(seed, 16) }

func huntFound(f *hunt.Finding, dir, log string, c HuntCommands) huntDocFound {
	d := huntDocFound{
		Fingerprint: f.Fingerprint, Name: f.Name(), Sessions: f.Sessions, Seed: hexadecimal(f.Seed), From: hexadecimal(f.Failure.Seed),
		Mode: f.Mode, Depth: f.Depth, Predict: f.Predict, Point: f.Point, System: f.System, Signature: f.Signature, Broke: f.Broke, Why: f.Why, Means: f.Means,
		Smallest: f.Smaller, Dir: dir, Log: log,
		Repeat: Step{Command: append(slices.Clone(c.Session), "--seed", hexadecimal(f.Failure.Seed))}.String(),
	}
	if log != "" && c.Replay != nil {
		if args := c.Replay(f, log); args != nil {
			d.Replay = Step{Command: args}.String()
		}
	}
	return d
}

func huntJSON(r *hunt.Result, c HuntCommands) *huntDocument {
	h := r.Hunter
	cover := &r.Coverage
	d := &huntDocument{
		Head: head("hunt", StatusOf(r), nil), Sim: h.Sim(), Against: h.Against(), First: hexadecimal(r.First), Sessions: r.Done,
		Modes: r.Modes, Cannot: h.Cannot, Never: cover.Never(),
		Covered: huntCovered{cover.Played, cover.Ticks, cover.Orders(), cover.Kinds, cover.Archetypes, h.Systems},
	}
	if r.Interrupted {
		d.Stopped = "interrupted"
	}
	for _, f := range r.Findings {
		dir, log := "", ""
		if r.Store != nil {
			dir = r.Store.Folder(f)
			log = f.Kept(dir)
		}
		d.Findings = append(d.Findings, huntFound(f, dir, log, c))
	}
	if r.Store != nil {
		d.Dir = r.Store.Dir
	}
	return d
}

func huntText(out *Text, r *hunt.Result, c HuntCommands, all bool) {
	s, row, d := out.Style, out.Row, huntJSON(r, c)
	headline := fmt.Sprintf("  %s in %s", prose.Count(len(d.Findings), "finding", "findings"), prose.Count(d.Sessions, "session", "sessions"))
	if d.Sessions > 0 {
		headline += fmt.Sprintf(", seeds %s to %s", d.First, hexadecimal(r.First+r.Done-1))
	}
	out.put(s.Verdict(StatusOf(r)), headline)
	sim := Safe(d.Sim)
	if d.Against != "" {
		sim += " against " + Safe(d.Against)
	}
	row("sim", sim)
	var modes []string
	for _, m := range d.Modes {
		text := fmt.Sprintf("%s %d", m.Mode, m.Sessions)
		if m.Failed > 0 {
			text += s.bad.Sprintf(" (%d failed)", m.Failed)
		}
		modes = append(modes, text)
	}
	row("modes", strings.Join(modes, ", "))
	for _, x := range d.Cannot {
		row("", s.faint.Sprint("not ", string(x.Mode), ": ", Safe(x.Why)))
	}
	row("covered", fmt.Sprintf("%s, %d simulated in all modes; %s of %s", prose.Count(d.Covered.Ticks, "tick", "ticks"), d.Covered.Stepped,
		prose.Count(d.Covered.Orders, "order", "orders"), prose.Count(len(d.Covered.Kinds), "kind", "kinds")))
	for _, k := range d.Covered.Kinds {
		text := fmt.Sprintf("%s %d", prose.Name(k.Kind), k.Given)
		if k.Tested > 0 && !k.Local {
			text += fmt.Sprintf(", %d possible", k.Possible)
		}
		row("", text)
	}
	if len(d.Covered.Archetypes) > 0 {
		row("", prose.Count(len(d.Covered.Archetypes)-len(d.Never.Archetypes), "archetype", "archetypes"), " with rows, of ", strconv.Itoa(len(d.Covered.Archetypes)))
	}
	if len(d.Covered.Systems) > 0 {
		row("", prose.Count(len(d.Covered.Systems), "system", "systems"), " in each tick")
	}
	for _, never := range []struct {
		what string
		list []string
	}{{"given: ", d.Never.Given}, {"possible: ", d.Never.Possible}, {"with rows: ", d.Never.Archetypes}} {
		if len(never.list) > 0 {
			row("never", never.what, strings.Join(prose.Names(never.list), ", "))
		}
	}
	if d.Stopped != "" {
		row("note", "interrupted: the same command goes on")
	}
	for i := range d.Findings {
		if i == shownFindings && !all {
			out.put()
			out.put(s.faint.Sprintf("… and %d more  (--all)", len(d.Findings)-i))
			break
		}
		foundText(out, i+1, d.Findings[i])
	}
	if d.Dir != "" {
		out.put()
		row("kept", Safe(d.Dir))
	}
}

// shownFindings is how many findings a text shows without --all.
const shownFindings = 20

func foundText(out *Text, number int, f huntDocFound) {
	s, row := out.Style, out.Row
	out.put()
	out.put(s.bad.Sprintf("%d", number), "  ", Safe(f.Name), "  ", s.faint.Sprint(f.Fingerprint))
	first := fmt.Sprintf("seed %s, %s", f.Seed, f.Mode)
	if f.Point != nil {
		first += fmt.Sprintf(", state point %d", *f.Point)
	}
	row("first", first, "; ", prose.Count(f.Sessions, "session", "sessions"))
	if f.Why != "" {
		row("why", Safe(f.Why))
	}
	m := f.Smallest
	text := fmt.Sprintf("%d of %s, %d of %s", m.Orders, prose.Count(m.GivenOrders, "order", "orders"), m.Ticks, prose.Count(m.GivenTicks, "tick", "ticks"))
	if !m.Minimal {
		text += "; not the smallest: " + m.Why
	}
	row("smallest", text)
	row("means", Safe(f.Means))
	out.next(Step{Command: nil, About: f.Repeat})
	if f.Replay != "" {
		out.next(Step{About: f.Replay})
	}
}
