package render

import (
	"fmt"

	"github.com/desynctool/desynctool/desk"
	"github.com/desynctool/desynctool/internal/prose"
	"github.com/desynctool/desynctool/report/document"
)

// EditText describes an edit of a group in a sentence.
func EditText(d desk.Done) string {
	variants := prose.Count(d.Count, "variant", "variants")
	switch d.What {
	case desk.Merged:
		return fmt.Sprintf("Group %s is merged into %s: %s moved.", d.Other, d.Group, variants)
	case desk.Split:
		return fmt.Sprintf("Group %s is split off from %s: %s moved.", d.Group, d.Other, variants)
	case desk.Moved:
		return fmt.Sprintf("%s moved to group %s.", prose.Count(d.Count, "report", "reports"), d.Group)
	case desk.Named:
		return fmt.Sprintf("Group %s has another name.", d.Group)
	case desk.Closed:
		return fmt.Sprintf("Group %s is closed.", d.Group)
	case desk.Reopened:
		return fmt.Sprintf("Group %s is open again.", d.Group)
	case desk.Ignored:
		return fmt.Sprintf("Group %s is ignored.", d.Group)
	case desk.Noted:
		return fmt.Sprintf("Group %s has one more note.", d.Group)
	case desk.Linked:
		return fmt.Sprintf("Group %s has one more link.", d.Group)
	case desk.Undone:
		return fmt.Sprintf("Undone in group %s.", d.Group)
	}
	return fmt.Sprintf("Group %s: %s.", d.Group, d.What)
}

// editDocument is desynctool.desk-edit/1.
type editDocument struct {
	document.Head
	Event int64     `json:"event"` // number with which it can be undone
	What  desk.What `json:"what"`
	Group string    `json:"group"`
	Other string    `json:"other,omitempty"`
	Count int       `json:"count,omitempty"` // number of variants or reports that were moved
}

// EditDocument returns the JSON document of an edit.
func EditDocument(d desk.Done) any {
	return editDocument{document.NewHead("desk-edit", document.InSync, nil), d.Event, d.What, d.Group, d.Other, d.Count}
}
