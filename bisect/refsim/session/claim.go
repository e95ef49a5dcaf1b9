package session

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/desynctool/desynctool/internal/file/files"
	"github.com/desynctool/desynctool/internal/lists"
)

// StateName is the name of the file in a session's folder that exists until the session is finished.
const StateName = "record.state"

const stateText = "desynctool has not finished this session; the next record to this folder takes its place\n"

// claimed is a folder that a session is being written to.
type claimed struct {
	dir   string
	made  bool     // it was not there
	state *os.File // StateName, for this process alone
}

// claim makes dir, removes an unfinished session of peers with these or the usual names, and refuses
// a folder that holds anything else.
func claim(dir string, peers []string) (_ *claimed, err error) {
	c := &claimed{dir: dir}
	if _, err := os.Stat(dir); errors.Is(err, fs.ErrNotExist) {
		c.made = true
	}
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return nil, err
	}
	list, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	names := lists.Map(list, func(entry os.DirEntry) string { return entry.Name() })
	if len(names) > 0 && !unfinished(names, peers) {
		return nil, fmt.Errorf("%s: not empty, a session needs an empty folder", dir)
	}
	if c.state, err = files.Hold(filepath.Join(dir, StateName)); err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, c.discard())
		}
	}()
	if _, err := c.state.WriteString(stateText); err != nil {
		return nil, err
	}
	for _, name := range names {
		if name != StateName {
			if err := os.RemoveAll(filepath.Join(dir, name)); err != nil {
				return nil, err
			}
		}
	}
	return c, nil
}

// unfinished reports whether a folder of these names holds a session that was not finished, and
// nothing else.
func unfinished(names, peers []string) bool {
	return slices.Contains(names, StateName) && !slices.ContainsFunc(names, func(name string) bool {
		return name != StateName && !files.IsUnfinished(name) && !slices.Contains(peers, name) && !slices.Contains(PeerNames(MaxPeers), name)
	})
}

// finish has the session count as finished.
func (c *claimed) finish() error {
	return errors.Join(c.state.Close(), os.Remove(c.state.Name()))
}

// discard removes everything that was written to the folder, and the folder itself if it did not exist before.
func (c *claimed) discard() error {
	err := c.state.Close()
	if errors.Is(err, os.ErrClosed) {
		err = nil
	}
	list, errList := os.ReadDir(c.dir)
	err = errors.Join(err, errList)
	for _, entry := range list {
		err = errors.Join(err, os.RemoveAll(filepath.Join(c.dir, entry.Name())))
	}
	if c.made {
		err = errors.Join(err, os.Remove(c.dir))
	}
	return err
}
