package licenses

import (
	"encoding/json"
	"runtime/debug"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestRows: rows of both tables, and nothing else of the page.
func TestRows(t *testing.T) {
	page := "| `in/prose` | is | not | a row |\n\n## Asked for\n\n| In | Licence | Modules |\n|---|---|---|\n| program | MIT | `a.example/x` |\n" +
		"| tests | MPL-2.0 | `a.example/y/v2` |\n\n## Brought along by those\n\n| In | Licence | Modules |\n|---|---|---|\n| program | BSD-2-Clause | `b.example/y`, `b.example/z` |\n"
	want := []Row{
		{"a.example/x", "MIT", "program", true},
		{"a.example/y/v2", "MPL-2.0", "tests", true},
		{"b.example/y", "BSD-2-Clause", "program", false},
		{"b.example/z", "BSD-2-Clause", "program", false},
	}
	if diff := cmp.Diff(want, rowsOf(page)); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
}

// TestOf: each module that the build recorded is listed, the one that was really linked where
// it was replaced, and one that the page lacks without a licence.
func TestOf(t *testing.T) {
	l := Of(&debug.BuildInfo{GoVersion: "go1.26.8", Deps: []*debug.Module{
		{Path: "github.com/spf13/cobra", Version: "v1.10.2"},
		{Path: "example.org/strange", Version: "v0.1.0"},
		{Path: "github.com/spf13/pflag", Version: "v1.0.9", Replace: &debug.Module{Path: "../pflag"}},
	}})
	want := `desynctool is licensed under Apache-2.0. Copyright 2026 The desynctool authors.
It is linked with these modules:

MODULE                  VERSION  LICENCE
std                     1.26.8   BSD-3-Clause
github.com/spf13/cobra  v1.10.2  Apache-2.0
example.org/strange     v0.1.0   not known
../pflag                -        not known

The full texts are in LICENSE and THIRD-PARTY-LICENSES: next to the program in an
archive of a release, in /usr/share/doc/desynctool in a package and in the container.
`
	var text strings.Builder
	if err := l.Text(&text); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, text.String()); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
	b, err := json.Marshal(l)
	if err != nil {
		t.Fatal(err)
	}
	wantJSON := `{"license":"Apache-2.0","texts":["LICENSE","THIRD-PARTY-LICENSES"],"modules":[{"module":"std","version":"1.26.8","license":"BSD-3-Clause"},` +
		`{"module":"github.com/spf13/cobra","version":"v1.10.2","license":"Apache-2.0"},{"module":"example.org/strange","version":"v0.1.0","license":null},` +
		`{"module":"../pflag","version":"","license":null}],"complete":true}`
	if diff := cmp.Diff(wantJSON, string(b)); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
}

// TestWithoutModules: a program without a record of its modules does not pass for one without modules.
func TestWithoutModules(t *testing.T) {
	var text strings.Builder
	if err := (List{License: Program, Texts: texts[:], Modules: []Module{standard("go1.26.8")}}).Text(&text); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(text.String(), "This build does not record its modules") {
		t.Errorf("it prints\n%s", text.String())
	}
}
