package main

import (
	"os"
	"strings"
	"testing"

	"github.com/desynctool/desynctool/cmd/internal/cli/clitest"
	"github.com/desynctool/desynctool/report/isolate"
)

func TestMain(m *testing.M) {
	if readsBundles() {
		serveBundles(os.Stdin, os.Stdout)
		return
	}
	if len(os.Args) == 2 && os.Args[1] == isolate.Command { // of a command line that runs in a test's process
		os.Exit(run(os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
	}
	clitest.Main(m, map[string]func(){
		"desynctool-desk": func() { clitest.Checked(program()) },
		// As people call it: desynctool itself starts desynctool-desk in the same way.
		"desynctool": func() {
			os.Args = append(os.Args[:1], os.Args[2:]...)
			clitest.Checked(program())
		},
	})
}

func TestScript(t *testing.T) { clitest.Scripts(t, "desynctool") }

func TestHelp(t *testing.T) { clitest.Helps(t, program, 25) }

func TestManPages(t *testing.T) { clitest.ManPages(t, program, 25) }

func TestStart(t *testing.T) { clitest.Start(t, "desynctool-desk") }

// runDesk runs a command of desk and returns what it prints.
func runDesk(t *testing.T, status int, args ...string) string {
	t.Helper()
	var out, errs strings.Builder
	if got := run(args, strings.NewReader(""), &out, &errs); got != status {
		t.Errorf("%q: status %d, expected %d: %s", args, got, status, errs.String())
	}
	if strings.Count(errs.String(), "\n") > 1 {
		t.Errorf("%q: %q", args, errs.String())
	}
	return out.String() + errs.String()
}
