package bundle

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/desynctool/desynctool/archive"
	"github.com/desynctool/desynctool/internal/file/compression"
	"github.com/desynctool/desynctool/internal/file/files"
	"github.com/desynctool/desynctool/orderlog"
	"github.com/desynctool/desynctool/report/formats"
)

// OrderLog is a file with orders.
type OrderLog struct {
	Path string
	// Usual reports whether the game gives all such files this name.
	Usual bool
}

// OrderLogs returns the order logs of all formats at some paths, files and folders, in the order of the paths and their
// names. Lost lists the files there that could not be read. A file that is given and is not an order log is an error,
// and so is a folder without any.
func OrderLogs(tree *archive.Tree, paths []string) (list []OrderLog, lost []string, err error) {
	for _, path := range paths {
		s, err := look(tree, []string{path}, nil, nil)
		if err != nil {
			return nil, nil, err
		}
		for _, r := range s.roots {
			lost = append(lost, r.lost.Texts()...)
		}
		before := len(list)
		for _, f := range s.files {
			switch {
			case f.IsLog():
				list = append(list, OrderLog{f.Path, f.usual()})
			case f.given && f.Err == nil:
				_, _, err := openLog(tree, f, nil)
				return nil, nil, err
			case f.given:
				return nil, nil, f.Err
			case f.Err != nil:
				lost = append(lost, f.Err.Error())
			}
		}
		if len(list) == before {
			return nil, nil, fmt.Errorf("%s: no order log in it", path)
		}
	}
	return list, append(lost, tree.Lost().Texts()...), nil
}

// usual reports whether the file has the only name that files of its format have.
func (f *File) usual() bool {
	base := compression.PlainName(filepath.Base(f.Path))
	return slices.Contains(strings.FieldsFunc(f.Format.Files, func(r rune) bool { return r == ' ' || r == ',' }), base)
}

// ReadOrders reads the order log in a file of any format. Lost lists the parts that could not be read.
func ReadOrders(tree files.Tree, path string) (log *orderlog.Log, lost []string, err error) {
	log, err = readWhole(tree, recognise(tree, path, formats.All(), nil))
	if log == nil || err != nil && !damaged(err) {
		return nil, nil, err
	}
	if err != nil {
		lost = append(lost, err.Error())
	}
	return log, lost, nil
}
