package minimize

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"

	"github.com/desynctool/desynctool/bisect"
	"github.com/desynctool/desynctool/internal/file/files"
	"github.com/desynctool/desynctool/internal/lists"
	"github.com/desynctool/desynctool/orderlog"
)

// File is how a log is written in the format of the game.
type File struct {
	Name  string // of the file
	Write func(w io.Writer, log *orderlog.Log) error
}

// Written describes the written files of a result.
type Written struct {
	Dir string
	// Sides are the folders of peers in Dir, empty where no simulator played them. Differ reports whether their last
	// hashes differ.
	Sides  []string
	Differ bool
	// File is the log in the format of the game, in Dir, empty if it is the one that a side
	// has anyway.
	File string
}

// OutcomesName is the file in the folder of a result from which a search continues.
const OutcomesName = "minimize.state"

// RunTo searches as Run does, and writes the result to dir, which must be empty, not exist, or contain an unfinished
// search, which this one then continues.
func RunTo(ctx context.Context, dir string, in *Input, test Test, file File, opts Options) (_ *Result, err error) {
	_, missing := os.Stat(dir)
	if err := claim(dir, file.Name); err != nil {
		return nil, err
	}
	if missing != nil {
		defer func() {
			if err != nil {
				_ = os.Remove(dir) // which fails if anything is in there
			}
		}()
	}
	state := filepath.Join(dir, OutcomesName)
	if opts.Kept, err = OpenOutcomes(state, in, test, opts); err != nil {
		if errors.Is(err, ErrOtherSearch) {
			err = fmt.Errorf("%w; remove it, or write to another folder", err)
		}
		return nil, err
	}
	r, err := Run(ctx, in, test, opts)
	if err = errors.Join(err, opts.Kept.Close()); err != nil {
		if errors.Is(err, ErrSound) || errors.Is(err, ErrFlaky) {
			err = errors.Join(err, os.Remove(state)) // no search can continue from there
		}
		return nil, err
	}
	// An interrupted search also has a result.
	if err := r.write(context.WithoutCancel(ctx), dir, test, file); err != nil {
		return nil, err
	}
	if r.Stopped == Finished {
		err = os.Remove(state)
	}
	return r, err
}

// claim makes dir and refuses one that holds anything other than a search to continue.
func claim(dir, file string) error {
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return err
	}
	list, err := os.ReadDir(dir)
	if err != nil || len(list) == 0 {
		return err
	}
	names := lists.Map(list, func(e os.DirEntry) string { return e.Name() })
	ours := []string{OutcomesName, SideA, SideB, file}
	foreign := slices.ContainsFunc(names, func(name string) bool { return !slices.Contains(ours, name) && !files.IsUnfinished(name) })
	if foreign || !slices.Contains(names, OutcomesName) {
		return fmt.Errorf("%s: not empty, the result needs an empty folder", dir)
	}
	return nil
}

// playAgain is how often the sides are played at most until they differ, since a session that diverges only sometimes
// may not do so at once.
const playAgain = 50

func (r *Result) write(ctx context.Context, dir string, test Test, file File) error {
	w := &Written{Dir: dir}
	r.Written = w
	if live, ok := test.(*Live); ok {
		for range playAgain {
			var err error
			if w.Sides, w.Differ, err = live.Write(ctx, dir, r.Best); err != nil {
				return err
			}
			if w.Differ || len(w.Sides) < 2 || r.Runs == 1 && live.Mode != bisect.Dual {
				break
			}
		}
		if file.Name == bisect.LogName {
			return nil
		}
	}
	w.File = file.Name
	return files.Replace(filepath.Join(dir, file.Name), func(f *os.File) error { return file.fill(f, r.Best) })
}

// fill writes a candidate in the format of the game.
func (f File) fill(to io.Writer, c *Candidate) error {
	w := bufio.NewWriter(to)
	return errors.Join(f.Write(w, c.Log()), w.Flush())
}

// create writes a candidate to a file that is gone before anybody else reads it.
func (f File) create(path string, c *Candidate) error {
	to, err := os.Create(path)
	if err != nil {
		return err
	}
	return errors.Join(f.fill(to, c), to.Close())
}
