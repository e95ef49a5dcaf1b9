package pseudonyms

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"golang.org/x/text/unicode/norm"

	"github.com/desynctool/desynctool/internal/file/compression"
	"github.com/desynctool/desynctool/internal/file/files"
	"github.com/desynctool/desynctool/internal/file/limits"
	"github.com/desynctool/desynctool/internal/lazyregexp"
	"github.com/desynctool/desynctool/report/bundle"
	"github.com/desynctool/desynctool/report/formats"
)

// folder is a folder, or a file, in a bundle.
type folder struct {
	path    string
	name    string
	dir     bool
	entries []*folder // sorted by name
}

// maxDepth is the maximum depth of folders. Evidence is not read from deeper ones.
const maxDepth = 64

// list returns the tree of files at and below a path.
func list(tree files.Tree, path string) (*folder, error) {
	count := 0
	var at func(path string, depth int) (*folder, error)
	at = func(path string, depth int) (*folder, error) {
		f := &folder{path: path, name: filepath.Base(path)}
		stat, err := tree.Stat(path)
		if err != nil {
			return f, nil // a broken link; reading it reports the error
		}
		if f.dir = stat.IsDir(); !f.dir || depth == 0 {
			return f, nil
		}
		names, err := tree.Names(path)
		if err != nil {
			return f, nil
		}
		slices.Sort(names)
		for _, name := range names {
			if count++; limits.Entries.Over(int64(count)) {
				return nil, limits.Entries.Reached(path, int64(count))
			}
			below, err := at(filepath.Join(path, name), depth-1)
			if err != nil {
				return nil, err
			}
			f.entries = append(f.entries, below)
		}
		return f, nil
	}
	return at(path, maxDepth)
}

// renamed returns unique names without player names for the entries of a folder. If the results are equal, as for Alice
// and alice, they get a number.
func (s *Scrubber) renamed(f *folder) []string {
	out := make([]string, len(f.entries))
	taken := map[string]bool{}
	for i, e := range f.entries {
		if out[i] = s.element(e.name, e.dir); out[i] == e.name {
			taken[out[i]] = true
		}
	}
	for i, e := range f.entries {
		if out[i] == e.name {
			continue
		}
		stem := stemOf(out[i])
		for n, end := 2, out[i][len(stem):]; taken[out[i]]; n++ {
			out[i] = fmt.Sprintf("%s#%d%s", stem, n, end)
		}
		taken[out[i]] = true
	}
	return out
}

// pathPairs returns the paths with a changed element, and their replacements. It omits paths below one of these if
// their own name stays.
func (s *Scrubber) pathPairs(root *folder) (out []pair) {
	add := func(old, new string) {
		out = append(out, pair{old, new})
		if quoted := strings.ReplaceAll(old, "'", `'\''`); quoted != old { // in a command
			out = append(out, pair{quoted, new})
		}
		for _, form := range forms(old) {
			if form != old {
				out = append(out, pair{form, new})
			}
		}
	}
	var walk func(f *folder, now, below string)
	walk = func(f *folder, now, below string) {
		names := s.renamed(f)
		for i, e := range f.entries {
			at := filepath.Join(now, names[i])
			if names[i] != e.name {
				add(e.path, at)
				if below != "" { // a text may omit the path that was given
					add(filepath.Join(below, e.name), strings.TrimPrefix(at, filepath.Clean(root.path)+string(filepath.Separator)))
				}
				if !e.dir && stemOf(e.name) != e.name { // or all of the path
					add(e.name, names[i])
				}
			}
			walk(e, at, filepath.Join(below, e.name))
		}
	}
	now := root.path
	if name := s.element(root.name, root.dir); name != root.name {
		now = filepath.Join(filepath.Dir(root.path), name)
		add(root.path, now)
	}
	walk(root, now, "")
	return out
}

// element returns an element of a path without the names in it. The parts that show the file type stay.
func (s *Scrubber) element(name string, dir bool) string {
	if usual()[name] || !dir && fixed(name) {
		return name
	}
	stem := stemOf(name)
	out := s.inElement(stem) + name[len(stem):]
	if out != name && !dir && !alike(name, out) {
		return name // it shows the kind of the file
	}
	return out
}

// inElement replaces a known name that is the whole text, or else the names in it, by the rule for names of files: see
// [ends]. If names differ only in capitals, it is the one that has the same ones, or else the first pseudonym.
func (s *Scrubber) inElement(text string) string {
	if IsRole(text) {
		return text
	}
	whole, near := like(canonical(text)), map[string]string{}
	for name, with := range s.known {
		folded := like(canonical(name))
		if strings.Contains(whole, folded) && (sought(name) || folded == whole) && (near[folded] == "" || with < near[folded]) {
			near[folded] = with
		}
	}
	if len(near) == 0 {
		return text
	}
	runes := []rune(norm.NFC.String(text))
	return without(runes, ends(runes), func(part string) string {
		with, exact := near[like(part)], s.known[part]
		if with == "" || exact == "" {
			return with
		}
		return exact
	})
}

// extension matches the end of a file name.
var extension = lazyregexp.New(`^\.[A-Za-z][A-Za-z0-9]{0,9}$`)

// stemOf returns the name of a file without the parts that show its type and compression.
func stemOf(name string) string {
	plain := compression.PlainName(name)
	if ext := filepath.Ext(plain); ext != plain && extension.MatchString(ext) {
		return strings.TrimSuffix(plain, ext)
	}
	return plain
}

// telling reports whether a file name is typical of names that games give: with numbers of at least two digits, or with
// the role of a peer.
func telling(stem string) bool { return tells.MatchString(stem) }

var tells = lazyregexp.New(`(?i)[0-9]{2}|host|client|server|peer|player|relay|replay|desync|debug|sync|dump|log|state|save|game|input|output|stdout|stderr|record`)

// usual are names of files and folders that games give for all players.
var usual = sync.OnceValue(func() map[string]bool {
	out := map[string]bool{bundle.LogName: true, "tick-signatures.bin": true, "truth.json": true, "README.md": true, "README.txt": true}
	for _, f := range formats.All() {
		for _, name := range strings.FieldsFunc(f.Files, func(r rune) bool { return r == ' ' || r == ',' || r == ';' || r == '(' || r == ')' }) {
			out[strings.Trim(name, "/…")] = true
		}
		if f.Snapshot != nil {
			for _, name := range f.Snapshot.Folders {
				out[name] = true
			}
		}
	}
	return out
})

// fixed reports whether a file has a name that a format gives to all its files and that does not contain a peer's name.
func fixed(base string) bool {
	if strings.HasPrefix(base, "desync_report_") {
		return true
	}
	plain := compression.PlainName(base)
	for _, f := range formats.Snapshots() {
		if f.ParseName != nil {
			if n, ok := f.ParseName(plain); ok && n.Peer == "" {
				return true
			}
		}
	}
	return false
}

// alike reports whether both names show the same file type.
func alike(a, b string) bool {
	a, b = compression.PlainName(a), compression.PlainName(b)
	for _, f := range formats.All() {
		if f.Named != nil && f.Named(a) != f.Named(b) {
			return false
		}
		if f.Snapshot == nil || f.Snapshot.ParseName == nil {
			continue
		}
		x, okX := f.Snapshot.ParseName(a)
		y, okY := f.Snapshot.ParseName(b)
		if okX != okY || x.Seed != y.Seed || !x.Point.Same(y.Point) || (x.Peer == "") != (y.Peer == "") {
			return false
		}
	}
	return filepath.Ext(a) == filepath.Ext(b)
}
