package desynctool_test

import (
	"crypto/sha256"
	"encoding/hex"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/desynctool/desynctool/internal/licenses"
)

// apache is the SHA-256 of the whole text of Apache-2.0, as apache.org publishes it.
const apache = "cfc7749b96f63bd31c3c42b5c471bf756814053e847c10f3eb003417bc523d30"

func readText(t *testing.T, path string) string {
	t.Helper()
	b, err := os.ReadFile(filepath.FromSlash(path))
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// TestLicence: the texts of both licences are whole, and Go has the licence that the program prints.
func TestLicence(t *testing.T) {
	text := readText(t, "LICENSE")
	if sum := sha256.Sum256([]byte(text)); hex.EncodeToString(sum[:]) != apache || !isLicence(text, licenses.Program) {
		t.Errorf("LICENSE is not the whole text of %s", licenses.Program)
	}
	if !isLicence(readText(t, "docs/sdk/LICENSE"), "MIT-0") {
		t.Error("docs/sdk/LICENSE is not MIT-0")
	}
	root, err := exec.Command("go", "env", "GOROOT").Output()
	if err != nil {
		t.Fatal(err)
	}
	text = readText(t, filepath.Join(strings.TrimSpace(string(root)), "LICENSE"))
	if !isLicence(text, licenses.Go) {
		t.Errorf("the licence of Go is not %s", licenses.Go)
	}
}

// naming are the files that name the licence of the program, and how: a group has its SPDX identifier.
var naming = map[string]*regexp.Regexp{
	"README.md":                     regexp.MustCompile(`(?m)^desynctool is licensed under (\S+) \(`),
	"docs/decisions.md":             regexp.MustCompile(`(?m)^\| Which licence has the program\? \| (\S+) \|`),
	"packaging/nfpm.yaml":           regexp.MustCompile(`(?m)^license: (\S+)$`),
	"packaging/copyright":           regexp.MustCompile(`(?m)^License: (\S+)$`),
	"packaging/Containerfile":       regexp.MustCompile(`(?m)^LABEL org\.opencontainers\.image\.licenses="([^"]+)"$`),
	".goreleaser.yaml":              regexp.MustCompile(`(?m)^    license: (\S+)$`),
	"tools/release/sbom/main.go":    regexp.MustCompile(`(?m)^const license = "([^"]+)"$`),
	"internal/licenses/licenses.go": regexp.MustCompile(`(?m)^\tProgram = "([^"]+)" `),
}

// TestLicenceNamed: all files that name the licence of the program agree, and docs/decisions.md
// lists them.
func TestLicenceNamed(t *testing.T) {
	_, change, ok := strings.Cut(readText(t, "docs/decisions.md"), "\nTo change the licence of the program, change ")
	if !ok {
		t.Fatal("docs/decisions.md does not list the files that name the licence")
	}
	change, _, _ = strings.Cut(change, "\n\n")
	listed := map[string]bool{}
	for _, m := range regexp.MustCompile("`([^`]+)`").FindAllStringSubmatch(change, -1) {
		listed[m[1]] = true
	}
	for file, like := range naming {
		names := like.FindAllStringSubmatch(readText(t, file), -1)
		if len(names) == 0 {
			t.Errorf("%s does not name the licence", file)
		}
		for _, m := range names {
			if m[1] != licenses.Program {
				t.Errorf("%s names the licence %s, expected %s", file, m[1], licenses.Program)
			}
		}
		if !listed[file] {
			t.Errorf("docs/decisions.md does not list %s", file)
		}
	}
	if !listed["LICENSE"] {
		t.Error("docs/decisions.md does not list LICENSE")
	}
}

// notCopied are the files of docs/sdk that no game copies, by the beginning or the end of their
// paths, with the reason.
var notCopied = map[string]string{
	"docs/sdk/LICENSE":   "it is the text",
	"docs/sdk/testdata/": "programs of the tests",
	"_test.go":           "tests of this repository",
	".md":                "pages: TestLicenceOfPages",
}

// TestLicenceOfCopies: each file of docs/sdk that a game may copy names its licence in its first lines.
func TestLicenceOfCopies(t *testing.T) {
	used, copied := map[string]bool{}, 0
	err := filepath.WalkDir(filepath.Join("docs", "sdk"), func(file string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		file = filepath.ToSlash(file)
		for part := range notCopied {
			if strings.HasPrefix(file, part) || strings.HasSuffix(file, part) {
				used[part] = true
				return nil
			}
		}
		copied++
		lines := strings.SplitN(readText(t, file), "\n", 3)
		comment := regexp.MustCompile(`^(//|#|/\*|  ) ?(.*?)( \*/)?$`)
		first, second := comment.FindStringSubmatch(lines[0]), comment.FindStringSubmatch(lines[1])
		if first == nil || second == nil || first[2] != "SPDX-License-Identifier: MIT-0" || second[2] != "Copyright 2026 The desynctool authors" {
			t.Errorf("%s begins with %q, %q, not with its licence and copyright", file, lines[0], lines[1])
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for part := range notCopied {
		if !used[part] {
			t.Errorf("no file of docs/sdk is %s", part)
		}
	}
	if copied < 14 {
		t.Errorf("only %d files of docs/sdk are for games", copied)
	}
}

// ofPages is the sentence of a page with code that a game copies.
const ofPages = "Licence of the code on this page: MIT-0 (`docs/sdk/LICENSE`)."

// shown are languages of blocks that show a format or a command, and are no code of a game.
var shown = []string{"sh", "json", "order", "trace"}

// TestLicenceOfPages: a page with a block of code for a game or its workflows names its licence.
func TestLicenceOfPages(t *testing.T) {
	language := regexp.MustCompile("(?m)^```([a-z]+)")
	pages := 0
	err := filepath.WalkDir("docs", func(file string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(file, ".md") {
			return err
		}
		text := readText(t, file)
		code := strings.HasPrefix(filepath.ToSlash(file), "docs/sdk/")
		for _, m := range language.FindAllStringSubmatch(text, -1) {
			code = code || !slices.Contains(shown, m[1])
		}
		if code {
			pages++
			if !strings.Contains(text, "\n"+ofPages+"\n") {
				t.Errorf("%s has code, and not the sentence %q", file, ofPages)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if pages < 5 {
		t.Errorf("only %d pages with code", pages)
	}
}
