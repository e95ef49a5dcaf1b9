package render

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/desynctool/desynctool/desk"
	"github.com/desynctool/desynctool/internal/lists"
	"github.com/desynctool/desynctool/internal/prose"
	"github.com/desynctool/desynctool/report/document"
)

// groupDocument is desynctool.desk-group/1.
type groupDocument struct {
	document.Head
	*desk.GroupDetail
	Events []eventDocument `json:"events"` // newest first
}

type eventDocument struct {
	ID     int64           `json:"id"`
	At     string          `json:"at"` // RFC 3339, in UTC, to the second
	Who    string          `json:"who"`
	What   desk.What       `json:"what"`
	About  json.RawMessage `json:"about"`
	Undone int64           `json:"undone_by,omitempty"`
}

// How much of a group appears in text and Markdown.
const (
	mostPlatforms = 8
	mostVariants  = 8
	mostBuilds    = 12
	mostEvents    = 12
	mostWanted    = 5
)

// Group shows all details of a group.
func Group(d *desk.GroupDetail) (*View, error) {
	doc := groupDocument{listHead("desk-group", 1, 0, 1), d, []eventDocument{}}
	for i := range d.Events {
		e := &d.Events[i]
		about, err := json.Marshal(e.About)
		if err != nil {
			return nil, err
		}
		doc.Events = append(doc.Events, eventDocument{e.ID, e.At.UTC().Format(time.RFC3339), e.Who, e.What, about, e.UndoneBy})
	}
	v := &View{Status: document.InSync, Document: doc, title: d.Code + "  " + called(&d.Group), lines: groupLines(d), csv: groupCSV([]desk.Group{d.Group})}
	for _, part := range []func(*desk.GroupDetail) section{bestSection, platformSection, wantedSection, variantSection, buildSection, nearSection, eventSection} {
		if s := part(d); s.title != "" {
			v.sections = append(v.sections, s)
		}
	}
	return v, nil
}

// groupLines are the sentences at the start of a group's page.
func groupLines(d *desk.GroupDetail) (lines []string) {
	if d.Name != "" {
		lines = append(lines, "Made of: "+prose.Shorten(document.Safe(d.Title), maxCalled))
	}
	state := strings.ToUpper(string(d.State)[:1]) + string(d.State)[1:]
	switch {
	case d.State == desk.GroupMerged && d.MergedIn != "":
		state = "Merged into " + d.MergedIn + ", which has its reports"
	case d.State == desk.GroupClosed && d.FixedIn != "":
		state = "Closed: fixed in " + prose.Name(d.FixedIn)
	case d.State == desk.GroupOpen && d.CameBack != "" && d.FixedIn != "":
		state = "Open: came back in " + prose.Name(d.CameBack) + " after it was fixed in " + prose.Name(d.FixedIn)
	case d.State == desk.GroupOpen && d.CameBack != "":
		state = "Open: came back in " + prose.Name(d.CameBack)
	}
	lines = append(lines, state+".")
	if d.Weak {
		lines = append(lines, "Weak: too little is known of its reports to tell this bug from others.")
	}
	lines = append(lines, fmt.Sprintf("%s with %s: %s of the %s that diverged in %s.", Many(d.Reports, "match", "matches"), Many(d.Peers, "peer", "peers"), Percent(d.Share()), Thousands(d.OfGame), game(d.Game)))
	var seen []string
	if d.FirstBuild != "" {
		seen = append(seen, "seen in "+Between(prose.Name(d.FirstBuild), prose.Name(d.LastBuild)))
	}
	if d.FirstDay != "" {
		seen = append(seen, "played "+Between(d.FirstDay, d.LastDay))
	}
	if text := strings.Join(seen, ", "); text != "" {
		lines = append(lines, strings.ToUpper(text[:1])+text[1:]+".")
	}
	if t := &d.Trend; t.Until != "" && d.FirstDay != "" {
		lines = append(lines, fmt.Sprintf("Trend %s up to %s: %s in 7 days, %s in the 7 before; %s in 28, %s in the 28 before.", Sparkline(t), t.Until,
			Thousands(t.Last7), Thousands(t.Before7), Thousands(t.Last28), Thousands(t.Before28)))
	}
	if list := tally(d.Kinds, document.Safe); list != "" {
		lines = append(lines, "Kind: "+list+".")
	}
	if list := tally(d.LikelyCauses[:min(len(d.LikelyCauses), 3)], document.Safe); list != "" {
		lines = append(lines, "Looks like: "+list+".")
	}
	return lines
}

