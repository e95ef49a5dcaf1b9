package main

import (
	"fmt"
	"io"
	"os"
	"runtime"
	"strings"
	"syscall"
	"testing"
)

// deskStandIn is a desynctool-desk that prints how it was called, and ends with the status that its first argument
// names. It completes any word to two.
func deskStandIn() {
	args := os.Args[1:]
	if len(args) > 0 && args[0] == "__complete" {
		fmt.Printf("list\tlist it\nlonger\n:4\n")
		return
	}
	in, _ := io.ReadAll(os.Stdin)
	fmt.Printf("desk %q stdin %q version %t\n", args, in, os.Getenv("DESYNCTOOL_CALLER") != "")
	status := 0
	if len(args) > 0 {
		fmt.Sscan(args[0], &status)
	}
	if status == 143 {
		self, _ := os.FindProcess(os.Getpid())
		_ = self.Signal(syscall.SIGTERM)
		select {}
	}
	os.Exit(status)
}

// TestSplitDesk: --desk is for desynctool, all else for the other program.
func TestSplitDesk(t *testing.T) {
	t.Setenv(deskVariable, "of-the-environment")
	for _, c := range []struct{ args, rest, named, fails string }{
		{"list", "list", "of-the-environment", ""},
		{"--desk a/b list -n 3", "list -n 3", "a/b", ""},
		{"list --desk=x --store s", "list --store s", "x", ""},
		{"note 12 -- --desk x", "note 12 -- --desk x", "of-the-environment", ""},
		{"list --desk", "", "", "needs a value"},
		{"--desk= list", "", "", "needs a value"},
	} {
		rest, named, err := splitDesk(strings.Fields(c.args))
		if c.fails != "" {
			if err == nil || !strings.Contains(err.Error(), c.fails) {
				t.Errorf("%s: %v", c.args, err)
			}
			continue
		}
		if err != nil || strings.Join(rest, " ") != c.rest || named != c.named {
			t.Errorf("%s: %q, %q, %v", c.args, rest, named, err)
		}
	}
}

// TestDeskStatus: a desk that is no replacement of the process ends it with its status, or with the signal that ended it.
func TestDeskStatus(t *testing.T) {
	for _, want := range []int{0, 3, 143} {
		if want > 128 && runtime.GOOS == "windows" { // which has no such signals
			continue
		}
		var out, errs strings.Builder
		if got := run([]string{"desk", fmt.Sprint(want), "x"}, strings.NewReader("in"), &out, &errs); got != want || errs.Len() > 0 || !strings.Contains(out.String(), `stdin "in"`) {
			t.Errorf("status %d, want %d: %s%s", got, want, &out, &errs)
		}
	}
}
