package report

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/desynctool/desynctool/bisect/refsim/session"
	"github.com/desynctool/desynctool/orderlog"
	"github.com/desynctool/desynctool/snapshot"
	"github.com/desynctool/desynctool/snapshot/merkle"
)

// excerptTicks is how many ticks before a report it includes the orders of.
const excerptTicks = 60

// WritePeerReports writes the report of each peer of a recorded session beside
// its snapshots, if a difference was detected.
func WritePeerReports(r *session.Recording) (err error) {
	if r.Detected == nil {
		return nil
	}
	states := make([]*snapshot.File, len(r.Peers))
	defer func() {
		for _, s := range states {
			if s != nil {
				err = errors.Join(err, s.Close())
			}
		}
	}()
	trees := make([]*merkle.Tree, len(r.Peers))
	for i := range r.Peers {
		if states[i], err = snapshot.OpenFile(r.Peers[i].At(*r.Detected)); err != nil {
			return err
		}
		if trees[i], err = merkle.New(states[i].Info().Leaves()); err != nil {
			return err
		}
	}
	for i := range r.Peers {
		var diverged []string
		for k := range trees {
			diverged = append(diverged, merkle.Compare(trees[i], trees[k]).Diverged...)
		}
		slices.Sort(diverged)
		if err := writePeerReport(r, i, states[i], slices.Compact(diverged)); err != nil {
			return err
		}
	}
	return nil
}

func writePeerReport(r *session.Recording, peer int, state snapshot.State, diverged []string) error {
	log, err := orderlog.Open(r.Peers[peer].Log)
	if err != nil {
		return err
	}
	excerpt, err := ReadExcerpt(log, *r.Detected-min(*r.Detected, excerptTicks), *r.Detected)
	if err := errors.Join(err, log.Close()); err != nil {
		return err
	}
	report, err := NewPeerReport(peer, Diverged, state, diverged, excerpt)
	if err != nil {
		return err
	}
	path := filepath.Join(r.Peers[peer].Dir, PeerReportName(state.Info().Seed, *r.Detected))
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	return errors.Join(WriteJSON(f, report), f.Close())
}

// RecordDocument is desynctool.record/1. Its status says whether the peers
// parted, which is no failure of the command.
type RecordDocument struct {
	Head
	Dir      string         `json:"dir"`
	Detected *uint64        `json:"detected_at"` // state point, null if nothing was
	Peers    []RecordedPeer `json:"peers"`
}

// RecordedPeer is one peer's part of a recorded session.
type RecordedPeer struct {
	Name      string `json:"name"`
	Dir       string `json:"dir"`
	Snapshots int    `json:"snapshots"`
}

// Record returns the JSON document of a recorded session.
func Record(r *session.Recording, dir string) *RecordDocument {
	status := InSync
	if r.Detected != nil {
		status = Diverged
	}
	doc := &RecordDocument{Head: head("record", status, nil), Dir: dir, Detected: r.Detected, Peers: []RecordedPeer{}}
	for i := range r.Peers {
		p := &r.Peers[i]
		doc.Peers = append(doc.Peers, RecordedPeer{p.Name, p.Dir, len(p.Snapshots)})
	}
	return doc
}

// recordedFiles names what a peer left behind.
func recordedFiles(p *session.Recorded) []string {
	files := []string{filepath.Base(p.Log)}
	if p.Trace != "" {
		files = append(files, filepath.Base(p.Trace))
	}
	return append(files, plural(uint64(len(p.Snapshots)), "snapshot", "snapshots"))
}

// RecordText writes what was recorded for a person.
func RecordText(w io.Writer, r *session.Recording, dir string, s Style) error {
	out := lines{w: w}
	found := "the peers' sync hashes never differed"
	if r.Detected != nil {
		found = fmt.Sprintf("the peers' sync hashes first differed at state point %d", *r.Detected)
	}
	out.put(s.bold.Sprint("RECORDED"), "  ", Safe(dir), "  ", found)
	for i := range r.Peers {
		p := &r.Peers[i]
		out.put("  ", s.name.Sprint(Safe(p.Dir)), s.faint.Sprint("  "+strings.Join(recordedFiles(p), ", ")))
	}
	if len(r.Peers) == 2 {
		dir = r.Peers[0].Dir + " " + r.Peers[1].Dir
	}
	out.put(s.faint.Sprint("  next     "), "desynctool bisect ", Safe(dir), " --sim builtin")
	return out.err
}