// counts formats values from files and people: "float 12, rng-leak 3".
func counts(list []desk.Count, most int, name func(string) string) string {
	text := tally(list[:min(len(list), most)], name)
	if more := len(list) - most; more > 0 {
		text += fmt.Sprintf(", and %d more", more)
	}
	return text
}

// same returns a word from desynctool itself, which needs no escaping.
func same(word string) string { return word }

// tally formats how many of each value there are.
func tally(list []desk.Count, name func(string) string) string {
	parts := lists.Map(list, func(c desk.Count) string { return name(c.Name) + " " + Thousands(c.Reports) })
	return strings.Join(parts, ", ")
}

func bestSection(d *desk.GroupDetail) (s section) {
	if len(d.Best) == 0 {
		return s
	}
	s.title = "Open first"
	for i := range d.Best {
		b := &d.Best[i]
		text := fmt.Sprintf("desynctool desk show report %d: %d %% of what can be known; %s", b.ID, b.Complete, prose.Path(b.File))
		if b.Match > 1 {
			text += fmt.Sprintf(", match %d", b.Match)
		}
		s.items = append(s.items, text)
		if i == 0 && len(b.Why) > 0 {
			s.items = append(s.items, "  it has: "+document.Safe(strings.Join(b.Why, ", ")))
		}
	}
	return s
}

// Known describes which steps of narrowing down a document contains, and which are open.
func Known(r *document.Report) string {
	var found, open []string
	for i := range r.Ladder {
		switch x := &r.Ladder[i]; x.State {
		case document.RungFound, document.RungEqual:
			found = append(found, document.Safe(x.Step))
		case document.RungOpen, document.RungTrouble:
			open = append(open, document.Safe(x.Step))
		}
	}
	var parts []string
	if len(found) > 0 {
		parts = append(parts, "answers "+strings.Join(found, ", "))
	}
	if len(open) > 0 {
		parts = append(parts, "leaves open "+strings.Join(open, ", "))
	}
	return strings.Join(parts, "; ")
}

func platformSection(d *desk.GroupDetail) (s section) {
	if len(d.Platforms) == 0 {
		return s
	}
	s.title = "What sets it apart from the others of the game"
	apart := 0
	for i := range d.Platforms {
		if p := &d.Platforms[i]; p.SetsApart && apart < mostPlatforms {
			s.items = append(s.items, SetsApart(p))
			apart++
		}
	}
	switch {
	case d.Looked == 0:
		s.notes = append(s.notes, "No fact can be compared: no other match that diverged states one with another value.")
	case apart == 0:
		s.notes = append(s.notes, fmt.Sprintf("Nothing of %s that were compared, beyond what chance makes.", Many(int64(d.Looked), "fact", "facts")))
	default:
		s.notes = append(s.notes, fmt.Sprintf("Of %s that were compared, with 95 %% for all of them together (Bonferroni); intervals are of 95 %% each.", Many(int64(d.Looked), "fact", "facts")))
	}
	var rest []string
	for i := range d.Platforms {
		if p := &d.Platforms[i]; !p.SetsApart && p.With > 0 {
			rest = append(rest, fmt.Sprintf("%s %s %s", prose.Name(p.Fact), prose.Name(p.Value), Thousands(p.With)))
		}
	}
	if len(rest) > 0 {
		s.notes = append(s.notes, "Also stated: "+prose.Few(rest, mostPlatforms)+".")
	}
	return s
}

// Compared describes how many facts of a group were compared with the other groups of its game, and the result. It is
// empty if there are no facts.
func Compared(d *desk.GroupDetail) string {
	if s := platformSection(d); len(s.notes) > 0 {
		return s.notes[0]
	}
	return ""
}

