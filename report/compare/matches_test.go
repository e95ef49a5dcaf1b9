package compare_test

import (
	"bytes"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/desynctool/desynctool/archive"
	"github.com/desynctool/desynctool/archive/archivetest"
	"github.com/desynctool/desynctool/bisect/refsim"
	"github.com/desynctool/desynctool/bisect/refsim/session"
	"github.com/desynctool/desynctool/internal/testkit/effort"
	"github.com/desynctool/desynctool/report/bundle"
	"github.com/desynctool/desynctool/report/compare"
	"github.com/desynctool/desynctool/report/document"
)

// played is a match of the pool: what its peers left, a folder for each, or loose files.
type played struct {
	name  string
	seed  uint64 // of sessions that were recorded here, else 0
	files []archivetest.Entry
}

// The numbers of two matches of Spring in the pool. One has states that name no match.
const spring1, spring2 = 7, 8

// The number of a match in the pool without a file that names its match.
const nameless = 6

// pool returns matches of several games. Two of them have one seed.
func pool(t *testing.T) (list []played) {
	t.Helper()
	for _, r := range []struct {
		seed  uint64
		fault string
	}{{7, ""}, {7, "order-dropped/Movement@33:client"}, {8, ""}, {9, "map-order/Combat@31:client"}} {
		options := session.Options{Config: refsim.Config{Seed: r.seed, Entities: 100}, Ticks: 50, SnapshotEvery: 25}
		if r.fault != "" {
			f, err := session.ParseFault(r.fault)
			if err != nil {
				t.Fatal(err)
			}
			options.Faults = []session.Fault{f}
		}
		dir := t.TempDir()
		if _, err := session.RecordTo(dir, options, session.TraceSystem); err != nil {
			t.Fatal(err)
		}
		list = append(list, played{name: fmt.Sprintf("seed %d %s", r.seed, r.fault), seed: r.seed, files: archivetest.Entries(t, dir, "")})
	}
	const corpus = "../../testdata"
	for _, dir := range []string{"openttd/cache_poke", "0ad/control_mp_orders", "widelands/cmdact_serial", "spring/control/server", "spring/pos_1ulp/Alice"} {
		list = append(list, played{name: dir, files: archivetest.Entries(t, filepath.Join(corpus, dir), "")})
	}
	for _, file := range []string{"faf-1.log", "stratagus-2026.log"} {
		b, err := os.ReadFile(filepath.Join(corpus, "loglines", file))
		if err != nil {
			t.Fatal(err)
		}
		// What is far from the beginning of a log is its game's all the same.
		b = append(bytes.Repeat([]byte("something else\n"), 400), b...)
		list = append(list, played{name: file, files: []archivetest.Entry{{Name: file, Content: b}}})
	}
	for i := range list {
		list[i].files = slices.DeleteFunc(list[i].files, func(e archivetest.Entry) bool {
			return strings.HasSuffix(e.Name, "/") || strings.HasSuffix(e.Name, ".md") || strings.HasSuffix(e.Name, "truth.json")
		})
	}
	return list
}

// layouts are how the matches lie side by side: where a file of match i is.
var layouts = map[string]func(i int, name string) string{
	"folders": func(i int, name string) string { return fmt.Sprintf("m%d/%s", i, name) },
	"deep":    func(i int, name string) string { return fmt.Sprintf("up/load/m%d/%s", i, name) },
	"flat":    func(i int, name string) string { return fmt.Sprintf("m%d-%s", i, strings.ReplaceAll(name, "/", "-")) },
	"by peer": func(i int, name string) string {
		peer, rest, ok := strings.Cut(name, "/")
		if !ok {
			return fmt.Sprintf("m%d/%s", i, name)
		}
		return fmt.Sprintf("%s/m%d/%s", peer, i, rest)
	},
}

// ofMatch finds the number of the match in a path.
var ofMatch = regexp.MustCompile(`(?:^|/)m(\d+)[/-]`)

// folderOf finds the folder of a match in a text.
var folderOf = regexp.MustCompile(`/m\d+([/": ;,]|$)`)

// matchOf is how a command names one of several matches.
var matchOf = regexp.MustCompile(` --match \d+`)

// layMatches writes some of the matches below a folder, or into an archive, and returns what to
// give.
func layMatches(t testing.TB, dir string, all []played, chosen []int, place func(i int, name string) string, zipped bool) string {
	var list []archivetest.Entry
	given := filepath.Join(dir, "report.zip")
	for _, i := range chosen {
		for _, e := range all[i].files {
			list = append(list, archivetest.Entry{Name: place(i, e.Name), Content: e.Content})
		}
	}
	slices.SortFunc(list, func(a, b archivetest.Entry) int { return strings.Compare(a.Name, b.Name) })
	var err error
	if zipped {
		err = os.WriteFile(given, archivetest.Zip(t, 0, list), 0o666)
	}
	for _, e := range list {
		if zipped || err != nil {
			break
		}
		path := filepath.Join(given, filepath.FromSlash(e.Name))
		if err = os.MkdirAll(filepath.Dir(path), 0o777); err == nil {
			err = os.WriteFile(path, e.Content, 0o666)
		}
	}
	if err != nil {
		t.Fatal(err)
	}
	return given
}

// triagedMatch is what a match's session gives, without the folders that it was read from: an archive
// leaves out one in which all lies.
func triagedMatch(x *bundle.Match, given string) string {
	plain := func(text string) string {
		text = strings.ReplaceAll(strings.ReplaceAll(text, given, ""), "/up/load", "")
		return matchOf.ReplaceAllString(folderOf.ReplaceAllString(text, "$1"), "")
	}
	s, err := x.Open()
	var r *document.Report
	if err == nil {
		r, err = compare.Triage(s, compare.Builds{}, nil)
	}
	if err != nil {
		return plain(err.Error())
	}
	var out bytes.Buffer
	if err := document.WriteJSON(&out, r); err != nil {
		return err.Error()
	}
	return plain(out.String())
}

