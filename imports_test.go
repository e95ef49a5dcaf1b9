package desynctool_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/desynctool/desynctool/engines"
)

const module = "github.com/desynctool/desynctool"

// layers are the packages of this module that a package may import: packages of a later layer only. The longest prefix
// that fits a package's path decides.
var layers = [][]string{
	{"tools", "docs/sdk/relay"}, // what .ci runs
	{"cmd"},
	{"cmd/internal/cli/clitest"},
	{"cmd/desynctool-wasm/wasmprogram", "cmd/internal/cli"}, // what the programs share

	{"desk/web", "desk/pseudonyms"},
	{"desk/render"},
	{"desk/queue"},
	{"desk/intake", "desk/server"},
	{"desk"},
	{"desk/blobs", "desk/desktest"},

	// From the bundle to the renderers, the data goes down and then up: bundle → compare → verdict → words →
	// document → text, page, ci, explore.
	{"report/triage", "report/commits", "report/describe"},
	{"report/compare", "report/simulators"},
	{"tools/accuracy/verdicts"},
	{"tools/internal"},
	{"report/bundle"},
	{"report/survey"},
	{"report/words", "report/formats", "report/check", "report/bundle/gamelog"},
	{"report/verdict", "report/peers", "report/isolate", "report/ci", "report/page", "report/explore"},
	{"report/document", "archive/archivetest"},
	{"archive"},
	{"archive/paste"},

	{"engines"}, // the list
	{"engines/", "anygame/"},
	{"anygame/vocabulary", "engines/engine/description", "engines/engine/gamereplay"},
	{"engines/engine"},

	{"bisect/code/"},
	{"bisect/code/symbols"},
	{"bisect/gitbisect", "bisect/hunt", "bisect/wasmsim", "bisect/refsim/session"},
	{"bisect/extsim", "bisect/minimize", "bisect/refsim"},
	{"bisect", "bisect/golden", "bisect/code"},
	{"engines/engine/messages"},

	{"internal/confine", "internal/resultcache"},
	{"tracediff"},
	{"snapshot"},
	{"snapshot/signatures", "orderlog"},
	{"notation", "bytediff"},
	{"internal/debuginfo"},
	{"snapshot/merkle", "internal/file/frame", "internal/file/compression", "internal/file/files", "internal/file/partial"},
	{"internal/file/limits"},
	{"internal/parallel"},
	{"internal/testkit/kill"},
	{"internal/testkit"}, // of tests alone
	{"internal/testkit/effort"},
	{"internal/licenses"},
	{"internal/browser"},
	{"internal/lazyregexp", "internal/lists", "internal/mutate", "internal/prose", "internal/textsearch", "internal/sandbox", "internal/processgroup", "internal/programs", "internal/shellwords", "docs", "relay"},
}

// standardOnly are packages that import nothing but the standard library and
// each other's kind.
var standardOnly = []string{"snapshot/merkle", "relay", "internal/file/frame", "internal/file/files", "internal/file/limits"}

// withoutFiles are packages that work on values in memory. Of bisect only OpenFolder opens files.
var withoutFiles = []string{"bisect"}

func layer(pkg string) int {
	found, longest := -1, 0
	for i, list := range layers {
		for _, prefix := range list {
			within := strings.HasPrefix(pkg, strings.TrimSuffix(prefix, "/")+"/")
			if (within || pkg == prefix) && len(prefix) > longest {
				found, longest = i, len(prefix)
			}
		}
	}
	return found
}

// TestImportMap holds the direction of imports, without an exception.
func TestImportMap(t *testing.T) {
	seen := map[string]bool{}
	err := filepath.WalkDir(".", func(file string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && (d.Name() == "testdata" || strings.HasPrefix(d.Name(), ".") && file != "." || file == "tools/release") { // a separate module
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
	if name, ok := strings.CutPrefix(rest, "engines/"); ok && name != "engine" && !strings.HasPrefix(name, "engine/") && pkg != "engines" && pkg != "tools/games" { // which plays them
		t.Errorf("%s imports %s: only the list, package engines, names an engine", file, rest)
	}
	if to <= from {
		t.Errorf("%s: %s imports %s, which is not on a later layer", file, pkg, rest)
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
		if f.IsDir() && f.Name() != "engine" && f.Name() != "generals" {
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
	more, err := filepath.Glob("*/*/*.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range append(files, more...) {
		parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.ImportsOnly)
		if err != nil {
			t.Fatal(err)
		}
		for _, spec := range parsed.Imports {
			if strings.Contains(spec.Path.Value, "fatih/color") && filepath.ToSlash(filepath.Dir(file)) != "report/document" {
				t.Errorf("%s imports %s", file, spec.Path.Value)
			}
		}
	}
}
