// Package simulators starts the simulators that a command line names, and tests them.
package simulators

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/desynctool/desynctool/bisect"
	"github.com/desynctool/desynctool/bisect/extsim"
	"github.com/desynctool/desynctool/bisect/refsim"
	"github.com/desynctool/desynctool/engines/engine"
	"github.com/desynctool/desynctool/internal/shellwords"
)

// Help describes for the help of commands how to name a simulator.
const Help = `SIM is builtin, or builtin:fault=NAME[/PLACE][@TICK] for one with a mistake;
exec:COMMAND starts a program that speaks the protocol of docs/extsim.md over its
stdin and stdout, exec+unix:COMMAND and exec+tcp:COMMAND over a socket. COMMAND is
split into words as a shell does, without running one. wasm:FILE is a WebAssembly
module that speaks the same by function calls; desynctool-wasm runs it.`

// Options sets how simulators outside this process are treated.
type Options struct {
	// Timeout is how long one request may take, 0 for the default of extsim.
	Timeout time.Duration
	// Dir is the folder in which programs are started. Relative paths in a specification start there too. Empty is the
	// current folder. Env are variables that programs get in addition to the variables of this process.
	Dir string
	Env []string
	// Under, if not nil, is how programs are started: see extsim.Options. They then connect to a socket. It is an error for
	// simulators that are not programs.
	Under func(cmd *exec.Cmd) (started func(err error), err error)
	// Module returns the simulator in a WebAssembly module, for a program that runs modules itself;
	// nil starts desynctool-wasm.
	Module func(ctx context.Context, name, path string, opts extsim.Options) (*bisect.Sim, error)
}

// transports are the ways to talk to a program, by the beginning of its specification.
var transports = map[string]extsim.Transport{"exec": extsim.Stdio, "exec+unix": extsim.Unix, "exec+tcp": extsim.TCP}

// Parse returns the simulator that a specification names, see Help.
// Replays end, and processes are killed, when ctx is done.
func Parse(ctx context.Context, spec string, opts Options) (*bisect.Sim, error) {
	sim, err := parse(ctx, spec, opts)
	if err != nil {
		return nil, err
	}
	sim.Context = ctx
	return sim, nil
}

func parse(ctx context.Context, spec string, opts Options) (*bisect.Sim, error) {
	kind, command, _ := strings.Cut(spec, ":")
	if transport, ok := transports[kind]; ok {
		argv, err := Words(command)
		if err != nil {
			return nil, fmt.Errorf("simulator %q: %w", spec, err)
		}
		if opts.Under != nil && transport == extsim.Stdio {
			transport = extsim.Unix
		}
		return extsim.New(ctx, spec, argv, extsim.Options{Transport: transport, Timeout: opts.Timeout, Dir: opts.Dir, Env: opts.Env, Under: opts.Under})
	}
	if opts.Under != nil {
		return nil, fmt.Errorf("%q cannot run under a debugger: name a program, exec:COMMAND", spec)
	}
	if kind == "wasm" {
		if !filepath.IsAbs(command) {
			command = filepath.Join(opts.Dir, command)
		}
		run := opts.Module
		if run == nil {
			run = startModule
		}
		return run(ctx, spec, command, extsim.Options{Timeout: opts.Timeout, Env: opts.Env})
	}
	if kind != "builtin" {
		return nil, fmt.Errorf("unknown simulator %q, expected builtin, builtin:fault=NAME[/PLACE][@TICK], exec:COMMAND, exec+unix:COMMAND, exec+tcp:COMMAND, wasm:FILE%s", spec, orGame(kind))
	}
	return refsim.ParseSimulator(spec)
}

// Program reports whether a specification starts a program.
func Program(spec string) bool {
	kind, _, _ := strings.Cut(spec, ":")
	if _, program := transports[kind]; program || kind == "run" {
		return true
	}
	name, _, _ := strings.Cut(kind, " ")
	return slices.ContainsFunc(Games(), func(g *engine.Replayer) bool { return g.Name == name })
}

// Words splits a command into words as a shell does, variables included.
func Words(command string) ([]string, error) {
	argv, err := shellwords.Split(command)
	if err == nil && len(argv) == 0 {
		err = errors.New("no command")
	}
	return argv, err
}
