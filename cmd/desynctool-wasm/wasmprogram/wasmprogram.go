// Package wasmprogram is the program desynctool-wasm without its main function. It runs simulators in the form of
// WebAssembly modules. desynctool starts it as a separate program, so that desynctool itself does not contain the
// WebAssembly compiler.
package wasmprogram

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime/debug"
	"strings"
	"syscall"

	"github.com/desynctool/desynctool/bisect/extsim"
	"github.com/desynctool/desynctool/bisect/wasmsim"
	"github.com/desynctool/desynctool/internal/resultcache"
	"github.com/desynctool/desynctool/report/compare"
	"github.com/desynctool/desynctool/report/isolate"
	"github.com/desynctool/desynctool/report/simulators"
	"github.com/desynctool/desynctool/report/triage"
)

const usage = `usage: ` + simulators.ModuleProgram + ` ` + simulators.ServeModule + ` FILE    serve the module over the protocol of docs/extsim.md
       ` + simulators.ModuleProgram + ` ` + simulators.CompileModule + ` FILE  check the module, and keep it compiled

desynctool starts it for --sim wasm:FILE.`

// failed is the exit status for an error. If a module ends while it is served, the status is extsim.HostFailed instead.
const failed = 2

// Main executes one command line and returns its exit status.
func Main(args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	var err error
	switch {
	case len(args) == 1 && args[0] == isolate.Command:
		signal.Ignore(os.Interrupt, syscall.SIGTERM, syscall.SIGHUP) // the request to end arrives on stdin
		err = triage.Serve(stdin, stdout, errInterrupted, &triage.Answering{Builds: builds})
	case len(args) == 1 && (args[0] == "--help" || args[0] == "-h"):
		fmt.Fprintln(stdout, usage)
	case len(args) == 2 && args[0] == simulators.CompileModule:
		_, err = open(args[1], stderr)
	case len(args) == 2 && args[0] == simulators.ServeModule:
		return serve(args[1], stdin, stdout, stderr)
	default:
		fmt.Fprintln(stderr, usage)
		return failed
	}
	return end(err, stderr)
}

// errInterrupted is the error of an interrupted request.
var errInterrupted = errors.New("interrupted")

// end reports an error, and returns the exit status.
func end(err error, stderr io.Writer) int {
	if err == nil {
		return 0
	}
	fmt.Fprintf(stderr, "%s: %v\n", simulators.ModuleProgram, err)
	return failed
}

// builds returns the simulators of a request to read isolated. Modules run in this process, which is restricted.
func builds(a *isolate.Asked) (b compare.Builds, err error) {
	b.Replays = a.Replays
	b.Sim, b.Own, err = simulators.Builds{Sim: a.Sim, Own: a.Own, Replays: a.Replays}.Parse(a.Context, simulators.Options{Timeout: a.SimTimeout, Module: wasmsim.New})
	return b, err
}

// serve serves a module until the connection ends.
func serve(path string, stdin io.Reader, stdout, stderr io.Writer) int {
	start, err := open(path, stderr)
	if err != nil {
		return end(err, stderr)
	}
	conn, err := extsim.Connect(stdin, stdout)
	if err != nil {
		return end(err, stderr)
	}
	if err := relay(conn, start); err != nil {
		fmt.Fprintln(stderr, err) // the client shows this line as the cause
		return extsim.HostFailed
	}
	return 0
}

// relay answers the requests of a connection with an instance of a module.
func relay(conn io.ReadWriteCloser, start func() (*extsim.Call, error)) error {
	module, err := start()
	if err == nil {
		err = errors.Join(extsim.Relay(conn, module), module.Release())
	}
	return errors.Join(err, conn.Close())
}

// maxKept is how many bytes of compiled modules the cache may have.
const maxKept = 1 << 30

// open compiles a module, unless it is in the cache. The client limits the time, so modules need no limit of their own.
func open(path string, log io.Writer) (start func() (*extsim.Call, error), err error) {
	ctx, opts := context.Background(), wasmsim.Options{Log: log, Endless: true}
	cache := compiledModules()
	defer cache.Close()
	if file, err := resultcache.OfFile(path); err == nil { // opening the file later reports the error
		key, found := resultcache.Of("module", compiler(), file.String()), false
		if opts.Cache, found = cache.Get(key); !found {
			opts.Cache, _ = cache.Put(key, func(dir string) error { // if that fails, it is compiled below
				_, err := wasmsim.Open(ctx, path, wasmsim.Options{Cache: dir, Endless: true})
				return err
			})
		}
	}
	return wasmsim.Open(ctx, path, opts)
}

// compiledModules returns the cache of compiled modules. Without it, each process compiles.
func compiledModules() *resultcache.Cache {
	dir, err := resultcache.Folder("wasm")
	if err != nil {
		return resultcache.None()
	}
	cache, _ := resultcache.Open(dir, maxKept) // or a cache that stores nothing
	return cache
}

// compiler returns the name and version of the compiler for modules.
func compiler() string {
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, dep := range info.Deps {
			if strings.HasSuffix(dep.Path, "/wazero") {
				return dep.Path + " " + dep.Version
			}
		}
	}
	return "unknown"
}
