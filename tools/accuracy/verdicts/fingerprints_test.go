package verdicts_test

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/desynctool/desynctool/bisect/refsim"
	"github.com/desynctool/desynctool/bisect/refsim/session"
	"github.com/desynctool/desynctool/internal/testkit/effort"
	"github.com/desynctool/desynctool/report/document"
	"github.com/desynctool/desynctool/report/words"
)

// printed is the fingerprint of one session.
type printed struct {
	fault, place string
	seed         int
	trace        session.TraceLevel
	r            *document.Report
}

func (p *printed) String() string {
	return fmt.Sprintf("%s/%s seed %d trace %s", p.fault, p.place, p.seed, p.trace)
}

// digest returns the digest of a level, empty if the report has none.
func (p *printed) digest(level document.Level) string {
	for _, f := range p.r.Fingerprints {
		if f.Level == level {
			return f.Digest
		}
	}
	return ""
}

// holdsTick reports whether the states of the divergent tick were compared.
func (p *printed) holdsTick() bool {
	d, k := p.r.FirstDivergence, p.r.Compared
	return d != nil && k != nil && (d.InitialState || d.Tick != nil && k.Point == *d.Tick+1)
}

// seen reports whether two reports would be taken for reports of one bug.
func seen(a, b *printed) bool {
	for _, level := range document.Levels() {
		if d := a.digest(level); level.Seen() && d != "" && d == b.digest(level) {
			return true
		}
	}
	return false
}

// TestFingerprints: no two different faults of the reference game have the same strict
// fingerprint, and reports of one mistake find each other by a level that counts, where both
// have the state of the divergent tick.
func TestFingerprints(t *testing.T) {
	effort.InTurn(t, 2, 3)
	entities := effort.Of(100, 200)
	seeds := effort.Of(2, 4)
	var plays []*printed
	for i, kind := range refsim.Faults() {
		if i%effort.Of(4, 1) != 0 {
			continue
		}
		for seed := range seeds {
			plays = append(plays, &printed{
				fault: kind.Name, place: kind.Places[seed%effort.Of(1, 2)], seed: 1 + seed,
				trace: []session.TraceLevel{session.TraceSystem, session.TraceArchetype}[seed/2%2],
			})
		}
	}
	var wait sync.WaitGroup
	turns := make(chan struct{}, 2)
	for _, p := range plays {
		turns <- struct{}{}
		wait.Go(func() {
			defer func() { <-turns }()
			p.r = playAndTriage(t, p, entities)
		})
	}
	wait.Wait()

	var pairs, found, loose, diverged, same, shared, without int
	for i, a := range plays {
		if a.r == nil || a.r.Status != document.Diverged {
			continue
		}
		if diverged++; a.r.Fingerprint == "" {
			without++
		}
		if len(a.r.Fingerprints) == 0 {
			t.Errorf("%s diverged, and has no fingerprint of any level", a)
		}
		for _, b := range plays[:i] {
			if b.r == nil || b.r.Status != document.Diverged {
				continue
			}
			equal := a.r.Fingerprint != "" && a.r.Fingerprint == b.r.Fingerprint
			switch {
			case a.fault != b.fault && equal:
				shared++
				t.Errorf("%s and %s have the same strict fingerprint: %v", a, b, names(a.r))
			case a.fault == b.fault && a.place == b.place && a.holdsTick() && b.holdsTick():
				pairs++
				if equal {
					same++
				}
				if seen(a, b) || equal {
					found++
				} else {
					t.Logf("%s and %s share nothing that counts:\n\t%v\n\t%v", a, b, names(a.r), names(b.r))
				}
			}
			if a.fault != b.fault && seen(a, b) {
				loose++
			}
		}
	}
	t.Logf("%d sessions diverged, %d without a strict fingerprint; %d pairs of one fault and place, %d found by step or field, %d by the strict one; %d false matches of strict ones, %d pairs of different faults share a step or a field",
		diverged, without, pairs, found, same, shared, loose)
	if diverged < len(plays)*3/4 || pairs < len(plays)/4 || 100*found < 98*pairs {
		t.Errorf("%d of %d sessions diverged, %d of %d pairs are found, expected 98 %%", diverged, len(plays), found, pairs)
	}
}

func names(r *document.Report) (list []string) {
	for _, f := range r.Fingerprints {
		list = append(list, string(f.Level)+" "+f.Name)
	}
	return list
}

// playAndTriage plays a session with all of its evidence and triages it.
func playAndTriage(t *testing.T, p *printed, entities int) *document.Report {
	fault, err := session.ParseFault(fmt.Sprintf("%s/%s@%d:client", p.fault, p.place, 20+3*p.seed))
	if err != nil {
		t.Error(err)
		return nil
	}
	if strings.Contains(p.fault, "initial") || strings.Contains(p.fault, "data-") {
		if fault, err = session.ParseFault(fmt.Sprintf("%s/%s:client", p.fault, p.place)); err != nil {
			t.Error(err)
			return nil
		}
	}
	dir := filepath.Join(t.TempDir(), "s")
	o := session.Options{Config: refsim.Config{Seed: uint64(p.seed), Entities: entities}, Ticks: 150, SnapshotEvery: 100, Faults: []session.Fault{fault}}
	rec, err := session.RecordTo(dir, o, p.trace)
	if err != nil {
		t.Error(err)
		return nil
	}
	dirs := []string{}
	for _, peer := range rec.Peers {
		dirs = append(dirs, peer.Dir)
	}
	slices.Sort(dirs)
	c, err := conclude(dirs, nil, nil)
	if err != nil {
		t.Error(err)
		return nil
	}
	return words.Report(c)
}
