package sdk_test

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"
)

var strictCPP = []string{"-Wall", "-Wextra", "-Wpedantic", "-Wconversion", "-Wshadow", "-Werror"}

// compileCPP builds a C++ program.
func compileCPP(t *testing.T, source string, flags ...string) string {
	t.Helper()
	return buildOnce(t, append(append([]string{"c++", "-std=c++17"}, strictCPP...), flags...), source)
}

func sanitizedCPP(t *testing.T, source string) string {
	t.Helper()
	if runtime.GOOS == "linux" {
		return compileCPP(t, source, "-fsanitize=address,undefined", "-fno-sanitize-recover=all") // -O1 takes minutes
	}
	return compileCPP(t, source)
}

func TestCPP(t *testing.T) {
	whole(t)
	if runtime.GOOS == "windows" {
		t.Skip("the socket part is POSIX")
	}
	program := compileCPP(t, "cpp/skirmish.cpp", "-O2")
	skirmishes(t, program, true)
	sameFiles(t, program)
}

// sameFiles checks that a program writes the files that skirmish.c writes.
func sameFiles(t *testing.T, program string) {
	t.Helper()
	c := compile(t, "c/skirmish.c", "-O2")
	for _, args := range [][]string{{"--fault", faultTick}, {"--seed", "18446744073709551615", "--ticks", "250", "--sign", "5"}} {
		want, said := play(t, c, args...)
		got, says := play(t, program, args...)
		if says != said {
			t.Errorf("%v: it says %q, skirmish.c %q", args, says, said)
		}
		compareFolders(t, got, want)
	}
}

// compareFolders checks that two folders have the same files.
func compareFolders(t *testing.T, got, want string) {
	t.Helper()
	compared := 0
	err := filepath.WalkDir(want, func(path string, entry os.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		compared++
		name, _ := filepath.Rel(want, path)
		a, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		b, err := os.ReadFile(filepath.Join(got, name))
		if err != nil {
			t.Error(err)
		} else if !bytes.Equal(a, b) {
			t.Errorf("%s has other bytes than the C header writes", name)
		}
		return nil
	})
	files := 0
	_ = filepath.WalkDir(got, func(_ string, entry os.DirEntry, err error) error {
		if err == nil && !entry.IsDir() {
			files++
		}
		return err
	})
	if err != nil || compared == 0 || files != compared {
		t.Errorf("%d files, %d to compare with: %v", files, compared, err)
	}
}

// sameVectors checks that a program writes into a folder what vectors.c writes.
func sameVectors(t *testing.T, program string) {
	t.Helper()
	got, want := t.TempDir(), t.TempDir()
	for dir, name := range map[string]string{got: program, want: compile(t, "testdata/vectors.c")} {
		if _, stderr, exit := execute(t, nil, name, dir); exit != 0 || stderr != "" {
			t.Fatalf("exit status %d: %s", exit, stderr)
		}
	}
	compareFolders(t, got, want)
}

func TestCPPVectors(t *testing.T) {
	thorough(t)
	sameVectors(t, sanitizedCPP(t, "testdata/vectors.cpp"))
}

func TestCPPReads(t *testing.T) {
	thorough(t)
	program := sanitizedCPP(t, "testdata/reads.cpp")
	for _, file := range readable(t) {
		judges(t, mutants(t, file), program)
	}
	judges(t, forgeries(t), program)
	readsVectors(t, program, "--hash")
}

func TestCPPMalformed(t *testing.T) {
	thorough(t)
	if runtime.GOOS != "linux" {
		t.Skip("sanitizers are tried on Linux")
	}
	malformed(t, sanitizedCPP(t, "cpp/skirmish.cpp"), true)
}

// TestCPPHeader: the header needs no other file, in as many source files as include it, with each standard and
// compiler, without exceptions and RTTI, and in one folder with the C header.
func TestCPPHeader(t *testing.T) {
	thorough(t)
	needTool(t, "c++")
	needTool(t, "clang++")
	dir := t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		return path
	}
	for _, header := range []string{"c/desynctool.h", "cpp/desynctool.hpp"} {
		b, err := os.ReadFile(header)
		if err != nil {
			t.Fatal(err)
		}
		write(filepath.Base(header), string(b))
	}
	one := write("one.cpp", "#include \"desynctool.hpp\"\n#include \"desynctool.h\"\nextern desynctool::Hash other();\n"+
		"int main() { return desynctool::World().hash().value() == other() ? 0 : 1; }\n")
	two := write("two.cpp", "#include \"desynctool.hpp\"\ndesynctool::Hash other() { return desynctool::World().hash().value(); }\n")
	for _, flags := range [][]string{
		{"c++", "-std=c++20", "-fno-exceptions", "-fno-rtti"}, {"clang++", "-std=c++17", "-fno-exceptions", "-fno-rtti"}, {"clang++", "-std=c++20"},
	} {
		args := append(append(flags[1:], strictCPP...), "-fsyntax-only", one, "cpp/skirmish.cpp")
		if strings.Contains(strings.Join(flags, " "), "-fno-exceptions") {
			args = args[:len(args)-1] // which throws
		}
		if out, err := exec.Command(flags[0], args...).CombinedOutput(); err != nil {
			t.Errorf("%v: %v\n%s", flags, err, out)
		}
	}
	program := filepath.Join(dir, "both")
	if out, err := exec.Command("c++", "-std=c++17", "-o", program, one, two).CombinedOutput(); err != nil {
		t.Fatalf("two files: %v\n%s", err, out)
	}
	if _, stderr, exit := execute(t, nil, program); exit != 0 {
		t.Errorf("two files: exit status %d, %s", exit, stderr)
	}
}

// TestCPPMistakes makes mistakes in the example, one at a time, and sees whether they are found.
func TestCPPMistakes(t *testing.T) {
	thorough(t)
	source, err := os.ReadFile("cpp/skirmish.cpp")
	if err != nil {
		t.Fatal(err)
	}
	header, err := filepath.Abs("cpp/desynctool.hpp")
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct{ old, broken, part string }{
		{"return {reinterpret_cast<std::uint8_t *>(&s), sizeof s};", "return {reinterpret_cast<std::uint8_t *>(&s), offsetof(State, grid)};", "WRONG  save and restore"},
		{"        s.grid = s.counted(); //", "        //", "WRONG  load"},
	} {
		text := strings.Replace(strings.Replace(string(source), test.old, test.broken, 1), `"desynctool.hpp"`, strconv.Quote(header), 1)
		if !strings.Contains(string(source), test.old) {
			t.Fatalf("%q is not in the example", test.old)
		}
		file := filepath.Join(t.TempDir(), "broken.cpp")
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		program := compileCPP(t, file)
		dir, _ := play(t, program, "--ticks", "200")
		wants(t, run(t, 1, "sim", "check", "--log", filepath.Join(dir, "host"), "--", program, "serve"), test.part)
	}
}
