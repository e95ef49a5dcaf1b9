package desynctool_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/desynctool/desynctool/engines"
)

const module = "github.com/desynctool/desynctool"

// layers says what a package may import of this module: packages of a later
// layer, and of its own layer only where mayMeet allows it. The first prefix
// that fits a package's path decides.
var layers = [][]string{
	{"tools"}, // what .ci runs
	{"cmd"},
	{"cmd/internal/cli"}, // what the programs share
	{"desk"},
	{"tools/accuracy/verdicts"},
	{"report"},
	{"engines"},
	{"engines/engine"},
	{"engines/messages"},
	{"bisect"},
	{"internal/confine", "internal/resultcache"},
	{"tracediff"},
	{"snapshot", "orderlog"},
	{"snapshot/signatures"},
	{"snapshot/merkle", "internal/file/frame", "internal/file/compression", "internal/file/files", "internal/file/partial"},
	{"internal/file/limits"},
	{"internal/parallel"},
	{"internal/testkit/kill"},        // of tests alone
	{"internal/testkit/effort"},      // of tests alone
	{"internal/testkit/browsertest"}, // of tests alone
	{"internal/testkit/pinned"},      // of tests alone
	{"internal/testkit/hostiletest"}, // of tests alone
	{"internal/licenses"},
	{"internal/lazyregexp", "internal/mutate", "internal/prose", "internal/textsearch", "internal/browser", "internal/sandbox", "internal/processgroup", "internal/programs", "docs"},
	{"internal/shellwords"},
}

// standardOnly are packages that import nothing but the standard library and
// each other's kind.
var standardOnly = []string{"snapshot/merkle", "internal/file/frame", "internal/file/files", "internal/file/limits"}

// withoutFiles are packages that work on values in memory and open no files.
var withoutFiles = []string{"bisect"}

// mayImport are the imports within a layer besides those of a package's parents.
var mayImport = map[string][]string{
	"bisect/wasmsim":          {"bisect/extsim"},                                                                                                                                            // the same protocol, by function calls
	"report/bundle":           {"report/formats", "report/bundle/archive", "report/bundle/gamelog", "report/bundle/paste", "report/peers", "report/verdict", "report/words"},                // opens files of every format, in archives or not
	"desk":                    {"desk/blobs"},                                                                                                                                               // its bundles
	"report/bundle/archive":   {"report/bundle/paste"},                                                                                                                                      // shows what is in pasted texts as files
	"report/compare":          {"report/gamereplay", "report/bundle", "report/bundle/archive", "report/bundle/gamelog", "report/formats", "report/verdict", "report/words", "report/peers"}, // compares what a session has, and has it judged
	"report/simulators":       {"report/bundle", "report/bundle/archive", "report/formats", "report/gamereplay"},                                                                            // tests a simulator with a peer's log
	"desk/server":             {"desk/blobs"},                                                                                                                                               // keeps what comes in
	"tools/accuracy/verdicts": {"report/verdict"},                                                                                                                                           // measures its verdicts

	"report/words":     {"report/verdict"},                                                                               // says what it concludes
	"bisect/gitbisect": {"bisect/extsim"},                                                                                // the end of what programs print
	"desk/web":         {"desk/render"},                                                                                  // has the words of what the command line prints
	"report/commits":   {"report/bundle", "report/formats", "report/simulators"},                                         // tests what was built from commits
	"desk/intake":      {"desk/blobs", "desk/pseudonyms"},                                                                // keeps what comes, and has it triaged
	"desk/queue":       {"desk/intake"},                                                                                  // has workers take in what waits
	"desk/render":      {"desk/intake", "desk/queue"},                                                                    // says what was taken in
	"report/triage":    {"report/bundle", "report/bundle/archive", "report/formats", "report/isolate", "report/compare"}, // all steps of a triage, here or in another process
	"bisect/hunt":      {"bisect/minimize", "bisect/extsim"},                                                             // makes what it finds smaller, and tells how simulators break off
}

func layer(pkg string) int {
	for i := len(layers) - 1; i >= 0; i-- {
		for _, prefix := range layers[i] {
			if pkg == prefix || strings.HasPrefix(pkg, prefix+"/") {
				return i
			}
		}
	}
	return -1
}

