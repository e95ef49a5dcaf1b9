package bundle

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/desynctool/desynctool/archive"
	"github.com/desynctool/desynctool/bisect"
	"github.com/desynctool/desynctool/internal/lists"
	"github.com/desynctool/desynctool/report/formats"
	"github.com/desynctool/desynctool/report/survey"
	"github.com/desynctool/desynctool/snapshot"
)

// Pair is two opened states to compare.
type Pair struct {
	A, B         snapshot.State
	Names, Paths [2]string // of the peers, and of the states' files
	Warnings     []string
	Lost         []string // states that could not be read
	Findings     []string // about differences other than values, of raw memory
	Raw          bool     // the files are raw memory of no known type

	tree *archive.Tree
}

// Close closes both states.
func (p *Pair) Close() error { return errors.Join(p.A.Close(), p.B.Close()) }

// OpenPair opens the states of two arguments. Each is a file, or a folder of snapshots, or FOLDER@TICK or FILE@TICK for
// the state at a state point; for two folders, the first states that differ.
func OpenPair(tree *archive.Tree, argA, argB string) (*Pair, error) {
	paths := [2]string{argA, argB}
	found, err := statesAt(tree, argA, argB)
	if err != nil {
		return nil, err
	}
	known := formats.SnapshotsOf(found.Formats())
	var warnings, lost []string
	if several(tree, argA, known) && several(tree, argB, known) {
		files, w, l, err := firstDifferent(tree, argA, argB, found)
		if err != nil {
			return nil, err
		}
		paths, warnings, lost = files, slices.Concat(w, l), l
	}
	p := &Pair{tree: tree, Warnings: warnings, Lost: lost}
	var said []string
	for i, path := range paths {
		s, file, err := openState(tree, path, known)
		if err != nil {
			if p.A != nil {
				p.A.Close()
			}
			return nil, err
		}
		p.Paths[i] = file
		said = append(said, s.Info().Peer)
		if i == 0 {
			p.A = s
		} else {
			p.B = s
		}
	}
	if p.Paths[0] == p.Paths[1] {
		return nil, errors.Join(givenTwice(argA, argB), p.Close())
	}
	p.Names = [2]string(snapshot.PeerNames(said, p.Paths[:]))
	p.Raw = found.Raw(p.Paths[0]) && found.Raw(p.Paths[1])
	return p, nil
}

// Unknown returns what is not known of the states that are incomplete.
func (p *Pair) Unknown() (out []string) {
	for i, s := range []snapshot.State{p.A, p.B} {
		if text := s.Info().Incomplete(); text != "" {
			out = append(out, fmt.Sprintf("%s: incomplete: %s", p.Paths[i], text))
		}
	}
	return out
}

