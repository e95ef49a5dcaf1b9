package document

import (
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/desynctool/desynctool/internal/lists"
	"github.com/desynctool/desynctool/internal/prose"
)

// Checkup has doctor's findings about evidence, before anything is compared.
type Checkup struct {
	Peers []CheckedPeer `json:"peers"`
	Files []CheckedFile `json:"files"`
	Facts []Fact        `json:"facts"`
	// Unknown are facts of the game and the machines that no file states.
	Unknown []string        `json:"unknown"`
	Steps   []NarrowingStep `json:"narrowing"`
	// Lost lists evidence that cannot be used or is missing.
	Lost []string `json:"missing"`
	// Next are the next steps, where the game's players can provide more, or the game can replay its recordings.
	Next []string `json:"next"`
	// Ask is a text that asks the players for missing files, empty if nothing is missing.
	Ask string `json:"ask"`

	// GameLogs are lines that only some of the games' own logs have, nil if fewer than two peers left
	// a log.
	GameLogs *GameLogs `json:"-"`
	// Warnings are about odd but harmless things. The head of the document has them.
	Warnings []string `json:"-"`
}

// Own returns the peers that left anything themselves.
func (c *Checkup) Own() []CheckedPeer {
	return slices.DeleteFunc(slices.Clone(c.Peers), func(p CheckedPeer) bool { return p.Mentioned })
}

// CheckedPeer has the evidence of one peer.
type CheckedPeer struct {
	Name   string        `json:"name"`
	Path   string        `json:"path"` // of its folder or file
	Covers []Coverage    `json:"covers"`
	Logs   []GameLogFile `json:"game_logs,omitempty"` // its game's own
	// Mentioned is set if it left nothing, and only messages in the logs of others name it.
	Mentioned bool `json:"mentioned,omitempty"`
}

// Coverage is which ticks or state points the files of one kind cover.
type Coverage struct {
	What  string `json:"what"` // states, orders, hashes, checkpoints, claims or signatures
	First uint64 `json:"first"`
	Last  uint64 `json:"last"`
	Count uint64 `json:"count"` // including claims without a tick
}

// CheckedFile is one file.
type CheckedFile struct {
	Path   string     `json:"path"`
	Peer   string     `json:"peer"`   // the peer that left it, empty if it belongs to the whole session or to none
	Format string     `json:"format"` // as formats lists it, empty if it is not known
	What   string     `json:"-"`      // the format for people
	Covers []Coverage `json:"covers"`
	// Trouble lists the mistakes in it.
	Trouble []FileTrouble `json:"trouble"`
}

// FileTrouble is something wrong with a file.
type FileTrouble struct {
	Kind string `json:"kind"` // empty, truncated, corrupt, limit, unreadable, not opened, lacking, several (matches in it), contradicted (by its signatures), stale, duplicate or misnamed
	Text string `json:"text"`
}

// Fact is something that files state about the game or the machine.
type Fact struct {
	Name string `json:"name"`
	// Must reports whether it has to be the same on all peers. Other facts, such as the language, may cause a desync
	// where they differ.
	Must bool `json:"must_match"`
	// Same reports whether all peers state the same. Untold are the peers that state nothing.
	Same   bool              `json:"same"`
	Untold []string          `json:"untold,omitempty"`
	Values map[string]string `json:"values"` // by peer
}

// Differs reports whether two peers state it differently.
func (f *Fact) Differs() bool {
	first := firstValue(f.Values)
	for _, v := range f.Values {
		if v != first {
			return true
		}
	}
	return false
}

// NarrowingStep is one step of narrowing a divergence.
type NarrowingStep struct {
	Step string `json:"step"` // inputs, window, tick, system or values
	Can  bool   `json:"possible"`
	Why  string `json:"why"`
}

// Diverged reports false: a checkup does not compare states.
func (c *Checkup) Diverged() bool { return false }

// Incomplete reports whether evidence is lost or lacks.
func (c *Checkup) Incomplete() bool { return len(c.Lost) > 0 }

