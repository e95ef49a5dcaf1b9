package check

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/desynctool/desynctool/internal/file/compression"
	"github.com/desynctool/desynctool/internal/file/files"
	"github.com/desynctool/desynctool/internal/lists"
)

// maxDepth is how many levels of folders below a path are read, and maxFiles how many files they may have.
const (
	maxDepth = 5
	maxFiles = 20000
)

// checkFolder checks the files in a folder and its subfolders. The files of each folder belong to one peer, and their
// statements about the same thing are compared.
func checkFolder(tree files.Tree, folder string, opts Options) (out Result, errs error) {
	count := 0
	dirs, err := list(tree, folder, 0, &count)
	if err != nil {
		return nil, err
	}
	seeds := map[uint64][]string{}
	for _, d := range dirs {
		result, known, err := checkPeer(tree, d, opts)
		errs = errors.Join(errs, err)
		out = append(out, result...)
		for _, f := range known {
			if f.seeded {
				seeds[f.seed] = append(seeds[f.seed], f.path)
			}
		}
	}
	if len(seeds) > 1 {
		c := newChecker(folder, nil, opts)
		for _, seed := range slices.Sorted(maps.Keys(seeds)) {
			c.add("folder-seed", place{}, "seed %016x: %d files, such as %s", seed, len(seeds[seed]), seeds[seed][0])
		}
		out = append(out, c.file)
	}
	return out, errs
}

// dir is a folder with the files that may be ours.
type dir struct {
	path  string
	files []string
}

// list returns a folder and those in it that have files, in the order of their names.
func list(tree files.Tree, folder string, depth int, count *int) ([]dir, error) {
	names, err := tree.Names(folder)
	if err != nil {
		return nil, err
	}
	slices.Sort(names)
	d := dir{path: folder}
	var inner []dir
	for _, name := range names {
		path := filepath.Join(folder, name)
		stat, err := tree.Stat(path)
		if err != nil {
			return nil, err
		}
		switch {
		case stat.IsDir() && depth == maxDepth:
			return nil, fmt.Errorf("%s: lies too deep, and was not looked into; name it", path)
		case stat.IsDir():
			more, err := list(tree, path, depth+1, count)
			if err != nil {
				return nil, err
			}
			inner = append(inner, more...)
		case stat.Mode().IsRegular():
			if *count++; *count > maxFiles {
				return nil, fmt.Errorf("%s: more than %d files", folder, maxFiles)
			}
			d.files = append(d.files, path)
		}
	}
	if len(d.files) > 0 {
		inner = append([]dir{d}, inner...)
	}
	return inner, nil
}

// checkPeer checks the files of one folder. Order logs come last, so that only the hashes are kept for which there are
// states to compare with.
func checkPeer(tree files.Tree, d dir, opts Options) (out Result, known []facts, errs error) {
	wanted := map[uint64]bool{}
	var logs []string
	check := func(path string) {
		f, k, err := checkWith(tree, path, opts, wanted)
		if errors.Is(err, errOther) {
			return
		}
		if err != nil {
			errs = errors.Join(errs, err)
			return
		}
		k.path = path
		out, known = append(out, f), append(known, k)
		switch {
		case k.snap != nil:
			wanted[k.snap.tick] = true
		case k.report != nil:
			wanted[k.report.tick] = true
		}
	}
	for _, path := range d.files {
		k, err := kindAt(tree, path)
		switch {
		case err != nil:
			errs = errors.Join(errs, err)
		case k == nil:
		case k.name == "order-log":
			logs = append(logs, path)
		default:
			check(path)
		}
	}
	for _, path := range logs {
		check(path)
	}
	lists.SortStable(out, func(a, b *File) int { return strings.Compare(a.Path, b.Path) })
	if f := between(d.path, known, opts); len(f.Findings) > 0 {
		out = append(out, f)
	}
	return out, known, errs
}

// kindAt returns the kind of a file, nil if it is not one of ours.
func kindAt(tree files.Tree, path string) (*kind, error) {
	f, err := tree.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	content, _, err := compression.Unpack(f, 0)
	if err != nil {
		return nil, nil // it is compressed and cannot be read: as far as we know, not one of our files
	}
	if closer, ok := content.(io.Closer); ok {
		defer closer.Close()
	}
	head := make([]byte, headLen)
	n, err := io.ReadFull(content, head)
	if n == 0 && err != nil {
		return nil, nil
	}
	return kindOf(head[:n]), nil
}

