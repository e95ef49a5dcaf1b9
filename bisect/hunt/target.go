package hunt

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/desynctool/desynctool/bisect"
	"github.com/desynctool/desynctool/orderlog"
)

// Target is what is hunted in.
type Target struct {
	Sim     *bisect.Sim
	Against *bisect.Sim // for the mode Against, nil without it
	// Modes are those to play, all that the simulator allows if it is empty.
	Modes []bisect.TrialMode
	// Logs are recorded logs, from the start of a session. The hunt changes their orders. Without any the simulator has
	// to describe its orders; with both, sessions are of either sort.
	Logs []*orderlog.Log
	// Params are parameters of sessions, each with the values that it may have. They are used in addition to the
	// parameters that the simulator reports, and instead of a parameter with the same key.
	Params map[string][]string
	// MaxTicks is how long a session is at most, DefaultTicks if it is 0.
	MaxTicks uint64
}

// DefaultTicks is how long a session is at most by default. MinTicks is the least that MaxTicks may be.
const (
	DefaultTicks = 512
	MinTicks     = 16
)

// Hunter plays sessions. Several may be played at once.
type Hunter struct {
	target Target
	base   []recorded
	forms  *bisect.OrderForms // as the simulator told them of a session like any other; nil if it does not

	// Modes are those that are played, Cannot why others are not.
	Modes  []bisect.TrialMode
	Cannot []Cannot
	// Systems are the systems of a step, nil if it cannot be taken system by system.
	Systems []string
}

// Cannot is a mode that is not played, and the reason.
type Cannot struct {
	Mode bisect.TrialMode `json:"mode"`
	Why  string           `json:"why"`
}

// ErrCannot reports that no hunt is possible in a simulator.
var ErrCannot = errors.New("nothing can be hunted")

// New finds out what a simulator allows. Its error wraps ErrCannot if there is nothing to
// play.
func New(t Target) (_ *Hunter, err error) {
	t.MaxTicks = cmp.Or(t.MaxTicks, DefaultTicks)
	if t.MaxTicks < MinTicks {
		return nil, fmt.Errorf("sessions of at most %d ticks, expected at least %d", t.MaxTicks, MinTicks)
	}
	h := &Hunter{target: t}
	header := &orderlog.Header{Params: map[string]string{}}
	for _, log := range t.Logs {
		r, err := recordedOf(log)
		if err != nil {
			return nil, err
		}
		h.base = append(h.base, r)
	}
	if len(h.base) > 0 {
		header = &h.base[0].header
	} else {
		for key, values := range t.Params {
			header.Params[key] = values[0]
		}
	}
	s, err := t.Sim.Start(header)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", t.Sim.Name, err)
	}
	defer func() { err = errors.Join(err, bisect.Close(s)) }()
	if teller, ok := bisect.As[bisect.OrderTeller](s, bisect.CanOrders); ok {
		if h.forms, err = teller.OrderForms(); err != nil {
			return nil, err
		}
	} else if len(h.base) == 0 {
		return nil, fmt.Errorf("%w: %s does not list its orders (capability %q), and there is no log with orders to change", ErrCannot, t.Sim.Name, bisect.CanOrders)
	}
	for _, mode := range Modes() {
		if len(t.Modes) > 0 && !slices.Contains(t.Modes, mode) {
			continue
		}
		if why := h.cannot(s, mode); why != "" {
			h.Cannot = append(h.Cannot, Cannot{mode, why})
			continue
		}
		h.Modes = append(h.Modes, mode)
	}
	if len(h.Modes) == 0 {
		return nil, fmt.Errorf("%w: %s allows none of the modes: %s: %s", ErrCannot, t.Sim.Name, h.Cannot[0].Mode, h.Cannot[0].Why)
	}
	return h, h.systems(s)
}

// cannot returns why a mode is not possible, empty if it is.
func (h *Hunter) cannot(s bisect.Simulator, mode bisect.TrialMode) string {
	needs := func(c bisect.Capability, ok bool) string {
		if ok {
			return ""
		}
		return fmt.Sprintf("it lacks the capability %q", c)
	}
	_, saves := bisect.As[bisect.Restorer](s, bisect.CanSave)
	_, states := bisect.As[bisect.Saver](s, bisect.CanState)
	switch mode {
	case Checksum:
		return needs(bisect.CanState, states)
	case bisect.Serialize, bisect.Rollback:
		p, partial := s.(bisect.Partial)
		loads := h.target.Sim.Resume != nil && (!partial || p.Can(bisect.CanLoad))
		return needs(bisect.CanSave, saves || states && loads)
	case bisect.Predict:
		_, ok := bisect.As[bisect.Predictor](s, bisect.CanPredict)
		return needs(bisect.CanPredict, ok)
	case bisect.CheckPurity:
		_, ok := bisect.As[bisect.Tester](s, bisect.CanTest)
		return needs(bisect.CanTest, ok)
	case bisect.CheckCaches:
		_, ok := bisect.As[bisect.CacheChecker](s, bisect.CanCaches)
		return needs(bisect.CanCaches, ok)
	case bisect.Against:
		if h.target.Against == nil {
			return "there is no second simulator"
		}
	}
	return ""
}

// systems plays a tick system by system to learn their names.
func (h *Hunter) systems(s bisect.Simulator) error {
	stepper, ok := bisect.As[bisect.Stepper](s, bisect.CanSystems)
	if !ok {
		return nil
	}
	if err := stepper.Begin(nil); err != nil {
		return err
	}
	const most = 10_000
	for more := true; more; {
		var system string
		var err error
		if system, more, err = stepper.Next(); err != nil {
			return err
		}
		if h.Systems = append(h.Systems, system); len(h.Systems) > most {
			return fmt.Errorf("%s: a tick has more than %d systems", h.target.Sim.Name, most)
		}
	}
	return nil
}

// Kinds returns all kinds of orders: first the kinds that the simulator reports, then the kinds in the logs.
func (h *Hunter) Kinds() []orderlog.OrderKind {
	var list []orderlog.OrderKind
	if h.forms != nil {
		list = h.forms.Kinds()
	}
	for i := range h.base {
		for _, k := range h.base[i].header.Kinds {
			if !slices.ContainsFunc(list, func(have orderlog.OrderKind) bool { return have.Name == k.Name }) {
				list = append(list, k)
			}
		}
	}
	return list
}

// paramForms are the parameters that sessions without a log may have.
func (h *Hunter) paramForms() []bisect.ParamForm {
	var list []bisect.ParamForm
	for _, key := range slices.Sorted(maps.Keys(h.target.Params)) {
		list = append(list, bisect.ParamForm{Key: key, Values: h.target.Params[key]})
	}
	for _, p := range h.forms.Params {
		if _, given := h.target.Params[p.Key]; !given {
			list = append(list, p)
		}
	}
	return list
}

// Sim returns the name of the simulator.
func (h *Hunter) Sim() string { return h.target.Sim.Name }

// Against returns the name of the second simulator, empty if there is none.
func (h *Hunter) Against() string {
	if h.target.Against == nil {
		return ""
	}
	return h.target.Against.Name
}