// doctorDocument is desynctool.doctor/1. Its status is in-sync if the evidence is complete, else inconclusive.
type doctorDocument struct {
	Head
	*Checkup
}

// Doctor returns the document of a checkup.
func Doctor(c *Checkup) Document {
	return documentOf(c, doctorJSON, doctorText)
}

func doctorJSON(c *Checkup) *doctorDocument {
	return &doctorDocument{head("doctor", StatusOf(c), c.Warnings), c}
}

// shownTroubles is how many files with trouble doctor's text names.
const shownTroubles = 40

func doctorText(out *Text, c *Checkup, everything bool) {
	s := out.Style
	row := func(key string, parts ...string) {
		out.put(append([]string{"  ", pad(key, prose.Columns(key), 9)}, parts...)...)
	}
	verdict := s.good.Sprint("COMPLETE")
	if c.Incomplete() {
		verdict = s.warn.Sprint("LACKING")
	}
	bad := lists.Count(c.Files, func(f CheckedFile) bool { return len(f.Trouble) > 0 })
	headline := fmt.Sprintf("  %s, %s, %d with trouble", prose.Count(uint64(len(c.Peers)), "peer", "peers"), prose.Count(uint64(len(c.Files)), "file", "files"), bad)
	for _, f := range c.Facts {
		if f.Must && f.Differs() {
			headline += s.bad.Sprint("; the peers differ in " + prose.Name(f.Name))
		}
	}
	out.put(verdict, headline)
	for _, p := range c.Peers {
		if p.Mentioned {
			row("peer", s.name.Sprint(prose.Name(p.Name)), "  only mentioned, in messages of the game")
			continue
		}
		row("peer", s.name.Sprint(prose.Name(p.Name)), "  ", prose.Path(p.Path))
		for _, x := range p.Covers {
			row("", "  ", pad(x.What, len(x.What), 12), fmt.Sprintf("%d to %d, %d", x.First, x.Last, x.Count))
		}
		for i := range p.Logs {
			row("", "  ", pad("log", 3, 12), Safe(logText(&p.Logs[i])))
		}
		if len(p.Covers)+len(p.Logs) == 0 {
			row("", "  nothing that can be used")
		}
	}
	shown := 0
	for _, f := range c.Files {
		for _, t := range f.Trouble {
			if shown++; shown > shownTroubles && !everything {
				continue
			}
			row("file", s.warn.Sprint(t.Kind), "  ", prose.Path(f.Path), "  ", Safe(t.Text))
		}
	}
	if shown > shownTroubles && !everything {
		row("", fmt.Sprintf("and %d more  (--all)", shown-shownTroubles))
	}
	for _, f := range c.Facts {
		value := prose.Name(firstValue(f.Values))
		switch {
		case f.Differs():
		case len(f.Untold) > 0 && strings.HasPrefix(f.Name, "parameter "): // for a log that some peer lacks
		case len(f.Untold) > 0:
			row("untold", prose.Name(f.Name), "  ", value, s.faint.Sprint("  no file of "+strings.Join(prose.Names(f.Untold), ", ")+" says"))
		default:
			row("same", prose.Name(f.Name), "  ", value)
		}
	}
	for _, f := range c.Facts {
		if !f.Differs() {
			continue
		}
		why := "may be the cause"
		if f.Must {
			why = "has to be the same"
		}
		values := lists.Map(slices.Sorted(maps.Keys(f.Values)), func(peer string) string { return prose.Name(peer) + ": " + prose.Name(f.Values[peer]) })
		row("differs", s.warn.Sprint(prose.Name(f.Name)), "  ", strings.Join(values, "  "), s.faint.Sprint("  "+why))
	}
	if len(c.Unknown) > 0 {
		row("unknown", strings.Join(c.Unknown, ", "), s.faint.Sprint("  no file shows it"))
	}
	for _, step := range c.Steps {
		can := s.good.Sprint("yes")
		if !step.Can {
			can = s.warn.Sprint("no ")
		}
		row("narrows", pad(step.Step, len(step.Step), 8), can, "  ", Safe(step.Why))
	}
	for _, l := range c.Lost {
		if shown > shownTroubles && !everything || !slices.ContainsFunc(c.Files, func(f CheckedFile) bool { return len(f.Trouble) > 0 && strings.HasPrefix(l, f.Path+": ") }) {
			row("lacks", Safe(l)) // else a row of the file shows it
		}
	}
	for _, step := range c.Next {
		out.step("  "+pad("next", 4, 9), 11, step, s.faint)
	}
	if c.Ask != "" {
		out.put()
		out.put(s.bold.Sprint("To send to the players:"))
		out.put()
		for line := range strings.Lines(c.Ask) {
			out.put("    ", Safe(strings.TrimSuffix(line, "\n")))
		}
	}
}

