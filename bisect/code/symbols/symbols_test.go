package symbols

import (
	"bufio"
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

func Example() {
	_, err := Open(strings.NewReader("a saved game"), "game")
	fmt.Println(err)
	// Output: not a program: expected an ELF, PE or Mach-O file
}

const program = `
static int twice(int n) { return n + n; }
static inline int more(int n) {
	if (n > 3)
		return twice(n) + 1;
	return twice(n);
}
int sum(const int *list, int n) {
	int total = 0;
	for (int i = 0; i < n; i++)
		total += more(list[i]);
	return total;
}
int main(int argc, char **argv) {
	int list[] = {1, argc, 5};
	return sum(list, 3);
}
`

// TestPlaces: each address of a program has the functions, files and lines that addr2line prints.
func TestPlaces(t *testing.T) {
	for _, tool := range []string{"gcc", "addr2line", "objdump"} {
		if _, err := exec.LookPath(tool); err != nil {
			t.Skip(err)
		}
	}
	for _, flags := range [][]string{{"-O0"}, {"-O2"}, {"-O2", "-gdwarf-4"}, {"-O1", "-no-pie"}} {
		t.Run(strings.Join(flags, " "), func(t *testing.T) {
			dir := t.TempDir()
			source, file := filepath.Join(dir, "game.c"), filepath.Join(dir, "game")
			if err := os.WriteFile(source, []byte(program), 0o600); err != nil {
				t.Fatal(err)
			}
			run(t, "gcc", append([]string{"-g", source, "-o", file}, flags...)...)
			f, err := os.Open(file)
			if err != nil {
				t.Fatal(err)
			}
			defer f.Close()
			p, err := Open(f, "game")
			if err != nil || p.Missing != nil {
				t.Fatal(err, p.Missing)
			}
			compared := 0
			for _, function := range []string{"sum", "main"} {
				for _, at := range addresses(t, file, function) {
					want := strings.Fields(strings.ReplaceAll(run(t, "addr2line", "-f", "-i", "-e", file, fmt.Sprintf("%x", at)), " (discriminator", "\n(discriminator"))
					places, err := p.Places(at)
					if err != nil {
						t.Fatal(err)
					}
					var got []string
					for _, p := range places {
						got = append(got, p.Function, fmt.Sprintf("%s:%d", path.Base(p.File), p.Line))
					}
					var expected []string
					for _, w := range want {
						if strings.HasPrefix(w, "(") || strings.HasSuffix(w, ")") {
							continue
						}
						expected = append(expected, path.Base(w))
					}
					if fmt.Sprint(got) != fmt.Sprint(expected) {
						t.Errorf("%s+%x: %v, addr2line has %v", function, at, got, expected)
					}
					compared++
				}
			}
			if compared < 20 {
				t.Errorf("%d addresses were compared", compared)
			}
		})
	}
}

// TestWithoutDWARF: a program without debug information has the names of functions.
func TestWithoutDWARF(t *testing.T) {
	if _, err := exec.LookPath("gcc"); err != nil {
		t.Skip(err)
	}
	dir := t.TempDir()
	source, file := filepath.Join(dir, "game.c"), filepath.Join(dir, "game")
	if err := os.WriteFile(source, []byte(program), 0o600); err != nil {
		t.Fatal(err)
	}
	run(t, "gcc", source, "-o", file)
	content, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	p, err := Open(bytes.NewReader(content), "game")
	if err != nil || p.Missing == nil {
		t.Fatalf("%v, missing %v", err, p.Missing)
	}
	list := addresses(t, file, "sum")
	places, err := p.Places(list[len(list)/2])
	if err != nil || len(places) != 1 || places[0].Function != "sum" || places[0].Line != 0 {
		t.Errorf("%v, %v", places, err)
	}
	if places, _ = p.Places(1); places[0].String() != "game+0x1" {
		t.Errorf("an address of no function is %s", places[0])
	}
}

func run(t *testing.T, name string, args ...string) string {
	t.Helper()
	out, err := exec.Command(name, args...).CombinedOutput()
	if err != nil {
		t.Fatalf("%s: %v\n%s", name, err, out)
	}
	return string(out)
}

// addresses returns the addresses of the instructions of a function.
func addresses(t *testing.T, file, function string) (list []uint64) {
	t.Helper()
	lines := bufio.NewScanner(strings.NewReader(run(t, "objdump", "-d", "--no-show-raw-insn", "--disassemble="+function, file)))
	for lines.Scan() {
		word, _, ok := strings.Cut(strings.TrimSpace(lines.Text()), ":")
		if at, err := strconv.ParseUint(word, 16, 64); ok && err == nil {
			list = append(list, at)
		}
	}
	return list
}
