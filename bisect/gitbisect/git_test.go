package gitbisect

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/desynctool/desynctool/internal/testkit/effort"
)

// repo is a repository that a test makes.
type repo struct {
	t   *testing.T
	dir string
}

func (r *repo) git(args ...string) string {
	r.t.Helper()
	cmd := exec.Command("git", args...)
	cmd.Dir = r.dir
	cmd.Env = append(Environ(), "GIT_CONFIG_GLOBAL="+os.DevNull, "GIT_CONFIG_NOSYSTEM=1")
	out, err := cmd.CombinedOutput()
	if err != nil {
		r.t.Fatalf("git %v: %v\n%s", args, err, out)
	}
	return strings.TrimSpace(string(out))
}

// made is a commit that a test makes: its files and parents, by number from 1.
type made struct {
	files   map[string]string
	parents []int
}

// newRepo makes a repository of commits with tags c1, c2, …; parents come first. HEAD is the last.
func newRepo(t *testing.T, list []made) *repo {
	t.Helper()
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("no git")
	}
	r := &repo{t, t.TempDir()}
	r.git("init", "-q", "-b", "main", ".")
	r.git("config", "user.name", "A")
	r.git("config", "user.email", "a@example.org")
	var in bytes.Buffer
	for i, c := range list {
		if i > 0 && len(c.parents) == 0 {
			fmt.Fprint(&in, "reset refs/heads/main\n\n")
		}
		subject := fmt.Sprintf("commit %d\n", i+1)
		fmt.Fprintf(&in, "commit refs/heads/main\nmark :%d\ncommitter A <a@example.org> %d +0000\ndata %d\n%s", i+1, 1_700_000_000+i, len(subject), subject)
		for j, p := range c.parents {
			fmt.Fprintf(&in, "%s :%d\n", []string{"from", "merge"}[min(j, 1)], p)
		}
		fmt.Fprintln(&in, "deleteall")
		for _, name := range slices.Sorted(maps.Keys(c.files)) {
			fmt.Fprintf(&in, "M 100755 inline %s\ndata %d\n%s\n", name, len(c.files[name]), c.files[name])
		}
		fmt.Fprintf(&in, "\nreset refs/tags/c%d\nfrom :%d\n\n", i+1, i+1)
	}
	cmd := exec.Command("git", "fast-import", "--quiet")
	cmd.Dir, cmd.Stdin = r.dir, &in
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	r.git("checkout", "-q", "-f", "main")
	return r
}

// fingerprint returns a digest of every file of the repository, .git included.
func (r *repo) fingerprint() map[string]string {
	r.t.Helper()
	out := map[string]string{}
	err := filepath.WalkDir(r.dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, _ := filepath.Rel(r.dir, path)
		if d.IsDir() {
			out[rel] = "folder"
			return nil
		}
		b, err := os.ReadFile(path)
		out[rel] = fmt.Sprintf("%x", sha256.Sum256(b))
		return err
	})
	if err != nil {
		r.t.Fatal(err)
	}
	return out
}

// unchanged fails if the repository is not as it was.
func (r *repo) unchanged(before map[string]string) {
	r.t.Helper()
	after := r.fingerprint()
	for name := range after {
		if before[name] != after[name] {
			r.t.Errorf("%s is not as it was", name)
		}
	}
	for name := range before {
		if _, there := after[name]; !there {
			r.t.Errorf("%s is gone", name)
		}
	}
}

// states is a Test that compares the file state with the state of the good end. "fails 1 2 0" fails in the runs 1 and 2
// of each five, counted in a file outside of the commit.
type states struct {
	counts map[string]int
	ran    func(c Commit) // nil or called in each run
}

func (*states) Name() string { return "states" }
func (*states) What() string { return "states" }

