package render

import (
	"fmt"
	"strings"

	"github.com/desynctool/desynctool/desk/queue"
	"github.com/desynctool/desynctool/internal/prose"
	"github.com/desynctool/desynctool/report/document"
)

// Work is desynctool.desk-work/1: the result of a worker's run.
type Work struct {
	document.Head
	Done  int `json:"done"`  // bundles that have reports now, or needed none
	Aside int `json:"aside"` // bundles that were set aside
	Tried int `json:"tried"` // times that a bundle could not be triaged here
	Later int `json:"later"` // bundles that are retried later
}

// NewWork returns the document of a worker's run.
func NewWork(s queue.Summary) Work {
	status := document.InSync
	if s.Aside+s.Later > 0 {
		status = document.Inconclusive
	}
	return Work{document.NewHead("desk-work", status, nil), s.Done, s.Aside, s.Tried, s.Later}
}

// Text describes the run in a line.
func (w Work) Text() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s done", prose.Count(w.Done, "bundle", "bundles"))
	if w.Aside > 0 {
		fmt.Fprintf(&b, ", %d set aside", w.Aside)
	}
	if w.Later > 0 {
		fmt.Fprintf(&b, ", %d tried again later", w.Later)
	}
	return b.String() + ".\n"
}
