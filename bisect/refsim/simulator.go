package refsim

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/desynctool/desynctool/bisect"
	"github.com/desynctool/desynctool/orderlog"
	"github.com/desynctool/desynctool/snapshot"
)

// Simulator returns the reference sim for replaying logs, with a peer's mistakes if
// any.
func Simulator(mistakes ...Fault) *bisect.Sim {
	name := "builtin"
	for _, f := range mistakes {
		name += ":fault=" + f.String()
	}
	return &bisect.Sim{
		Name: name,
		// In this process it also saves and restores itself. A server for another process saves its state, so CanSave
		// is not in this list.
		Can: []bisect.Capability{bisect.CanState, bisect.CanLoad, bisect.CanSystems, bisect.CanCaches, bisect.CanValidate, bisect.CanTest, bisect.CanPredict, bisect.CanOrders},
		Start: func(h *orderlog.Header) (bisect.Simulator, error) {
			if h.FirstPoint != 0 {
				return nil, fmt.Errorf("the log begins at state point %d, without a snapshot of it there is nothing to start from", h.FirstPoint)
			}
			config, err := ofThisSim(h)
			if err != nil {
				return nil, err
			}
			sim, err := New(config, mistakes...)
			if err != nil {
				return nil, err
			}
			return newReplayed(sim, h)
		},
		Resume: func(w *snapshot.World, h *orderlog.Header) (bisect.Simulator, error) {
			var config *Config // the log's configuration, if it has one
			if h != nil {
				c, err := ofThisSim(h)
				if err != nil {
					return nil, err
				}
				config = &c
			}
			// A peer's caches may be the error: they are computed from scratch, as for a peer that joins.
			state := *w
			state.Tables = slices.DeleteFunc(slices.Clone(w.Tables), func(t snapshot.Table) bool { return t.Class == snapshot.Cache })
			sim, err := Load(&state, mistakes...)
			if err != nil {
				return nil, err
			}
			if h == nil {
				h = &orderlog.Header{Kinds: sim.OrderKinds()}
			}
			if saved := sim.Config(); config != nil && (saved.Entities != config.Entities || saved.Players != config.Players) {
				return nil, fmt.Errorf("the state belongs to a game with %d entities and %d players, the log of one with %d and %d",
					saved.Entities, saved.Players, config.Entities, config.Players)
			}
			return newReplayed(sim, h)
		},
	}
}

// ofThisSim returns the game of a log, or a new game for a header that was made up without a log, as in a conformance
// test.
func ofThisSim(h *orderlog.Header) (Config, error) {
	if fresh(h) {
		params := map[string]string{"seed": strconv.FormatUint(h.Seed, 10)}
		maps.Copy(params, h.Params)
		return ParseParams(params)
	}
	if name := h.Params["sim"]; name != SimName {
		return Config{}, fmt.Errorf("the log belongs to the simulator %q, not to %q", name, SimName)
	}
	config, err := ParseParams(h.Params)
	if err != nil {
		return Config{}, err
	}
	if _, ok := h.Params["seed"]; !ok {
		config.Seed = h.Seed
	}
	if config.Seed != h.Seed {
		return Config{}, fmt.Errorf("the log's header has seed %016x, its parameters %016x", h.Seed, config.Seed)
	}
	return config, nil
}

// fresh reports whether a header does not come from a log that was written.
func fresh(h *orderlog.Header) bool {
	return h.Params["sim"] == "" && h.Peer == "" && len(h.Kinds)+len(h.Peers) == 0 && h.Start.IsZero() && h.FirstPoint == 0
}

// replayed is a Sim with orders from a log that has its own table of kinds.
type replayed struct {
	*Sim
	kinds  []uint32 // ours for each of the log's
	orders []orderlog.Order
	again  derived // reused by StaleCaches
}

