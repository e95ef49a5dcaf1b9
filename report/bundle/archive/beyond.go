package archive

import (
	"errors"

	"github.com/desynctool/desynctool/internal/file/files"
	"github.com/desynctool/desynctool/internal/file/limits"
)

// unread says that an entry was not read since a limit is reached.
func unread(l *limits.Limit) string { return "was not read: " + l.Reached("", 0).Error() }

// reached returns the limit that an error of hold is of.
func reached(err error) *limits.Limit {
	if over := (*limits.Error)(nil); errors.As(err, &over) {
		return over.Limit
	}
	return limits.Archive
}

// bounded opens a file that is not too large.
func (d disk) bounded(path string) (files.File, error) {
	f, err := d.open(path)
	if err != nil {
		return nil, err
	}
	if stat, err := f.Stat(); err == nil && limits.File.Over(stat.Size()) {
		f.Close()
		return nil, limits.File.Reached(path, stat.Size())
	}
	return f, nil
}
