package gitbisect

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// Builder builds commits, each in its own worktree. Once a commit is built its folder stays where it is, and is no
// longer a worktree of the user's repository: it has no .git, and git worktree list does not name it. Commits with the
// same tree share a build.
type Builder struct {
	Repository *Repository
	Store      *Store
	// Command builds a commit in the folder of its worktree; if empty, the checkout is used as it is.
	Command []string
	Timeout time.Duration // of Command, 0 for none
	// Most is how many builds are kept in addition to the needed ones, 0 is DefaultMost.
	Most int

	recent []string // names of folders, the one used last at the end; nil until they are listed
}

// DefaultMost is how many builds are kept at one time in addition to those that will be run again, two in a history
// without merges.
const DefaultMost = 4

// builtSuffix is the suffix of the file that marks a folder's build as complete.
const builtSuffix = ".built"

// name returns the name of the folder of a tree.
func name(tree string) string { return tree[:min(16, len(tree))] }

func (b *Builder) folder(name string) string { return filepath.Join(b.Store.Path(buildsName), name) }

// used makes a folder the one that was used last.
func (b *Builder) used(name string) {
	if b.recent == nil { // built by an earlier process
		list, _ := filepath.Glob(b.folder("*" + builtSuffix))
		for _, path := range list {
			b.recent = append(b.recent, strings.TrimSuffix(filepath.Base(path), builtSuffix))
		}
	}
	b.recent = append(slices.DeleteFunc(b.recent, func(other string) bool { return other == name }), name)
}

// Build returns the folder in which a commit is built, after building it if it is not, or if fresh is set. Failed is
// the reason why it does not build.
func (b *Builder) Build(ctx context.Context, c Commit, fresh bool) (dir string, built bool, failed string, err error) {
	dir = b.folder(name(c.Tree))
	b.used(name(c.Tree))
	if _, err := os.Lstat(dir + builtSuffix); err == nil && !fresh {
		return dir, false, "", nil
	}
	failed, err = b.make(ctx, c, dir)
	if failed != "" || err != nil {
		err = errors.Join(err, b.remove(context.WithoutCancel(ctx), name(c.Tree)))
	}
	return dir, true, failed, err
}

// make builds a commit in a folder, which is no longer a worktree at the end.
func (b *Builder) make(ctx context.Context, c Commit, dir string) (failed string, err error) {
	if err := b.remove(ctx, name(c.Tree)); err != nil {
		return "", err
	}
	if err := os.MkdirAll(filepath.Dir(dir), 0o700); err != nil {
		return "", err
	}
	b.used(name(c.Tree))
	defer func() {
		if errOut := unregister(context.WithoutCancel(ctx), dir); err == nil {
			err = errOut
		}
		if err == nil && failed == "" {
			err = os.WriteFile(dir+builtSuffix, []byte(c.ID+"\n"), 0o600)
		}
	}()
	// A folder of that name may be registered, and locked, even if it no longer exists.
	if err := b.Repository.run(ctx, nil, "worktree", "add", "--quiet", "--force", "--force", "--detach", dir, c.ID); err != nil {
		var said *gitError
		if errors.As(err, &said) && ctx.Err() == nil {
			return "it cannot be checked out: " + err.Error(), nil
		}
		return "", err
	}
	if len(b.Command) == 0 {
		return "", nil
	}
	p := &Program{Argv: b.Command, Dir: dir, Commit: c.ID, Timeout: b.Timeout}
	ended, err := p.Run(ctx)
	if err != nil || ended.How == "" {
		return "", err
	}
	return "it does not build: " + ended.Why(), b.Store.KeepOutput(c.ID, ended.Output.Bytes())
}

// Keep removes the builds that were not used for the longest time, except the builds of needed commits, until at most
// Most others are left.
func (b *Builder) Keep(ctx context.Context, needed []Commit) error {
	most := b.Most
	if most <= 0 {
		most = DefaultMost
	}
	others := slices.DeleteFunc(slices.Clone(b.recent), func(folder string) bool {
		return slices.ContainsFunc(needed, func(c Commit) bool { return name(c.Tree) == folder })
	})
	for len(others) > most {
		if err := b.remove(ctx, others[0]); err != nil {
			return err
		}
		others = others[1:]
	}
	return nil
}