func newReplayed(sim *Sim, h *orderlog.Header) (*replayed, error) {
	ours := sim.OrderKinds()
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

// ours returns an order with the number that its kind has here, if the log has that kind.
func (r *replayed) ours(o *orderlog.Order) (ours orderlog.Order, known bool) {
	ours = *o
	if known = int(o.Kind) < len(r.kinds); known {
		ours.Kind = r.kinds[o.Kind]
	}
	return ours, known
}

// Test implements bisect.Tester.
func (r *replayed) Test(o *orderlog.Order) (bool, error) {
	ours, known := r.ours(o)
	return known && r.Sim.Test(&ours), nil
}

// Predict implements bisect.Predictor.
func (r *replayed) Predict(player uint32, orders []orderlog.Order) error {
	if err := r.translate(orders); err != nil {
		return err
	}
	r.Sim.Predict(player, r.orders)
	return nil
}

// Identity implements bisect.Identified. The reference sim has no builds.
func (r *replayed) Identity() (game, build string) { return SimName, "" }

// World implements bisect.Saver.
func (r *replayed) World() (*snapshot.World, error) { return r.Sim.World(), nil }

// Next implements bisect.Stepper.
func (r *replayed) Next() (system string, more bool, err error) {
	system, more = r.Sim.Next()
	return system, more, nil
}

// Validate implements bisect.Validator.
func (r *replayed) Validate(orders []orderlog.Order) (why []string, err error) {
	for i := range orders {
		why = append(why, r.ignored(&orders[i]))
	}
	return why, nil
}

// ignored returns why an order would be ignored, empty if it would not.
func (r *replayed) ignored(o *orderlog.Order) string {
	ours, known := r.ours(o)
	if !known {
		return fmt.Sprintf("kind %d, the log has %d", o.Kind, len(r.kinds))
	}
	if players := r.Config().Players; uint64(o.Player) >= uint64(players) {
		return fmt.Sprintf("the game has %d players", players)
	}
	if _, err := DecodeOrder(&ours); err != nil {
		return err.Error()
	}
	return ""
}

// StaleCaches implements bisect.CacheChecker.
func (r *replayed) StaleCaches() ([]string, error) { return r.staleCaches(&r.again) }

// Step implements bisect.Simulator.
func (r *replayed) Step(orders []orderlog.Order) error {
	if err := r.translate(orders); err != nil {
		return err
	}
	return r.Sim.Step(r.orders)
}

// Begin implements bisect.Stepper.
func (r *replayed) Begin(orders []orderlog.Order) error {
	if err := r.translate(orders); err != nil {
		return err
	}
	return r.Sim.Begin(r.orders)
}

// translate gives orders the numbers that their kinds have here.
func (r *replayed) translate(orders []orderlog.Order) error {
	r.orders = r.orders[:0]
	for i := range orders {
		o, known := r.ours(&orders[i])
		if !known {
			return fmt.Errorf("order of kind %d, the log has %d kinds", orders[i].Kind, len(r.kinds))
		}
		r.orders = append(r.orders, o)
	}
	return nil
}

// ParseSimulator parses a name of the reference sim: "builtin", and after it any number of
// ":fault=NAME[/PLACE][@TICK]".
func ParseSimulator(spec string) (*bisect.Sim, error) {
	parts := strings.Split(spec, ":")
	if parts[0] != "builtin" {
		return nil, fmt.Errorf("unknown simulator %q, expected builtin or builtin:fault=NAME[/PLACE][@TICK]", spec)
	}
	var mistakes []Fault
	for _, part := range parts[1:] {
		text, ok := strings.CutPrefix(part, "fault=")
		if !ok {
			return nil, fmt.Errorf("simulator %q: %q, expected fault=NAME[/PLACE][@TICK]", spec, part)
		}
		f, _, err := ParseFault(text)
		if err != nil {
			return nil, err
		}
		mistakes = append(mistakes, f)
	}
	return Simulator(mistakes...), nil
}
