package simulators

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"strings"

	"github.com/desynctool/desynctool/bisect"
	"github.com/desynctool/desynctool/bisect/extsim"
	"github.com/desynctool/desynctool/internal/programs"
)

// The program that runs simulators which are WebAssembly modules, the environment variable that names it, and its commands.
const (
	ModuleProgram = "desynctool-wasm"
	ModuleVar     = "DESYNCTOOL_WASM"
	ServeModule   = "serve"
	CompileModule = "compile"
)

// Module returns the path of the WebAssembly module that a specification names, if it names one.
func Module(spec string) (path string, ok bool) { return strings.CutPrefix(spec, "wasm:") }

// FindModuleProgram returns the path of the program that runs modules. An error is a *programs.MissingError.
func FindModuleProgram() (string, error) { return programs.Find(ModuleProgram, os.Getenv(ModuleVar)) }

// startModule returns the simulator in the module at a path, each instance in a process.
func startModule(ctx context.Context, name, path string, opts extsim.Options) (*bisect.Sim, error) {
	argv, err := moduleCommand(ctx, path)
	if err != nil {
		return nil, err
	}
	opts.Host = true
	return extsim.New(ctx, name, argv, opts)
}

// moduleCommand returns the command that serves a module. The module is compiled, so that an error in it is found
// here, and so that compiling is no part of the time of the first request.
func moduleCommand(ctx context.Context, path string) ([]string, error) {
	program, err := FindModuleProgram()
	if err != nil {
		return nil, err
	}
	if _, err := os.Stat(path); err != nil {
		return nil, err
	}
	var log extsim.Tail
	cmd := exec.CommandContext(ctx, program, CompileModule, path)
	cmd.Stderr = &log
	if err := cmd.Run(); err != nil {
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		if said := strings.TrimPrefix(log.Last(), ModuleProgram+": "); said != "" {
			err = errors.New(said)
		}
		return nil, err
	}
	return []string{program, ServeModule, path}, nil
}
