package gitbisect

import (
	"context"
	"encoding/json"
	"errors"
	"github.com/desynctool/desynctool/internal/lists"
	"time"
)

// Test tests a built commit.
type Test interface {
	// Name identifies the test with everything that its verdicts depend on, except the commit. Runs are kept for
	// searches with a test of the same name.
	Name() string
	// What has the command, as it was given.
	What() string
	// Run tests a commit that is built in dir once, and describes the outcome in a line. It keeps its files in the
	// store. Golden means that this commit's output is the reference: it is a good end, and its first run has nothing
	// to be compared with. An error ends the search.
	Run(ctx context.Context, store *Store, dir string, c Commit, golden bool) (Verdict, string, error)
}

// FindOptions configures a search in a repository.
type FindOptions struct {
	Repository *Repository
	Range      *Range
	Test       Test
	// Build is a command that builds a commit in the folder where it is checked out, in words; empty for none.
	Build        []string
	BuildTimeout time.Duration // 0 for none
	// Most is how many builds are kept at one time in addition to the needed ones, 0 is DefaultMost.
	Most int
	// Rebuild and MaxRuns are passed on to Options.
	Rebuild bool
	MaxRuns int
	// Restart forgets what an interrupted search has learned.
	Restart bool
	// Root is the folder in which searches are kept, each in its own folder.
	Root string
	// Step, if not nil, is called after each run.
	Step func(Step, Commit)
}

// Found is the result of a search in a repository.
type Found struct {
	*Result
	Range *Range
	Build []string
	Test  string
	// Commits are the commits that were run or are mentioned, by their node.
	Commits map[int]Commit
	// Resumed is how many runs an earlier process has made.
	Resumed int
	// Interrupted reports whether the search was ended early; the same search continues from there.
	Interrupted bool
	// Outputs is the folder with the output of failed builds, empty if none failed.
	Outputs string
}

// Incomplete reports whether there is something to find and it is not known for certain.
func (f *Found) Incomplete() bool { return f.Interrupted || f.Result.Incomplete() }

// key identifies a search: in another repository, of another range, build or test it is another one.
func (o *FindOptions) key() (string, error) {
	g := o.Range.Graph
	good := []string{}
	good = append(good, lists.Map(g.Good, func(n int) string { return g.Nodes[n].ID })...)
	b, err := json.Marshal([]any{o.Repository.common, g.Nodes[g.Bad].ID, good, o.Build, o.Test.Name(), o.Rebuild, o.MaxRuns})
	return string(b), err
}

// Find finds the first bad commit of a range. When ctx is done it also returns the result so far; the next search with
// the same options continues from there. See [Search] for its other errors.
func Find(ctx context.Context, o FindOptions) (*Found, error) {
	key, err := o.key()
	if err != nil {
		return nil, err
	}
	store, err := OpenStore(ctx, o.Repository, o.Root, key, o.Restart)
	if err != nil {
		return nil, err
	}
	g := o.Range.Graph
	f := &Found{Range: o.Range, Build: o.Build, Test: o.Test.What(), Commits: map[int]Commit{}, Resumed: store.Resumed()}
	builder := &Builder{Repository: o.Repository, Store: store, Command: o.Build, Timeout: o.BuildTimeout, Most: o.Most}
	commit := func(ctx context.Context, n int) (c Commit, err error) {
		if c, known := f.Commits[n]; known {
			return c, nil
		}
		if c, err = o.Repository.Describe(ctx, g.Nodes[n].ID); err == nil {
			f.Commits[n] = c
		}
		return c, err
	}
	test := store.Keep(g, func(ctx context.Context, n int, fresh bool) (run Run, err error) {
		c, err := commit(ctx, n)
		if err != nil {
			return run, err
		}
		dir, built, failed, err := builder.Build(ctx, c, fresh)
		if run.Built = built; err != nil || failed != "" {
			run.Verdict, run.Why = Skipped, failed
			return run, err
		}
		run.Verdict, run.Why, err = o.Test.Run(ctx, store, dir, c, n == g.Good[0])
		return run, err
	})
	var trouble error // errors that Search cannot receive
	opts := Options{Rebuild: o.Rebuild, MaxRuns: o.MaxRuns}
	opts.Step = func(s Step) {
		c, err := commit(context.WithoutCancel(ctx), s.Commit)
		if trouble = errors.Join(trouble, err); o.Step != nil {
			o.Step(s, c)
		}
	}
	opts.Needed = func(nodes []int) {
		var needed []Commit
		for _, n := range nodes {
			if c, known := f.Commits[n]; known {
				needed = append(needed, c)
			}
		}
		trouble = errors.Join(trouble, builder.Keep(context.WithoutCancel(ctx), needed))
	}
	f.Result, err = Search(ctx, g, test, opts)
	for _, n := range append(append([]int{g.Bad}, f.Left...), f.Edge...) {
		_, errCommit := commit(context.WithoutCancel(ctx), n)
		trouble = errors.Join(trouble, errCommit)
	}
	f.Outputs, f.Interrupted = store.Outputs(), ctx.Err() != nil
	var end *EndError
	if err == nil || errors.As(err, &end) {
		err = errors.Join(err, store.Finish(context.WithoutCancel(ctx)))
	} else {
		err = errors.Join(err, store.Close())
	}
	return f, errors.Join(err, trouble)
}
