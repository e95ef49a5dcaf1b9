package main

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/desynctool/desynctool/internal/testkit/pinned"
)

var docCommand = regexp.MustCompile("(?s)```\n\\$ desynctool ([^\n]*)\n(.*?)```\n")

// TestDocs runs every `$ desynctool` in README and docs/cli.md from the root of
// the repository and compares what it prints.
func TestDocs(t *testing.T) {
	t.Chdir(filepath.Join("..", ".."))
	for _, page := range []string{"README.md", filepath.Join("docs", "cli.md")} {
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		commands := docCommand.FindAllStringSubmatchIndex(string(text), -1)
		if len(commands) < 2 {
			t.Errorf("%s: only %d commands found", page, len(commands))
		}
		var fresh bytes.Buffer
		at := 0
		for _, m := range commands {
			line, want := string(text[m[2]:m[3]]), string(text[m[4]:m[5]])
			var stdout, stderr bytes.Buffer
			run(strings.Fields(line), strings.NewReader(""), &stdout, &stderr)
			if stdout.String() != want || stderr.Len() > 0 {
				t.Errorf("%s: desynctool %s prints\n%s%s", page, line, &stdout, &stderr)
			}
			fresh.Write(text[at:m[4]])
			fresh.Write(stdout.Bytes())
			at = m[5]
		}
		fresh.Write(text[at:])
		if pinned.Update() {
			pinned.Write(t, page, fresh.Bytes())
		}
	}
}
