package formats

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/desynctool/desynctool/orderlog"
	"github.com/desynctool/desynctool/orderlog/frame"
	"github.com/desynctool/desynctool/report"
	"github.com/desynctool/desynctool/snapshot"
)

// maxProof is the size in bytes of the largest proof that is read.
const maxProof = 16 << 20

// Verify checks the hashes of proofs, states and order logs. An error says
// which files could not be read; the others are in the result, and wrong where
// a Verified says so.
func Verify(paths []string, want report.Expected) ([]report.Verified, error) {
	var out []report.Verified
	var errs error
	for _, path := range paths {
		v, err := verify(path, want)
		if err != nil {
			errs = errors.Join(errs, err)
			continue
		}
		out = append(out, v)
	}
	return out, errs
}

func verify(path string, want report.Expected) (report.Verified, error) {
	head, err := leading(path)
	if err != nil {
		return report.Verified{}, err
	}
	switch {
	case orderlog.IsLog(head):
		return verifyLog(path)
	case bytes.HasPrefix(bytes.TrimLeft(head, " \t\r\n"), []byte("{")):
		return verifyProof(path, want)
	}
	state, err := snapshot.OpenAny(path, Snapshots())
	if err != nil {
		return report.Verified{}, err
	}
	defer state.Close()
	return report.VerifyState(state, path, want)
}

// leading returns the first bytes of a file.
func leading(path string) ([]byte, error) {
	stat, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if !stat.Mode().IsRegular() {
		return nil, fmt.Errorf("%s: not a regular file", path)
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	head := make([]byte, snapshot.SniffLen)
	n, err := io.ReadFull(f, head)
	if err != nil && err != io.EOF && err != io.ErrUnexpectedEOF {
		return nil, err
	}
	return head[:n], nil
}

func verifyProof(path string, want report.Expected) (report.Verified, error) {
	f, err := os.Open(path)
	if err != nil {
		return report.Verified{}, err
	}
	defer f.Close()
	b, err := io.ReadAll(io.LimitReader(f, maxProof+1))
	if err != nil {
		return report.Verified{}, err
	}
	if len(b) > maxProof {
		return report.Verified{}, fmt.Errorf("%s: a proof has at most %d bytes", path, maxProof)
	}
	var p report.ProofDocument
	if err := p.Parse(b); err != nil {
		return report.Verified{}, fmt.Errorf("%s: %w", path, err)
	}
	return p.VerifyProof(path, want)
}

// verifyLog reads a log to its end marker and recomputes the input hashes.
func verifyLog(path string) (report.Verified, error) {
	v := report.Verified{Path: path, What: "order log"}
	r, err := orderlog.Open(path)
	if err != nil {
		return v, err
	}
	defer r.Close()
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

// Dump writes the text twin of a file.
func Dump(w io.Writer, r io.Reader, name string) error {
	head := make([]byte, snapshot.SniffLen)
	n, err := io.ReadFull(r, head)
	if err != nil && err != io.EOF && err != io.ErrUnexpectedEOF {
		return err
	}
	head = head[:n]
	whole := io.MultiReader(bytes.NewReader(head), r)
	if orderlog.IsLog(head) {
		lr, err := orderlog.NewReader(whole, name)
		if err != nil {
			return err
		}
		return orderlog.WriteText(w, lr)
	}
	for _, f := range Snapshots() {
		if !f.Sniff(head) {
			continue
		}
		at, size, done, err := readerAt(r, head)
		if err != nil {
			return err
		}
		defer done()
		s, err := f.Open(at, size, name)
		if err != nil {
			return err
		}
		return errors.Join(snapshot.WriteText(w, s), s.Close())
	}
	msg := "not a file of a known format; see desynctool formats"
	if n == 0 {
		msg = "empty file"
	}
	return &frame.Error{Name: name, Msg: msg, Err: frame.ErrUnrecognized}
}

// readerAt returns r, of which head has been read, for reading at any offset.
// What is no regular file is copied to a temporary one, which done removes.
func readerAt(r io.Reader, head []byte) (at io.ReaderAt, size int64, done func(), err error) {
	if f, ok := r.(*os.File); ok {
		if stat, err := f.Stat(); err == nil && stat.Mode().IsRegular() {
			return keepOpen{f}, stat.Size(), func() {}, nil
		}
	}
	f, err := os.CreateTemp("", "desynctool-*")
	if err != nil {
		return nil, 0, nil, err
	}
	done = func() { f.Close(); os.Remove(f.Name()) }
	size, err = io.Copy(f, io.MultiReader(bytes.NewReader(head), r))
	if err != nil {
		done()
		return nil, 0, nil, err
	}
	return keepOpen{f}, size, done, nil
}

// keepOpen hides that a file can be closed: its owner does that.
type keepOpen struct{ io.ReaderAt }

// Undump turns a text twin back into a file: an order log, or a snapshot.
func Undump(w io.WriteSeeker, r io.Reader, name string) error {
	head := make([]byte, snapshot.SniffLen)
	n, err := io.ReadFull(r, head)
	if err != nil && err != io.EOF && err != io.ErrUnexpectedEOF {
		return err
	}
	whole := io.MultiReader(bytes.NewReader(head[:n]), r)
	if orderlog.IsText(head[:n]) {
		return orderlog.ParseText(w, whole, name)
	}
	if !snapshot.IsText(head[:n]) {
		return &frame.Error{Name: name, Msg: "not the text twin of a snapshot or order log", Err: frame.ErrUnrecognized}
	}
	return snapshot.ReadText(w, whole, name, snapshot.WriteOptions{})
}
