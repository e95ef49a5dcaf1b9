package extsim

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/desynctool/desynctool/bisect"
	"github.com/desynctool/desynctool/internal/lists"
	"github.com/desynctool/desynctool/orderlog"
	"github.com/desynctool/desynctool/snapshot/merkle"
)

// Session is the session that a target is tested with.
type Session struct {
	Header orderlog.Header
	Orders map[uint64][]orderlog.Order // by tick
	// Recorded are the sync hashes that the target itself recorded, by state point; nil
	// if there are none.
	Recorded map[uint64]merkle.Short
	Ticks    uint64 // to play, 2 at least
}

// Outcome is the result of one part of a conformance test.
type Outcome string

// Outcomes.
const (
	Passed  Outcome = "ok"
	Wrong   Outcome = "wrong"
	Skipped Outcome = "not supported"
)

// Finding is one part of a conformance test.
type Finding struct {
	Name    string  `json:"name"`
	Outcome Outcome `json:"outcome"`
	Detail  string  `json:"detail"` // what was compared, or the error
}

// Conformance is the result of a conformance test.
type Conformance struct {
	Target   string              `json:"target"`
	Name     string              `json:"name"` // as the target reports it
	Build    string              `json:"build"`
	Can      []bisect.Capability `json:"can"`
	Findings []Finding           `json:"checks"`
}

// Passed reports whether the target does nothing wrong.
func (c *Conformance) Passed() bool {
	return !slices.ContainsFunc(c.Findings, func(f Finding) bool { return f.Outcome == Wrong })
}

// Check tests a target: whether it does what it announces, and agrees with itself. The
// error is set if it cannot be started at all.
func Check(ctx context.Context, name string, argv []string, opts Options, session Session) (*Conformance, error) {
	if len(argv) == 0 {
		return nil, errors.New("no command")
	}
	return check(name, opts, session, func() (link, error) { return startProcess(ctx, argv, opts) })
}

// CheckOver is Check for a target that is reached through function calls.
func CheckOver(name string, opts Options, start func() (*Call, error), session Session) (*Conformance, error) {
	return check(name, opts, session, dialCall(start))
}

// checker is a conformance test that is running.
type checker struct {
	session  Session
	instance func() *simulator // that is not connected yet
	started  []*simulator      // by the part that is running
	out      Conformance

	start  merkle.Short
	hashes []merkle.Short // of a straight run, after each tick
}

// failure is the error that ends an answer of a server, or a part of a test: ensure panics with it, and ended recovers.
type failure struct{ error }

// ensure ends the answer or the part if there is an error.
func ensure(err error) {
	if err != nil {
		panic(failure{err})
	}
}

// must returns a value, or ends the answer or the part if there is an error.
func must[T any](value T, err error) T {
	ensure(err)
	return value
}

// wrongf ends the part with what the target does wrong.
func wrongf(format string, args ...any) { ensure(fmt.Errorf(format, args...)) }

// ended returns the error that ended f, nil if it came to its end.
func ended(f func()) (err error) {
	defer func() {
		switch p := recover().(type) {
		case nil:
		case failure:
			err = p.error
		default:
			panic(p)
		}
	}()
	f()
	return nil
}

func check(name string, opts Options, session Session, dial func() (link, error)) (*Conformance, error) {
	c := &checker{session: session, out: Conformance{Target: name}}
	c.instance = func() *simulator {
		return &simulator{name: name, origin: origin{header: &session.Header}, timeout: opts.timeout(), dial: dial}
	}
	err := ended(func() {
		about := &c.fresh().about
		c.out.Name, c.out.Build, c.out.Can = about.Name, about.Build, about.can
	})
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	if err := c.stop(); err != nil {
		return nil, err
	}
	for _, part := range []struct {
		name  string
		needs bisect.Capability
		test  func(*checker) string
	}{
		{"start", "", fresh((*checker).starts)},
		{"step", "", fresh((*checker).straight)},
		{"recorded hashes", "", (*checker).recorded},
		{"same run twice", "", fresh((*checker).twice)},
		{"single ticks", "", fresh((*checker).singly)},
		{"start again", "", fresh((*checker).again)},
		{"state", bisect.CanState, fresh((*checker).state)},
		{"save and restore", bisect.CanSave, fresh((*checker).save)},
		{"load", bisect.CanLoad, (*checker).load},
		{"systems", bisect.CanSystems, fresh((*checker).systems)},
		{"caches", bisect.CanCaches, fresh((*checker).caches)},
		{"validate", bisect.CanValidate, fresh((*checker).validate)},
		{"test", bisect.CanTest, fresh((*checker).test)},
		{"predict", bisect.CanPredict, fresh((*checker).predict)},
		{"orders", bisect.CanOrders, fresh((*checker).orders)},
		{"where", bisect.CanWhere, fresh((*checker).where)},
		{"branches", bisect.CanBranches, (*checker).branches},
		{"refuses", "", fresh((*checker).refuses)},
		{"leaves", "", fresh((*checker).leaves)},
	} {
		if part.needs != "" && !slices.Contains(c.out.Can, part.needs) {
			c.out.Findings = append(c.out.Findings, Finding{part.name, Skipped, ""})
			continue
		}
		f := Finding{Name: part.name, Outcome: Passed}
		err := ended(func() { f.Detail = part.test(c) })
		if err = errors.Join(err, c.stop()); err != nil {
			f.Outcome, f.Detail = Wrong, err.Error()
		}
		c.out.Findings = append(c.out.Findings, f)
		if err != nil && c.hashes == nil {
			break // nothing to compare with
		}
	}
	return &c.out, nil
}

// fresh returns a part that begins with a fresh instance.
func fresh(test func(*checker, *simulator) string) func(*checker) string {
	return func(c *checker) string { return test(c, c.fresh()) }
}

// fresh starts an instance in a new target.
func (c *checker) fresh() *simulator {
	s := c.instance()
	ensure(s.connect())
	c.started = append(c.started, s)
	return s
}

// stop ends the targets of a part.
func (c *checker) stop() error {
	errs := lists.Map(c.started, func(s *simulator) error { return s.Close() })
	c.started = nil
	return errors.Join(errs...)
}

// ticks returns the orders of ticks, from one to before another.
func (c *checker) ticks(from, to uint64) [][]orderlog.Order {
	list := make([][]orderlog.Order, 0, to-from)
	for tick := from; tick < to; tick++ {
		list = append(list, c.session.Orders[tick])
	}
	return list
}

func (c *checker) first() uint64 { return c.session.Header.FirstPoint }
func (c *checker) last() uint64  { return c.first() + c.session.Ticks }
func (c *checker) middle() uint64 {
	return c.first() + c.session.Ticks/2
}

// at returns the hash that a straight run has at a state point.
func (c *checker) at(point uint64) merkle.Short {
	if point == c.first() {
		return c.start
	}
	return c.hashes[point-c.first()-1]
}

// expect compares hashes. The first one is after the tick before point.
func (c *checker) expect(got []merkle.Short, from uint64, how string) {
	for i, h := range got {
		point := from + uint64(i) + 1
		if want := c.at(point); h != want {
			wrongf("%s it has hash %s at state point %d, in a straight run %s", how, h, point, want)
		}
	}
}

// play plays from where s is up to a point and compares with the straight run.
func (c *checker) play(s *simulator, to uint64, how string) {
	from := s.point
	c.expect(must(s.Run(nil, c.ticks(from, to))), from, how)
}
