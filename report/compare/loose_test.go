package compare_test

import (
	"errors"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/desynctool/desynctool/archive"
	"github.com/desynctool/desynctool/archive/archivetest"
	"github.com/desynctool/desynctool/bisect"
	"github.com/desynctool/desynctool/report/bundle"
	"github.com/desynctool/desynctool/report/compare"
	"github.com/desynctool/desynctool/report/document"
)

// bisectText returns what bisect prints about paths in a tree.
func bisectText(t testing.TB, tree *archive.Tree, paths ...string) string {
	t.Helper()
	r, err := compare.Bisect(walked(t, tree, paths), compare.Builds{}, compare.BisectOptions{})
	if err != nil {
		t.Fatalf("%v: %v", paths, err)
	}
	var out strings.Builder
	if err := document.Bisect(r).Text(&out, document.NewStyle(false), false); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

// TestLooseFiles: files that lie side by side, or are given one by one, belong to the peers that they name.
func TestLooseFiles(t *testing.T) {
	folder := archivetest.Record(t, filepath.Join(t.TempDir(), "s"), 1)
	dir := t.TempDir()
	var list []archivetest.Entry
	var paths []string
	for _, peer := range []string{"host", "client"} {
		for _, e := range archivetest.Entries(t, filepath.Join(folder, peer), peer+"-") {
			list = append(list, e)
			path := archivetest.Write(t, filepath.Join(dir, e.Name), e.Content)
			if strings.HasSuffix(path, ".snap") || strings.HasSuffix(path, ".bin") {
				paths = append(paths, path)
			}
		}
	}
	slices.Reverse(paths)
	archive := archivetest.Write(t, filepath.Join(t.TempDir(), "x.zip"), archivetest.Packings[".zip"](t, list))
	want, err := compare.Bisect(walked(t, archivetest.Open(t, folder), []string{folder}), compare.Builds{}, compare.BisectOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for _, given := range [][]string{paths, {dir}, {archive}} {
		r, err := compare.Bisect(walked(t, archivetest.Open(t, given...), given), compare.Builds{}, compare.BisectOptions{})
		if err != nil {
			t.Errorf("%s: %v", given, err)
			continue
		}
		if !r.Exact || r.Tick != want.Tick || r.Snapshots != want.Snapshots || len(r.Peers) != 2 || len(r.Groups) != 2 || len(r.Lost) > 0 {
			t.Errorf("%s: %s", given, bisectText(t, archivetest.Open(t, given...), given...))
		}
		c, err := bundle.Examine(walked(t, archivetest.Open(t, given...), given), nil)
		if err != nil || len(c.Peers) != 2 || c.Peers[0].Name != "client" || document.StatusOf(c) != document.InSync {
			t.Errorf("%s: %v\n%s", given, err, checkupText(t, c))
		}
	}
}

// TestTwoMatches: a bundle with artifacts of two matches is about one of them and reports it; one peer's evidence is
// not enough, and the report shows that.
func TestTwoMatches(t *testing.T) {
	one, two := archivetest.Record(t, filepath.Join(t.TempDir(), "s"), 1), archivetest.Record(t, filepath.Join(t.TempDir(), "s"), 2)
	list := append(archivetest.Entries(t, filepath.Join(one, "host"), "host/"), archivetest.Entries(t, filepath.Join(two, "client"), "client/")...)
	path := archivetest.Write(t, filepath.Join(t.TempDir(), "x.zip"), archivetest.Packings[".zip"](t, list))
	_, err := compare.Bisect(walked(t, archivetest.Open(t, path), []string{path}), compare.Builds{}, compare.BisectOptions{})
	var other *bisect.OtherGameError
	if !errors.As(err, &other) {
		t.Errorf("two matches: %v", err)
	}
	list = append(archivetest.Entries(t, one, ""), archivetest.Entries(t, filepath.Join(two, "client"), "client/old-")...)
	path = archivetest.Write(t, filepath.Join(t.TempDir(), "x.zip"), archivetest.Packings[".zip"](t, list))
	r, err := compare.Bisect(walked(t, archivetest.Open(t, path), []string{path}), compare.Builds{}, compare.BisectOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if text := strings.Join(r.Warnings, "\n"); r.Bracket == nil || !strings.Contains(text, "stale") {
		t.Errorf("files of another match: bracket %v, warnings %q", r.Bracket, text)
	}
	path = archivetest.Write(t, filepath.Join(t.TempDir(), "x.zip"), archivetest.Packings[".zip"](t, archivetest.Entries(t, filepath.Join(one, "host"), "host/")))
	if _, err = compare.Bisect(walked(t, archivetest.Open(t, path), []string{path}), compare.Builds{}, compare.BisectOptions{}); err == nil || !strings.Contains(err.Error(), "evidence of 1 peer") {
		t.Errorf("one peer: %v", err)
	}
}
