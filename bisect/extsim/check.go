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

// wrong is an error that describes what a target does wrong.
type wrong struct{ msg string }

func (w wrong) Error() string { return w.msg }

func wrongf(format string, args ...any) error { return wrong{fmt.Sprintf(format, args...)} }

func check(name string, opts Options, session Session, dial func() (link, error)) (*Conformance, error) {
	c := &checker{session: session, out: Conformance{Target: name}}
	c.instance = func() *simulator {
		return &simulator{name: name, origin: origin{header: &session.Header}, timeout: opts.timeout(), dial: dial}
	}
	first, err := c.fresh()
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	c.out.Name, c.out.Build, c.out.Can = first.about.Name, first.about.Build, first.about.can
	if err := c.stop(); err != nil {
		return nil, err
	}
	for _, part := range []struct {
		name  string
		needs bisect.Capability
		test  func(*checker) (string, error)
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
		detail, err := part.test(c)
		f := Finding{part.name, Passed, detail}
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
func fresh(test func(*checker, *simulator) (string, error)) func(*checker) (string, error) {
	return func(c *checker) (string, error) {
		s, err := c.fresh()
		if err != nil {
			return "", err
		}
		return test(c, s)
	}
}

// fresh starts an instance in a new target.
func (c *checker) fresh() (*simulator, error) {
	s := c.instance()
	if err := s.connect(); err != nil {
		return nil, err
	}
	c.started = append(c.started, s)
	return s, nil
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
func (c *checker) expect(got []merkle.Short, from uint64, how string) error {
	for i, h := range got {
		point := from + uint64(i) + 1
		if want := c.at(point); h != want {
			return wrongf("%s it has hash %s at state point %d, in a straight run %s", how, h, point, want)
		}
	}
	return nil
}

// play plays from where s is up to a point and compares with the straight run.
func (c *checker) play(s *simulator, to uint64, how string) error {
	from := s.point
	got, err := s.Run(nil, c.ticks(from, to))
	if err != nil {
		return err
	}
	return c.expect(got, from, how)
}
