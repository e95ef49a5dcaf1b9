package wasmsim

import (
	"context"
	"testing"

	"github.com/desynctool/desynctool/bisect"
	"github.com/desynctool/desynctool/bisect/extsim"
	"github.com/desynctool/desynctool/bisect/hunt"
	"github.com/desynctool/desynctool/bisect/refsim"
	"github.com/desynctool/desynctool/internal/testkit/effort"
)

// TestHunt finds the mistake of a module by sessions that are made up, and no other, and nothing in one without a mistake.
func TestHunt(t *testing.T) {
	effort.InTurn(t, 0, 3)
	modules := []struct {
		fault string
		want  bisect.TrialMode
	}{{"stale-cache/Fog@4", bisect.CheckCaches}, {"", ""}, {"float-fma/Morale", bisect.Against}}
	for _, m := range modules {
		fault, want := m.fault, m.want
		sim, err := New(context.Background(), "wasm", refsimModule(t, fault), extsim.Options{})
		if err != nil {
			t.Fatal(err)
		}
		h, err := hunt.New(hunt.Target{
			Sim: sim, Against: refsim.Simulator(), MaxTicks: 24, Params: map[string][]string{"entities": {"100"}},
			Modes: []bisect.TrialMode{hunt.Checksum, bisect.Serialize, bisect.CheckCaches, bisect.Against},
		})
		if err != nil {
			t.Fatal(err)
		}
		r, err := h.Run(context.Background(), h.Begin(1), nil, hunt.Options{Sessions: 2, MaxReplays: 10})
		if err != nil {
			t.Fatal(err)
		}
		found := false
		for _, f := range r.Findings {
			found = found || f.Mode == want
			if want == "" {
				t.Errorf("without a mistake: %s, seed %d", f.Name(), f.Seed)
			}
		}
		if found != (want != "") {
			t.Errorf("%q: %d findings", fault, len(r.Findings))
		}
	}
}