// between compares the statements of one peer's files with each other.
func between(folder string, known []facts, opts Options) *File {
	c := newChecker(folder, nil, opts)
	if slices.IndexFunc(known, func(f facts) bool { return f.log != nil }) < 0 {
		reports(c, known)
		return c.file
	}
	for _, l := range known {
		if l.log == nil {
			continue
		}
		own := ownChecksum(l.log, known)
		if own {
			c.add("folder-own-checksum", place{in: filepath.Base(l.path)}, "no sync hash is the beginning of the state hash of a snapshot or report: a checksum of the game's own, which cannot be compared with its states")
		}
		for _, k := range known {
			where := place{in: filepath.Base(k.path)}
			var at uint64
			var hash []byte
			switch {
			case k.snap != nil && k.snap.phase == "":
				at, hash = k.snap.tick, k.snap.root
			case k.report != nil && k.report.phase == "":
				at, hash = k.report.tick, k.report.hash
			default:
				continue
			}
			epochs := l.log.epochs(at)
			if k.snap != nil {
				epochs = []uint32{k.snap.epoch}
			}
			find := func(kind string) (list [][]byte) {
				for _, e := range epochs {
					if h, ok := l.log.hashes[inEpoch{logHash{at, 0, kind, ""}, e}]; ok {
						list = append(list, h)
					}
				}
				return list
			}
			agree := func(list [][]byte, with []byte) bool {
				return len(list) == 0 || slices.ContainsFunc(list, func(h []byte) bool { return sameHash(h, with) })
			}
			if list := find("sync"); !own && hash != nil && !agree(list, hash) {
				c.add("folder-sync", where, "its state hash of point %d begins with %x, the sync hash in %s is %x", at, hash[:syncSize], filepath.Base(l.path), list[0])
			}
			if list := find("state"); hash != nil && !agree(list, hash) {
				c.add("folder-state", where, "its state hash of point %d is %x, in %s it is %x", at, hash, filepath.Base(l.path), list[0])
			}
			if k.snap == nil || k.snap.history == nil {
				continue
			}
			if list := find("history"); !agree(list, k.snap.history) {
				c.add("folder-history", where, "its history hash of point %d is %x…, in %s it is %x…", at, k.snap.history[:8], filepath.Base(l.path), list[0][:8])
			}
		}
	}
	reports(c, known)
	return c.file
}

// reports compares reports with snapshots of the same point.
func reports(c *checker, known []facts) {
	for _, r := range known {
		if r.report == nil || r.report.hash == nil {
			continue
		}
		for _, s := range known {
			if s.snap == nil || s.snap.tick != r.report.tick || s.snap.phase != r.report.phase || s.snap.native != r.report.native ||
				s.seed != r.seed || s.snap.peer != r.report.peer || s.snap.root == nil {
				continue
			}
			if !sameHash(s.snap.root, r.report.hash) {
				c.add("folder-report", place{in: filepath.Base(r.path)}, "its state hash of point %d is %x, in %s it is %x", r.report.tick, r.report.hash, filepath.Base(s.path), s.snap.root)
			}
		}
	}
}

// epochs returns the epochs in which a log has hashes of a point.
func (l *logFacts) epochs(point uint64) []uint32 {
	all := map[uint32]bool{}
	for h := range l.hashes {
		if h.point == point {
			all[h.epoch] = true
		}
	}
	return slices.Sorted(maps.Keys(all))
}

// ownChecksum reports whether the log's sync hashes differ from the states next to it at two points or more, and the
// log has no state hashes, which would show that they should be equal.
func ownChecksum(l *logFacts, known []facts) bool {
	same, other := 0, 0
	for h, sync := range l.hashes {
		if h.kind == "state" {
			return false
		}
		if h.kind != "sync" {
			continue
		}
		for _, k := range known {
			if k.snap == nil || k.snap.tick != h.point || k.snap.epoch != h.epoch || k.snap.root == nil {
				continue
			}
			if sameHash(sync, k.snap.root) {
				same++
			} else {
				other++
			}
		}
	}
	return same == 0 && other > 1
}

// named reads the seed and tick of a file's name between a prefix and an extension.
func named(path, prefix, ext string) (seed, tick uint64, ok bool) {
	rest, ok := strings.CutPrefix(compression.PlainName(filepath.Base(path)), prefix)
	rest, ok2 := strings.CutSuffix(rest, ext)
	a, b, ok3 := strings.Cut(rest, "_")
	if !ok || !ok2 || !ok3 {
		return 0, 0, false
	}
	seed, err := strconv.ParseUint(a, 16, 64)
	tick, err2 := strconv.ParseUint(b, 10, 64)
	return seed, tick, err == nil && err2 == nil
}

// snapName compares the name of a .snap with its header.
func snapName(c *checker, path string, f facts) {
	if f.snap == nil || !f.seeded || f.snap.root == nil {
		return
	}
	seed, tick, ok := named(path, "desync_", ".snap")
	want := fmt.Sprintf("desync_%016x_%010d.snap", f.seed, f.snap.tick)
	if ok && (seed != f.seed || tick != f.snap.tick) {
		c.add("snap-file-name", place{}, "the name has seed %016x, tick %d, the header seed %016x, tick %d", seed, tick, f.seed, f.snap.tick)
	} else if !ok {
		c.add("snap-usual-name", place{}, "the name is not the usual one, %s", want)
	}
}

// reportName compares the name of a report with its content.
func reportName(c *checker, path string, f facts) {
	seed, tick, ok := named(path, "desync_report_", ".json")
	switch {
	case !ok:
		c.add("report-file-name", place{}, "the name is not desync_report_%016x_%010d.json: folders are not searched for other names", f.seed, f.report.tick)
	case seed != f.seed || tick != f.report.tick:
		c.add("report-file-name", place{}, "the name has seed %016x, tick %d, the content seed %016x, tick %d", seed, tick, f.seed, f.report.tick)
	}
}
