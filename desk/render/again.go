package render

import (
	"fmt"
	"strings"

	"github.com/desynctool/desynctool/desk/intake"
	"github.com/desynctool/desynctool/internal/prose"
	"github.com/desynctool/desynctool/report/document"
)

// Again is desynctool.desk-again/1: the changes from another triage of stored bundles.
type Again struct {
	document.Head
	DryRun  bool `json:"dry_run"` // the store was not changed
	Queued  bool `json:"queued"`  // desk work will triage
	Bundles int  `json:"bundles"` // selected
	Reports int  `json:"reports"` // made again
	Changed int  `json:"changed"` // reports that changed, or are new or gone
	// Counts is how many reports changed in each field: status, tick, system, locus, cause, fingerprint, group.
	Counts  map[string]int `json:"counts"`
	Changes []AgainChange  `json:"changes"`
	Skipped []Untaken      `json:"skipped"` // bundles that could not be triaged; their reports are unchanged
	// Meanwhile are bundles that another program deleted or triaged while they were read. Nothing was written for them.
	Meanwhile []Untaken `json:"meanwhile"`
}

// AgainChange is a report that changed.
type AgainChange struct {
	Bundle string       `json:"bundle"`          // its hash
	File   string       `json:"file"`            // its name
	Match  int          `json:"match"`           // from 1
	Group  string       `json:"group,omitempty"` // current code
	New    bool         `json:"new,omitempty"`   // the match is new
	Gone   bool         `json:"gone,omitempty"`  // the match is gone
	Fields []AgainField `json:"fields"`
}

// AgainField is a field of a report that changed.
type AgainField struct {
	Field string `json:"field"` // as in Again.Counts
	Old   string `json:"old"`   // empty if it was unknown
	New   string `json:"new"`   // empty if it is unknown
}

// NewAgain returns an empty Again.
func NewAgain(dry bool) *Again {
	return &Again{Head: document.NewHead("desk-again", document.InSync, nil), DryRun: dry, Counts: map[string]int{}, Changes: []AgainChange{}, Skipped: []Untaken{}, Meanwhile: []Untaken{}}
}

// Add adds the result for a bundle.
func (a *Again) Add(x intake.Retriaged) {
	a.Bundles++
	if x.Skipped != "" {
		a.Skipped = append(a.Skipped, Untaken{document.Safe(x.Bundle.Name), document.Safe(x.Skipped)})
		a.Status = document.Inconclusive
		return
	}
	if x.Meanwhile != "" {
		a.Meanwhile = append(a.Meanwhile, Untaken{document.Safe(x.Bundle.Name), document.Safe(x.Meanwhile)})
		return
	}
	for _, m := range x.Matches {
		if !m.Gone {
			a.Reports++
		}
		if !m.New && !m.Gone && len(m.Differences) == 0 {
			continue
		}
		a.Changed++
		c := AgainChange{Bundle: x.Bundle.Hash, File: document.Safe(x.Bundle.Name), Match: m.Number, Group: m.Group, New: m.New, Gone: m.Gone, Fields: []AgainField{}}
		for _, d := range m.Differences {
			a.Counts[d.What]++
			c.Fields = append(c.Fields, AgainField{d.What, document.Safe(d.Old), document.Safe(d.New)})
		}
		a.Changes = append(a.Changes, c)
	}
}

// Text returns a line for each change in a report, then the counts.
func (a *Again) Text() string {
	var b strings.Builder
	if a.Queued {
		return fmt.Sprintf("%s wait for desynctool desk work.\n", prose.Count(a.Bundles, "bundle", "bundles"))
	}
	wide := 0
	for _, c := range a.Changes {
		wide = max(wide, prose.Columns(c.place()))
	}
	for _, c := range a.Changes {
		place := c.place()
		line := func(text string) {
			fmt.Fprintf(&b, "%s%s  %s\n", place, strings.Repeat(" ", wide-prose.Columns(place)), text)
		}
		switch {
		case c.New:
			line("a match that was not there before")
		case c.Gone:
			line("not a match of it any more")
		}
		for _, f := range c.Fields {
			line(fmt.Sprintf("%-11s  %s → %s", f.Field, orNothing(f.Old), orNothing(f.New)))
		}
	}
	untaken(&b, "not triaged", a.Skipped)
	untaken(&b, "nothing written", a.Meanwhile)
	if b.Len() > 0 {
		b.WriteByte('\n')
	}
	fmt.Fprintf(&b, "%s of %s triaged again: %d changed.", prose.Count(a.Reports, "report", "reports"), prose.Count(a.Bundles-len(a.Skipped)-len(a.Meanwhile), "bundle", "bundles"), a.Changed)
	var counts []string
	for _, what := range []string{"status", "tick", "system", "locus", "cause", "fingerprint", "group"} {
		if n := a.Counts[what]; n > 0 {
			counts = append(counts, fmt.Sprintf("%s of %d", what, n))
		}
	}
	if len(counts) > 0 {
		b.WriteString(" Changed are " + strings.Join(counts, ", ") + ".")
	}
	if a.DryRun {
		b.WriteString(" Nothing was written.")
	}
	b.WriteByte('\n')
	return b.String()
}

func (c *AgainChange) place() string { return prose.OneLine(fmt.Sprintf("%s#%d", c.File, c.Match)) }

func orNothing(s string) string {
	if s == "" {
		return "not known"
	}
	return prose.OneLine(s)
}
