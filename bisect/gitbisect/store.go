package gitbisect

import (
	"bufio"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"

	"github.com/desynctool/desynctool/internal/file/files"
)

// Store keeps the state of a running search in its own folder: each run with its verdict, a line each, and the builds.
// An interrupted search continues from there.
type Store struct {
	dir string
	// repository is the one that is searched, nil for none.
	repository *Repository
	journal    *os.File
	runs       map[string][]kept // by commit
	resumed    int
}

// kept is a run as the journal has it.
type kept struct {
	Commit string `json:"commit"`
	Fresh  bool   `json:"fresh,omitempty"`
	Run
}

// journalHead is the first line of a journal.
type journalHead struct {
	Schema string `json:"schema"`
	Search string `json:"search"`
}

const (
	journalSchema = "desynctool.gitbisect-journal/1"
	journalName   = "journal"
	buildsName    = "builds"
	outputsName   = "failed-builds"
)

// ErrSearchInUse means that another process makes the same search.
var ErrSearchInUse = errors.New("another desynctool makes this search now")

// OpenStore opens the kept state of a search in a repository below root; key identifies the search, restart forgets it.
// It removes the builds of other searches, their output, and the worktrees of killed processes, if the system has locks
// that show that they are no longer in use.
func OpenStore(ctx context.Context, r *Repository, root, key string, restart bool) (*Store, error) {
	sum := sha256.Sum256([]byte(key))
	id := hex.EncodeToString(sum[:16])
	if err := os.MkdirAll(root, 0o700); err != nil {
		return nil, err
	}
	root, err := filepath.EvalSymlinks(root) // as git names worktrees
	if err != nil {
		return nil, err
	}
	s := &Store{dir: filepath.Join(root, id[:16]), repository: r, runs: map[string][]kept{}}
	if s.journal, err = takeJournal(s.dir); err != nil {
		return nil, err
	}
	if err := s.begin(ctx, id, restart); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	if err := s.tidy(ctx, root); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return s, nil
}

// takeJournal opens the journal in a folder for this process alone.
func takeJournal(dir string) (*os.File, error) {
	path := filepath.Join(dir, journalName)
	for {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return nil, err
		}
		f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
		if errors.Is(err, os.ErrNotExist) {
			continue // the folder was just removed
		}
		if err != nil {
			return nil, err
		}
		if files.Lock(f) != nil {
			return nil, errors.Join(ErrSearchInUse, f.Close())
		}
		// The process that had it may have ended since: then this is no longer the file of that name.
		own, err := f.Stat()
		there, errThere := os.Stat(path)
		if err == nil && errThere == nil && os.SameFile(own, there) {
			return f, nil
		}
		if err = errors.Join(err, f.Close()); err != nil {
			return nil, err
		}
	}
}

// begin reads the journal, or begins it.
func (s *Store) begin(ctx context.Context, id string, restart bool) error {
	var end int64
	if !restart {
		end = s.read(s.journal, id)
	}
	if end == 0 {
		if err := s.empty(ctx); err != nil {
			return err
		}
	} else if err := unregisterAll(ctx, s.repository, filepath.Join(s.dir, buildsName)); err != nil {
		return err
	}
	if err := s.journal.Truncate(end); err != nil {
		return err
	}
	if _, err := s.journal.Seek(end, io.SeekStart); err != nil {
		return err
	}
	if end == 0 {
		return s.line(journalHead{journalSchema, id})
	}
	return nil
}

// read reads what the journal has and returns where its last whole line ends, 0 if it is not of this search.
func (s *Store) read(journal io.Reader, id string) (end int64) {
	r := bufio.NewReader(journal)
	for {
		line, err := r.ReadBytes('\n')
		if err != nil {
			return end // a line without an end was not finished
		}
		if end == 0 {
			var head journalHead
			if json.Unmarshal(line, &head) != nil || head.Schema != journalSchema || head.Search != id {
				return 0
			}
		} else {
			var k kept
			if json.Unmarshal(line, &k) != nil {
				return end
			}
			s.runs[k.Commit] = append(s.runs[k.Commit], k)
			s.resumed++
		}
		end += int64(len(line))
	}
}

