package desynctool_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"golang.org/x/mod/modfile"
)

// licences are sentences by which the text of a licence is known.
var licences = map[string]*regexp.Regexp{
	"MIT":          regexp.MustCompile(`(?is)Permission is hereby granted, free of charge, to any person obtaining\s+a\s+copy.*The above copyright notice`),
	"BSD-2-Clause": regexp.MustCompile(`Redistributions of source code must retain`),
	"BSD-3-Clause": regexp.MustCompile(`(?s)Redistributions of source code must retain.*?(Neither the name|may\s+not\s+be\s+used\s+to\s+endorse)`),
	"Apache-2.0":   regexp.MustCompile(`Apache License\s+Version 2\.0`),
	"MPL-2.0":      regexp.MustCompile(`Mozilla Public License Version 2\.0`),
	"Unlicense":    regexp.MustCompile(`released into the public domain`),
}

var dependencyRow = regexp.MustCompile("(?m)^\\| `([^`]+)` \\| (program|tests) \\| ([^|]+?) \\|")

// TestDependencies holds docs/dependencies.md against go.mod, what is linked into the command, and the
// licences in the modules.
func TestDependencies(t *testing.T) {
	page, err := os.ReadFile(filepath.Join("docs", "dependencies.md"))
	if err != nil {
		t.Fatal(err)
	}
	content, err := os.ReadFile("go.mod")
	if err != nil {
		t.Fatal(err)
	}
	mod, err := modfile.Parse("go.mod", content, nil)
	if err != nil {
		t.Fatal(err)
	}
	linked := map[string]bool{}
	for _, system := range []string{"linux", "darwin", "windows"} {
		cmd := exec.Command("go", "list", "-deps", "-f", "{{with .Module}}{{if not .Main}}{{.Path}}{{end}}{{end}}", "./cmd/desynctool")
		cmd.Env = append(os.Environ(), "GOOS="+system, "GOARCH=amd64", "CGO_ENABLED=0")
		out, err := cmd.Output()
		if err != nil {
			t.Fatal(err)
		}
		for _, path := range strings.Fields(string(out)) {
			linked[path] = true
		}
	}
	direct, rest, ok := strings.Cut(string(page), "## Brought along")
	if !ok {
		t.Fatal("docs/dependencies.md has no list of what is brought along")
	}
	rows := map[string][]string{}
	for i, part := range []string{direct, rest} {
		for _, row := range dependencyRow.FindAllStringSubmatch(part, -1) {
			if rows[row[1]] != nil {
				t.Errorf("%s stands there twice", row[1])
			}
			rows[row[1]] = append(row[2:], []string{"direct", "indirect"}[i])
		}
	}
	for _, r := range mod.Require {
		row := rows[r.Mod.Path]
		delete(rows, r.Mod.Path)
		if row == nil {
			t.Errorf("docs/dependencies.md does not have %s", r.Mod.Path)
			continue
		}
		in, how := "tests", "direct"
		if linked[r.Mod.Path] {
			in = "program"
		}
		if r.Indirect {
			how = "indirect"
		}
		if row[0] != in || row[2] != how {
			t.Errorf("%s: docs/dependencies.md has it in %s, %s; it is in %s, %s", r.Mod.Path, row[0], row[2], in, how)
		}
		text := licenceOf(t, r.Mod.Path)
		if like := licences[row[1]]; text == "" || like == nil || !like.MatchString(text) || row[1] == "BSD-2-Clause" && licences["BSD-3-Clause"].MatchString(text) {
			t.Errorf("%s: its licence is not %s", r.Mod.Path, row[1])
		}
	}
	for path := range rows {
		t.Errorf("%s is not in go.mod", path)
	}
}

// licenceOf returns the text of the licence of a module.
func licenceOf(t *testing.T, path string) string {
	t.Helper()
	out, err := exec.Command("go", "mod", "download", "-json", path).Output()
	if err != nil {
		t.Fatalf("%s: %v", path, err)
	}
	dir := regexp.MustCompile(`"Dir": "([^"]+)"`).FindSubmatch(out)
	if dir == nil {
		t.Fatalf("%s: no folder in %s", path, out)
	}
	names, err := filepath.Glob(filepath.Join(string(dir[1]), "*"))
	if err != nil {
		t.Fatal(err)
	}
	slices.Sort(names)
	text := ""
	for _, name := range names {
		base := strings.ToUpper(filepath.Base(name))
		if strings.HasPrefix(base, "LICEN") || strings.HasPrefix(base, "COPYING") || strings.HasPrefix(base, "UNLICEN") {
			b, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			text += string(b)
		}
	}
	return text
}
