package evidence

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/desynctool/desynctool/bisect"
	"github.com/desynctool/desynctool/report"
	"github.com/desynctool/desynctool/report/formats"
	"github.com/desynctool/desynctool/report/playbook"
	"github.com/desynctool/desynctool/report/words"
)

// Triage looks at all evidence below some paths and reports what happened. With a simulator
// it says who is wrong. Where evidence is lacking it also says what to ask the players for;
// evidence of one peer alone is inconclusive.
func Triage(tree *Tree, paths []string, sim *bisect.Sim, progress func(done, total int64)) (*report.Report, error) {
	ask := func() string {
		c, err := Examine(tree, paths, nil)
		if err != nil {
			return ""
		}
		return c.Ask
	}
	r, err := formats.Triage(tree, paths, sim, progress, ask)
	if errors.Is(err, formats.ErrFewPeers) {
		if within, beside := folders(tree, paths); len(within) > 1 {
			again, errAgain := formats.Triage(tree, within, sim, progress, ask)
			if errAgain == nil {
				r, err = again, nil
				r.Warnings = append(r.Warnings, fmt.Sprintf("left out, since it stands beside the peers' folders and not in one: %s", strings.Join(beside, ", ")))
			}
		}
	}
	if err != nil && !errors.Is(err, formats.ErrFewPeers) {
		return nil, tree.Explain(err)
	}
	if err != nil {
		c, examined := Examine(tree, paths, nil)
		if examined != nil || len(c.Peers) == 0 {
			return nil, tree.Explain(err)
		}
		return alone(tree, c)
	}
	return r, nil
}

// folders returns the folders in the only path, and the files beside them, which may make the
// whole look like what one peer left.
func folders(tree *Tree, paths []string) (within, beside []string) {
	if len(paths) != 1 {
		return nil, nil
	}
	names, err := tree.Names(paths[0])
	if err != nil {
		return nil, nil
	}
	slices.Sort(names)
	for _, name := range names {
		path := filepath.Join(paths[0], name)
		if stat, err := tree.Stat(path); err == nil && stat.IsDir() {
			within = append(within, path)
		} else {
			beside = append(beside, path)
		}
	}
	return within, beside
}

// alone reports evidence that cannot be compared with any other.
func alone(tree *Tree, c *report.Checkup) (*report.Report, error) {
	e := playbook.Evidence{Facts: c.Facts, Warnings: append(slices.Clone(c.Warnings), tree.Warnings()...)}
	e.Ask = func() string { return c.Ask }
	for _, f := range c.Files {
		for _, t := range f.Trouble {
			if t.Kind != "misnamed" && t.Kind != "duplicate" {
				e.Lost = append(e.Lost, fmt.Sprintf("%s: %s: %s", f.Path, t.Kind, t.Text))
			}
		}
	}
	e.Lost = append(e.Lost, tree.Lost()...)
	for _, p := range c.Peers {
		e.Covers = append(e.Covers, playbook.Covered{Name: p.Name, Spans: p.Covers})
	}
	found, err := playbook.Conclude(e)
	if err != nil {
		return nil, err
	}
	return words.Report(found), nil
}