func wantedSection(d *desk.GroupDetail) (s section) {
	if len(d.Send) == 0 && len(d.Missing) == 0 {
		return s
	}
	s.title = "Evidence that would help most"
	of := func(list []desk.Wanted, before string) {
		for i, w := range list {
			if i == mostWanted {
				s.notes = append(s.notes, fmt.Sprintf("and %d more", len(list)-i))
				return
			}
			s.items = append(s.items, fmt.Sprintf("%s%s (%d of %d)", before, document.Safe(w.What), w.In, len(d.Best)))
		}
	}
	of(d.Send, "")
	of(d.Missing, "missing: ")
	return s
}

func variantSection(d *desk.GroupDetail) (s section) {
	if d.VariantCount == 0 {
		return s
	}
	s.title = "Variants"
	s.table = [][]string{{"Number", "Matches", "Fingerprint", "Made of"}}
	for _, v := range d.Variants[:min(len(d.Variants), mostVariants)] {
		strict := cmp.Or(v.Strict, "none")
		s.table = append(s.table, []string{strconv.FormatInt(v.ID, 10), Thousands(v.Reports), document.Safe(strict), prose.Shorten(document.Safe(v.Title), maxCalled)})
	}
	if more := d.VariantCount - int64(len(s.table)-1); more > 0 {
		s.notes = append(s.notes, "and "+Thousands(more)+" more")
	}
	return s
}

func buildSection(d *desk.GroupDetail) (s section) {
	if len(d.Builds) == 0 {
		return s
	}
	s.title = "Builds, the newest first"
	list := slices.Clone(d.Builds)
	slices.Reverse(list)
	s.items = []string{counts(list, mostBuilds, prose.Name)}
	return s
}

func nearSection(d *desk.GroupDetail) (s section) {
	switch {
	case !d.Unplaced:
		return s
	case d.KindOnly:
		return section{title: "Groups that may be the same bug", notes: []string{"Only the kind is known, which most groups of the game have in common."}}
	case len(d.Near) == 0:
		return section{title: "Groups that may be the same bug", notes: []string{"None has more in common with it than the kind."}}
	}
	s.title = "Groups that may be the same bug"
	for _, n := range d.Near {
		var shared []string
		for i := range n.Levels {
			shared = append(shared, n.Levels[i]+" "+prose.Name(n.Names[i]))
		}
		s.items = append(s.items, fmt.Sprintf("%s  %s: both have %s", n.Code, prose.Shorten(document.Safe(n.Called), maxCalled), strings.Join(shared, ", ")))
	}
	s.notes = []string{"They are not merged: desynctool desk merge does that."}
	return s
}

func eventSection(d *desk.GroupDetail) (s section) {
	if len(d.Events) == 0 {
		return s
	}
	s.title = "Actions, the newest first"
	for i := range d.Events {
		if i == mostEvents {
			s.notes = append(s.notes, "and "+Thousands(d.EventCount-int64(i))+" more")
			break
		}
		s.items = append(s.items, EventText(&d.Events[i]))
	}
	return s
}

// EventText describes an event of a group in a line: "12  2026-03-01 12:00  ann: note: seen on arm64 only".
func EventText(e *desk.Event) string {
	a := &e.About
	text := string(e.What)
	switch e.What {
	case desk.Noted, desk.Linked, desk.Named:
		text += " " + prose.Shorten(document.Safe(cmp.Or(a.Text, `""`)), 200)
	case desk.Closed:
		if a.Build != "" {
			text += ", fixed in " + prose.Name(a.Build)
		}
	case desk.CameBack:
		text = "came back in " + prose.Name(a.Build)
	case desk.Merged, desk.Split, desk.Moved:
		if a.Other != "" {
			text += " with " + document.Safe(a.Other)
		}
	case desk.Undone:
		text += fmt.Sprintf(" %s (%d)", a.Undid, a.Event)
	}
	if e.UndoneBy != 0 {
		text += fmt.Sprintf(" (undone by %d)", e.UndoneBy)
	}
	return fmt.Sprintf("%d  %s  %s: %s", e.ID, e.At.UTC().Format("2006-01-02 15:04"), prose.Name(e.Who), text)
}
