package ggpo

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"

	"github.com/desynctool/desynctool/internal/file/compression"
	"github.com/desynctool/desynctool/internal/file/files"
	"github.com/desynctool/desynctool/internal/file/frame"
	"github.com/desynctool/desynctool/internal/file/limits"

	"github.com/desynctool/desynctool/tracediff"
)

// Format returns the format of logged states, as claims.
func TraceFormat() tracediff.Format {
	f := StateFormat()
	return tracediff.Format{Name: f.Name, Title: f.Title, Sniff: f.Sniff, Claims: claims, Check: check}
}

// claims returns that a frame failed the self-test. The second one of a frame's two states shows it. It takes nothing
// from the content. The claim has no tick that logged states could contradict: they need not show everything that the
// checksum covers.
func claims(_ io.Reader, name string) (*tracediff.ClaimLog, error) {
	log := &tracediff.ClaimLog{Dialect: tracediff.Dialect{Engine: "GGPO", File: "GGPO self-test state"}}
	base := compression.PlainName(filepath.Base(name))
	n, ok := ParseName(base)
	if !ok {
		return log, nil
	}
	log.Peer = n.Peer
	if n.Peer == tracediff.SecondRun {
		log.Claims = []tracediff.Claim{{
			File: name, By: n.Peer,
			Text: fmt.Sprintf("%s is there: the checksum of frame %d was another one when it was played again", base, n.Point.Tick),
		}}
	}
	return log, nil
}

// check compares the text of a replayed state with the text of the original next to it. Equal texts are an error that
// wraps frame.ErrLacking: their checksums differed, but the game does not print the difference.
func check(tree files.Tree, path string) (string, error) {
	beside, ok := Beside(path)
	if !ok {
		return "", nil
	}
	first, err := text(tree, beside)
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	if err != nil {
		return "", err
	}
	second, err := text(tree, path)
	if err != nil || !bytes.Equal(first, second) {
		return "", err
	}
	return "", fmt.Errorf("%s: it has the text of %s, and the checksums of both states differed: the game does not log what differs: %w",
		path, filepath.Base(beside), frame.ErrLacking)
}

// text returns the content of a logged state.
func text(tree files.Tree, path string) ([]byte, error) {
	in, err := tracediff.OpenContent(tree, path)
	if err != nil {
		return nil, err
	}
	b, err := io.ReadAll(io.LimitReader(in, limits.State.Max()+1))
	return b, errors.Join(err, in.Close())
}
