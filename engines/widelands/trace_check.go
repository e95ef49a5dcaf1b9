package widelands

import (
	"errors"
	"fmt"

	"github.com/desynctool/desynctool/internal/file/compression"
	"github.com/desynctool/desynctool/internal/file/files"
	"github.com/desynctool/desynctool/internal/file/frame"

	"github.com/desynctool/desynctool/tracediff"
)

// checkReplay recomputes the hashes of a replay from the sync stream next to it, which has the replay's name with .wss
// added.
func checkReplay(tree files.Tree, path string) (string, error) {
	plain := compression.PlainName(path)
	for _, suffix := range append([]string{""}, compression.Suffixes()...) {
		beside := plain + ".wss" + suffix
		if _, err := tree.Stat(beside); err == nil {
			return checkAgainst(tree, path, beside)
		}
	}
	return "", nil
}

func checkAgainst(tree files.Tree, path, beside string) (string, error) {
	in, err := tracediff.OpenContent(tree, path)
	if err != nil {
		return "", err
	}
	defer in.Close()
	content, err := tracediff.OpenContent(tree, beside)
	if err != nil {
		return "", err
	}
	defer content.Close()
	replay, err := NewReplay(in, path)
	if err != nil {
		return "", err
	}
	stream, err := NewStream(content, beside)
	if err != nil {
		return "", err
	}
	r, err := Recompute(stream, replay)
	if err != nil && !errors.As(err, new(*frame.Error)) || r == nil {
		return "", err
	}
	if m := r.First; m != nil {
		return "", &tracediff.MisfitError{File: path, Beside: beside, Msg: fmt.Sprintf("%s: the hash at %d ms is %x, the first %d bytes of %s give %x: %d of %d fit",
			path, m.Time, m.Recorded, m.Offset, beside, m.Computed, r.Fitting, r.Checked)}
	}
	if r.Checked == 0 {
		return "", nil
	}
	note := fmt.Sprintf("%d hashes are what %s gives", r.Checked, beside)
	if r.Beyond > 0 {
		note += fmt.Sprintf(", %d lie past its end", r.Beyond)
	}
	return note, nil
}
