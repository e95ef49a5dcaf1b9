// Package clitest contains the tests that every desynctool program must pass: transcripts, helps, manual pages,
// examples, and the work before main. It is only for tests.
package clitest

import (
	"bytes"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/desynctool/desynctool/cmd/internal/cli"
	"github.com/desynctool/desynctool/internal/prose"
)

// helpWidth is the maximum width of a help, in columns.
const helpWidth = 80

// Commands returns every command of a program, as the words after the program's name. The root has none.
func Commands(p cli.Program) (list [][]string) {
	var collect func(c *cobra.Command, before []string)
	collect = func(c *cobra.Command, before []string) {
		list = append(list, before)
		for _, sub := range c.Commands() {
			collect(sub, append(slices.Clone(before), sub.Name()))
		}
	}
	collect(root(p), nil)
	return list
}

func root(p cli.Program) *cobra.Command {
	return cli.NewEnv(p, strings.NewReader(""), io.Discard, io.Discard).Commands()
}

// helpOf returns what a command prints as its help.
func helpOf(t *testing.T, p func() cli.Program, words []string) string {
	var stdout, stderr strings.Builder
	if status := cli.Run(p(), append(slices.Clone(words), "--help"), strings.NewReader(""), &stdout, &stderr); status != 0 || stderr.Len() > 0 {
		t.Fatalf("%v --help ends with %d: %s", words, status, &stderr)
	}
	return stdout.String()
}

// examplesOf returns the examples in the help of a command, each a line for a shell.
func examplesOf(help string) (list []string) {
	_, after, found := strings.Cut(help, "\nExamples:\n")
	if !found {
		return nil
	}
	examples, _, _ := strings.Cut(after, "\n\n")
	for line := range strings.Lines(strings.ReplaceAll(examples, "\\\n", "")) {
		list = append(list, strings.TrimSpace(line))
	}
	return list
}

// Helps checks that every command of a program shows its usage, and fits any terminal.
func Helps(t *testing.T, p func() cli.Program, least int) {
	commands := Commands(p())
	if len(commands) < least {
		t.Fatalf("%d commands", len(commands))
	}
	top := root(p())
	for _, words := range commands {
		c, _, _ := top.Find(words)
		if c.DisableFlagParsing { // the help belongs to another program
			continue
		}
		lines := strings.Split(c.Long, "\n")
		for i, line := range lines[1:] {
			before, continues := lines[i], strings.HasPrefix(line, "     ") && !strings.HasPrefix(strings.TrimSpace(line), "(")
			if continues && strings.HasPrefix(before, "  ") && prose.Columns(before) > helpWidth {
				t.Errorf("%v: a row that continues in the next line is too long: %s", words, before)
			}
		}
		help := helpOf(t, p, words)
		for line := range strings.Lines(help) {
			if strings.Contains(line, "--") && strings.Contains(line, " TEXT ") {
				t.Errorf("%v: the name of a value does not show what it is: %s", words, line)
			}
		}
		for line := range strings.Lines(help) {
			if n := prose.Columns(strings.TrimSuffix(line, "\n")); n > helpWidth {
				t.Errorf("%v: %d columns: %s", words, n, line)
			}
		}
		examples := examplesOf(help)
		for _, line := range examples {
			if !strings.Contains(line, "desynctool ") {
				t.Errorf("%v: example %q", words, line)
			}
		}
		if len(examples) == 0 && len(words) > 0 {
			t.Errorf("%v has no example", words)
		}
	}
}