// logText describes a game's own log.
func logText(f *GameLogFile) string {
	text := filepath.Base(f.File)
	if f.Logger != "" {
		text += " (" + f.Logger + ")"
	}
	return fmt.Sprintf("%s, %s, %s, %s", text, prose.Count(f.Lines, "line", "lines"), prose.Count(f.Warnings, "warning", "warnings"), prose.Count(f.Errors, "error", "errors"))
}

func firstValue(values map[string]string) string {
	for _, k := range slices.Sorted(maps.Keys(values)) {
		return values[k]
	}
	return ""
}

// CheckedMatch has doctor's findings about one of several matches.
type CheckedMatch struct {
	MatchDocument
	Status  Status `json:"status"`  // inconclusive if evidence is lost or lacking
	Peers   int    `json:"peers"`   // who left anything
	Files   int    `json:"files"`   // of evidence
	Trouble int    `json:"trouble"` // files with trouble
	Error   string `json:"error,omitempty"`
}

// NewCheckedMatch sums a checkup up.
func NewCheckedMatch(of MatchDocument, c *Checkup) CheckedMatch {
	m := CheckedMatch{MatchDocument: of, Status: StatusOf(c), Peers: len(c.Peers), Files: len(c.Files)}
	m.Trouble += lists.Count(c.Files, func(f CheckedFile) bool { return len(f.Trouble) > 0 })
	return m
}

// doctorMatchesDocument is desynctool.doctor-matches/1.
type doctorMatchesDocument struct {
	Head
	Matches []CheckedMatch `json:"matches"`
}

// DoctorOfMatches lists several matches. Next is the step that shows one of them in full.
func DoctorOfMatches(matches []CheckedMatch, next Step) Document {
	status := InSync
	for _, m := range matches {
		status = Worst(status, m.Status)
	}
	return Document{
		status,
		func() any {
			return &doctorMatchesDocument{Head: head("doctor-matches", status, nil), Matches: matches}
		},
		func(out *Text, all bool) { doctorMatchesText(out, matches, next) },
	}
}

func doctorMatchesText(out *Text, matches []CheckedMatch, next Step) {
	s := out.Style
	name := 0
	for i := range matches {
		name = max(name, prose.Columns(Safe(matches[i].Title())))
	}
	out.put(s.bold.Sprint(prose.Count(uint64(len(matches)), "match", "matches")))
	for i := range matches {
		m := &matches[i]
		word := s.good.Sprint("COMPLETE")
		switch m.Status {
		case Failed:
			word = s.bad.Sprint("ERROR   ")
		case Inconclusive:
			word = s.warn.Sprint("LACKING ")
		}
		title := Safe(m.Title())
		about := fmt.Sprintf("%s, %s, %d with trouble", prose.Count(uint64(m.Peers), "peer", "peers"), prose.Count(uint64(m.Files), "file", "files"), m.Trouble)
		if m.Error != "" {
			about = Safe(m.Error)
		}
		out.put("  ", word, "  ", pad(title, prose.Columns(title), name), "  ", about)
		for _, doubt := range m.Doubts {
			out.put("    not told apart: ", s.warn.Sprint(Safe(doubt)))
		}
	}
	out.next(next)
}
