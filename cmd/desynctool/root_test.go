package main

import (
	"bytes"
	"strings"
	"testing"

	"github.com/desynctool/desynctool/cmd/internal/cli"
	"github.com/desynctool/desynctool/cmd/internal/cli/clitest"
)

// fresh returns the program with a new environment.
func fresh() cli.Program { return program(new(env)) }

func TestHelp(t *testing.T) { clitest.Helps(t, fresh, 25) }

func TestManPages(t *testing.T) { clitest.ManPages(t, fresh, 25) }

func TestStart(t *testing.T) { clitest.Start(t, "desynctool") }

func TestScript(t *testing.T) { clitest.Scripts(t, "desynctool") }

// TestCommandsByName: a command line that begins with a command builds that command, with the name in the list, and
// still knows the names of the others.
func TestCommandsByName(t *testing.T) {
	all := names()
	if len(all) < 20 {
		t.Fatalf("%d commands", len(all))
	}
	for _, g := range groups {
		for _, c := range g.commands {
			if got := c.build(&env{Env: cli.NewEnv(fresh(), nil, nil, nil)}).Name(); got != c.name {
				t.Errorf("the command %s is listed as %s", got, c.name)
			}
			var out, errs bytes.Buffer
			if status := run([]string{c.name, "--help"}, nil, &out, &errs); status != 0 || c.name != "desk" && !strings.Contains(out.String(), "\n  desynctool "+c.name) {
				t.Errorf("%s --help ends with %d: %s%s", c.name, status, &out, &errs)
			}
			errs.Reset()
			if status := run([]string{"version", "--" + c.name}, nil, &out, &errs); status != 2 || !strings.Contains(errs.String(), "did you mean desynctool "+c.name+"?") && c.name != "formats" { // --format is nearer
				t.Errorf("version --%s ends with %d: %s", c.name, status, &errs)
			}
		}
	}
	// --version and a command: the command runs.
	for _, args := range [][]string{{"--version", "formats"}, {"-v", "formats"}} {
		var out, errs bytes.Buffer
		if status := run(args, nil, &out, &errs); status != 2 || out.Len() > 0 {
			t.Errorf("%q ends with %d: %s%s", args, status, &out, &errs)
		}
	}
}
