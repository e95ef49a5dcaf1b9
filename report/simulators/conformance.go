package simulators

import (
	"context"
	"fmt"
	"strings"

	"github.com/desynctool/desynctool/archive"
	"github.com/desynctool/desynctool/bisect"
	"github.com/desynctool/desynctool/bisect/extsim"
	"github.com/desynctool/desynctool/orderlog"
	"github.com/desynctool/desynctool/report/bundle"
)

// SessionFor returns what a simulator is tested with: the first ticks of the log at a
// path, up to its peer's first gap or load, or, if path is empty, a session of a seed and parameters without any orders.
func SessionFor(tree *archive.Tree, path string, ticks uint64, seed uint64, params map[string]string) (*extsim.Session, error) {
	if ticks < 2 {
		return nil, fmt.Errorf("%d ticks, expected at least 2", ticks)
	}
	if path == "" {
		return &extsim.Session{Header: orderlog.Header{Seed: seed, Params: params}, Ticks: ticks}, nil
	}
	r, err := bundle.OpenReplay(tree, path)
	if err != nil {
		return nil, err
	}
	orders, recorded, first := bisect.Recorded(r.Log)
	if first.Loaded() {
		return nil, fmt.Errorf("%s: the peer came in at state point %d, and a target is tested from the start of a session: give the log of a peer that was there", r.Log.Name, first.From)
	}
	s := &extsim.Session{Header: r.Log.Header, Orders: orders, Recorded: recorded, Ticks: min(ticks, first.To-first.From)}
	if s.Ticks < 2 {
		return nil, fmt.Errorf("%s: %d ticks, expected at least 2", r.Log.Name, s.Ticks)
	}
	return s, nil
}

// Check tests the simulator that a command serves, or the module at FILE if the
// command is wasm:FILE.
func Check(ctx context.Context, argv []string, opts extsim.Options, session extsim.Session) (*extsim.Conformance, error) {
	name := strings.Join(argv, " ")
	if file, ok := strings.CutPrefix(argv[0], "wasm:"); ok && len(argv) == 1 {
		argv, err := moduleCommand(ctx, file)
		if err != nil {
			return nil, err
		}
		opts.Transport, opts.Host = extsim.Stdio, true
		return extsim.Check(ctx, name, argv, opts, session)
	}
	return extsim.Check(ctx, name, argv, opts, session)
}