// ManPages checks that the manual page of each command has all its flags, examples and the exit status. The program
// must write at least least pages.
func ManPages(t *testing.T, p func() cli.Program, least int) {
	dir := t.TempDir()
	var errs strings.Builder
	if status := cli.Run(p(), []string{"man", dir}, nil, io.Discard, &errs); status != 0 {
		t.Fatalf("man ends with %d: %s", status, &errs)
	}
	pages, err := filepath.Glob(filepath.Join(dir, "*.1"))
	if err != nil || len(pages) < least {
		t.Fatalf("%d pages, %v", len(pages), err)
	}
	top := root(p())
	for _, words := range Commands(p()) {
		if slices.Contains(words, "help") {
			continue
		}
		c, _, err := top.Find(words)
		if err != nil {
			t.Fatal(err)
		}
		name := strings.ReplaceAll(c.CommandPath(), " ", "-")
		b, err := os.ReadFile(filepath.Join(dir, name+".1"))
		if err != nil {
			if c.DisableFlagParsing { // the page belongs to another program
				continue
			}
			t.Error(err)
		}
		page := string(b)
		has := func(s string) {
			if !strings.Contains(page, s) {
				t.Errorf("%s has no %q", name, s)
			}
		}
		for _, heading := range []string{"NAME", "SYNOPSIS", "DESCRIPTION", "OPTIONS", "EXIT STATUS"} {
			has("\n.SH \"" + heading + "\"\n")
		}
		if c.HasParent() {
			has("\n.SH \"EXAMPLES\"\n")
			has("\n.BR " + strings.NewReplacer(" ", `\-`, "-", `\-`).Replace(c.Parent().CommandPath()) + " (1)")
		}
		c.Flags().VisitAll(func(f *pflag.Flag) {
			if !f.Hidden {
				has(`\fB\-\-` + strings.ReplaceAll(f.Name, "-", `\-`) + `\fR`)
			}
		})
		for i, line := range strings.Split(page, "\n") {
			if strings.ContainsFunc(line, func(r rune) bool { return r > 126 || r < 32 }) {
				t.Errorf("%s:%d: a character outside ASCII: %q", name, i+1, line)
			}
		}
	}
}

// Limits of the work that desynctool's packages do before main. They limit bytes and not time, because bytes do not
// depend on the machine and its load. A regular expression takes 2 to 30 KiB, one with Unicode classes more.
const (
	maxInit    = 122 << 10 // bytes that all packages allocate
	maxOneInit = 48 << 10  // bytes that one package allocates
)

// Start limits the work of a program before main: tables and regular expressions must be created on first use.
func Start(t *testing.T, program string) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	var said bytes.Buffer
	cmd := exec.Command(self, "version")
	cmd.Args[0] = program // so that it is the command, as in TestMain
	cmd.Env = append(os.Environ(), "GODEBUG=inittrace=1")
	cmd.Stderr = &said
	if out, err := cmd.Output(); err != nil || !bytes.Contains(out, []byte(program)) {
		t.Fatalf("%v, %q, %q", err, out, said.String())
	}
	own, total := 0, 0
	for _, m := range regexp.MustCompile(`(?m)^init (\S+) @.* (\d+) bytes, \d+ allocs$`).FindAllStringSubmatch(said.String(), -1) {
		if !strings.HasPrefix(m[1], "github.com/desynctool/desynctool/") || strings.HasSuffix(m[1], "/cmd/"+program) { // has its tests
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

// Examples runs the examples in the help of every command of a program in bash, in the order of the list of commands.
// Of all commands it runs one in every. prepare fills the folder for the examples of a command; it returns false if
// they cannot be run.
func Examples(t *testing.T, p func() cli.Program, every int, prepare func(command, dir string) bool) {
	bash, err := exec.LookPath("bash")
	if err != nil {
		t.Skip("no bash, in which the examples are")
	}
	ran, top := 0, root(p())
	for i, words := range Commands(p()) {
		dir := t.TempDir()
		if c, _, _ := top.Find(words); c.DisableFlagParsing || i%every != 0 || !prepare(strings.Join(words, " "), dir) {
			continue
		}
		for _, line := range examplesOf(helpOf(t, p, words)) {
			cmd := exec.Command(bash, "-c", line)
			cmd.Dir = dir
			var stderr bytes.Buffer
			cmd.Stdout, cmd.Stderr = io.Discard, &stderr
			_ = cmd.Run()
			if status := cmd.ProcessState.ExitCode(); status != 0 && status != 1 && status != 3 {
				t.Errorf("%v: %s\nends with %d: %s", words, line, status, &stderr)
			}
			ran++
		}
	}
	if ran < 20/every {
		t.Errorf("only %d examples", ran)
	}
}
