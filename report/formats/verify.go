package formats

import (
	"bytes"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/desynctool/desynctool/internal/file/compression"
	"github.com/desynctool/desynctool/internal/file/files"
	"github.com/desynctool/desynctool/internal/file/frame"
	"github.com/desynctool/desynctool/orderlog"
	"github.com/desynctool/desynctool/report/document"
	"github.com/desynctool/desynctool/snapshot"
	"github.com/desynctool/desynctool/snapshot/signatures"
	"github.com/desynctool/desynctool/tracediff"
)

// maxProof is the size in bytes of the largest proof that is read.
const maxProof = 16 << 20

// Verify checks the hashes of a proof, a state, an order log or a trace, and the signatures of a chain. An error
// reports that the file could not be read; wrong hashes are in the result.
func Verify(tree files.Tree, path string, want snapshot.Expected) (snapshot.Verified, error) {
	head, err := leading(tree, path)
	if err != nil {
		return snapshot.Verified{}, err
	}
	switch {
	case len(head) == 0:
		return snapshot.Verified{}, &frame.Error{Name: path, Msg: "empty file, expected a snapshot, proof, order log, trace or tick signatures", Err: frame.ErrUnrecognized}
	case signatures.IsChain(head) && want.Root != nil:
		return snapshot.Verified{}, fmt.Errorf("%s: tick signatures; --root is for states and proofs", path)
	case want.Key != nil && want.Signed == nil && !signatures.IsChain(head):
		return snapshot.Verified{}, fmt.Errorf("%s: no tick signatures; --key is for these", path)
	case signatures.IsChain(head):
		return verifyChain(tree, path, want)
	case want.Signed != nil && (orderlog.IsLog(head) || tracediff.Sniff(head) == tracediff.Binary):
		return snapshot.Verified{}, fmt.Errorf("%s: neither a state nor a proof; --signatures is for these", path)
	case orderlog.IsLog(head):
		return verifyLog(tree, path)
	case tracediff.Sniff(head) == tracediff.Binary:
		return verifyTrace(tree, path)
	case bytes.HasPrefix(bytes.TrimLeft(head, " \t\r\n"), []byte("{")):
		return verifyProof(tree, path, want)
	}
	if f := Recognize(path, head); f != nil && f.Snapshot == nil && f.Trace != nil && f.Trace.Check != nil {
		note, err := f.Trace.Check(tree, path)
		if note == "" && err == nil {
			return snapshot.Verified{}, fmt.Errorf("%s: %s: nothing next to it to compute its checksums from", path, f.Title)
		}
		return snapshot.Verified{Path: path, What: f.Title, Note: note, Err: err}, nil
	}
	state, err := snapshot.OpenAny(tree, path, Snapshots())
	if err != nil {
		return snapshot.Verified{}, err
	}
	defer state.Close()
	return snapshot.VerifyState(state, path, len(Unchecked(tree, []string{path})) == 0, want)
}

// CutTick splits PATH@TICK. It reports false for a path that exists as it is, or that has no @.
func CutTick(tree files.Tree, arg string) (path, tick string, ok bool) {
	if _, err := tree.Stat(arg); err == nil {
		return arg, "", false
	}
	i := strings.LastIndexByte(arg, '@')
	if i < 0 {
		return arg, "", false
	}
	return arg[:i], arg[i+1:], true
}

// Unchecked notes, for each format of some files of states, FILE or FILE@TICK, that
// the format has no checksum by which damage to such a file would be noticed.
func Unchecked(tree files.Tree, paths []string) (notes []string) {
	for _, path := range paths {
		path, _, _ := CutTick(tree, path)
		head, err := Head(tree, path)
		if err != nil {
			continue
		}
		f := Recognize(path, head)
		if f == nil || f.Snapshot == nil || f.Snapshot.Checks(head) {
			continue
		}
		note := fmt.Sprintf("no checksum in these files (%s): damage to one would look like a divergence", f.Name)
		if !slices.Contains(notes, note) {
			notes = append(notes, note)
		}
	}
	return notes
}

// leading returns the first bytes of the content of a regular file.
func leading(tree files.Tree, path string) ([]byte, error) {
	stat, err := tree.Stat(path)
	if err != nil {
		return nil, err
	}
	if !stat.Mode().IsRegular() {
		return nil, fmt.Errorf("%s: not a regular file", path)
	}
	return Head(tree, path)
}

func verifyProof(tree files.Tree, path string, want snapshot.Expected) (snapshot.Verified, error) {
	f, err := tree.Open(path)
	if err != nil {
		return snapshot.Verified{}, err
	}
	defer f.Close()
	content, _, err := compression.Unpack(f, 0)
	if err != nil {
		return snapshot.Verified{}, fmt.Errorf("%s: %w", path, err)
	}
	b, err := io.ReadAll(io.LimitReader(content, maxProof+1))
	if err != nil {
		return snapshot.Verified{}, fmt.Errorf("%s: %w", path, err)
	}
	if len(b) > maxProof {
		return snapshot.Verified{}, fmt.Errorf("%s: a proof has at most %d bytes", path, maxProof)
	}
	p, err := document.ParseProof(b)
	if err != nil {
		return snapshot.Verified{}, fmt.Errorf("%s: %w", path, err)
	}
	return snapshot.VerifyProof(p, path, want)
}

// verifyTrace reads a trace to its end marker.
func verifyTrace(tree files.Tree, path string) (snapshot.Verified, error) {
	v := snapshot.Verified{Path: path, What: "trace"}
	f, err := tree.Open(path)
	if err != nil {
		return v, err
	}
	defer f.Close()
	r, err := tracediff.NewReader(f, path, tracediff.ReadOptions{})
	if err != nil {
		return v, err
	}
	defer r.Close()
	for n := 0; ; n++ {
		if _, err := r.Next(); err == io.EOF {
			v.Note = fmt.Sprintf("%d checkpoints and events", n)
			return v, nil
		} else if err != nil {
			return v, err
		}
	}
}

// verifyLog reads a log to its end marker and recomputes the input hashes.
func verifyLog(tree files.Tree, path string) (snapshot.Verified, error) {
	v := snapshot.Verified{Path: path, What: "order log"}
	f, err := tree.Open(path)
	if err != nil {
		return v, err
	}
	defer f.Close()
	content, _, err := compression.Unpack(f, 0)
	if err != nil {
		return v, fmt.Errorf("%s: %w", path, err)
	}
	r, err := orderlog.NewReader(content, path)
	if err != nil {
		return v, err
	}
	ticks, kinds := 0, r.Header().Kinds
	for {
		rec, err := r.Next()
		if err == io.EOF {
			v.Note = fmt.Sprintf("%d ticks", ticks)
			return v, nil
		}
		if err != nil {
			return v, err
		}
		if rec.Kind != orderlog.TickRecord {
			continue
		}
		ticks++
		if v.Err != nil || rec.Tick.InputHash.IsZero() {
			continue
		}
		if got := orderlog.InputHash(kinds, rec.Tick.Orders); got != rec.Tick.InputHash {
			v.Err = fmt.Errorf("tick %d: input hash is recorded as %s, the orders give %s", rec.Tick.Number, rec.Tick.InputHash, got)
		}
	}
}
