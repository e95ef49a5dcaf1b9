package document

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/desynctool/desynctool/bisect/refsim/session"
	"github.com/desynctool/desynctool/internal/prose"
)

// recordDocument is desynctool.record/1. Its status shows whether the peers diverged; a divergence does not make the
// command fail.
type recordDocument struct {
	Head
	Dir      string         `json:"dir"`
	Detected *uint64        `json:"detected_at"` // state point, null if nothing was
	Peers    []recordedPeer `json:"peers"`
}

// recordedPeer is one peer's part of a recorded session.
type recordedPeer struct {
	Name      string `json:"name"`
	Dir       string `json:"dir"`
	Snapshots int    `json:"snapshots"`
}

// Record returns the document of a recorded session, which is in dir.
func Record(r *session.Recording, dir string) Document {
	return Document{
		StatusOf(r),
		func() any { return recordJSON(r, dir) },
		func(out *Text, all bool) { recordText(out, r, dir) },
	}
}

func recordJSON(r *session.Recording, dir string) *recordDocument {
	doc := &recordDocument{Head: head("record", StatusOf(r), nil), Dir: dir, Detected: r.Detected}
	for i := range r.Peers {
		p := &r.Peers[i]
		doc.Peers = append(doc.Peers, recordedPeer{p.Name, p.Dir, len(p.Snapshots)})
	}
	return doc
}

// recordedFiles names what a peer left.
func recordedFiles(p *session.Recorded) []string {
	files := []string{filepath.Base(p.Log)}
	if p.Trace != "" {
		files = append(files, filepath.Base(p.Trace))
	}
	if p.Signatures != "" {
		files = append(files, filepath.Base(p.Signatures))
	}
	return append(files, prose.Count(len(p.Snapshots), "snapshot", "snapshots"))
}

func recordText(out *Text, r *session.Recording, dir string) {
	s := out.Style
	found := "the peers' sync hashes never differed"
	if r.Detected != nil {
		found = fmt.Sprintf("the peers' sync hashes first differed at state point %d", *r.Detected)
	}
	out.put(s.bold.Sprint("RECORDED"), "  ", Safe(dir), "  ", found)
	for i := range r.Peers {
		p := &r.Peers[i]
		out.put("  ", s.name.Sprint(prose.Name(p.Dir)), s.faint.Sprint("  "+strings.Join(recordedFiles(p), ", ")))
	}
	dirs := []string{PathArgument(dir)}
	if len(r.Peers) == 2 {
		dirs = []string{PathArgument(r.Peers[0].Dir), PathArgument(r.Peers[1].Dir)}
	}
	out.next(Step{Command: slices.Concat([]string{"bisect"}, dirs, []string{"--sim", "builtin"})})
}