// line appends a line in one write, and waits until it is on the disk.
func (s *Store) line(v any) error {
	b, err := json.Marshal(v)
	if err != nil {
		return err
	}
	if _, err := s.journal.Write(append(b, '\n')); err != nil {
		return err
	}
	return s.journal.Sync()
}

// Resumed returns how many runs of an earlier process there are.
func (s *Store) Resumed() int { return s.resumed }

// Path returns the path of a file in the search's folder.
func (s *Store) Path(name string) string { return filepath.Join(s.dir, name) }

// Keep returns a tester that returns the kept runs first, in their order, and then keeps the runs that test makes.
func (s *Store) Keep(g *Graph, test Tester) Tester {
	next := map[string]int{}
	return func(ctx context.Context, n int, fresh bool) (Run, error) {
		id := g.Nodes[n].ID
		list, i := s.runs[id], next[id]
		if next[id]++; i < len(list) && list[i].Fresh == fresh {
			return list[i].Run, nil
		}
		s.runs[id] = list[:min(i, len(list))]
		run, err := test(ctx, n, fresh)
		if err != nil {
			return run, err
		}
		return run, s.line(kept{id, fresh, run})
	}
}

// empty removes all but the journal.
func (s *Store) empty(ctx context.Context) error {
	if err := unregisterAll(ctx, s.repository, filepath.Join(s.dir, buildsName)); err != nil {
		return err
	}
	list, err := os.ReadDir(s.dir)
	for _, entry := range list {
		if entry.Name() != journalName {
			err = errors.Join(err, os.RemoveAll(filepath.Join(s.dir, entry.Name())))
		}
	}
	return err
}

// tidy removes what other searches have built that are not made now.
func (s *Store) tidy(ctx context.Context, root string) error {
	if runtime.GOOS == "windows" {
		return nil // no lock shows which are made
	}
	list, err := os.ReadDir(root)
	if err != nil {
		return err
	}
	for _, entry := range list {
		dir := filepath.Join(root, entry.Name())
		if dir == s.dir {
			continue
		}
		f, err := os.OpenFile(filepath.Join(dir, journalName), os.O_RDWR, 0)
		if err != nil {
			continue // it is not ours
		}
		if files.Lock(f) == nil {
			err = s.discard(ctx, dir, f)
		}
		if err = errors.Join(err, f.Close()); err != nil {
			return fmt.Errorf("what an earlier search has left: %w", err)
		}
	}
	return nil
}

// discard removes another search's builds and their output; it leaves nothing of a search that was completed.
func (s *Store) discard(ctx context.Context, dir string, journal *os.File) error {
	builds := filepath.Join(dir, buildsName)
	err := unregisterAll(ctx, s.repository, builds)
	err = errors.Join(err, removeAll(builds), os.RemoveAll(filepath.Join(dir, outputsName)))
	if info, errStat := journal.Stat(); errStat == nil && info.Size() == 0 {
		err = errors.Join(err, os.RemoveAll(dir))
	}
	return err
}

// KeepOutput keeps the end of the output of a failed build.
func (s *Store) KeepOutput(id string, output []byte) error {
	dir := s.Path(outputsName)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(dir, Short(id)+".txt"), output, 0o600)
}

// Outputs returns the folder with the output of builds that failed, empty if there is none.
func (s *Store) Outputs() string {
	dir := s.Path(outputsName)
	if _, err := os.Lstat(dir); err != nil {
		return ""
	}
	return dir
}

// Finish forgets a completed search, except for the output of failed builds.
func (s *Store) Finish(ctx context.Context) error {
	err := unregisterAll(ctx, s.repository, s.Path(buildsName))
	list, errList := os.ReadDir(s.dir)
	for _, entry := range list {
		if name := entry.Name(); name != outputsName && name != journalName {
			err = errors.Join(err, os.RemoveAll(s.Path(name)))
		}
	}
	err = errors.Join(err, errList, s.journal.Truncate(0))
	if s.Outputs() == "" {
		err = errors.Join(err, os.RemoveAll(s.dir))
	}
	return errors.Join(err, s.Close())
}

// Close leaves the search so that another process can continue it.
func (s *Store) Close() error { return s.journal.Close() }
