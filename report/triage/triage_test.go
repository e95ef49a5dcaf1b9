package triage

import (
	"archive/zip"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/desynctool/desynctool/archive"
	"github.com/desynctool/desynctool/archive/archivetest"
	"github.com/desynctool/desynctool/internal/file/limits"
	"github.com/desynctool/desynctool/internal/parallel"
	"github.com/desynctool/desynctool/internal/sandbox"
	"github.com/desynctool/desynctool/report/bundle"
	"github.com/desynctool/desynctool/report/document"
	"github.com/desynctool/desynctool/report/isolate"
)

// acted is the environment variable that has the test binary be the process that reads, or play it.
const acted = "DESYNCTOOL_TEST_READER"

func TestMain(m *testing.M) {
	switch os.Getenv(acted) {
	case "":
		os.Exit(m.Run())
	case "panics":
		_ = isolate.Serve(os.Stdin, os.Stdout, errTold, func(*isolate.Asked) *isolate.Answer { panic("a crafted file") }, nil, nil)
	default:
		_ = Serve(os.Stdin, os.Stdout, errTold, &Answering{Names: newCaller})
	}
	os.Exit(4)
}

var errTold = errors.New("told to end")

// caller is a Scrubber that calls the client as set by its key, once it has seen the evidence.
type caller struct {
	key  string
	seen bool
}

func newCaller(key string) (Scrubber, error) {
	if key == "" {
		return nil, errors.New("no key")
	}
	return &caller{key: key}, nil
}

func (c *caller) Open(tree *archive.Tree, paths []string) (*bundle.Matches, error) {
	m, err := bundle.OpenMatches(tree, paths)
	c.seen = err == nil
	return m, err
}

func (c *caller) Report(r *document.Report) {
	b, err := json.Marshal(r)
	if err != nil || !c.seen {
		return
	}
	*r = document.Report{}
	if err := json.Unmarshal(bytes.ReplaceAll(b, []byte("client"), []byte(c.key)), r); err != nil {
		panic(err)
	}
}

func (c *caller) Saved(list []*document.Report) {
	c.seen = true
	for _, r := range list {
		c.Report(r)
	}
}

// Copy writes the name of what lies there, and the key.
func (c *caller) Copy(_ context.Context, path string, out io.Writer) ([]string, error) {
	if filepath.Base(path) == "refuses" {
		return nil, errors.New("it cannot be copied")
	}
	_, err := fmt.Fprint(out, filepath.Base(path), " ", c.key)
	return []string{"a file: kept"}, err
}

// TestCallers: names are taken out of the reports of one match, of several and of none, the same in this process and in
// a separate one.
func TestCallers(t *testing.T) {
	lone := t.TempDir()
	content, err := os.ReadFile(corpus + "/openttd/rng_poke/client/commands-out.log")
	if err != nil {
		t.Fatal(err)
	}
	archivetest.Write(t, filepath.Join(lone, "client-commands-out.log"), content[:0])
	for name, path := range map[string]string{"one": corpus + "/openttd/rng_poke", "several": two(t), "none": lone} {
		here := &Reader{Names: &Names{Key: "Quux", New: newCaller}}
		plain, got := asJSON(t, read(t, new(Reader), path, "bundle")), asJSON(t, read(t, here, path, "bundle"))
		if strings.Contains(got, "client") || !strings.Contains(got, "Quux") || !strings.Contains(plain, "client") {
			t.Errorf("%s: %.1000s", name, got)
		}
		there := &Reader{Names: here.Names, Isolate: as("reads")}
		if isolated := asJSON(t, read(t, there, path, "bundle")); isolated != got {
			t.Errorf("%s: in another process\n%.2000s\nin this one\n%.2000s", name, isolated, got)
		}
	}
	for _, r := range []*Reader{{Names: &Names{New: newCaller}}, {Names: &Names{New: newCaller}, Isolate: as("reads")}} {
		if list, err := r.Read(t.Context(), lone, "bundle"); err == nil || err.Error() != "no key" {
			t.Errorf("without a key: %v, %v", list, err)
		}
	}
}