func (b *Builder) remove(ctx context.Context, folder string) error {
	b.recent = slices.DeleteFunc(b.recent, func(other string) bool { return other == folder })
	dir := b.folder(folder)
	if err := os.RemoveAll(dir + builtSuffix); err != nil { // first, so that a folder with it is whole
		return err
	}
	if err := unregister(ctx, dir); err != nil {
		return err
	}
	return removeAll(dir)
}

// removeAll removes a folder, even if programs left read-only parts in it.
func removeAll(dir string) error {
	if os.RemoveAll(dir) == nil {
		return nil
	}
	_ = filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err == nil && d.IsDir() {
			return os.Chmod(path, 0o700)
		}
		return nil
	})
	return os.RemoveAll(dir)
}

// asideSuffix is the suffix of a folder while git forgets it: git forgets a worktree only if its folder is gone.
const asideSuffix = ".aside"

// unregister makes git forget one of our worktrees. The folder stays, without its .git.
func unregister(ctx context.Context, dir string) error {
	aside := dir + asideSuffix
	if _, err := os.Lstat(aside); err != nil {
		link, err := os.ReadFile(filepath.Join(dir, ".git"))
		if err != nil || !strings.HasPrefix(string(link), "gitdir: ") {
			return nil // it is not a worktree
		}
		if err := os.Rename(dir, aside); err != nil {
			return err
		}
	}
	// Else a process was killed in the middle of this.
	if link, err := os.ReadFile(filepath.Join(aside, ".git")); err == nil {
		if err := forget(ctx, dir, string(link)); err != nil {
			return err
		}
		if err := os.Remove(filepath.Join(aside, ".git")); err != nil {
			return err
		}
	}
	return os.Rename(aside, dir)
}

// forget has the repository that a .git of a worktree names forget it.
func forget(ctx context.Context, dir, link string) error {
	own := strings.TrimSpace(strings.TrimPrefix(link, "gitdir: ")) // …/.git/worktrees/NAME
	if _, err := os.Lstat(own); err != nil {
		return nil // it is forgotten, or its repository is gone
	}
	r, err := OpenRepository(ctx, filepath.Dir(filepath.Dir(own)))
	if err != nil {
		return err
	}
	return r.removeWorktree(ctx, dir)
}

// removeWorktree has git forget a worktree, also one that is locked since adding it was cut short.
func (r *Repository) removeWorktree(ctx context.Context, dir string) error {
	if err := r.run(ctx, nil, "worktree", "remove", "--force", "--force", dir); err != nil {
		return fmt.Errorf("%s: %w", dir, err)
	}
	return nil
}

// worktrees returns the folders in a folder that are registered as worktrees.
func (r *Repository) worktrees(ctx context.Context, in string) (list []string, err error) {
	var out bytes.Buffer
	if err := r.run(ctx, &out, "worktree", "list", "--porcelain"); err != nil {
		return nil, err
	}
	for line := range strings.Lines(out.String()) {
		dir, is := strings.CutPrefix(strings.TrimRight(line, "\r\n"), "worktree ")
		if dir = filepath.FromSlash(dir); is && filepath.Dir(dir) == in {
			list = append(list, dir)
		}
	}
	return list, nil
}

// unregisterAll has git forget all worktrees in a folder, and removes those that were not built to their end.
// Of a repository, if it is not nil, those are forgotten as well that are nothing but registered.
func unregisterAll(ctx context.Context, r *Repository, dir string) error {
	list, err := os.ReadDir(dir)
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	for _, entry := range list {
		name := strings.TrimSuffix(entry.Name(), asideSuffix)
		if path := filepath.Join(dir, name); !strings.HasSuffix(name, builtSuffix) {
			err = errors.Join(err, unregister(ctx, path))
			if _, none := os.Lstat(path + builtSuffix); none != nil {
				err = errors.Join(err, removeAll(path))
			}
		}
	}
	if r == nil || err != nil {
		return err
	}
	left, err := r.worktrees(ctx, dir)
	for _, path := range left {
		err = errors.Join(err, r.removeWorktree(ctx, path))
	}
	return err
}
