package symbols

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/desynctool/desynctool/internal/debuginfo"
)

const calling = `
#include <stdlib.h>
#include <time.h>
static __attribute__((noinline)) int own(int n) { return n * 3 ^ rand(); }
int decide(int n) {
	if (time(NULL) > n) return own(n) + atoi(getenv("N"));
	return own(n - 1);
}
int main(int argc, char **argv) { (void)argv; return decide(argc); }
`

// TestCalls: the functions that the code of a function calls are those of the disassembly.
func TestCalls(t *testing.T) {
	if runtime.GOARCH != "amd64" {
		t.Skip("calls are read in x86-64")
	}
	for _, tool := range []string{"gcc", "objdump"} {
		if _, err := exec.LookPath(tool); err != nil {
			t.Skip(err)
		}
	}
	dir := t.TempDir()
	source, file := filepath.Join(dir, "game.c"), filepath.Join(dir, "game")
	if err := os.WriteFile(source, []byte(calling), 0o600); err != nil {
		t.Fatal(err)
	}
	call := regexp.MustCompile(`call\s+.*<([a-z_]+)(@plt|@GLIBC[^>]*)?>`)
	for _, flags := range [][]string{{"-O0"}, {"-O2"}, {"-O2", "-no-pie"}, {"-O2", "-fno-plt"}, {"-O0", "-fcf-protection=full", "-Wl,-z,now"}} {
		run(t, "gcc", append([]string{source, "-o", file}, flags...)...)
		content, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		p, err := Open(bytes.NewReader(content), "game")
		if err != nil {
			t.Fatal(err)
		}
		for _, function := range []string{"own", "decide", "main"} {
			var want []string
			for _, m := range call.FindAllStringSubmatch(run(t, "objdump", "-d", "--no-show-raw-insn", "--disassemble="+function, file), -1) {
				want = append(want, m[1])
			}
			slices.Sort(want)
			want = slices.Compact(want)
			s := p.functions[slices.IndexFunc(p.functions, func(s debuginfo.Symbol) bool { return s.Name == function })]
			got := p.Calls(s.At, "")
			for i := range got {
				got[i], _, _ = strings.Cut(got[i], "@")
			}
			if function == "decide" && !slices.Contains(want, "time") {
				t.Fatalf("%q: the disassembly of decide has %q", flags, want)
			}
			if !slices.Equal(got, want) {
				t.Errorf("%q: %s calls %q, the disassembly has %q", flags, function, got, want)
			}
		}
	}
}