// TestReadCopy: the process that has read a bundle copies it; a bundle that cannot be copied is reported.
func TestReadCopy(t *testing.T) {
	dir := t.TempDir()
	one, err := os.ReadFile(zipped(t, filepath.Join(dir, "one"), corpus+"/openttd/rng_poke"))
	if err != nil {
		t.Fatal(err)
	}
	saved := asJSON(t, read(t, new(Reader), filepath.Join(dir, "one"), "one"))
	for name, content := range map[string][]byte{"refuses": one, "saved": []byte(saved), "array": []byte("[" + saved + "]"), "damaged": []byte(saved[:len(saved)/2]), "unknown": []byte("PK is how an archive begins")} {
		archivetest.Write(t, filepath.Join(dir, name), content)
	}
	for _, c := range []struct{ name, want, left string }{
		{"one", "one Quux", "a file: kept"}, {"refuses", "", "the bundle is kept as it came: it cannot be copied"},
		{"saved", strings.ReplaceAll(saved, "client", "Quux"), ""}, {"array", "[", ""},
		{"damaged", "", "the bundle is kept as it came: it is a saved report that is damaged"}, {"unknown", "", "the bundle is kept as it came: it cannot be read"},
	} {
		for how, isolated := range map[string]*isolate.Reader{"here": nil, "there": as("reads")} {
			var out bytes.Buffer
			r := &Reader{Names: &Names{Key: "Quux", New: newCaller}, Isolate: isolated}
			list, copied, left, err := r.ReadCopy(t.Context(), filepath.Join(dir, c.name), c.name, &out)
			if err != nil || len(list) != 1 || copied != (c.want != "") || strings.Join(left, "; ") != c.left || copied && !strings.HasPrefix(out.String(), c.want) {
				t.Errorf("%s, %s: %d reports, %v %v %q %.300s", c.name, how, len(list), err, copied, left, out.String())
			}
			if copied && strings.Contains(out.String(), "client") {
				t.Errorf("%s, %s: %.1000s", c.name, how, out.String())
			}
		}
	}
	full := errors.New("no space left")
	for _, isolated := range []*isolate.Reader{nil, as("reads")} {
		r := &Reader{Names: &Names{Key: "Quux", New: newCaller}, Isolate: isolated}
		if _, _, _, err := r.ReadCopy(t.Context(), filepath.Join(dir, "one"), "one", failing{full}); !errors.Is(err, full) {
			t.Errorf("a full disk: %v", err)
		}
	}
}

type failing struct{ err error }

func (f failing) Write([]byte) (int, error) { return 0, f.err }

// as returns what starts the test binary in a role.
func as(role string) *isolate.Reader {
	return &isolate.Reader{Process: func() (*exec.Cmd, error) {
		cmd := exec.Command(os.Args[0])
		cmd.Env = append(os.Environ(), acted+"="+role)
		return cmd, nil
	}}
}

const corpus = "../../testdata"

// read reads a bundle, and fails the test if that cannot be done.
func read(t testing.TB, r *Reader, path, name string) []*document.Report {
	t.Helper()
	list, err := r.Read(context.Background(), path, name)
	if err != nil || len(list) == 0 {
		t.Fatalf("%s: %d reports, %v", name, len(list), err)
	}
	return list
}

// asJSON returns what a store keeps of reports.
func asJSON(t testing.TB, list []*document.Report) string {
	t.Helper()
	var b bytes.Buffer
	for _, r := range list {
		if err := document.WriteJSON(&b, r); err != nil {
			t.Fatal(err)
		}
	}
	return b.String()
}

// zipped writes a folder as an archive of some name.
func zipped(t testing.TB, path, folder string) string {
	t.Helper()
	return archivetest.Write(t, path, archivetest.Packings[".zip"](t, archivetest.Entries(t, folder, "")))
}

