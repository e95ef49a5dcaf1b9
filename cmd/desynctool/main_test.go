package main

import (
	"flag"
	"os"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/desynctool/desynctool/internal/cli/clitest"
	"github.com/desynctool/desynctool/report/isolate"
)

var update = flag.Bool("update", false, "rewrite the transcripts in testdata/script")

func TestMain(m *testing.M) {
	if len(os.Args) == 2 && os.Args[1] == isolate.Command { // of a command line that runs in a test's process
		os.Exit(run(os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
	}
	testscript.Main(m, map[string]func(){"desynctool": func() { clitest.Checked(fresh()) }, "desynctool-desk": deskStandIn, "game": game, "terminal": terminal, "hostile-reader": hostileReader, "weighed": weighed})
}
