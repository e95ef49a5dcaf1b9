package main

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/desynctool/desynctool/orderlog/files"
	"github.com/desynctool/desynctool/report/formats"
	"github.com/desynctool/desynctool/snapshot"
)

// statePair is two states to compare.
type statePair struct {
	a, b         snapshot.State
	names, paths [2]string
	tree         files.Tree
	warnings     []string
	lost         []string // states that could not be read
}

func (p *statePair) Close() error { return errors.Join(p.a.Close(), p.b.Close()) }

// openPair opens the states of two arguments. Each is a file, or a folder of
// snapshots, or FOLDER@TICK for the one of a state point; of two folders the
// first states that differ are taken.
func openPair(tree files.Tree, argA, argB string) (*statePair, error) {
	paths := [2]string{argA, argB}
	var warnings, lost []string
	if holdsSeveral(tree, argA) && holdsSeveral(tree, argB) {
		files, w, l, err := firstDifferent(tree, argA, argB)
		if err != nil {
			return nil, err
		}
		paths, warnings, lost = files, slices.Concat(w, l), l
	}
	p := &statePair{tree: tree, warnings: warnings, lost: lost}
	var told []string
	for i, path := range paths {
		s, file, err := openState(tree, path)
		if err != nil {
			if p.a != nil {
				p.a.Close()
			}
			return nil, err
		}
		p.paths[i] = file
		told = append(told, s.Info().Peer)
		if i == 0 {
			p.a = s
		} else {
			p.b = s
		}
	}
	p.names = [2]string(snapshot.PeerNames(told, p.paths[:]))
	return p, nil
}

// explain adds to an error of states that cannot be compared which pair of
// their peers can.
func (p *statePair) explain(err error) error {
	if p.a.Info().Seed != p.b.Info().Seed || !errors.As(err, new(*snapshot.MismatchError)) {
		return err
	}
	if near := formats.Nearest(p.tree, p.paths[0], p.paths[1], p.a.Info().Point, formats.Snapshots()); near != nil {
		return fmt.Errorf("%w; the nearest states of both peers that can be are %s and %s", err, near[0], near[1])
	}
	return err
}

// holdsSeveral reports whether a path is a folder, or a file that may hold
// several states.
func holdsSeveral(tree files.Tree, path string) bool {
	return isDir(tree, path) || snapshot.Several(tree, path, formats.Snapshots())
}

func isDir(tree files.Tree, path string) bool {
	stat, err := tree.Stat(path)
	return err == nil && stat.IsDir()
}

// firstDifferent returns the snapshots at the first pair that differs of two
// folders, or at the last common state point if none does.
func firstDifferent(tree files.Tree, a, b string) (paths [2]string, warnings, lost []string, err error) {
	peers, err := formats.Gather(tree, []string{a, b}, formats.Snapshots())
	if err != nil {
		return paths, nil, nil, err
	}
	if len(peers) != 2 {
		return paths, nil, nil, fmt.Errorf("%s and %s hold the evidence of %d peers, expected 2; bisect names the files of those that part first", a, b, len(peers))
	}
	return formats.FirstDifferent(peers[0], peers[1])
}

// openState opens FILE, or the snapshot of a state point in FOLDER@TICK or
// FILE@TICK.
func openState(tree files.Tree, arg string) (snapshot.State, string, error) {
	path, at, hasTick := arg, "", false
	if _, err := tree.Stat(arg); err != nil {
		if i := strings.LastIndexByte(arg, '@'); i >= 0 {
			path, at, hasTick = arg[:i], arg[i+1:], true
		}
	}
	if !hasTick {
		if isDir(tree, path) {
			return nil, "", fmt.Errorf("%s: a folder; name a state point with %s@TICK", path, path)
		}
		s, err := snapshot.OpenAny(tree, path, formats.Snapshots())
		return s, path, err
	}
	sets, err := snapshot.Find(tree, path, formats.Snapshots())
	if err != nil {
		return nil, "", err
	}
	if len(sets) != 1 {
		return nil, "", fmt.Errorf("%s: the snapshots of %d peers, expected one", path, len(sets))
	}
	for range 2 {
		if entry := entryAt(sets[0], at); entry != nil {
			s, err := entry.Open()
			var misnamed *snapshot.MisnamedError
			if !errors.As(err, &misnamed) {
				return s, entry.Path(), err
			}
			s.Close()
		}
		sets[0].CheckAll() // the names may be wrong
	}
	return nil, "", fmt.Errorf("%s: no snapshot of state point %q%s", path, at, around(sets[0], tick(at)))
}

// tick returns the number that a state point was named by, 0 if it was not.
func tick(at string) uint64 {
	n, _ := strconv.ParseUint(at, 10, 64)
	return n
}

// around names the state points of a set on both sides of a tick.
func around(set *snapshot.Set, tick uint64) string {
	i := slices.IndexFunc(set.Entries, func(e *snapshot.Entry) bool { return e.Point.Tick > tick })
	if i < 0 {
		i = len(set.Entries)
	}
	var near []string
	for _, e := range set.Entries[max(0, i-1):min(len(set.Entries), i+1)] {
		near = append(near, e.Point.String())
	}
	if len(near) == 0 {
		return ""
	}
	return "; there is " + strings.Join(near, " and ")
}

// entryAt returns the entry of a state point, by tick or by the engine's own
// name, or nil.
func entryAt(set *snapshot.Set, at string) *snapshot.Entry {
	tick, err := strconv.ParseUint(at, 10, 64)
	for _, e := range set.Entries {
		if e.Point.Words() == at && at != "" || err == nil && e.Point.Tick == tick {
			return e
		}
	}
	return nil
}

// loadState loads the whole state of FILE, FOLDER@TICK or FILE@TICK.
func loadState(tree files.Tree, arg string) (*snapshot.World, error) {
	state, _, err := openState(tree, arg)
	if err != nil {
		return nil, err
	}
	defer state.Close()
	return snapshot.Load(state)
}
