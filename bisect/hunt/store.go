package hunt

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/desynctool/desynctool/internal/file/files"
	"github.com/desynctool/desynctool/internal/lazyregexp"
)

// State is what a hunt has come to: it goes on from there.
type State struct {
	Schema string `json:"schema"`
	// Hunt identifies the target of the hunt, see Hunter.ID.
	Hunt string `json:"hunt"`
	// First is the seed of the first session, Done how many there were: their seeds follow each
	// other.
	First    uint64      `json:"first"`
	Done     uint64      `json:"done"`
	Modes    []ModeCount `json:"modes"`
	Coverage Coverage    `json:"coverage"`
	Findings []*Finding  `json:"findings"` // as they were found
}

const stateSchema = "desynctool.hunt-state/1"

// Names in a store.
const (
	stateName    = "hunt.state"
	lockName     = "hunt.lock"
	findingsName = "findings"
)

// Store is a folder that keeps what a hunt found. Only one process has it at a time.
type Store struct {
	Dir   string
	State *State
	lock  *os.File
}

// ErrOtherHunt reports that a store belongs to another hunt.
var ErrOtherHunt = errors.New("it holds another hunt: of other simulators, modes, logs, parameters, seeds or ticks")

// OpenStore opens the store of a hunt in a folder, or begins it.
func OpenStore(dir string, h *Hunter, first uint64) (_ *Store, err error) {
	if err := os.MkdirAll(filepath.Join(dir, findingsName), 0o777); err != nil {
		return nil, err
	}
	s := &Store{Dir: dir}
	if s.lock, err = files.Hold(filepath.Join(dir, lockName)); err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			_ = s.lock.Close()
		}
	}()
	path := filepath.Join(dir, stateName)
	b, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		s.State = h.Begin(first)
		return s, nil
	}
	if err != nil {
		return nil, err
	}
	decoder := json.NewDecoder(bytes.NewReader(b))
	decoder.DisallowUnknownFields()
	s.State = &State{}
	if err := decoder.Decode(s.State); err != nil || s.State.Schema != stateSchema {
		return nil, fmt.Errorf("%s: not the state of a hunt that this program knows", path)
	}
	if slices.ContainsFunc(s.State.Findings, func(f *Finding) bool { return f == nil || !fingerprint.MatchString(f.Fingerprint) }) {
		return nil, fmt.Errorf("%s: a finding without a fingerprint of 16 hexadecimal digits", path)
	}
	if s.State.Hunt != h.ID() || s.State.First != first {
		return nil, fmt.Errorf("%s: %w; give another folder", dir, ErrOtherHunt)
	}
	return s, nil
}

// fingerprint is what Failure.Fingerprint returns: findings are kept under it.
var fingerprint = lazyregexp.New("^[0-9a-f]{16}$")

// Folder returns where a finding is kept.
func (s *Store) Folder(f *Finding) string { return filepath.Join(s.Dir, findingsName, f.Fingerprint) }

// save writes the state.
func (s *Store) save() error {
	return files.Replace(filepath.Join(s.Dir, stateName), func(f *os.File) error {
		e := json.NewEncoder(f)
		e.SetIndent("", "  ")
		return e.Encode(s.State)
	})
}

// Close leaves the store to others.
func (s *Store) Close() error {
	return errors.Join(s.lock.Close(), os.Remove(filepath.Join(s.Dir, lockName)))
}
