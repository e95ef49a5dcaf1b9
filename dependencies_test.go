package desynctool_test

import (
	"bytes"
	"cmp"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"golang.org/x/mod/modfile"

	"github.com/desynctool/desynctool/internal/licenses"
	"github.com/desynctool/desynctool/internal/testkit/effort"
)

// licences are sentences by which the text of a licence is known.
var licences = map[string]*regexp.Regexp{
	"MIT":          regexp.MustCompile(`(?is)Permission is hereby granted, free of charge, to any person obtaining\s+a\s+copy.*The above copyright notice`),
	"MIT-0":        regexp.MustCompile(`(?s)^MIT No Attribution\n.*Permission is hereby granted, free of charge, to any person obtaining a copy.*furnished to do so\.\n\nTHE SOFTWARE`),
	"BSD-2-Clause": regexp.MustCompile(`Redistributions of source code must retain`),
	"BSD-3-Clause": regexp.MustCompile(`(?s)Redistributions of source code must retain.*?(Neither the name|may\s+not\s+be\s+used\s+to\s+endorse)`),
	"Apache-2.0":   regexp.MustCompile(`Apache License\s+Version 2\.0`),
	"MPL-2.0":      regexp.MustCompile(`Mozilla Public License Version 2\.0`),
	"Unlicense":    regexp.MustCompile(`released into the public domain`),
}

// programs are the programs of the module, the main one first, with their words in the column "In" of
// docs/dependencies.md.
var programs = []struct{ column, command string }{{"program", "./cmd/desynctool"}, {"desk", "./cmd/desynctool-desk"}, {"wasm", "./cmd/desynctool-wasm"}}

// TestDependencies checks docs/dependencies.md against go.mod, the modules linked into the programs, and the
// licences in the modules.
func TestDependencies(t *testing.T) {
	content, err := os.ReadFile("go.mod")
	if err != nil {
		t.Fatal(err)
	}
	mod, err := modfile.Parse("go.mod", content, nil)
	if err != nil {
		t.Fatal(err)
	}
	var required []string
	for _, r := range mod.Require {
		required = append(required, r.Mod.Path)
	}
	folders := modules(t, required)
	linked := map[string]string{} // by module: the column "In"
	systems := []string{"linux", "darwin", "windows"}
	if !effort.Full() {
		systems = nil // lists the packages of each program and system, which takes seconds
	}
	for _, system := range systems {
		for _, in := range programs {
			for _, p := range linkedInto(t, system, in.command) {
				if linked[p.Module] == "" || in == programs[0] {
					linked[p.Module] = in.column
				}
			}
		}
	}
	rows := map[string]licenses.Row{}
	for _, row := range licenses.Rows() {
		if _, twice := rows[row.Module]; twice {
			t.Errorf("docs/dependencies.md has %s twice", row.Module)
		}
		rows[row.Module] = row
	}
	for _, r := range mod.Require {
		row, ok := rows[r.Mod.Path]
		delete(rows, r.Mod.Path)
		if !ok {
			t.Errorf("docs/dependencies.md does not have %s", r.Mod.Path)
			continue
		}
		in := cmp.Or(linked[r.Mod.Path], "tests")
		if row.In != in && systems != nil || row.Direct == r.Indirect {
			t.Errorf("%s: docs/dependencies.md has it in %s, direct %t; it is in %s, direct %t", r.Mod.Path, row.In, row.Direct, in, !r.Indirect)
		}
		if !isLicence(licenceIn(t, folders[r.Mod.Path]), row.License) {
			t.Errorf("%s: its licence is not %s", r.Mod.Path, row.License)
		}
	}
	for path := range rows {
		t.Errorf("%s is not in go.mod", path)
	}
}

// isLicence reports whether a text is the licence with this SPDX identifier.
func isLicence(text, id string) bool {
	like := licences[id]
	return like != nil && like.MatchString(text) && (id != "BSD-2-Clause" || !licences["BSD-3-Clause"].MatchString(text))
}

// modules returns the folders of modules, by their paths.
func modules(t *testing.T, paths []string) map[string]string {
	t.Helper()
	out, err := exec.Command("go", append([]string{"mod", "download", "-json"}, paths...)...).Output()
	if err != nil {
		t.Fatal(err)
	}
	folders := map[string]string{}
	for d := json.NewDecoder(bytes.NewReader(out)); d.More(); {
		var m struct{ Path, Dir string }
		if err := d.Decode(&m); err != nil {
			t.Fatal(err)
		}
		folders[m.Path] = m.Dir
	}
	return folders
}

// licenceIn returns the text of the licence of a module in a folder.
func licenceIn(t *testing.T, dir string) string {
	t.Helper()
	if dir == "" {
		t.Fatal("a module has no folder")
	}
	names, err := filepath.Glob(filepath.Join(dir, "*"))
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

// linkedPackage is one package that a program links.
type linkedPackage struct {
	Path     string
	Module   string // empty for the standard library
	Standard bool
	Files    []string
}

// linkedInto lists the packages that a command links on an operating system, without cgo.
func linkedInto(t *testing.T, system, command string) (list []linkedPackage) {
	t.Helper()
	const format = "{{.ImportPath}}\t{{with .Module}}{{.Path}}{{end}}\t{{.Standard}}\t{{$d := .Dir}}{{range .GoFiles}}{{$d}}/{{.}} {{end}}"
	cmd := exec.Command("go", "list", "-deps", "-f", format, command)
	cmd.Env = append(os.Environ(), "GOOS="+system, "GOARCH=amd64", "CGO_ENABLED=0")
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(out)) {
		f := strings.Split(strings.TrimSuffix(line, "\n"), "\t")
		list = append(list, linkedPackage{Path: f[0], Module: f[1], Standard: f[2] == "true", Files: strings.Fields(f[3])})
	}
	return list
}
