package render

import (
	"fmt"
	"slices"
	"strings"

	"github.com/desynctool/desynctool/desk"
	"github.com/desynctool/desynctool/desk/intake"
	"github.com/desynctool/desynctool/internal/prose"
	"github.com/desynctool/desynctool/report/document"
)

// Adding is the result of desk add. It is desynctool.desk-add/1.
type Adding struct {
	document.Head
	Bundles int  `json:"bundles"`     // number of given bundles
	New     int  `json:"new"`         // stored for the first time
	Before  int  `json:"seen_before"` // with one more receipt
	Healed  int  `json:"healed"`      // of these, written again because the stored content was damaged or missing
	Queued  bool `json:"queued"`      // desk work will triage
	Triaged int  `json:"triaged"`     // bundles triaged now
	Reports int  `json:"reports"`     // written
	// NoGroup is how many reports are in no group: in sync, inconclusive, nothing that could be read, or too little known of what differs.
	NoGroup   int      `json:"no_group"`
	NewGroups []string `json:"new_groups"` // codes of groups that had no report before
	CameBack  []string `json:"came_back"`  // codes of groups that were closed, and are open again

	Aside     []Untaken `json:"aside"`      // bundles that cannot be triaged
	Waiting   []Untaken `json:"waiting"`    // bundles that are stored, and could not be triaged on this machine now
	NotStored []Untaken `json:"not_stored"` // bundles that are not in the store
	// Named are stored bundles that may contain names of players, each with the first such file, or why there is no copy
	// without names.
	Named []Untaken `json:"names_left"`
}

// Untaken is a bundle without reports, with the reason.
type Untaken struct {
	Path string `json:"path"`
	Why  string `json:"why"`
}

// NewAdding returns an empty Adding.
func NewAdding(queued bool) *Adding {
	return &Adding{Head: document.NewHead("desk-add", document.InSync, nil), Queued: queued, NewGroups: []string{}, CameBack: []string{}, Aside: []Untaken{}, Waiting: []Untaken{}, NotStored: []Untaken{}, Named: []Untaken{}}
}

// Add adds the result for a bundle.
func (a *Adding) Add(x *intake.Added) {
	a.Bundles++
	switch {
	case x.Bundle == nil:
		a.Refused(x.Path, x.Err)
		return
	case x.New:
		a.New++
	default:
		a.Before++
	}
	if x.Healed {
		a.Healed++
	}
	path := document.Safe(x.Path)
	switch {
	case x.Err != nil:
		a.Waiting = append(a.Waiting, Untaken{path, document.Safe(prose.Plainly(x.Err))})
	case x.Aside != "":
		a.Aside = append(a.Aside, Untaken{path, document.Safe(x.Aside)})
	case len(x.Changes) > 0:
		a.Triaged++
	}
	if x.Triaged != nil && len(x.Triaged.Names) > 0 {
		a.Named = append(a.Named, Untaken{path, document.Safe(x.Triaged.Names[0])})
	}
	for _, left := range x.Left {
		a.Warnings = append(a.Warnings, document.Safe(x.Path+": "+left))
	}
	a.Reports += len(x.Changes)
	for _, c := range x.Changes {
		if c.Group == "" {
			a.NoGroup++
		}
		if c.NewGroup {
			a.NewGroups = append(a.NewGroups, c.Group)
		}
		if c.CameBack && !slices.Contains(a.CameBack, c.Group) {
			a.CameBack = append(a.CameBack, c.Group)
		}
	}
	a.Status = a.status()
}

// Refused adds a path from which nothing was stored.
func (a *Adding) Refused(path string, err error) {
	a.NotStored = append(a.NotStored, Untaken{document.Safe(path), document.Safe(prose.Plainly(err))})
	a.Status = a.status()
}

func (a *Adding) status() document.Status {
	switch {
	case len(a.NotStored) > 0:
		return document.Failed
	case len(a.Aside)+len(a.Waiting) > 0:
		return document.Inconclusive
	}
	return document.InSync
}

// Text describes the result in a few lines.
func (a *Adding) Text() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s: %d new, %d seen before", prose.Count(a.Bundles, "bundle", "bundles"), a.New, a.Before)
	if n := len(a.NotStored); n > 0 {
		fmt.Fprintf(&b, ", %d not stored", n)
	}
	b.WriteString(".\n")
	if a.Healed > 0 {
		fmt.Fprintf(&b, "Written again, because the stored content was damaged or missing: %s.\n", prose.Count(a.Healed, "bundle", "bundles"))
	}
	switch {
	case a.Queued && a.New > 0:
		b.WriteString("They wait for desynctool desk work.\n")
	case !a.Queued && a.Triaged > 0:
		fmt.Fprintf(&b, "%s, %s", prose.Count(a.Reports, "report", "reports"), prose.Count(len(a.NewGroups), "new group", "new groups"))
		if a.NoGroup > 0 {
			fmt.Fprintf(&b, "; %d in no group (desynctool desk list --reports)", a.NoGroup)
		}
		b.WriteString(".\n")
	}
	groups(&b, "New", a.NewGroups)
	groups(&b, "Came back", a.CameBack)
	if n := len(a.Named); n > 0 {
		fmt.Fprintf(&b, "Names of players: %s, whose files are kept as they came (docs/privacy.md).\n", prose.Count(n, "bundle", "bundles"))
	}
	untaken(&b, "set aside", a.Aside)
	untaken(&b, "stored, not triaged", a.Waiting)
	untaken(&b, "not stored", a.NotStored)
	return b.String()
}

// shown is the maximum number of groups or bundles that are named.
const shown = 12

func groups(b *strings.Builder, what string, codes []string) {
	if len(codes) == 0 {
		return
	}
	fmt.Fprintf(b, "%s: %s", what, strings.Join(codes[:min(len(codes), shown)], ", "))
	if more := len(codes) - shown; more > 0 {
		fmt.Fprintf(b, " and %d more", more)
	}
	b.WriteString(".\n")
}

func untaken(b *strings.Builder, what string, list []Untaken) {
	for i, u := range list {
		if i == shown {
			fmt.Fprintf(b, "%s: %d more\n", what, len(list)-i)
			return
		}
		why := strings.TrimPrefix(u.Why, u.Path+": ")
		fmt.Fprintf(b, "%s: %s: %s\n", what, prose.OneLine(u.Path), prose.OneLine(why))
	}
}

// AddedLine describes the result for a bundle in one line.
func AddedLine(x *intake.Added) string {
	path := document.Safe(prose.OneLine(x.Path))
	switch {
	case x.Bundle == nil:
		return path + ": not stored: " + document.Safe(prose.OneLine(prose.Plainly(x.Err)))
	case x.Err != nil:
		return path + ": stored, not triaged: " + document.Safe(prose.OneLine(prose.Plainly(x.Err)))
	case x.Aside != "":
		return path + ": set aside: " + document.Safe(prose.OneLine(x.Aside))
	case len(x.Changes) > 0:
		var list []string
		for i, c := range x.Changes {
			said := string(x.Triaged.Readings[i].Report.Status)
			if c.Group != "" {
				said += ", group " + c.Group
			}
			if c.NewGroup {
				said += " (new)"
			}
			list = append(list, said)
		}
		return path + ": " + strings.Join(list, "; ")
	case x.Healed:
		return path + ": seen before, its content is written again"
	case !x.New && x.Bundle.State != desk.Waiting:
		return path + ": seen before"
	}
	return path + ": stored"
}
