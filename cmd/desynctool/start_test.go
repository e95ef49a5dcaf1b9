package main

import (
	"bytes"
	"os"
	"os/exec"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// Bounds of what our packages do before main is called. Bytes and not time are bounded, since these do not depend on
// the machine and its load. A regular expression is 2 to 30 KiB, one of classes of Unicode more.
const (
	maxInit    = 128 << 10 // bytes that all of them allocate
	maxOneInit = 48 << 10  // bytes that one of them allocates
)

// TestStart holds what is done before main is called: tables and regular expressions are made when they are
// first used.
func TestStart(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	var said bytes.Buffer
	cmd := exec.Command(self, "version")
	cmd.Args[0] = "desynctool" // so that it is the command, see TestMain
	cmd.Env = append(os.Environ(), "GODEBUG=inittrace=1")
	cmd.Stderr = &said
	if out, err := cmd.Output(); err != nil || !bytes.Contains(out, []byte("desynctool")) {
		t.Fatalf("%v, %q, %q", err, out, said.String())
	}
	own, total := 0, 0
	for _, m := range regexp.MustCompile(`(?m)^init (\S+) @.* (\d+) bytes, \d+ allocs$`).FindAllStringSubmatch(said.String(), -1) {
		if !strings.HasPrefix(m[1], "github.com/desynctool/desynctool/") || strings.HasSuffix(m[1], "/cmd/desynctool") { // which has its tests in it
			continue
		}
		n, err := strconv.Atoi(m[2])
		if err != nil {
			t.Fatal(err)
		}
		if own, total = own+1, total+n; n > maxOneInit {
			t.Errorf("%s allocates %d bytes before main, expected at most %d: make it when it is first used", m[1], n, maxOneInit)
		}
	}
	if own < 20 {
		t.Fatalf("%d packages of ours:\n%s", own, said.String())
	}
	if total > maxInit {
		t.Errorf("%d packages allocate %d bytes before main, expected at most %d", own, total, maxInit)
	}
	t.Logf("%d packages allocate %d bytes", own, total)
}