// TestImportMap holds the direction of imports: cmd → desk → report → bisect →
// tracediff → {snapshot, orderlog} → snapshot/signatures → {snapshot/merkle, internal/file/frame}. Within
// a layer a package may import its parents, never its own sub-packages, which
// only cmd and report/formats wire.
func TestImportMap(t *testing.T) {
	seen := map[string]bool{}
	err := filepath.WalkDir(".", func(file string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && (d.Name() == "testdata" || strings.HasPrefix(d.Name(), ".") && file != "." || file == "tools/release") { // a module of its own
			return fs.SkipDir
		}
		if !strings.HasSuffix(file, ".go") || strings.HasSuffix(file, "_test.go") {
			return nil
		}
		pkg := filepath.ToSlash(filepath.Dir(file))
		seen[pkg] = true
		if layer(pkg) < 0 {
			t.Errorf("%s: package %s is on no layer", file, pkg)
		}
		parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.ImportsOnly)
		if err != nil {
			return err
		}
		for _, spec := range parsed.Imports {
			checkImport(t, file, pkg, strings.Trim(spec.Path.Value, `"`))
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(seen) < 8 {
		t.Errorf("only %d packages found: %v", len(seen), seen)
	}
}

func checkImport(t *testing.T, file, pkg, imported string) {
	rest, ours := strings.CutPrefix(imported, module+"/")
	if !ours {
		if slices.Contains(standardOnly, pkg) && strings.Contains(strings.Split(imported, "/")[0], ".") {
			t.Errorf("%s imports %s: %s is for the standard library only", file, imported, pkg)
		}
		return
	}
	if slices.Contains(withoutFiles, pkg) && slices.Contains([]string{"internal/file/files", "internal/file/compression"}, rest) {
		t.Errorf("%s imports %s: %s works on values in memory", file, rest, pkg)
	}
	from, to := layer(pkg), layer(rest)
	if name, ok := strings.CutPrefix(rest, "engines/"); ok && name != "engine" && name != "messages" && pkg != "engines" && pkg != "tools/games" { // which plays them
		t.Errorf("%s imports %s: only the list, package engines, names an engine", file, rest)
	}
	wires := pkg == "report/formats" || pkg == "engines" || strings.HasPrefix(pkg, "engines/") || strings.HasPrefix(pkg, "cmd/")
	switch {
	case to > from:
	case to < from:
		t.Errorf("%s: %s imports %s, which stands above it", file, pkg, rest)
	case slices.Contains(mayImport[pkg], rest):
		return
	case strings.HasPrefix(pkg, rest+"/"): // its own parent
	case strings.HasPrefix(rest, pkg+"/") && !wires:
		t.Errorf("%s: %s imports its own sub-package %s", file, pkg, rest)
	case path.Dir(pkg) == path.Dir(rest) && !wires:
		t.Errorf("%s: %s imports its sibling %s", file, pkg, rest)
	}
	if wires || strings.HasPrefix(rest, pkg+"/") {
		return
	}
	// Below cmd and report/formats nobody knows an engine or a simulator.
	for _, parent := range []string{"orderlog", "snapshot", "tracediff"} {
		if path.Base(pkg) == path.Base(rest) && pkg != rest { // the same engine
			continue
		}
		if strings.HasPrefix(rest, parent+"/") && layer(rest) == layer(parent) && !strings.HasPrefix(pkg, rest) && !strings.HasPrefix(pkg, parent+"/") && !strings.HasPrefix(pkg, "tracediff/") {
			t.Errorf("%s: %s imports %s; engines are wired by cmd and report/formats", file, pkg, rest)
		}
	}
}

// TestEnginesAreNamedInTheirRooms: no text of the program outside engines/ has the name of an engine or its game.
// Compressed files of Godot are a kind of compression, which evidence of any game may have.
func TestEnginesAreNamedInTheirRooms(t *testing.T) {
	var names []string
	for _, e := range engines.All() {
		if e.Game != "" {
			names = append(names, e.Game)
		}
		for _, f := range e.Formats {
			names = append(names, f.Name)
		}
	}
	folders, err := os.ReadDir("engines")
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range folders {
		if f.IsDir() && f.Name() != "engine" && f.Name() != "messages" && f.Name() != "generals" {
			names = append(names, f.Name())
		}
	}
	if len(names) < 40 {
		t.Fatalf("only %q", names)
	}
	for i := range names {
		names[i] = regexp.QuoteMeta(names[i])
	}
	named := regexp.MustCompile(`(?i)\b(` + strings.Join(names, "|") + `)\b`)
	err = filepath.WalkDir(".", func(file string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		file = filepath.ToSlash(file)
		if d.IsDir() && (d.Name() == "testdata" || strings.HasPrefix(d.Name(), ".") && file != "." || file == "tools" || file == "engines" || file == "docs") {
			return fs.SkipDir
		}
		if !strings.HasSuffix(file, ".go") || strings.HasSuffix(file, "_test.go") || strings.HasPrefix(file, "internal/file/compression/") {
			return nil
		}
		parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, 0)
		if err != nil {
			return err
		}
		ast.Inspect(parsed, func(n ast.Node) bool {
			if _, ok := n.(*ast.ImportSpec); ok {
				return false
			}
			if text, ok := n.(*ast.BasicLit); ok && text.Kind == token.STRING {
				if found := named.FindString(text.Value); found != "" {
					t.Errorf("%s: %.60s names %s: what is of one engine is in its folder", file, text.Value, found)
				}
			}
			return true
		})
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// TestColourStaysInRendering: only report knows colour.
func TestColourStaysInRendering(t *testing.T) {
	files, err := filepath.Glob("*/*.go")
	if err != nil || len(files) == 0 {
		t.Fatalf("no files: %v", err)
	}
	more, _ := filepath.Glob("*/*/*.go")
	for _, file := range append(files, more...) {
		parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.ImportsOnly)
		if err != nil {
			t.Fatal(err)
		}
		for _, spec := range parsed.Imports {
			if strings.Contains(spec.Path.Value, "fatih/color") && filepath.ToSlash(filepath.Dir(file)) != "report" {
				t.Errorf("%s imports %s", file, spec.Path.Value)
			}
		}
	}
}
