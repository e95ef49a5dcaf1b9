package gitbisect

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/desynctool/desynctool/bisect/extsim"
	"github.com/desynctool/desynctool/internal/lists"
	"github.com/desynctool/desynctool/internal/processgroup"
)

// Repository is a user's git repository. We change nothing in it except that we add our own worktrees and remove them.
type Repository struct {
	git    string // the program
	dir    string // where it is run
	common string // the folder that all its worktrees share, absolute

	// config are settings, as key and value, that keep git from starting programs that the repository names.
	config [][2]string
}

// ErrNoGit means that there is no git on this machine.
var ErrNoGit = errors.New("git is not on this machine, or not in PATH")

// local are the variables that direct git to a repository other than the one of its folder, as within hooks and
// aliases.
var local = []string{
	"GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_PREFIX", "GIT_COMMON_DIR", "GIT_OBJECT_DIRECTORY",
	"GIT_ALTERNATE_OBJECT_DIRECTORIES", "GIT_NAMESPACE", "GIT_INTERNAL_SUPER_PREFIX", "GIT_IMPLICIT_WORK_TREE",
}

// Environ is this process's environment without the variables that name a repository.
func Environ() []string {
	return slices.DeleteFunc(os.Environ(), func(v string) bool {
		name, _, _ := strings.Cut(v, "=")
		return slices.Contains(local, name)
	})
}

// OpenRepository opens the repository that a folder is in.
func OpenRepository(ctx context.Context, dir string) (*Repository, error) {
	program, err := exec.LookPath("git")
	if err != nil {
		return nil, ErrNoGit
	}
	if info, err := os.Stat(dir); err != nil {
		return nil, err
	} else if !info.IsDir() {
		return nil, fmt.Errorf("%s: not a folder", dir)
	}
	r := &Repository{git: program, dir: dir, config: [][2]string{
		{"core.hooksPath", os.DevNull}, {"core.fsmonitor", "false"}, {"log.showSignature", "false"}, {"diff.external", ""},
	}}
	common, err := r.line(ctx, "rev-parse", "--git-common-dir")
	if err != nil {
		where := dir
		if dir == "." {
			where = "the current folder"
		}
		return nil, fmt.Errorf("%s is not in a git repository: %w", where, err)
	}
	if !filepath.IsAbs(common) {
		common = filepath.Join(dir, common)
	}
	if r.common, err = filepath.Abs(common); err != nil {
		return nil, err
	}
	return r, r.withoutFilters(ctx)
}

// withoutFilters turns off the filters that the repository's own settings define. Those of the user stay.
func (r *Repository) withoutFilters(ctx context.Context) error {
	var out bytes.Buffer
	err := r.run(ctx, &out, "config", "--null", "--show-scope", "--get-regexp", `^filter\.`)
	if failed := (*gitError)(nil); errors.As(err, &failed) && failed.status == 1 { // there are none
		return nil
	}
	if err != nil {
		return err
	}
	list := strings.Split(out.String(), "\x00") // scope, setting and value, scope, …
	for i := 0; i+1 < len(list); i += 2 {
		key, _, _ := strings.Cut(list[i+1], "\n")
		if end := strings.LastIndexByte(key, '.'); end >= 0 && (list[i] == "local" || list[i] == "worktree") {
			for _, setting := range [][2]string{{"smudge", ""}, {"clean", ""}, {"process", ""}, {"required", "false"}} {
				r.config = append(r.config, [2]string{key[:end+1] + setting[0], setting[1]})
			}
		}
	}
	return nil
}

// gitError is what git said when it failed.
type gitError struct {
	args   []string
	status int
	said   string
}

func (e *gitError) Error() string {
	said := strings.TrimPrefix(e.said, "fatal: ")
	if said == "" {
		said = fmt.Sprintf("exit status %d", e.status)
	}
	return fmt.Sprintf("git %s: %s", e.args[0], said)
}

