package refsim

import (
	"fmt"
	"slices"

	"github.com/desynctool/desynctool/bisect"
	"github.com/desynctool/desynctool/orderlog"
	"github.com/desynctool/desynctool/snapshot"
)

// Simulator returns the reference sim, without faults, for replaying logs.
func Simulator() *bisect.Sim {
	return &bisect.Sim{
		Name: "builtin",
		Start: func(h *orderlog.Header) (bisect.Simulator, error) {
			if h.FirstPoint != 0 {
				return nil, fmt.Errorf("the log begins at state point %d, without a snapshot of it there is nothing to start from", h.FirstPoint)
			}
			config, err := ofThisSim(h)
			if err != nil {
				return nil, err
			}
			sim, err := New(config)
			if err != nil {
				return nil, err
			}
			return newReplayed(sim, h)
		},
		Resume: func(w *snapshot.World, h *orderlog.Header) (bisect.Simulator, error) {
			if _, err := ofThisSim(h); err != nil {
				return nil, err
			}
			// A peer's caches may be what is wrong with it: they are computed
			// anew, as for a peer that joins.
			state := *w
			state.Tables = slices.DeleteFunc(slices.Clone(w.Tables), func(t snapshot.Table) bool { return t.Class == snapshot.Cache })
			sim, err := Load(&state)
			if err != nil {
				return nil, err
			}
			return newReplayed(sim, h)
		},
	}
}

func ofThisSim(h *orderlog.Header) (Config, error) {
	if name := h.Params["sim"]; name != SimName {
		return Config{}, fmt.Errorf("the log is of the simulator %q, not of %q", name, SimName)
	}
	config, err := ParseParams(h.Params)
	if err != nil {
		return Config{}, err
	}
	if config.Seed != h.Seed {
		return Config{}, fmt.Errorf("the log's header has seed %016x, its parameters %016x", h.Seed, config.Seed)
	}
	return config, nil
}

// replayed is a Sim whose orders come from a log with its own table of kinds.
type replayed struct {
	*Sim
	kinds  []uint32 // ours for each of the log's
	orders []orderlog.Order
}

func newReplayed(sim *Sim, h *orderlog.Header) (*replayed, error) {
	ours := OrderKinds()
	r := &replayed{Sim: sim}
	for _, kind := range h.Kinds {
		i := slices.IndexFunc(ours, func(k orderlog.OrderKind) bool { return k.Name == kind.Name })
		if i < 0 {
			return nil, fmt.Errorf("the log has orders of kind %q, which the simulator does not know", kind.Name)
		}
		r.kinds = append(r.kinds, uint32(i))
	}
	return r, nil
}

// Step implements bisect.Simulator.
func (r *replayed) Step(orders []orderlog.Order) error {
	r.orders = append(r.orders[:0], orders...)
	for i := range r.orders {
		o := &r.orders[i]
		if int(o.Kind) >= len(r.kinds) {
			return fmt.Errorf("order of kind %d, the log has %d kinds", o.Kind, len(r.kinds))
		}
		o.Kind = r.kinds[o.Kind]
	}
	return r.Sim.Step(r.orders)
}