// TestMatches puts recorded sessions and files of other games side by side. The files of each match come out together,
// and only those, and the report is the same as for the match alone. Two sessions of one seed come out as two, or the
// report states that they may be two.
func TestMatches(t *testing.T) {
	effort.InTurn(t, 1, 2)
	outer := t
	all := pool(t)
	effort.Checks(t, 5)
	alone := map[string]string{}
	rapid.Check(t, func(t *rapid.T) {
		chosen := rapid.Permutation(numbers(len(all))).Draw(t, "matches")
		chosen = chosen[:rapid.IntRange(2, effort.Of(4, 6)).Draw(t, "number")]
		slices.Sort(chosen)
		layout := rapid.SampledFrom([]string{"folders", "deep", "flat", "by peer"}).Draw(t, "layout")
		zipped := rapid.Bool().Draw(t, "zip")
		both := func(a, b int) bool { return slices.Contains(chosen, a) && slices.Contains(chosen, b) }
		twins := both(0, 1) // of one seed
		// Files that name no match next to two matches of their game, or in folders of several sessions.
		unclear := func(i int) bool {
			return i < 2 && twins || layout == "flat" && both(spring1, spring2) && (i == spring1 || i == spring2) ||
				layout == "by peer" && twins && i == nameless
		}
		dir, err := os.MkdirTemp("", "matches")
		if err != nil {
			t.Fatal(err)
		}
		defer os.RemoveAll(dir)
		given := layMatches(outer, dir, all, chosen, layouts[layout], zipped)
		tree, err := archive.Open([]string{given}, archive.Options{})
		if err != nil {
			t.Fatal(err)
		}
		defer tree.Close()
		matches, err := bundle.OpenMatches(tree, []string{given})
		if err != nil {
			t.Fatal(err)
		}
		seen := map[int]int{}
		for _, x := range matches.List {
			owners := map[int]bool{}
			for _, file := range x.Files {
				found := ofMatch.FindStringSubmatch(filepath.ToSlash(strings.TrimPrefix(file, given)))
				if found == nil {
					t.Fatalf("%s is of no match", file)
				}
				i, err := strconv.Atoi(found[1])
				if err != nil {
					t.Fatal(err)
				}
				owners[i] = true
			}
			if len(owners) != 1 {
				if len(x.Doubts) == 0 || !twins || len(owners) != 2 || !owners[0] || !owners[1] {
					t.Fatalf("%s: %s has files of %v: %q", layout, x, owners, x.Files)
				}
				seen[0]++
				seen[1]++
				continue
			}
			for i := range owners {
				seen[i]++
				if len(x.Doubts) > 0 && !unclear(i) {
					t.Errorf("%s: %s: doubts %q", layout, x, x.Doubts)
				}
				if unclear(i) && (layout == "flat" || i == nameless) {
					if len(x.Doubts) == 0 && i == nameless && len(x.Files) < len(all[i].files)-unread(all[i]) {
						t.Errorf("%s: %s has some of the files, and no doubt", layout, x)
					}
					continue // files that cannot be assigned may become a separate match
				}
				if want := len(all[i].files); len(x.Files) < want-unread(all[i]) {
					t.Errorf("%s: %s has %d of the %d files of %s: %q", layout, x, len(x.Files), want, all[i].name, x.Files)
				}
				key := fmt.Sprint(i, layout, zipped)
				if alone[key] == "" {
					alone[key] = triagedAlone(outer, all, i, layouts[layout], zipped)
				}
				if diff := cmp.Diff(alone[key], triagedMatch(x, given)); diff != "" {
					t.Errorf("%s, zip %v: %s alone and beside others (-alone +beside):\n%s", layout, zipped, all[i].name, diff)
				}
			}
		}
		for _, i := range chosen {
			if seen[i] != 1 && !unclear(i) {
				t.Errorf("%s: %s came out %d times", layout, all[i].name, seen[i])
			}
		}
	})
}

// unread counts the files of a match that are no evidence.
func unread(p played) (n int) {
	for _, e := range p.files {
		if strings.HasSuffix(e.Name, ".json") && !strings.Contains(e.Name, "desync_report_") {
			n++
		}
	}
	return n
}

// triagedAlone is triagedMatch for a match without any other match next to it.
func triagedAlone(t testing.TB, all []played, i int, place func(i int, name string) string, zipped bool) string {
	dir := t.TempDir()
	given := layMatches(t, dir, all, []int{i}, place, zipped)
	if !zipped { // an archive leaves out a folder in which all lies
		given = filepath.Join(given, filepath.FromSlash(common(all[i], i, place)))
	}
	tree, err := archive.Open([]string{given}, archive.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer tree.Close()
	matches, err := bundle.OpenMatches(tree, []string{given})
	if err != nil {
		t.Fatal(err)
	}
	if len(matches.List) != 1 {
		t.Fatalf("%s alone is %s", all[i].name, matches)
	}
	return triagedMatch(matches.List[0], given)
}

// common is the folder in which all of a match lies, "." if there is none.
func common(p played, i int, place func(i int, name string) string) string {
	dir := path.Dir(place(i, p.files[0].Name))
	for _, e := range p.files {
		for dir != "." && !strings.HasPrefix(place(i, e.Name), dir+"/") {
			dir = path.Dir(dir)
		}
	}
	return dir
}

func numbers(n int) (list []int) {
	for i := range n {
		list = append(list, i)
	}
	return list
}
