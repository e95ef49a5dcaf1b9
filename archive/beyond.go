package archive

import (
	"errors"
	"io/fs"

	"github.com/desynctool/desynctool/internal/file/files"
	"github.com/desynctool/desynctool/internal/file/limits"
)

// unread leaves an entry out since a limit is reached.
func (a *archive) unread(entry string, l *limits.Limit) {
	a.keep(entry, "was not read: "+l.Reached("", 0).Error()).why = files.OverLimit
}

// failed is the note that a path cannot be read.
func failed(path string, err error) files.Note {
	note := files.Note{Path: path, Text: err.Error()}
	if errors.As(err, new(*limits.Error)) {
		note.Why = files.OverLimit
	}
	return note
}

// reached returns the limit that an error of hold is of.
func reached(err error) *limits.Limit {
	if over := (*limits.Error)(nil); errors.As(err, &over) {
		return over.Limit
	}
	return limits.Archive
}

// bounded opens a file that is not too large, or only a regular one. The file's description may be nil.
func (d disk) bounded(path string, regular bool) (files.File, fs.FileInfo, error) {
	f, err := d.open(path, regular)
	if err != nil {
		return nil, nil, err
	}
	stat, err := f.Stat()
	if err == nil && limits.File.Over(stat.Size()) {
		f.Close()
		return nil, nil, limits.File.Reached(path, stat.Size())
	}
	return f, stat, nil
}
