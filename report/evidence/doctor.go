package evidence

import (
	"fmt"
	"path/filepath"
	"strings"

	"github.com/desynctool/desynctool/report"
	"github.com/desynctool/desynctool/report/evidence/archive"
	"github.com/desynctool/desynctool/report/formats"
)

// Examine reads all evidence below some paths to its end and says what it is, what is
// wrong with it, what it covers on each peer, and what to ask the players for. It
// compares no states. Progress, if not nil, is called with the files that are read.
func Examine(tree *archive.Tree, paths []string, progress func(done, total int64)) (*report.Checkup, error) {
	d := &doctor{tree: tree, list: formats.All()}
	for _, path := range paths {
		if err := d.collect(filepath.Clean(path)); err != nil {
			return nil, tree.Explain(err)
		}
	}
	for i := range d.found {
		at := &d.found[i]
		x := examine(tree, at.path, d.list)
		x.group = at.group
		if x.format != nil || len(x.Trouble) > 0 {
			d.files = append(d.files, x)
		}
		if progress != nil {
			progress(int64(i+1), int64(len(d.found)))
		}
	}
	if len(d.files) == 0 {
		return nil, tree.Explain(fmt.Errorf("%s: %d file(s), none of a known format; see desynctool formats", strings.Join(paths, ", "), len(d.found)))
	}
	d.assign()
	d.session()
	d.copies()
	d.cover()
	d.compareFacts()
	d.judge()
	return &d.checkup, nil
}

// doctor is a checkup in the making.
type doctor struct {
	tree  *archive.Tree
	list  []formats.Format
	found []place
	files []*examined
	peers []*patient

	checkup report.Checkup
	needs   []need
}

// patient is one peer.
type patient struct {
	report.CheckedPeer
	files   []*examined
	points  map[uint64]bool
	first   bool // it has something of the start
	systems bool
}

func (d *doctor) lose(format string, args ...any) {
	d.checkup.Lost = append(d.checkup.Lost, fmt.Sprintf(format, args...))
}
