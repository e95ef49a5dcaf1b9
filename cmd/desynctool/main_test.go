package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/desynctool/desynctool/cmd/desynctool-wasm/wasmprogram"
	"github.com/desynctool/desynctool/cmd/internal/cli/clitest"
	"github.com/desynctool/desynctool/report/isolate"
	"github.com/desynctool/desynctool/report/simulators"
)

func TestMain(m *testing.M) {
	program := strings.TrimSuffix(filepath.Base(os.Args[0]), ".exe")
	if program != simulators.ModuleProgram && len(os.Args) == 2 && os.Args[1] == isolate.Command { // of a command line that runs in a test's process
		os.Exit(run(os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
	}
	clitest.Main(m, map[string]func(){"desynctool": func() { clitest.Checked(fresh()) }, "desynctool-desk": deskStandIn, simulators.ModuleProgram: moduleProgram, "game": game, "terminal": terminal, "hostile-reader": hostileReader, "weighed": weighed})
}

// moduleProgram is the other program that desynctool starts.
func moduleProgram() {
	os.Exit(wasmprogram.Main(os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
}
