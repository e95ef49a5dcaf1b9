package render

import (
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/desynctool/desynctool/desk"
	"github.com/desynctool/desynctool/internal/prose"
	"github.com/desynctool/desynctool/report/document"
)

// shownHash is how many digits of a hash appear in text.
const shownHash = 12

// Prune writes a line for each bundle that was or would be deleted, and what stays.
func Prune(w io.Writer, p *desk.Pruned) error {
	var b strings.Builder
	for _, x := range p.Bundles {
		of := x.Class.String()
		if x.Class != desk.OfNone {
			of += " " + strings.Join(x.Groups, " ")
		}
		fmt.Fprintf(&b, "%s  %s  %s  %s  %s\n", x.Hash[:shownHash], x.Came.Format(time.DateOnly), of, pruneReasons[x.Reason], prose.Count(x.Stored, "byte", "bytes"))
	}
	for _, hash := range p.Unknown {
		fmt.Fprintf(&b, "%s  no bundle of the store needs it\n", hash[:shownHash])
	}
	what := "deleted"
	if p.DryRun {
		what = "would be deleted"
	}
	freed := int64(0)
	for _, x := range p.Bundles {
		freed += x.Stored
	}
	gone := prose.Count(len(p.Bundles), "bundle", "bundles")
	if p.Reports {
		gone += " with their reports"
	}
	fmt.Fprintf(&b, "%s %s, of %s. %s with %s.\n", gone, what, prose.Count(freed, "byte", "bytes"), stays(p.Stay), prose.Count(p.StayBytes, "byte", "bytes"))
	for _, x := range []struct {
		n   int64
		why string
	}{{p.Waiting, "to be triaged"}, {p.Young, "not a day old"}, {p.Best, "the most complete of a group"}} {
		if x.n > 0 {
			fmt.Fprintf(&b, "%s in any case: %s.\n", stays(x.n), x.why)
		}
	}
	for _, r := range p.Beyond {
		fmt.Fprintf(&b, "That is still %s.\n", pruneReasons[r])
	}
	_, err := io.WriteString(w, b.String())
	return err
}

func stays(n int64) string {
	if n == 1 {
		return "1 bundle stays"
	}
	return prose.Count(n, "bundle", "bundles") + " stay"
}

var pruneReasons = map[desk.PruneReason]string{
	desk.PrunedByAge:   "older than is kept",
	desk.PrunedByCount: "more bundles than are kept",
	desk.PrunedByBytes: "more bytes than are kept",
}

// PruneDocument returns the JSON document of what was deleted.
func PruneDocument(p *desk.Pruned) any {
	return struct {
		document.Head
		*desk.Pruned
	}{document.NewHead("desk-prune", document.InSync, nil), p}
}

// Forget describes what was deleted about a player, what was found and left, and what cannot be known. overwritten
// means that the database overwrites deleted data.
func Forget(w io.Writer, f *desk.Forgotten, overwritten bool) error {
	var b strings.Builder
	what := "Deleted"
	if f.DryRun {
		what = "Would be deleted"
	}
	fmt.Fprintf(&b, "%s: %s, the content of %s, %s of files, %s.\n", what, prose.Count(f.Reports, "report with its document", "reports with their documents"), prose.Count(f.Bundles, "bundle", "bundles"),
		prose.Count(f.Names, "name", "names"), prose.Count(f.Facts, "stated fact", "stated facts"))
	if rest := f.Bundles - f.Rows; rest > 0 {
		fmt.Fprintf(&b, "In %s other matches had other peers: their reports stay.\n", prose.Count(rest, "bundle", "bundles"))
	}
	for _, m := range f.Mentions {
		fmt.Fprintf(&b, "Left: the report of match %d in bundle %s has the name in a text.\n", m.Match, m.Bundle[:shownHash])
	}
	for _, e := range f.Events {
		fmt.Fprintf(&b, "Left: event %d, which a person wrote, has the name in it.\n", e)
	}
	for _, g := range f.Groups {
		fmt.Fprintf(&b, "Left: group %s is called by the name.\n", g)
	}
	if f.Unread > 0 {
		fmt.Fprintf(&b, "Not known: whether the name is in the content of the other %s.\n", prose.Count(f.Unread, "bundle", "bundles"))
	}
	if !overwritten {
		b.WriteString("PostgreSQL keeps old rows until its next VACUUM. Backups and exports have what they had.\n")
	} else {
		b.WriteString("Backups and exports have what they had.\n")
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// ForgetDocument returns the JSON document of a deletion of a player's data.
func ForgetDocument(f *desk.Forgotten) any {
	return struct {
		document.Head
		*desk.Forgotten
	}{document.NewHead("desk-forget", document.InSync, nil), f}
}

// Export describes the content of an export. done is the action: "Exported", "Imported".
func Export(w io.Writer, done string, e *desk.Exported) error {
	_, err := fmt.Fprintf(w, "%s: %s, %s, the content of %d, %s.\n", done, prose.Count(e.Reports, "report", "reports"), prose.Count(e.Bundles, "bundle", "bundles"), e.Blobs, prose.Count(e.Bytes, "byte", "bytes"))
	for _, hash := range e.Missing {
		if err == nil {
			_, err = fmt.Fprintf(w, "Missing: the content of bundle %s, which is gone or damaged.\n", hash[:shownHash])
		}
	}
	return err
}

// ExportDocument returns the JSON document of an export or an import.
func ExportDocument(kind string, status document.Status, e *desk.Exported) any {
	return struct {
		document.Head
		*desk.Exported
	}{document.NewHead(kind, status, nil), e}
}
