// Package wasmsim replays logs in simulators that are WebAssembly modules. They run in the process that uses this
// package (for the command: cmd/desynctool-wasm), have no access outside their memory, and behave the same everywhere.
//
// # Module
//
// A module implements the protocol of package extsim with two exported functions, instead of frames over a connection:
//
//	desynctool_alloc(len i32) i32
//	    returns the address of len bytes for a request, good until the next call of
//	    desynctool_request; 0 if there is no room
//	desynctool_request(ptr i32, len i32) i64
//	    answers the request that has been written there, a frame's value, with the
//	    address of the reply shifted left by 32 bits and its length; the reply stays
//	    as it is until the next call
//
// It exports its memory as "memory". An exported _initialize is called first. It may import WASI, preview 1: there are
// no files, arguments or variables, clocks advance by one step each time they are read and not otherwise, and random
// numbers are the same in every run. The output of a module to its stderr or stdout is its log.
//
// The memory and the mutable globals are its whole state: saving and restoring copies them, without calls of the
// module.
package wasmsim

import (
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"
	"github.com/tetratelabs/wazero/experimental"
	"github.com/tetratelabs/wazero/imports/wasi_snapshot_preview1"

	"github.com/desynctool/desynctool/bisect"
	"github.com/desynctool/desynctool/bisect/extsim"
	"github.com/desynctool/desynctool/internal/lists"
)

// Limits of a module.
const (
	maxModule = 256 << 20 // bytes of its file
	maxPages  = 16384     // of 64 KiB, of its memory: 1 GiB
)

// Names that a module exports.
const (
	memoryName  = "memory"
	allocName   = "desynctool_alloc"
	requestName = "desynctool_request"
	startName   = "_initialize"
)

// Options are how a module is run.
type Options struct {
	// Initialize is how long _initialize may take, 0 for no limit.
	Initialize time.Duration
	// Log gets the output of modules to stdout and stderr; nil discards it.
	Log io.Writer
	// Cache is a folder of compiled modules, which is read and written; empty for none.
	Cache string
	// Endless is for a process that is killed when a module takes too long. Calls do not end when ctx is done or after
	// a timeout, and modules are faster, since their loops do not check for that.
	Endless bool
}

// New returns the simulator in the module at path. Each instance has its own memory. Calls end when ctx is done, and
// after the timeout in opts, _initialize included.
func New(ctx context.Context, name, path string, opts extsim.Options) (*bisect.Sim, error) {
	start, err := Open(ctx, path, Options{Initialize: cmp.Or(opts.Timeout, extsim.DefaultTimeout)})
	if err != nil {
		return nil, err
	}
	return extsim.Over(name, opts, start), nil
}

// Open compiles a module, and returns a function that starts an instance of it. A timeout of 0 in its calls means no
// limit.
func Open(ctx context.Context, path string, opts Options) (start func() (*extsim.Call, error), err error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if info.Size() > maxModule {
		return nil, fmt.Errorf("%s: %d bytes, at most %d are expected of a module", path, info.Size(), maxModule)
	}
	code, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	config := wazero.NewRuntimeConfig().WithMemoryLimitPages(maxPages).WithCloseOnContextDone(!opts.Endless)
	if opts.Cache != "" {
		cache, err := wazero.NewCompilationCacheWithDir(opts.Cache)
		if err != nil {
			return nil, err
		}
		config = config.WithCompilationCache(cache)
	}
	r := wazero.NewRuntimeWithConfig(ctx, config)
	if _, err := wasi_snapshot_preview1.Instantiate(ctx, r); err != nil {
		return nil, err
	}
	compiled, err := r.CompileModule(ctx, code)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, firstLine(err))
	}
	if err := fits(compiled); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return func() (*extsim.Call, error) { return instantiate(ctx, r, compiled, opts) }, nil
}

// fits checks that a module exports what it must.
func fits(m wazero.CompiledModule) error {
	if m.ExportedMemories()[memoryName] == nil {
		return fmt.Errorf("the module exports no memory as %q", memoryName)
	}
	want := map[string][2][]api.ValueType{
		allocName:   {{api.ValueTypeI32}, {api.ValueTypeI32}},
		requestName: {{api.ValueTypeI32, api.ValueTypeI32}, {api.ValueTypeI64}},
	}
	for _, name := range []string{allocName, requestName} {
		f := m.ExportedFunctions()[name]
		if f == nil {
			return fmt.Errorf("the module exports no function %s", name)
		}
		if !slices.Equal(f.ParamTypes(), want[name][0]) || !slices.Equal(f.ResultTypes(), want[name][1]) {
			return fmt.Errorf("the module's function %s has another type than (%s) %s", name, types(want[name][0]), types(want[name][1]))
		}
	}
	return nil
}

func types(list []api.ValueType) string {
	return strings.Join(lists.Map(list, api.ValueTypeName), ", ")
}