// Check reads both states whole if their files have digests of their content, and returns an error that names the first
// file with other content.
func (p *Pair) Check() error {
	for i, s := range []snapshot.State{p.A, p.B} {
		err := snapshot.Check(s)
		if errors.As(err, new(*snapshot.HashError)) {
			return fmt.Errorf("%s: corrupt: %w", p.Paths[i], err)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// Explain adds to an error of states that cannot be compared which pair of
// their peers can.
func (p *Pair) Explain(err error) error {
	if p.A.Info().Seed != p.B.Info().Seed || !errors.As(err, new(*snapshot.MismatchError)) {
		return err
	}
	if near := nearest(p.tree, p.Paths[0], p.Paths[1], p.A.Info().Point); near != nil {
		return fmt.Errorf("%w; the nearest states of both peers that can be are %s and %s", err, near[0], near[1])
	}
	return err
}

// holdsSeveral reports whether a path is a folder, or a file that may hold
// several states.
func holdsSeveral(tree *archive.Tree, path string) bool {
	found, err := statesAt(tree, path)
	return err == nil && several(tree, path, formats.SnapshotsOf(found.Formats()))
}

func several(tree *archive.Tree, path string, known []snapshot.Format) bool {
	return IsDir(tree, path) || snapshot.Several(tree, path, known)
}

// statesAt surveys some arguments, which are FILE, FOLDER, or one with @TICK.
func statesAt(tree *archive.Tree, args ...string) (*survey.Survey, error) {
	var paths []string
	for _, arg := range args {
		path, _, _ := formats.CutTick(tree, arg)
		paths = append(paths, path)
	}
	return survey.For(tree, paths)
}

// IsDir reports whether a path is a folder, or an archive, which looks like one.
func IsDir(tree *archive.Tree, path string) bool {
	stat, err := tree.Stat(path)
	return err == nil && stat.IsDir()
}

// firstDifferent returns the snapshots at the first pair that differs of two
// folders, or at the last common state point if none does.
func firstDifferent(tree *archive.Tree, a, b string, found *survey.Survey) (paths [2]string, warnings, lost []string, err error) {
	s, err := look(tree, []string{a, b}, nil, found)
	if err == nil {
		err = s.arrange()
	}
	if err != nil {
		return paths, nil, nil, err
	}
	peers := lists.Map(s.Peers(), func(p *Peer) *bisect.Peer { return &bisect.Peer{Name: p.Name, Path: p.Path, Snapshots: p.States} })
	if len(peers) != 2 {
		return paths, nil, nil, fmt.Errorf("%s and %s hold the evidence of %d peers, expected 2; bisect names the files of the peers that diverge first", a, b, len(peers))
	}
	return bisect.FirstDifferent(peers[0], peers[1])
}

// StatesOf returns the snapshots below a path, one set for each peer that left any.
func StatesOf(tree *archive.Tree, path string) (sets []*snapshot.Set, err error) {
	if !IsDir(tree, path) {
		found, err := statesAt(tree, path)
		if err != nil {
			return nil, err
		}
		return snapshot.FindFile(tree, path, formats.SnapshotsOf(found.Formats()))
	}
	s, err := Open(tree, []string{path})
	if err != nil {
		return nil, err
	}
	for _, p := range s.Peers() {
		if len(p.States.Entries) > 0 {
			sets = append(sets, p.States)
		}
	}
	return sets, nil
}

// OpenState opens FILE, or the snapshot of a state point in FOLDER@TICK or
// FILE@TICK.
func OpenState(tree *archive.Tree, arg string) (snapshot.State, string, error) {
	found, err := statesAt(tree, arg)
	if err != nil {
		return nil, "", err
	}
	return openState(tree, arg, formats.SnapshotsOf(found.Formats()))
}

func openState(tree *archive.Tree, arg string, known []snapshot.Format) (snapshot.State, string, error) {
	path, at, hasTick := formats.CutTick(tree, arg)
	if !hasTick {
		if IsDir(tree, path) {
			return nil, "", fmt.Errorf("%s: a folder; name a state point with %s@TICK", path, path)
		}
		s, err := snapshot.OpenAny(tree, path, known)
		return s, path, err
	}
	var sets []*snapshot.Set
	var err error
	if IsDir(tree, path) {
		sets, err = StatesOf(tree, path)
	} else {
		sets, err = snapshot.FindFile(tree, path, known)
	}
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
	near := lists.Map(set.Entries[max(0, i-1):min(len(set.Entries), i+1)], func(e *snapshot.Entry) string { return e.Point.String() })
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
		if e.Point.Native == at && at != "" || err == nil && e.Point.Tick == tick {
			return e
		}
	}
	return nil
}

// LoadState loads the whole state of FILE, FOLDER@TICK or FILE@TICK.
func LoadState(tree *archive.Tree, arg string) (*snapshot.World, error) {
	state, _, err := OpenState(tree, arg)
	if err != nil {
		return nil, err
	}
	defer state.Close()
	return snapshot.Load(state)
}

// nearest returns the paths of the snapshots of two peers of one state point, as near to a
// given one as there are, from the folders of files a and b; nil if there are none.
func nearest(tree *archive.Tree, a, b string, at snapshot.Point) *[2]string {
	var sets [2]*snapshot.Set
	for i, path := range []string{a, b} {
		found, err := snapshot.Find(tree, filepath.Dir(path), formats.Snapshots())
		if err != nil || len(found) != 1 {
			return nil
		}
		sets[i] = found[0]
	}
	if sets[0].Path == sets[1].Path {
		return nil
	}
	pair := bisect.Nearest(sets[0], sets[1], at)
	if pair == nil {
		return nil
	}
	return &[2]string{pair[0].Path(), pair[1].Path()}
}

// Verify checks the hashes of proofs, states, order logs and traces, and the signatures of chains. In a folder it also
// compares what each peer's files state about one moment. FILE@TICK names one state in a file with several, as
// FOLDER@TICK does in a folder. The error lists the files that could not be read; the others are in the result.
func Verify(tree *archive.Tree, paths []string, want snapshot.Expected) (snapshot.Verification, error) {
	var out snapshot.Verification
	var errs error
	for _, path := range paths {
		if IsDir(tree, path) && want.Root == nil && want.State == nil && want.Signed == nil && want.Key == nil {
			s, err := Open(tree, []string{path})
			var list snapshot.Verification
			if err == nil {
				list, err = verifyFolder(s)
			}
			out, errs = append(out, list...), errors.Join(errs, err)
			continue
		}
		v, err := verify(tree, path, want)
		if err != nil {
			errs = errors.Join(errs, err)
			continue
		}
		out = append(out, v)
	}
	return out, errs
}

func verify(tree *archive.Tree, path string, want snapshot.Expected) (snapshot.Verified, error) {
	if file, _, ok := formats.CutTick(tree, path); !ok || !holdsSeveral(tree, file) {
		return formats.Verify(tree, path, want)
	}
	return verifyState(tree, path, want)
}
