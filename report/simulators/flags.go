package simulators

import (
	"context"
	"errors"
	"fmt"

	"github.com/desynctool/desynctool/bisect"
)

// ParseFlag returns the simulator that a flag names, nil if it is empty. See Parse.
func ParseFlag(ctx context.Context, flag, spec string, opts Options) (*bisect.Sim, error) {
	if spec == "" {
		return nil, nil
	}
	if opts.Timeout <= 0 {
		return nil, fmt.Errorf("--sim-timeout is %v, expected more than 0", opts.Timeout)
	}
	sim, err := Parse(ctx, spec, opts)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", flag, err)
	}
	return sim, nil
}

// Builds are the simulators that the flags of a triage name; empty ones name none.
type Builds struct {
	Sim, Own string
	Replays  int
}

// Check returns an error for flags that make no sense together.
func (b Builds) Check() error {
	switch {
	case b.Own != "" && b.Sim == "":
		return errors.New("--own is the build of the peer that is wrong; who that is needs --sim, the build that is trusted")
	case b.Replays < 0:
		return fmt.Errorf("--replays is %d, expected 0 or more", b.Replays)
	case b.Replays > 0 && b.Sim == "":
		return errors.New("--replays is for --sim: without a simulator nothing is replayed")
	}
	return nil
}

// Parse checks the flags, and returns the simulators, nil for none.
func (b Builds) Parse(ctx context.Context, opts Options) (sim, own *bisect.Sim, err error) {
	if err := b.Check(); err != nil {
		return nil, nil, err
	}
	if sim, err = ParseFlag(ctx, "--sim", b.Sim, opts); err != nil {
		return nil, nil, err
	}
	own, err = ParseFlag(ctx, "--own", b.Own, opts)
	return sim, own, err
}