func (s *states) Run(ctx context.Context, store *Store, dir string, c Commit, golden bool) (Verdict, string, error) {
	if s.ran != nil {
		s.ran(c)
	}
	if err := ctx.Err(); err != nil {
		return "", "", err
	}
	state, err := os.ReadFile(filepath.Join(dir, "state"))
	if err != nil {
		return "", "", err
	}
	if _, err := os.Lstat(filepath.Join(dir, ".git")); err == nil {
		return "", "", errors.New("it is a worktree still")
	}
	if strings.HasPrefix(string(state), "unsure") {
		s.counts[c.ID]++
		state = fmt.Appendf(nil, "%v", s.counts[c.ID]%2 == 0)
	}
	path := store.Path("golden")
	want, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) && golden {
		return Good, "made", os.WriteFile(path, state, 0o666)
	}
	if err != nil {
		return "", "", err
	}
	if !bytes.Equal(want, state) {
		return Bad, fmt.Sprintf("state %q", state), nil
	}
	return Good, "same", nil
}

func (r *repo) options(root, span string) FindOptions {
	r.t.Helper()
	repository, err := OpenRepository(r.t.Context(), r.dir)
	if err != nil {
		r.t.Fatal(err)
	}
	x, err := repository.Range(r.t.Context(), span)
	if err != nil {
		r.t.Fatal(err)
	}
	return FindOptions{Repository: repository, Range: x, Test: &states{counts: map[string]int{}}, Root: root, Build: []string{"sh", "build.sh"}}
}

// straight returns commits in a line. broken and those after it have another state. Each has another tree.
func straight(n, broken int) (list []made) {
	for i := 1; i <= n; i++ {
		state := "right"
		if i >= broken {
			state = "wrong"
		}
		c := made{files: map[string]string{"build.sh": "echo building; test $DESYNCTOOL_COMMIT = $(git rev-parse HEAD)\n", "state": state, "number": fmt.Sprint(i)}}
		if i > 1 {
			c.parents = []int{i - 1}
		}
		list = append(list, c)
	}
	return list
}

