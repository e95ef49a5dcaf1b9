package evidence

import (
	"cmp"
	"fmt"
	"path/filepath"
	"slices"

	"github.com/desynctool/desynctool/orderlog/files"
	"github.com/desynctool/desynctool/report/formats"
)

// maxWalk is how many levels of folders Examine looks into.
const maxWalk = 4

type place struct{ path, group string }

// collect lists the files below a path that was given. The files of one peer are those
// in a folder that holds evidence itself, or else those in each of its folders.
func (d *doctor) collect(path string) error {
	stat, err := d.tree.Stat(path)
	if err != nil {
		return err
	}
	if !stat.IsDir() {
		d.found = append(d.found, place{path, path})
		return nil
	}
	own, folders, err := d.inFolder(path)
	if err != nil {
		return err
	}
	group := ""
	for _, file := range own {
		if holdsPeer(d.tree, file, d.list) {
			group = path
			break
		}
	}
	for _, file := range own {
		d.found = append(d.found, place{file, group})
	}
	for _, folder := range folders {
		below := cmp.Or(group, folder)
		if err := d.walk(folder, below, 1); err != nil {
			return err
		}
	}
	return nil
}

func (d *doctor) walk(path, group string, depth int) error {
	own, folders, err := d.inFolder(path)
	if err != nil {
		return err
	}
	for _, file := range own {
		d.found = append(d.found, place{file, group})
	}
	for _, folder := range folders {
		if depth == maxWalk {
			d.checkup.Lost = append(d.checkup.Lost, fmt.Sprintf("%s: lies too deep, and was not looked into; name it", folder))
			continue
		}
		if err := d.walk(folder, group, depth+1); err != nil {
			return err
		}
	}
	return nil
}

// inFolder returns the paths of what is in a folder, in order.
func (d *doctor) inFolder(path string) (own, folders []string, err error) {
	names, err := d.tree.Names(path)
	if err != nil {
		return nil, nil, err
	}
	slices.Sort(names)
	for _, name := range names {
		if name[0] == '.' {
			continue
		}
		at := filepath.Join(path, name)
		if stat, err := d.tree.Stat(at); err == nil && stat.IsDir() {
			folders = append(folders, at)
		} else {
			own = append(own, at)
		}
	}
	return own, folders, nil
}

// holdsPeer reports whether a file is evidence of one peer: a state, an order log, or a
// trace of ours.
func holdsPeer(tree files.Tree, path string, list []formats.Format) bool {
	head, err := headOf(tree, path)
	if err != nil {
		return false
	}
	for i := range list {
		if f := &list[i]; f.Sniff(head) {
			return f.Snapshot != nil || f.Log != nil && (f.Trace == nil || f.Trace.Peers == nil) || f.Native
		}
	}
	return expectedBy(path) != ""
}