// two returns a folder with two matches of OpenTTD.
func two(t testing.TB) string {
	t.Helper()
	dir := t.TempDir()
	for _, name := range []string{"rng_poke", "town_poke"} {
		if err := os.CopyFS(filepath.Join(dir, name), os.DirFS(corpus+"/openttd/"+name)); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// bundles are bundles of all kinds, by what they are called, and what becomes of each: the statuses of
// its reports in order.
func bundles(t *testing.T) (paths map[string]string, want map[string][]document.Status) {
	dir := t.TempDir()
	file := func(name string, content []byte) string {
		return archivetest.Write(t, filepath.Join(dir, name), content)
	}
	whole, err := os.ReadFile(zipped(t, filepath.Join(dir, "whole"), corpus+"/spring/silent_health"))
	if err != nil {
		t.Fatal(err)
	}
	empty := filepath.Join(dir, "empty folder")
	if err := os.Mkdir(empty, 0o777); err != nil {
		t.Fatal(err)
	}
	d, e := document.Diverged, document.Failed
	paths, want = map[string]string{}, map[string][]document.Status{}
	for _, b := range []struct {
		name, path string
		want       []document.Status
	}{
		{"rng.zip", zipped(t, filepath.Join(dir, "5fbcb3eb"), corpus+"/openttd/rng_poke"), []document.Status{d}},
		{"host and client", corpus + "/openttd/town_poke", []document.Status{d}},
		{"two.zip", zipped(t, filepath.Join(dir, "c0ffee"), two(t)), []document.Status{d, d}},
		{"damaged.zip", file("d9d9c1", whole[:len(whole)*2/3]), nil},
		{"no archive.zip", file("none", []byte("PK\x03\x04 and nothing else")), []document.Status{e}},
		{"photo.jpg", file("a1b2c3", []byte("\xff\xd8\xff\xe0 a picture")), []document.Status{e}},
		{"nothing.zip", file("zero", nil), []document.Status{e}},
		{"folder", empty, []document.Status{e}},
		{"../../etc/report.zip", file("climbs", whole), []document.Status{d}},
		{"infolog.txt", corpus + "/gamelogs/spring/Alice/infolog.txt", nil},
	} {
		paths[b.name] = b.path
		if b.want != nil {
			want[b.name] = b.want
		}
	}
	return paths, want
}

// TestRead: bundles of all kinds have the expected reports, the same in this process and in a separate one, and none of
// them contains where the bundle lies.
func TestRead(t *testing.T) {
	paths, want := bundles(t)
	isolated := &Reader{Isolate: as("reads")}
	for name, path := range paths {
		list := read(t, new(Reader), path, name)
		var got []document.Status
		for i, r := range list {
			got = append(got, r.Status)
			if (len(list) > 1) != (r.Match != nil) || r.Match != nil && r.Match.Number != i+1 {
				t.Errorf("%s: report %d of %d is of match %v", name, i+1, len(list), r.Match)
			}
		}
		if of := want[name]; of != nil && !equal(got, of) {
			t.Errorf("%s: %v, expected %v\n%s", name, got, of, list[0].Error)
		}
		here := asJSON(t, list)
		full, err := filepath.Abs(path)
		if err != nil {
			t.Fatal(err)
		}
		for _, where := range []string{path, filepath.Dir(path), filepath.Base(path), full, os.TempDir()} {
			if strings.Contains(here, where) && !strings.Contains(path, "testdata") {
				t.Errorf("%s: %s shows", name, where)
			}
		}
		if strings.Contains(here, "testdata") || strings.Contains(here, full) {
			t.Errorf("%s: where it lies shows", name)
		}
		if there := asJSON(t, read(t, isolated, path, name)); there != here {
			t.Errorf("%s: in this process\n%.3000s\nin another\n%.3000s", name, here, there)
		}
	}
}

func equal(a, b []document.Status) bool {
	x, _ := json.Marshal(a)
	y, _ := json.Marshal(b)
	return bytes.Equal(x, y)
}

// TestNames: the reports have the given name of the bundle, and it leads nowhere.
func TestNames(t *testing.T) {
	for name, want := range map[string]string{
		"report.zip": "report.zip", "a/b.zip": "a/b.zip", "/home/me/b.zip": "b.zip", "../b.zip": "b.zip", "a/../../b.zip": "b.zip",
		"": "bundle", "-": "bundle", "..": "bundle", "/": "bundle", "a\nb": "a_b", "a\x00b": "a_b",
	} {
		if got := called(name); got != want {
			t.Errorf("%q: %q, expected %q", name, got, want)
		}
	}
	path := archivetest.Write(t, filepath.Join(t.TempDir(), "blob"), []byte("no evidence"))
	if r := read(t, new(Reader), path, "my notes.txt")[0]; !strings.HasPrefix(r.Error, "my notes.txt: ") {
		t.Errorf("%q", r.Error)
	}
}

// TestLinks: a link in a folder leads nowhere.
func TestLinks(t *testing.T) {
	dir, outside := t.TempDir(), t.TempDir()
	if err := os.CopyFS(dir, os.DirFS(corpus+"/openttd/rng_poke")); err != nil {
		t.Fatal(err)
	}
	before := read(t, new(Reader), dir, "bundle")[0]
	if err := os.CopyFS(filepath.Join(outside, "c"), os.DirFS(corpus+"/openttd/town_poke")); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(outside, filepath.Join(dir, "more")); err != nil {
		t.Skip(err)
	}
	list := read(t, new(Reader), dir, "bundle")
	if r := list[0]; len(list) != 1 || r.Fingerprint != before.Fingerprint || len(before.Missing) > 0 || len(r.Missing) != 1 || r.Missing[0] != "open bundle/more: a link, which is not followed" {
		t.Errorf("%d reports, %q", len(list), r.Missing)
	}
}

// TestSaved: a saved report is returned as it is, one or several; a damaged one is an error.
func TestSaved(t *testing.T) {
	dir := t.TempDir()
	list := read(t, new(Reader), two(t), "openttd")
	one, several := asJSON(t, list[:1]), &bytes.Buffer{}
	if err := document.MatchesJSON(several, func(yield func(*document.Report, error) bool) {
		for _, r := range list {
			if !yield(r, nil) {
				return
			}
		}
	}); err != nil {
		t.Fatal(err)
	}
	for _, r := range []*Reader{{}, {Isolate: as("panics")}} {
		if got := asJSON(t, read(t, r, archivetest.Write(t, filepath.Join(dir, "one"), []byte(one)), "report.json")); got != one {
			t.Errorf("one:\n%.1000s\nexpected\n%.1000s", got, one)
		}
		if got := asJSON(t, read(t, r, archivetest.Write(t, filepath.Join(dir, "all"), several.Bytes()), "reports.json")); got != asJSON(t, list) {
			t.Errorf("several:\n%.1000s", got)
		}
		cut := read(t, r, archivetest.Write(t, filepath.Join(dir, "cut"), []byte(one[:len(one)/2])), "report.json")
		if len(cut) != 1 || cut[0].Status != document.Failed || !strings.HasPrefix(cut[0].Error, "report.json: not a saved report") {
			t.Errorf("%v", cut[0].Error)
		}
	}
}

// TestDies: what ends a process is a report, and what panics here is one.
func TestDies(t *testing.T) {
	r := read(t, &Reader{Isolate: as("panics")}, corpus+"/openttd/rng_poke", "evil.zip")[0]
	if r.Status != document.Inconclusive || !strings.HasPrefix(r.Error, "evil.zip: the isolated process ended without an answer") || !strings.HasSuffix(r.Error, "panic: a crafted file") {
		t.Errorf("%s: %s", r.Status, r.Error)
	}
	planted := &Reader{Isolate: &isolate.Reader{Process: func() (*exec.Cmd, error) { panic("a mistake\nof two lines") }}}
	if r := read(t, planted, corpus+"/openttd/rng_poke", "evil.zip")[0]; r.Status != document.Failed || r.Error != "evil.zip: reading it ended in a mistake of desynctool: panic: a mistake; of two lines" {
		t.Errorf("%s: %s", r.Status, r.Error)
	}
	beside := &Reader{Isolate: &isolate.Reader{Process: func() (*exec.Cmd, error) {
		var g parallel.Group
		g.Go(func() { panic("beside") })
		g.Wait()
		return nil, nil
	}}}
	if r := read(t, beside, corpus+"/openttd/rng_poke", "evil.zip")[0]; r.Status != document.Failed || r.Error != "evil.zip: reading it ended in a mistake of desynctool: panic: beside" {
		t.Errorf("%s: %s", r.Status, r.Error)
	}
	f := &Found{
		Matches: []document.MatchDocument{{Number: 1, Name: "a"}, {Number: 2, Name: "b", Game: "OpenTTD"}},
		One:     func(i int) (*document.Report, error) { return nil, []error{nil}[i+1] },
	}
	if r, err := new(Reader).one(f, 1, "evil.zip"); err != nil || r.Status != document.Failed || r.Match.Number != 2 || r.Session.Game != "OpenTTD" {
		t.Errorf("%v, %v", r, err)
	}
}

// TestMachine: a fault outside the bundle is an error, and no report.
func TestMachine(t *testing.T) {
	path := filepath.Join(t.TempDir(), "secret")
	if list, err := new(Reader).Read(context.Background(), path, "a.zip"); !errors.Is(err, fs.ErrNotExist) || list != nil || strings.Contains(err.Error(), path) {
		t.Errorf("%v, %v", list, err)
	}
	if list, err := new(Reader).Read(context.Background(), os.DevNull, "a.zip"); err == nil || err.Error() != "a.zip: neither a file nor a folder" {
		t.Errorf("%v, %v", list, err)
	}
	none := &isolate.Reader{Process: func() (*exec.Cmd, error) { return exec.Command(path), nil }}
	if list, err := (&Reader{Isolate: none}).Read(context.Background(), corpus+"/openttd/rng_poke", "a.zip"); err == nil {
		t.Errorf("%v", list)
	}
	ctx, cancel := context.WithCancelCause(context.Background())
	cancel(errTold)
	for _, r := range []*Reader{{}, {Isolate: as("reads")}} {
		if list, err := r.Read(ctx, corpus+"/openttd/rng_poke", "a.zip"); !errors.Is(err, errTold) || list != nil {
			t.Errorf("%v, %v", list, err)
		}
		later, stop := context.WithCancelCause(context.Background())
		started := *as("reads")
		started.State = func(sandbox.State) error { stop(errTold); return nil }
		if r.Isolate != nil {
			r.Isolate = &started
			if list, err := r.Read(later, two(t), "a.zip"); !errors.Is(err, errTold) || list != nil {
				t.Errorf("%v, %v", list, err)
			}
		}
		stop(nil)
	}
}

// TestMissing: where the system cannot restrict a process that is said of the first one, or refused.
func TestMissing(t *testing.T) {
	for required, want := range map[bool]string{false: "", true: "--isolate=require: here is missing: Landlock (none): files"} {
		told := 0
		x := &processes{Isolated: Isolated{Require: required, Missing: func(string) { told++ }}}
		s := sandbox.State{Holds: []string{"seccomp"}, Missing: []string{"Landlock (none): files"}}
		got := ""
		if err := errors.Join(x.holds(s), x.holds(s)); err != nil {
			got, _, _ = strings.Cut(err.Error(), "\n")
		}
		if got != want || told != map[bool]int{false: 1}[required] {
			t.Errorf("%v: %q, said %d times", required, got, told)
		}
	}
}

// TestStored: a stored entry of a zip archive is read in place, whatever the archive is called on the disk.
func TestStored(t *testing.T) {
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	root := os.DirFS(corpus + "/openttd/rng_poke")
	err := fs.WalkDir(root, ".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		content, err := fs.ReadFile(root, path)
		if err != nil {
			return err
		}
		w, err := z.CreateHeader(&zip.FileHeader{Name: path, Method: zip.Store})
		if err != nil {
			return err
		}
		_, err = w.Write(content)
		return err
	})
	if err := errors.Join(err, z.Close()); err != nil {
		t.Fatal(err)
	}
	path := archivetest.Write(t, filepath.Join(t.TempDir(), "00ff"), b.Bytes())
	if r := read(t, new(Reader), path, "stored.zip")[0]; r.Status != document.Diverged {
		t.Errorf("%s: %s", r.Status, r.Error)
	}
}

// TestBound: a process is bounded by the size of the bundle, not by what is near a file of the bundle's name.
func TestBound(t *testing.T) {
	bundle := zipped(t, filepath.Join(t.TempDir(), "x"), corpus+"/openttd/rng_poke")
	t.Chdir(t.TempDir())
	for name, size := range map[string]int64{"large": 1 << 30, "small.zip": 1} {
		if err := os.WriteFile(name, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Truncate(name, size); err != nil {
			t.Fatal(err)
		}
	}
	for _, q := range []isolate.Request{{Paths: []string{"report.zip"}, At: bundle}, {Paths: []string{"small.zip", archive.Stdin}}} {
		x := &processes{Isolated: Isolated{Asked: q}}
		x.bound()
		least, _ := limits.ProcessorTime(0)
		if l := x.Asked.Rules.Limits; l.Heap != limits.Space(0) || l.CPU != least {
			t.Errorf("%q: %+v", q.Paths, l)
		}
	}
}

// TestMemory: a process that needs more memory than it may have is a report, and one that does not is as ever.
func TestMemory(t *testing.T) {
	path := zipped(t, filepath.Join(t.TempDir(), "x"), corpus+"/openttd/rng_poke")
	want := asJSON(t, read(t, new(Reader), path, "report.zip"))
	if got := asJSON(t, read(t, &Reader{Isolate: as("reads"), Limits: sandbox.Limits{Memory: 512 << 20}}, path, "report.zip")); got != want {
		t.Errorf("with 512 MiB: %.1000s", got)
	}
	l := withUsual(sandbox.Limits{Memory: 1})
	if usual := withUsual(sandbox.Limits{}); l.Memory != 1 || l.Wall != usual.Wall || usual.Memory < 4<<30 || usual.Wall <= 0 || usual.Files <= 0 || usual.Written <= 0 {
		t.Errorf("%+v, %+v", l, usual)
	}
}