// run runs git, which writes to out.
func (r *Repository) run(ctx context.Context, out io.Writer, args ...string) error {
	cmd := exec.CommandContext(ctx, r.git, args...)
	cmd.Dir = r.dir
	count, _ := strconv.Atoi(os.Getenv("GIT_CONFIG_COUNT")) // the caller's own settings of this kind
	cmd.Env = append(Environ(), "LC_ALL=C", "GIT_OPTIONAL_LOCKS=0", "GIT_TERMINAL_PROMPT=0")
	for _, setting := range r.config { // settings may contain =, so that -c cannot set them
		cmd.Env = append(cmd.Env, fmt.Sprintf("GIT_CONFIG_KEY_%d=%s", count, setting[0]), fmt.Sprintf("GIT_CONFIG_VALUE_%d=%s", count, setting[1]))
		count++
	}
	cmd.Env = append(cmd.Env, fmt.Sprintf("GIT_CONFIG_COUNT=%d", count))
	var said extsim.Tail
	cmd.Stdout, cmd.Stderr = out, &said
	processgroup.Own(cmd) // a terminal's Ctrl-C must not end the cleanup
	err := cmd.Run()
	var exit *exec.ExitError
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case errors.As(err, &exit):
		return &gitError{args, exit.ExitCode(), said.Last()}
	}
	return err
}

// line runs git and returns the first line that it prints.
func (r *Repository) line(ctx context.Context, args ...string) (string, error) {
	var out bytes.Buffer
	if err := r.run(ctx, &out, args...); err != nil {
		return "", err
	}
	line, _, _ := strings.Cut(out.String(), "\n")
	return strings.TrimSuffix(line, "\r"), nil
}

// Range is the searched range, as the user named it.
type Range struct {
	Spec  string
	Graph *Graph
	// Shallow reports whether the clone lacks a part of the history, Submodules whether commits have submodules, which
	// are not checked out.
	Shallow, Submodules bool
}

// commit returns the hash of the commit that a revision names.
func (r *Repository) commit(ctx context.Context, revision string) (string, error) {
	id, err := r.line(ctx, "rev-parse", "--verify", "--quiet", "--end-of-options", revision+"^{commit}")
	var failed *gitError
	if errors.As(err, &failed) {
		err = fmt.Errorf("no commit is called %q in this repository", revision)
		if shallow, errShallow := r.shallow(ctx); shallow && errShallow == nil {
			err = fmt.Errorf("%w, which is a shallow clone: git fetch --unshallow brings the rest", err)
		}
	}
	return id, err
}

func (r *Repository) shallow(ctx context.Context) (bool, error) {
	line, err := r.line(ctx, "rev-parse", "--is-shallow-repository")
	return line == "true", err
}

// revisions returns the bad end and the good ends that a specification names, as git has them:
// GOOD..BAD, or BAD and ^GOOD as words. One that is left out before or after .. is HEAD.
func revisions(spec string) (bad string, good []string, err error) {
	or := func(revision string) string {
		if revision == "" {
			return "HEAD"
		}
		return revision
	}
	for word := range strings.FieldsSeq(spec) {
		from, to, isRange := strings.Cut(word, "..")
		negative, isNegative := strings.CutPrefix(word, "^")
		switch {
		case strings.HasPrefix(word, "-"):
			return "", nil, fmt.Errorf("%q is not a revision", word)
		case strings.Contains(word, "..."):
			return "", nil, fmt.Errorf("%q has no good and no bad end: two dots, GOOD..BAD", word)
		case isNegative:
			good = append(good, negative)
			continue
		case isRange:
			good, word = append(good, or(from)), or(to)
		}
		if bad != "" {
			return "", nil, fmt.Errorf("%q has two bad ends, %s and %s", spec, bad, word)
		}
		bad = word
	}
	if bad == "" || len(good) == 0 {
		return "", nil, fmt.Errorf("%q is not a range of commits, expected GOOD..BAD", spec)
	}
	return bad, good, nil
}

// Range returns the commits of a range, see [revisions].
func (r *Repository) Range(ctx context.Context, spec string) (*Range, error) {
	badName, goodNames, err := revisions(spec)
	if err != nil {
		return nil, err
	}
	bad, err := r.commit(ctx, badName)
	if err != nil {
		return nil, err
	}
	var good []string
	for _, name := range goodNames {
		id, err := r.commit(ctx, name)
		if err != nil {
			return nil, err
		}
		if id == bad {
			return nil, fmt.Errorf("there is nothing between %s and %s: they are the same commit", name, badName)
		}
		if err := r.before(ctx, id, bad, name, badName); err != nil {
			return nil, err
		}
		if !slices.Contains(good, id) {
			good = append(good, id)
		}
	}
	list, err := r.list(ctx, bad, good)
	if err != nil {
		return nil, err
	}
	out := &Range{Spec: spec, Graph: graphOf(list, bad, good)}
	out.Submodules = r.run(ctx, nil, "cat-file", "-e", bad+":.gitmodules") == nil
	out.Shallow, err = r.shallow(ctx)
	return out, err
}

