// Package licenses lists the licences of the running program and of each module linked into it.
package licenses

import (
	"cmp"
	"fmt"
	"io"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"

	"github.com/desynctool/desynctool/docs"
)

const (
	Program = "Apache-2.0"   // the SPDX identifier of LICENSE
	Go      = "BSD-3-Clause" // the SPDX identifier of the licence of Go's standard library
)

// texts are the files of a release with the full texts: the program's, and all others.
var texts = [...]string{"LICENSE", "THIRD-PARTY-LICENSES"}

// Row is a row of the tables of docs/dependencies.md.
type Row struct {
	Module  string // its path
	License string // SPDX identifier
	In      string // program, desk or wasm: the program that links it; tests: none does
	Direct  bool   // go.mod requires it for code in this module
}

// Rows returns the rows of docs/dependencies.md, in their order.
func Rows() []Row { return rowsOf(docs.Dependencies) }

// rowsOf reads rows with a list of modules in the last column.
func rowsOf(page string) (rows []Row) {
	direct := true
	for line := range strings.Lines(page) {
		if strings.HasPrefix(line, "## Brought along") {
			direct = false
		}
		cells := strings.Split(line, "|")
		if len(cells) < 5 {
			continue
		}
		for i := range cells {
			cells[i] = strings.TrimSpace(cells[i])
		}
		in, license, modules := cells[1], cells[2], cells[3]
		if !slices.Contains([]string{"program", "desk", "wasm", "tests"}, in) {
			continue
		}
		for module := range strings.SplitSeq(modules, ", ") {
			rows = append(rows, Row{strings.Trim(module, "`"), license, in, direct})
		}
	}
	return rows
}

// Module is a module with its licence.
type Module struct {
	Module  string  `json:"module"`
	Version string  `json:"version"`
	License *string `json:"license"` // SPDX identifier; nil if it is not known
}

// List is the list of a program's parts.
type List struct {
	License string   `json:"license"` // of the program, SPDX identifier
	Texts   []string `json:"texts"`   // files of a release with the full texts
	Modules []Module `json:"modules"` // Go's standard library, then each linked module
	// Complete is false if the build does not record its modules.
	Complete bool `json:"complete"`
}

// Running returns the list of the running program.
func Running() List {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return List{License: Program, Texts: texts[:], Modules: []Module{standard(runtime.Version())}}
	}
	return Of(info)
}

// Of returns the list for a program from its build information. A module that is missing in docs/dependencies.md is
// listed without a licence.
func Of(info *debug.BuildInfo) List {
	known := map[string]string{}
	for _, r := range Rows() {
		known[r.Module] = r.License
	}
	l := List{License: Program, Texts: texts[:], Modules: []Module{standard(info.GoVersion)}, Complete: true}
	for _, m := range info.Deps {
		if m.Replace != nil {
			m = m.Replace
		}
		listed := Module{Module: m.Path, Version: m.Version}
		if id, ok := known[m.Path]; ok {
			listed.License = &id
		}
		l.Modules = append(l.Modules, listed)
	}
	return l
}

// standard returns Go's standard library as a module, with the version of Go.
func standard(version string) Module {
	id := Go
	return Module{"std", strings.TrimPrefix(version, "go"), &id}
}

// Text writes the list as text.
func (l List) Text(w io.Writer) error {
	var b strings.Builder
	fmt.Fprintf(&b, "desynctool is licensed under %s. Copyright 2026 The desynctool authors.\nIt is linked with these modules:\n\n", l.License)
	rows := [][3]string{{"MODULE", "VERSION", "LICENCE"}}
	for _, m := range l.Modules {
		id := "not known"
		if m.License != nil {
			id = *m.License
		}
		rows = append(rows, [3]string{m.Module, cmp.Or(m.Version, "-"), id})
	}
	module, version := 0, 0 // widths
	for _, r := range rows {
		module, version = max(module, len(r[0])), max(version, len(r[1]))
	}
	for _, r := range rows {
		fmt.Fprintf(&b, "%-*s  %-*s  %s\n", module, r[0], version, r[1], r[2])
	}
	if !l.Complete {
		fmt.Fprintln(&b, "\nThis build does not record its modules: the list has only Go's standard library.")
	}
	fmt.Fprintf(&b, `
The full texts are in %s and %s: next to the program in an
archive of a release, in /usr/share/doc/desynctool in a package and in the container.
`, l.Texts[0], l.Texts[1])
	_, err := io.WriteString(w, b.String())
	return err
}