// firstLine drops the stack that wazero puts below an error.
func firstLine(err error) error {
	if head, _, more := strings.Cut(err.Error(), "\n"); more {
		return errors.New(strings.TrimSuffix(head, " (recovered by wazero)"))
	}
	return err
}

// instance is a module that runs.
type instance struct {
	ctx     context.Context
	module  api.Module
	memory  api.Memory
	alloc   api.Function
	request api.Function
	globals []api.MutableGlobal
	log     extsim.Tail
}

func instantiate(ctx context.Context, r wazero.Runtime, compiled wazero.CompiledModule, opts Options) (*extsim.Call, error) {
	m := &instance{ctx: ctx}
	var log io.Writer = &m.log
	if opts.Log != nil {
		log = io.MultiWriter(log, opts.Log)
	}
	config := wazero.NewModuleConfig().WithName("").WithStartFunctions(startName).WithStdout(log).WithStderr(log)
	limited, cancel := within(ctx, opts.Initialize)
	defer cancel()
	var err error
	if m.module, err = r.InstantiateModule(limited, compiled, config); err != nil {
		return nil, m.failed(err, opts.Initialize)
	}
	m.memory = m.module.ExportedMemory(memoryName)
	m.alloc, m.request = m.module.ExportedFunction(allocName), m.module.ExportedFunction(requestName)
	if in, ok := m.module.(experimental.InternalModule); ok { // it also knows those that are not exported
		for i := range in.NumGlobal() {
			if g, ok := in.Global(i).(api.MutableGlobal); ok {
				m.globals = append(m.globals, g)
			}
		}
	}
	return &extsim.Call{Do: m.do, Release: m.close, Image: m.image, SetImage: m.setImage}, nil
}

// within returns a context that ends after a time, or with ctx if that is 0.
func within(ctx context.Context, timeout time.Duration) (context.Context, context.CancelFunc) {
	if timeout == 0 {
		return ctx, func() {}
	}
	return context.WithTimeout(ctx, timeout)
}

func (m *instance) close() error { return m.module.Close(m.ctx) }

// do implements extsim.Call.
func (m *instance) do(request []byte, timeout time.Duration) ([]byte, error) {
	ctx, cancel := within(m.ctx, timeout)
	defer cancel()
	at, err := m.alloc.Call(ctx, uint64(len(request)))
	if err != nil {
		return nil, m.failed(err, timeout)
	}
	if at[0] == 0 || !m.memory.Write(uint32(at[0]), request) {
		return nil, fmt.Errorf("it has no room for a request of %d bytes", len(request))
	}
	result, err := m.request.Call(ctx, at[0], uint64(len(request)))
	if err != nil {
		return nil, m.failed(err, timeout)
	}
	ptr, n := uint32(result[0]>>32), uint32(result[0])
	reply, ok := m.memory.Read(ptr, n)
	if !ok {
		return nil, fmt.Errorf("its reply of %d bytes at %#x lies outside of its memory", n, ptr)
	}
	return reply, nil
}

// failed reports how a call ended that did not return.
func (m *instance) failed(err error, timeout time.Duration) error {
	err = firstLine(err)
	if errors.Is(err, context.DeadlineExceeded) || strings.Contains(err.Error(), context.DeadlineExceeded.Error()) {
		err = extsim.SilentError{After: timeout}
	}
	if said := m.log.Last(); said != "" {
		return fmt.Errorf("%w, having said %q", err, said)
	}
	return err
}

// image implements extsim.Call: the globals, each in 8 bytes, and the memory.
func (m *instance) image() ([]byte, error) {
	memory, ok := m.memory.Read(0, m.memory.Size())
	if !ok {
		return nil, errors.New("its memory cannot be read")
	}
	out := make([]byte, 0, 8*len(m.globals)+len(memory))
	for _, g := range m.globals {
		out = binary.LittleEndian.AppendUint64(out, g.Get())
	}
	return append(out, memory...), nil
}

// setImage implements extsim.Call. A memory never shrinks: the pages added to it since are zeroed, as new pages are.
func (m *instance) setImage(image []byte) error {
	if len(image) < 8*len(m.globals) {
		return fmt.Errorf("a state of %d bytes, expected more", len(image))
	}
	for _, g := range m.globals {
		g.Set(binary.LittleEndian.Uint64(image))
		image = image[8:]
	}
	if have := m.memory.Size(); uint64(len(image)) > uint64(have) {
		const page = 64 << 10
		if _, ok := m.memory.Grow((uint32(len(image)) - have + page - 1) / page); !ok {
			return fmt.Errorf("its memory cannot grow to %d bytes", len(image))
		}
	}
	m.memory.Write(0, image)
	rest, _ := m.memory.Read(uint32(len(image)), m.memory.Size()-uint32(len(image)))
	clear(rest)
	return nil
}
