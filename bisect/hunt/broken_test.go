package hunt

import (
	"context"
	"errors"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/desynctool/desynctool/bisect"
	"github.com/desynctool/desynctool/bisect/extsim"
	"github.com/desynctool/desynctool/bisect/refsim"
	"github.com/desynctool/desynctool/orderlog"
	"github.com/desynctool/desynctool/snapshot"
)

// breaking is the reference sim, asked by function calls, that breaks off when a tick has an order to
// attack.
func breaking(broken error) *bisect.Sim {
	sim := refsim.Simulator()
	watch := *sim
	watch.Can = []bisect.Capability{bisect.CanOrders, bisect.CanState}
	return extsim.Over("breaking", extsim.Options{}, func() (*extsim.Call, error) {
		here := watch
		attacked := false
		here.Start = func(h *orderlog.Header) (bisect.Simulator, error) {
			s, err := sim.Start(h)
			return &attackable{Simulator: s, kinds: h.Kinds, attacked: &attacked}, err
		}
		server := extsim.NewServer(&here, "1")
		do := func(request []byte, _ time.Duration) ([]byte, error) {
			reply, err := server.Answer(request)
			if attacked && broken == nil {
				return []byte("what?"), nil
			}
			if attacked {
				return nil, broken
			}
			return reply, err
		}
		return &extsim.Call{Do: do, Release: server.Close}, nil
	})
}

// attackable knows whether it was given an order to attack.
type attackable struct {
	bisect.Simulator
	kinds    []orderlog.OrderKind
	attacked *bool
}

func (a *attackable) Step(orders []orderlog.Order) error {
	for i := range orders {
		*a.attacked = *a.attacked || a.kinds[orders[i].Kind].Name == "attack"
	}
	return a.Simulator.Step(orders)
}

func (a *attackable) OrderForms() (*bisect.OrderForms, error) {
	return a.Simulator.(bisect.OrderTeller).OrderForms()
}

func (a *attackable) World() (*snapshot.World, error) { return a.Simulator.(bisect.Saver).World() }

// TestBreaks: a simulator that dies, is silent or breaks the protocol is a finding, and the hunt goes on. What
// is left of its session is the order that does it.
func TestBreaks(t *testing.T) {
	for _, c := range []struct {
		err  error
		want Broke
	}{{errors.New("trap at 0x1234"), Died}, {extsim.SilentError{After: time.Second}, Silent}, {nil, Malformed}} {
		h := hunter(t, Target{Sim: breaking(c.err), MaxTicks: 64})
		dir := t.TempDir()
		store, err := OpenStore(dir, h, 1)
		if err != nil {
			t.Fatal(err)
		}
		r, err := h.Run(context.Background(), store.State, store, Options{Sessions: 6, Jobs: 2})
		if err != nil || store.Close() != nil {
			t.Fatal(err)
		}
		if len(r.Findings) != 1 || r.Done != 6 {
			t.Fatalf("%s: %d findings in %d sessions", c.want, len(r.Findings), r.Done)
		}
		f := r.Findings[0]
		if f.Broke != c.want || f.Mode != Play || f.Sessions < 3 || !strings.HasPrefix(f.Signature.Archetype, string(c.want)+": ") {
			t.Errorf("%s: %+v", c.want, f)
		}
		kept, err := orderlog.ReadFile(f.Kept(store.Folder(f)))
		if err != nil {
			t.Fatal(err)
		}
		n := 0
		for i := range kept.Ticks {
			n += len(kept.Ticks[i].Orders)
		}
		if c.want == Silent {
			if f.Smaller.Minimal || f.Smaller.Why == "" {
				t.Errorf("silent, and minimised: %+v", f.Smaller)
			}
			continue
		}
		if !f.Smaller.Minimal || n != 1 || f.Smaller.Orders != 1 || f.Smaller.Ticks > f.Smaller.GivenTicks {
			t.Errorf("%s: %d orders are left, %+v", c.want, n, f.Smaller)
		}
	}
}

// TestDiesAtOnce: a simulator that does not begin is no finding, since it is not known what it plays.
func TestDiesAtOnce(t *testing.T) {
	sim := extsim.Over("gone", extsim.Options{}, func() (*extsim.Call, error) { return nil, os.ErrNotExist })
	if _, err := New(Target{Sim: sim}); !errors.Is(err, os.ErrNotExist) || errors.Is(err, ErrCannot) {
		t.Errorf("error is %v", err)
	}
}
