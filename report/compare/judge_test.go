package compare_test

import (
	"path/filepath"
	"testing"

	"github.com/desynctool/desynctool/archive/archivetest"
	"github.com/desynctool/desynctool/bisect"
	"github.com/desynctool/desynctool/bisect/minimize"
	"github.com/desynctool/desynctool/bisect/refsim"
	"github.com/desynctool/desynctool/bisect/refsim/session"
	"github.com/desynctool/desynctool/internal/testkit/effort"
	"github.com/desynctool/desynctool/report/bundle"
	"github.com/desynctool/desynctool/report/compare"
)

// TestJudge: two builds of a game decide which parts of a session still diverge. No tick is left after the tick in
// which the fault shows, which is known from the recording.
func TestJudge(t *testing.T) {
	effort.Whole(t)
	fault, err := session.ParseFault("rng-leak@60:client")
	if err != nil {
		t.Fatal(err)
	}
	top := filepath.Join(t.TempDir(), "s")
	played, err := session.RecordTo(top, session.Options{Config: refsim.Config{Seed: 7, Entities: 100}, Ticks: 100, Faults: []session.Fault{fault}}, session.TraceNone)
	if err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(top, "host")
	rec, err := bundle.OpenRecording(archivetest.Open(t, dir), dir)
	if err != nil {
		t.Fatal(err)
	}
	judge := &compare.Judge{
		Witness: asGame(t, "builtin").Witness, Mode: bisect.Against, Against: asGame(t, "builtin:fault=rng-leak@60").Witness,
		Format: rec.Format.Name, File: rec.Format.File,
	}
	r, err := minimize.Run(t.Context(), rec.Input, judge, minimize.Options{MaxReplays: 24})
	if err != nil {
		t.Fatal(err)
	}
	truth := played.Truth.Bracket.Bad
	if r.Point == nil || *r.Point != truth || r.Best.Until() != truth {
		t.Errorf("the first %d ticks are left, which depart at %v; the truth is %d", r.Best.Until(), r.Point, truth)
	}
	judge.Mode = bisect.Dual
	if _, err := minimize.Run(t.Context(), rec.Input, judge, minimize.Options{}); err == nil {
		t.Error("a build that does the same twice diverges")
	}
}
