package bundle

import (
	"path/filepath"
	"slices"
	"strings"

	"github.com/desynctool/desynctool/archive"
	"github.com/desynctool/desynctool/internal/lazyregexp"
	"github.com/desynctool/desynctool/report/formats"
)

const (
	fewestTicks  = 2       // folders of ticks next to each other
	mostLaid     = 1 << 16 // files in them
	deepestTicks = 4       // folders that they are in
)

// tickFolder finds the name of a folder with the states of one tick, without its number.
var tickFolder = lazyregexp.New(`(?i)^((?:t|f|tick|frame|turn|step)[_. -]?)\d{1,18}$`)

// layTicks shows the files in folders of ticks, which are next to each other, in one folder, with the name of the tick in theirs:
// t40/ann/units.json is ann/units_t40.json.
func layTicks(tree *archive.Tree, paths []string) {
	l := archive.Layout{Files: map[string]string{}, Folders: map[string][]string{}}
	for _, path := range paths {
		if !layBelow(tree, filepath.Clean(path), deepestTicks, &l) {
			return
		}
	}
	if len(l.Files) > 0 {
		tree.Lay(l)
	}
}

// layBelow lays out a folder. It reports false if there are too many files.
func layBelow(tree *archive.Tree, dir string, deeper int, l *archive.Layout) bool {
	names, err := tree.Names(dir)
	if err != nil || deeper == 0 {
		return true
	}
	slices.Sort(names)
	var ticks, others []string
	word := ""
	for _, name := range names {
		if strings.Contains(name, ".") { // a file: folders of thousands of states are not looked through
			others = append(others, name)
			continue
		}
		at := filepath.Join(dir, name)
		stat, err := tree.Stat(at)
		m := tickFolder.FindStringSubmatch(name)
		switch {
		case err != nil || !stat.IsDir():
			others = append(others, name)
		case m == nil || word != "" && m[1] != word:
			others = append(others, name)
			if !layBelow(tree, at, deeper-1, l) {
				return false
			}
		default:
			word = m[1]
			ticks = append(ticks, name)
		}
	}
	if len(ticks) < fewestTicks {
		return true
	}
	shown := map[string][]string{dir: others}
	files := map[string]string{}
	for _, tick := range ticks {
		if !layTick(tree, filepath.Join(dir, tick), dir, tick, deeper, files, shown) {
			return len(files) < mostLaid
		}
	}
	for at, real := range files {
		l.Files[at] = real
	}
	for folder, names := range shown {
		slices.Sort(names)
		l.Folders[folder] = slices.Compact(names)
	}
	return len(l.Files) < mostLaid
}

// layTick lays out a folder of a tick, or one below it, in another folder. It reports false if that cannot be done.
func layTick(tree *archive.Tree, from, to, tick string, deeper int, files map[string]string, shown map[string][]string) bool {
	names, err := tree.Names(from)
	if err != nil || deeper == 0 {
		return false
	}
	for _, name := range names {
		at := filepath.Join(from, name)
		stat, err := tree.Stat(at)
		if err != nil {
			return false
		}
		if stat.IsDir() {
			if slices.Contains(shown[to], name) && shown[filepath.Join(to, name)] == nil {
				return false // it is there
			}
			shown[to] = append(shown[to], name)
			if !layTick(tree, at, filepath.Join(to, name), tick, deeper-1, files, shown) {
				return false
			}
			continue
		}
		if hasFormat(tree, at) {
			return false // the format knows its names
		}
		stem, extensions, _ := strings.Cut(name, ".")
		if extensions != "" {
			extensions = "." + extensions
		}
		name = stem + "_" + tick + extensions
		if slices.Contains(shown[to], name) || len(files) >= mostLaid {
			return false
		}
		shown[to] = append(shown[to], name)
		files[filepath.Join(to, name)] = at
	}
	return true
}

// hasFormat reports whether a file has a known format.
func hasFormat(tree *archive.Tree, path string) bool {
	f, err := tree.OpenRegular(path)
	if err != nil {
		return true
	}
	defer f.Close()
	head := make([]byte, formats.HeadLen)
	n, _ := f.ReadAt(head, 0)
	return formats.Recognize(path, head[:n]) != nil
}
