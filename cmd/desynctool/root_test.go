package main

import (
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"github.com/desynctool/desynctool/internal/prose"
)

// commandLines returns every command, as words after desynctool.
func commandLines(t *testing.T) (list [][]string) {
	var collect func(c *cobra.Command, before []string)
	collect = func(c *cobra.Command, before []string) {
		list = append(list, before)
		for _, sub := range c.Commands() {
			collect(sub, append(slices.Clone(before), sub.Name()))
		}
	}
	e := &env{stdin: strings.NewReader(""), stdout: io.Discard, stderr: io.Discard}
	collect(newCommands(e), nil)
	if len(list) < 20 {
		t.Fatalf("%d commands", len(list))
	}
	return list
}

// helpOf returns what a command prints as its help.
func helpOf(t *testing.T, words []string) string {
	var stdout, stderr strings.Builder
	if status := run(append(slices.Clone(words), "--help"), strings.NewReader(""), &stdout, &stderr); status != 0 || stderr.Len() > 0 {
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

// TestHelp checks that every command shows how it is called, in the columns of any terminal.
func TestHelp(t *testing.T) {
	for _, words := range commandLines(t) {
		help := helpOf(t, words)
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

// TestFilled pins how texts of help are filled.
func TestFilled(t *testing.T) {
	long := strings.Repeat("word ", 20)
	for text, want := range map[string]string{
		"short\nlines\n\nstay":      "short\nlines\n\nstay",
		long + "\nand more\n  item": strings.TrimSpace(strings.Repeat("word ", 16)) + "\n" + strings.Repeat("word ", 4) + " and more\n  item",
		"  --flag  " + long:         "  --flag  " + strings.TrimSpace(strings.Repeat("word ", 14)) + "\n          " + strings.TrimSpace(strings.Repeat("word ", 6)),
	} {
		if got := filled(text); strings.Join(strings.Fields(got), " ") != strings.Join(strings.Fields(want), " ") || strings.Count(got, "\n") != strings.Count(want, "\n") {
			t.Errorf("%q is filled to\n%s\nwant\n%s", text, got, want)
		}
	}
}