// before returns an error if a good end is not an ancestor of the bad one.
func (r *Repository) before(ctx context.Context, good, bad, goodName, badName string) error {
	err := r.run(ctx, nil, "merge-base", "--is-ancestor", good, bad)
	var failed *gitError
	if !errors.As(err, &failed) || failed.status != 1 {
		return err
	}
	if r.run(ctx, nil, "merge-base", "--is-ancestor", bad, good) == nil {
		return fmt.Errorf("there is nothing between %s and %s: %s is the older one", goodName, badName, badName)
	}
	base, err := r.line(ctx, "merge-base", good, bad)
	if err != nil {
		return fmt.Errorf("%s is not an ancestor of %s, and they have no ancestor in common", goodName, badName)
	}
	return fmt.Errorf("%s is not an ancestor of %s: they diverged after %s; is that one good?", goodName, badName, Short(base))
}

// listed is a commit and its parents.
type listed struct {
	id      string
	parents []string
}

// list returns the commits of a range, parents before children.
func (r *Repository) list(ctx context.Context, bad string, good []string) ([]listed, error) {
	read, write := io.Pipe()
	done := make(chan error, 1)
	go func() {
		args := []string{"rev-list", "--topo-order", "--reverse", "--parents", bad, "--not"}
		err := r.run(ctx, write, append(append(args, good...), "--")...)
		write.CloseWithError(err)
		done <- err
	}()
	var list []listed
	lines := bufio.NewScanner(read)
	lines.Buffer(nil, 1<<20) // a merge of twenty thousand commits
	for lines.Scan() {
		if ids := strings.Fields(lines.Text()); len(ids) > 0 {
			list = append(list, listed{ids[0], ids[1:]})
		}
	}
	read.CloseWithError(lines.Err())
	if err := <-done; err != nil {
		return nil, err
	}
	return list, lines.Err()
}

// graphOf returns the graph of listed commits: before them the good ends and the parents that are not listed.
func graphOf(list []listed, bad string, good []string) *Graph {
	among := make(map[string]bool, len(list))
	for _, c := range list {
		among[c.id] = true
	}
	g, at := &Graph{}, map[string]int{}
	before := func(id string) {
		if _, known := at[id]; !known && !among[id] {
			at[id] = len(g.Nodes)
			g.Nodes = append(g.Nodes, Node{ID: id, Before: true})
		}
	}
	for _, id := range good {
		before(id)
		g.Good = append(g.Good, at[id])
	}
	for _, c := range list {
		for _, p := range c.parents {
			before(p)
		}
	}
	for _, c := range list {
		node := Node{ID: c.id}
		node.Parents = lists.Map(c.parents, func(p string) int { return at[p] })
		slices.Sort(node.Parents)
		node.Parents = slices.Compact(node.Parents)
		at[c.id] = len(g.Nodes)
		g.Nodes = append(g.Nodes, node)
	}
	g.Bad = at[bad]
	return g
}

// Commit describes a commit.
type Commit struct {
	ID, Tree string
	Subject  string // the first line of its message, shortened if it is long
}

// shortID is how many digits of a hash are shown.
const shortID = 12

// Short returns the first digits of a hash.
func Short(id string) string { return id[:min(shortID, len(id))] }

// Describe returns a commit's tree and subject.
func (r *Repository) Describe(ctx context.Context, id string) (Commit, error) {
	var out bytes.Buffer
	if err := r.run(ctx, &out, "log", "-1", "--no-show-signature", "--format=%T%n%s", id, "--"); err != nil {
		return Commit{}, err
	}
	tree, subject, _ := strings.Cut(out.String(), "\n")
	const most = 200
	subject = strings.ToValidUTF8(strings.TrimSpace(subject), "\uFFFD")
	if r := []rune(subject); len(r) > most {
		subject = string(r[:most]) + "…"
	}
	return Commit{id, strings.TrimSpace(tree), subject}, nil
}