// TestTwoHundred is a history with one break, ten commits that do not build, and one that passes every second time.
func TestTwoHundred(t *testing.T) {
	list := straight(200, 137)
	skipped := []int{100, 101, 132, 134, 138, 141, 20, 150, 125, 103}
	for _, n := range skipped {
		list[n-1].files["build.sh"] = "echo no such file; exit 2\n"
	}
	list[143-1].files["state"] = "unsure"
	r := newRepo(t, list)
	// The user is in the middle of something.
	for name, text := range map[string]string{"state": "edited", "new": "untracked"} {
		if err := os.WriteFile(filepath.Join(r.dir, name), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	r.git("add", "state")
	// A hook of the user must not run for our worktrees.
	hook := filepath.Join(r.dir, ".git", "hooks", "post-checkout")
	if err := os.MkdirAll(filepath.Dir(hook), 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(hook, []byte("#!/bin/sh\necho ran >>\"$(git rev-parse --git-common-dir)/hooked\"\n"), 0o777); err != nil {
		t.Fatal(err)
	}
	before := r.fingerprint()
	root := t.TempDir()
	o := r.options(root, "c1..c200")
	worktrees := 0
	o.Step = func(Step, Commit) {
		if list := strings.Split(r.git("worktree", "list"), "\n"); len(list) > 1 {
			worktrees++
		}
	}
	f, err := Find(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	builds, unbuilt, confirming := f.Builds()
	if f.First < 0 || f.Commits[f.First].Subject != "commit 137" || !f.Diverged() || !f.Confirmed {
		t.Errorf("found %d of %v, %+v", f.First, f.Left, f.Contradictions)
	}
	t.Logf("%d builds, %d of them skipped, %d to confirm, %d runs", builds, unbuilt, confirming, len(f.Steps))
	if unbuilt == 0 || builds > log2(199)+2+unbuilt || confirming > 0 {
		t.Errorf("%d builds, %d of them skipped, %d to confirm", builds, unbuilt, confirming)
	}
	if worktrees > 0 {
		t.Errorf("after %d steps there was a worktree of ours", worktrees)
	}
	r.unchanged(before)
	outputs, err := os.ReadDir(f.Outputs)
	if err != nil || len(outputs) != unbuilt {
		t.Errorf("outputs of %d builds: %v", len(outputs), err)
	}
	for i := range f.Tallies {
		if c := f.Commits[i]; f.Tallies[i].Skipped && f.Tallies[i].Why != "it does not build: exit status 2: no such file" {
			t.Errorf("%s: %s", c.Subject, f.Tallies[i].Why)
		}
	}
}

// TestProgramsOfTheRepository: programs that a repository's own settings name are not started.
func TestProgramsOfTheRepository(t *testing.T) {
	r := newRepo(t, straight(6, 4))
	ran := filepath.Join(t.TempDir(), "ran")
	if err := os.MkdirAll(filepath.Join(r.dir, ".git", "info"), 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(r.dir, ".git", "info", "attributes"), []byte("* filter=x=y diff=x\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	for key, program := range map[string]string{
		"core.fsmonitor": "; false", "filter.x=y.smudge": "; cat", "filter.x=y.clean": "; cat", "diff.x.textconv": "; cat", "diff.external": "", "core.pager": "; cat",
	} {
		r.git("config", key, "touch "+ran+program)
	}
	r.git("config", "filter.x=y.required", "true")
	if f, err := Find(t.Context(), r.options(t.TempDir(), "c1..c6")); err != nil || f.First < 0 || f.Commits[f.First].Subject != "commit 4" {
		t.Errorf("%+v: %v", f, err)
	}
	if _, err := os.Stat(ran); err == nil {
		t.Error("a program of the repository ran")
	}
}

// TestThousandWithMerges is a history of branches and merges, with the break on a branch.
func TestThousandWithMerges(t *testing.T) {
	effort.Whole(t)
	const n, broken = 1000, 423
	list := straight(n, n+1)
	for i := range list {
		number := i + 1
		switch number % 7 {
		case 3, 4:
			list[i].parents = []int{number - 2} // two branches side by side
		case 5:
			list[i].parents = []int{number - 1, number - 2}
		}
		if number > 2 && len(list[i].parents) == 1 && list[i].parents[0] < 1 {
			list[i].parents = []int{1}
		}
	}
	bad := map[int]bool{broken: true}
	for i := broken; i < n; i++ {
		for _, p := range list[i].parents {
			bad[i+1] = bad[i+1] || bad[p]
		}
	}
	for number := range bad {
		list[number-1].files["state"] = "wrong"
		if !bad[number] {
			list[number-1].files["state"] = "right"
		}
	}
	r := newRepo(t, list)
	o := r.options(t.TempDir(), "c1..main")
	o.Build = nil
	f, err := Find(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	builds, _, confirming := f.Builds()
	if f.First < 0 || f.Commits[f.First].Subject != fmt.Sprintf("commit %d", broken) {
		t.Errorf("found %d", f.First)
	}
	t.Logf("%d candidates, %d builds, %d of them to confirm", f.Candidates, builds, confirming)
	if builds-confirming > log2(f.Candidates)+2 || confirming > 1 {
		t.Errorf("%d builds, %d of them to confirm, for %d commits", builds, confirming, f.Candidates)
	}
}

// TestResume: a search that is interrupted after any run goes on from there, builds nothing twice, and finds
// the same.
func TestResume(t *testing.T) {
	effort.Whole(t)
	list := straight(40, 23)
	list[20-1].files["build.sh"] = "exit 1\n"
	r := newRepo(t, list)
	whole, err := Find(t.Context(), r.options(t.TempDir(), "c1..c40"))
	if err != nil {
		t.Fatal(err)
	}
	before := r.fingerprint()
	for stop := 1; stop < len(whole.Steps); stop += effort.Of(9, 1) {
		root := t.TempDir()
		ctx, cancel := context.WithCancel(t.Context())
		o := r.options(root, "c1..c40")
		runs := 0
		o.Test.(*states).ran = func(Commit) {
			if runs++; runs == stop {
				cancel()
			}
		}
		f, err := Find(ctx, o)
		if cancel(); !errors.Is(err, context.Canceled) || !f.Interrupted || !f.Incomplete() {
			t.Fatalf("%d: %v", stop, err)
		}
		r.unchanged(before)
		o = r.options(root, "c1..c40")
		again := 0
		o.Test.(*states).ran = func(Commit) { again++ }
		if f, err = Find(t.Context(), o); err != nil {
			t.Fatal(err)
		}
		unbuilt := 0
		for _, s := range f.Steps[f.Resumed:] {
			if s.Verdict == Skipped {
				unbuilt++
			}
		}
		if f.First != whole.First || f.Resumed != len(f.Steps)-again-unbuilt || f.Resumed < stop-1 {
			t.Errorf("%d: found %d, %d runs taken over, %d made", stop, f.First, f.Resumed, again)
		}
		// The run that was cut short had its build already.
		all, _, _ := f.Builds()
		if wanted, _, _ := whole.Builds(); all > wanted || all < wanted-1 {
			t.Errorf("%d: %d builds, expected %d", stop, all, wanted)
		}
		r.unchanged(before)
		if left, _ := filepath.Glob(filepath.Join(root, "*", buildsName)); len(left) > 0 {
			t.Errorf("left are %v", left)
		}
	}
}

// TestDisk: no more builds are kept than Most and those that are needed.
func TestDisk(t *testing.T) {
	r := newRepo(t, straight(120, 2))
	root := t.TempDir()
	o := r.options(root, "c1..c120")
	o.Most = 1
	most := 0
	o.Step = func(Step, Commit) {
		kept, err := filepath.Glob(filepath.Join(root, "*", buildsName, "*"+builtSuffix))
		if most = max(most, len(kept)); err != nil {
			t.Error(err)
		}
	}
	f, err := Find(t.Context(), o)
	if err != nil || f.Commits[f.First].Subject != "commit 2" {
		t.Fatalf("%v %v", err, f.First)
	}
	if builds, _, confirming := f.Builds(); builds > log2(119)+2 || confirming > 0 {
		t.Errorf("%d builds, %d of them to confirm", builds, confirming)
	}
	if most > 4 { // the two ends of what is left, one more, and the one just made
		t.Errorf("%d builds were kept", most)
	}
}

// TestLeftBehind: what processes left that were killed in the middle of anything is removed by the next search.
func TestLeftBehind(t *testing.T) {
	r := newRepo(t, straight(9, 4))
	before := r.fingerprint()
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	ctx := t.Context()
	o := r.options(root, "c1..c9")
	for _, moment := range []string{"adding", "added", "aside", "forgotten"} {
		s, err := OpenStore(ctx, o.Repository, root, "another search "+moment, false)
		if err != nil {
			t.Fatal(err)
		}
		dir := filepath.Join(s.Path(buildsName), "0123456789abcdef")
		if err := o.Repository.run(ctx, nil, "worktree", "add", "--quiet", "--detach", dir, "c3"); err != nil {
			t.Fatal(err)
		}
		if moment == "adding" { // git was killed as well
			locked := filepath.Join(r.dir, ".git", "worktrees", filepath.Base(dir), "locked")
			if err := errors.Join(os.Remove(filepath.Join(dir, ".git")), os.WriteFile(locked, []byte("initializing"), 0o666)); err != nil {
				t.Fatal(err)
			}
		} else if moment != "added" {
			if err := os.Rename(dir, dir+asideSuffix); err != nil {
				t.Fatal(err)
			}
		}
		if moment == "forgotten" {
			if err := o.Repository.run(ctx, nil, "worktree", "remove", "--force", dir); err != nil {
				t.Fatal(err)
			}
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := Find(ctx, o); err != nil {
		t.Fatal(err)
	}
	r.unchanged(before)
	if left, _ := filepath.Glob(filepath.Join(root, "*", buildsName)); len(left) > 0 {
		t.Errorf("left are %v", left)
	}
	// Of a search that came to its end nothing is left after the next, and the journal of one that was interrupted is.
	s, err := OpenStore(ctx, nil, root, "finished", false)
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(s.KeepOutput("abc", []byte("no")), s.Finish(ctx)); err != nil || s.Outputs() == "" {
		t.Fatal(err)
	}
	if _, err := Find(ctx, o); err != nil {
		t.Fatal(err)
	}
	if s.Outputs() != "" {
		t.Error("the output of an earlier search is left")
	}
	if left, _ := filepath.Glob(filepath.Join(root, "*", journalName)); len(left) != 4 {
		t.Errorf("left are %v", left)
	}
}

// TestStoreInUse: a search is made by one process at a time.
func TestStoreInUse(t *testing.T) {
	root := t.TempDir()
	s, err := OpenStore(t.Context(), nil, root, "x", false)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := OpenStore(t.Context(), nil, root, "x", false); !errors.Is(err, ErrSearchInUse) {
		t.Error(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
}

// TestJournalCutOff: a journal with an unfinished last line is read up to there.
func TestJournalCutOff(t *testing.T) {
	root := t.TempDir()
	g := &Graph{Nodes: []Node{{ID: "a"}, {ID: "b"}}}
	made := 0
	test := func(context.Context, int, bool) (Run, error) {
		made++
		return Run{Verdict: Good, Why: fmt.Sprint(made)}, nil
	}
	open := func() (*Store, Tester) {
		s, err := OpenStore(t.Context(), nil, root, "x", false)
		if err != nil {
			t.Fatal(err)
		}
		return s, s.Keep(g, test)
	}
	s, keep := open()
	for _, n := range []int{0, 1, 0} {
		if _, err := keep(t.Context(), n, false); err != nil {
			t.Fatal(err)
		}
	}
	path := s.Path(journalName)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	lines := bytes.SplitAfter(whole, []byte("\n"))
	last := len(lines[len(lines)-2])
	for cut := 0; cut < len(whole); cut += effort.Of(9, 1) {
		if err := os.WriteFile(path, whole[:len(whole)-cut], 0o666); err != nil {
			t.Fatal(err)
		}
		s, err := OpenStore(t.Context(), nil, root, "x", false)
		if err != nil {
			t.Fatal(err)
		}
		want := bytes.Count(whole[:len(whole)-cut], []byte("\n")) - 1
		if s.Resumed() != max(want, 0) {
			t.Fatalf("%d bytes are cut off, %d of which are of the last line: %d runs, expected %d", cut, last, s.Resumed(), want)
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

// TestRange: what names a range, and what does not.
func TestRange(t *testing.T) {
	list := straight(9, 4)
	list = append(list, made{files: map[string]string{"state": "side"}, parents: []int{3}}, made{files: map[string]string{"state": "alone"}})
	r := newRepo(t, list)
	r.git("checkout", "-q", "c9")
	repository, err := OpenRepository(t.Context(), r.dir)
	if err != nil {
		t.Fatal(err)
	}
	for span, commits := range map[string]int{"c1..c9": 8, "c4..": 5, "c9 ^c2 ^c7": 2, "c1..HEAD~1": 7, "c3..c10": 1} {
		x, err := repository.Range(t.Context(), span)
		if err != nil {
			t.Errorf("%s: %v", span, err)
			continue
		}
		if n := len(x.Graph.Candidates()); n != commits {
			t.Errorf("%s: %d commits, expected %d", span, n, commits)
		}
	}
	for span, want := range map[string]string{
		"c1":              `"c1" is not a range of commits, expected GOOD..BAD`,
		"":                `"" is not a range of commits, expected GOOD..BAD`,
		"c1...c9":         `"c1...c9" has no good and no bad end: two dots, GOOD..BAD`,
		"c1..c9 c8":       `"c1..c9 c8" has two bad ends, c9 and c8`,
		"--all ^c1":       `"--all" is not a revision`,
		"c1..--all":       `no commit is called "--all" in this repository`,
		"c1..nowhere":     `no commit is called "nowhere" in this repository`,
		"c1..HEAD^{tree}": `no commit is called "HEAD^{tree}" in this repository`,
		"c9..c9":          `there is nothing between c9 and c9: they are the same commit`,
		"c9..c3":          `there is nothing between c9 and c3: c3 is the older one`,
		"c10..c9":         `c10 is not an ancestor of c9: they diverged after ` + Short(r.git("rev-parse", "c3")) + `; is that one good?`,
		"c11..c9":         `c11 is not an ancestor of c9, and they have no ancestor in common`,
	} {
		if _, err := repository.Range(t.Context(), span); err == nil || err.Error() != want {
			t.Errorf("%s: %v, expected %s", span, err, want)
		}
	}
	if _, err := OpenRepository(t.Context(), t.TempDir()); err == nil || !strings.Contains(err.Error(), "is not in a git repository") {
		t.Error(err)
	}
	t.Setenv("PATH", t.TempDir())
	if _, err := OpenRepository(t.Context(), r.dir); !errors.Is(err, ErrNoGit) {
		t.Error(err)
	}
}

// TestShallow: a clone that lacks commits is reported, and one that has submodules.
func TestShallow(t *testing.T) {
	list := straight(9, 7)
	list[8].files[".gitmodules"] = "[submodule \"x\"]\n\tpath = x\n\turl = ../x\n"
	r := newRepo(t, list)
	clone := &repo{t, filepath.Join(t.TempDir(), "clone")}
	r.git("clone", "-q", "--depth", "4", "file://"+filepath.ToSlash(r.dir), clone.dir)
	repository, err := OpenRepository(t.Context(), clone.dir)
	if err != nil {
		t.Fatal(err)
	}
	x, err := repository.Range(t.Context(), "HEAD~3..HEAD")
	if err != nil || !x.Shallow || !x.Submodules || len(x.Graph.Candidates()) != 3 {
		t.Errorf("%v %+v", err, x)
	}
	if _, err := repository.Range(t.Context(), "HEAD~4..HEAD"); err == nil || !strings.Contains(err.Error(), "git fetch --unshallow") {
		t.Error(err)
	}
}

// TestProgram: processes that a program started end with it, and one that takes too long is ended.
func TestProgram(t *testing.T) {
	dir := t.TempDir()
	run := func(timeout string, line string) *Ended {
		t.Helper()
		p := &Program{Argv: []string{"sh", "-c", line}, Dir: dir, Commit: "abc"}
		if timeout != "" {
			p.Timeout = 300e6
		}
		e, err := p.Run(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		return e
	}
	if e := run("", "echo one; echo $DESYNCTOOL_COMMIT >&2; exit 3"); e.Status != 3 || e.Why() != "exit status 3: abc" {
		t.Errorf("%d %s", e.Status, e.Why())
	}
	if e := run("", "(sleep .5; echo >late) >/dev/null 2>&1 &"); e.How != "" {
		t.Error(e.Why())
	}
	if e := run("", "sleep .8; test ! -e late"); e.How != "" {
		t.Error("what it had started goes on")
	}
	if e := run("soon", "sleep 1000"); e.Why() != "it took longer than 300ms" || e.Status >= 0 {
		t.Errorf("%d %s", e.Status, e.Why())
	}
	e, err := (&Program{Argv: []string{"./nothing"}, Dir: dir}).Run(t.Context())
	if err != nil || e.Status != 127 {
		t.Errorf("%v %+v", err, e)
	}
}
