package web

import (
	"fmt"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/desynctool/desynctool/desk"
	"github.com/desynctool/desynctool/desk/render"
	"github.com/desynctool/desynctool/internal/prose"
)

// sentence makes a sentence from an error's text.
func sentence(text string) string {
	first, size := utf8.DecodeRuneInString(text)
	return string(unicode.ToUpper(first)) + strings.TrimSuffix(text[size:], ".") + "."
}

// why explains why a report is the one to open first.
func why(d *desk.GroupDetail) string {
	b := &d.Best[0]
	text := fmt.Sprintf("%d %% of what can be known", b.Complete)
	if d.Reports > 1 {
		text += ", the most of all"
	}
	if known := render.Known(b.Document); known != "" {
		text += "; it " + known
	}
	return text + "."
}

// wanted describes the evidence that would help.
func wanted(w desk.Wanted, of int) string {
	if of == 1 {
		return sentence(w.What)
	}
	return fmt.Sprintf("%s (lacking in %d of the %d most complete reports)", strings.TrimSuffix(w.What, "."), w.In, of)
}

// near describes what a group has in common with another one.
func near(n desk.Near) string {
	var parts []string
	for i, level := range n.Levels {
		parts = append(parts, level+" "+n.Names[i])
	}
	return "shares " + prose.Few(parts, 4)
}

// traits adds the facts of the group. Facts that set it apart come first.
func (p *groupPage) traits(d *desk.GroupDetail) {
	p.TraitsAbout = render.Compared(d)
	for i := range d.Platforms[:min(len(d.Platforms), maxTraits)] {
		x := &d.Platforms[i]
		row := traitRow{Fact: x.Fact, Value: x.Value, Here: ofAll(x.With, x.Of), Others: "–", Ratio: "–", Sure: "not compared", Apart: x.SetsApart}
		if x.OthersOf > 0 {
			row.Others = ofAll(x.OthersWith, x.OthersOf)
		}
		if x.Odds != nil {
			row.Ratio, row.Sure = render.OddsRatio(x.Odds), "may be chance"
			if x.SetsApart {
				row.Sure = "sets it apart"
			}
		}
		p.Traits = append(p.Traits, row)
	}
}

func ofAll(n, of int64) string { return render.Thousands(n) + " of " + render.Thousands(of) }

// events adds the events of the group, and the latest edit.
func (v *visit) events(p *groupPage, d *desk.GroupDetail) {
	token := v.token()
	just, _ := strconv.ParseInt(v.r.URL.Query().Get("done"), 10, 64)
	for i := range d.Events {
		e := &d.Events[i]
		row := eventRow{Text: said(e), Who: e.Who, At: moment(e.At), Undone: e.UndoneBy != 0}
		can := e.UndoneBy == 0 && e.What != desk.Undone && e.What != desk.CameBack
		if can {
			row.Undo = undoForm{token, e.ID}
		}
		switch e.What {
		case desk.Noted:
			row.Quote = strings.Split(strings.ReplaceAll(e.About.Text, "\r\n", "\n"), "\n")
		case desk.Linked:
			row.Quote = []string{e.About.Text}
			if e.UndoneBy == 0 && strings.HasPrefix(e.About.Text, "http") {
				p.Links = append(p.Links, e.About.Text)
			}
		}
		p.Events = append(p.Events, row)
		if e.ID == just {
			p.Done = &doneView{Text: "Done: " + said(e)}
			if can && v.who.Triage {
				p.Done.Undo = &row.Undo
			}
		}
	}
	if rest := d.EventCount - int64(len(d.Events)); rest > 0 {
		p.MoreEvents = prose.Count(rest, "older event is", "older events are") + " not shown."
	}
}

// said describes an event of a group in a sentence.
func said(e *desk.Event) string {
	a := &e.About
	switch e.What {
	case desk.Merged:
		return fmt.Sprintf("Group %s was merged into this one, with %s.", a.Other, prose.Count(len(a.Variants), "variant", "variants"))
	case desk.Split:
		return fmt.Sprintf("%s split off group %s.", prose.Count(len(a.Variants), "variant was", "variants were"), a.Other)
	case desk.Moved:
		return prose.Count(len(a.Reports), "report was", "reports were") + " put here by hand."
	case desk.Named:
		if a.Text == "" {
			return "The name was taken off."
		}
		return "Named " + prose.Quote(a.Text) + "."
	case desk.Closed:
		if a.Build != "" {
			return "Closed, fixed in " + a.Build + "."
		}
		return "Closed."
	case desk.Reopened:
		return "Reopened."
	case desk.Ignored:
		return "Ignored."
	case desk.Noted:
		return "A note was added."
	case desk.Linked:
		return "An issue was linked."
	case desk.CameBack:
		return fmt.Sprintf("It came back in %s after it was closed.", a.Build)
	case desk.Undone:
		return fmt.Sprintf("Undone: %s.", undone(a.Undid))
	}
	return string(e.What)
}

// undone names the edit that was reverted.
func undone(w desk.What) string {
	switch w {
	case desk.Merged, desk.Split, desk.Moved, desk.Named, desk.Noted, desk.Linked:
		return "the " + string(w)
	case desk.Closed:
		return "closing it"
	case desk.Reopened:
		return "reopening it"
	case desk.Ignored:
		return "ignoring it"
	}
	return string(w)
}
