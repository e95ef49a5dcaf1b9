// Package intake takes bundles into a desk: from a path to a blob, from a blob to readings.
//
// Storage comes first. The bundle is on stable storage before the desk has a row for it, and the row exists before the
// triage. The new reports replace the previous ones. Each of these steps may be repeated with the same result, so
// interrupted work is simply done again.
package intake

import (
	"archive/tar"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/desynctool/desynctool/desk"
	"github.com/desynctool/desynctool/desk/blobs"
	"github.com/desynctool/desynctool/internal/file/files"
	"github.com/desynctool/desynctool/internal/file/limits"
	"github.com/desynctool/desynctool/internal/prose"
	"github.com/desynctool/desynctool/report/document"
	"github.com/desynctool/desynctool/report/isolate"
)

// Reader triages the file or folder at a path. It returns at least one report, one for each match. An error is about
// this machine, not about the bundle.
type Reader interface {
	Read(ctx context.Context, path, name string) ([]*document.Report, error)
}

// Copier is a Reader that makes reports without the names of players, and copies of the evidence that it reads.
type Copier interface {
	Reader
	// ReadCopy is Read, and also writes the evidence to out without names. copied reports whether it did. left lists
	// where names may remain in the copy, one a line, or why there is no copy.
	ReadCopy(ctx context.Context, path, name string, out io.Writer) (list []*document.Report, copied bool, left []string, err error)
}

// Intake takes bundles into a store. Its methods are safe for concurrent use.
type Intake struct {
	Store  *desk.Store
	Blobs  blobs.Store
	Reader Reader
	// Without, if not nil, is used instead of Reader, and omits the names of players. Its copy of a bundle is then
	// stored.
	Without Copier
	// Tool is the version of the program that triages.
	Tool string
	// Wall is the maximum time for the triage of a bundle. 0 means no limit.
	Wall time.Duration
	// Source is the receiver of bundles in receipts.
	Source string
}

// AsideError explains why a bundle cannot be triaged. Retrying it unchanged is useless.
type AsideError struct{ Why string }

func (e *AsideError) Error() string { return e.Why }

// Kept is a bundle on stable storage, unless its Kept is empty, with a readable copy.
type Kept struct {
	Bundle desk.Bundle
	File   string
	// Left lists what the copy does not contain, with reasons, one a line.
	Left   []string
	remove func() error
}

// Close removes the copy.
func (k *Kept) Close() error { return k.remove() }

// Keep puts a bundle on stable storage. A folder is stored as a tar archive.
func (x *Intake) Keep(ctx context.Context, s Source) (*Kept, error) {
	k, err := spool(s, io.Discard)
	if err != nil {
		return nil, err
	}
	if err := x.store(ctx, s.Name, k); err != nil {
		return nil, errors.Join(err, k.Close())
	}
	return k, nil
}

// summed makes a readable copy of a bundle and describes it. It does not store the bundle.
func summed(s Source) (*Kept, error) {
	sum := sha256.New()
	k, err := spool(s, sum)
	if err != nil {
		return nil, err
	}
	stat, err := os.Stat(k.File)
	if err == nil && limits.File.Over(stat.Size()) {
		err = fmt.Errorf("%s: more than %d bytes: %w", s.Name, limits.File.Max(), blobs.ErrTooLarge)
	}
	if err != nil {
		return nil, errors.Join(err, k.Close())
	}
	k.Bundle.Hash, k.Bundle.Bytes = hex.EncodeToString(sum.Sum(nil)), stat.Size()
	return k, nil
}

// spool makes a readable copy of a bundle, and also writes it to another writer.
func spool(s Source, also io.Writer) (*Kept, error) {
	dir, remove, err := files.TemporaryFolder("")
	if err != nil {
		return nil, err
	}
	k := &Kept{File: filepath.Join(dir, blobs.PackedName(s.Name, s.Folder)), remove: remove}
	k.Bundle.Name = filepath.Base(k.File)
	f, err := os.OpenFile(k.File, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err == nil {
		to := io.MultiWriter(f, also)
		if s.Content != nil {
			err = copyAll(to, s)
		} else {
			k.Left, err = blobs.Pack(s.Path, to)
		}
		err = errors.Join(err, f.Close())
	}
	if err != nil {
		return nil, errors.Join(err, remove())
	}
	return k, nil
}

// store puts the copied content on stable storage.
func (x *Intake) store(ctx context.Context, name string, k *Kept) error {
	f, err := os.Open(k.File)
	if err != nil {
		return err
	}
	defer f.Close()
	kept, err := x.Blobs.Put(ctx, f, 0)
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	k.Bundle.Hash, k.Bundle.Bytes, k.Bundle.Kept, k.Bundle.KeptBytes = kept.Hash, kept.Bytes, kept.Hash, kept.Stored
	return nil
}

// copyAll copies content that does not come from the disk.
func copyAll(w io.Writer, s Source) error {
	n, err := io.Copy(w, io.LimitReader(s.Content, limits.File.Max()+1))
	if err == nil && limits.File.Over(n) {
		err = limits.File.Reached(s.Name, n)
	}
	return err
}

// afterWall is how long a triage may take to end after it was stopped.
const afterWall = 5 * time.Second

var errWall = errors.New("the time of the triage is over")

// Triaged is the result of triaging a bundle.
type Triaged struct {
	Readings []desk.Reading
	// Copy is the blob that replaces the received content: a copy without the names of players. If it is nil, the
	// received content stays.
	Copy *blobs.Kept
	// Names lists places where names of players may remain, one a line.
	Names []string

	paths []string // elements of the paths in the copy: the reports may call players otherwise than their folders
}

// Write writes the result and replaces the previous result.
func (t *Triaged) Write(ctx context.Context, tx *desk.Tx, bundle int64, tool string) ([]desk.Change, error) {
	changes, err := tx.Put(ctx, bundle, tool, t.Readings)
	if err == nil {
		err = tx.HideNames(ctx, bundle, t.paths)
	}
	if err == nil && t.Copy != nil {
		err = tx.SetKept(ctx, bundle, t.Copy.Hash, t.Copy.Stored)
	}
	return changes, err
}

// Replaced deletes the received content of a bundle after a copy was written. If the program ends before that, the
// content belongs to no bundle, and desk prune deletes it.
func (x *Intake) Replaced(ctx context.Context, b *desk.Bundle, t *Triaged) error {
	if t.Copy == nil || t.Copy.Hash == b.Kept {
		return nil
	}
	return x.Blobs.Delete(ctx, b.Kept)
}

// Triage reads a file. copied means that it already is a copy without names. The error is an AsideError if it is about
// the bundle, otherwise it is about this machine.
func (x *Intake) Triage(ctx context.Context, file, name string, copied bool) (*Triaged, error) {
	wall := make(<-chan time.Time)
	reading := ctx
	if x.Wall > 0 {
		var end context.CancelFunc
		reading, end = context.WithTimeoutCause(ctx, x.Wall, errWall)
		defer end()
		wall = time.After(x.Wall + afterWall)
	}
	type result struct {
		*Triaged
		err error
	}
	done := make(chan result, 1)
	go func() {
		t, err := x.read(reading, file, name, copied)
		done <- result{t, err}
	}()
	select {
	case r := <-done:
		if r.err != nil && ctx.Err() == nil && errors.Is(context.Cause(reading), errWall) {
			return nil, &AsideError{fmt.Sprintf("its triage took longer than %s", x.Wall)}
		}
		if died := (*isolate.DiedError)(nil); errors.As(r.err, &died) && ctx.Err() == nil {
			return nil, &AsideError{died.Error()}
		}
		if r.err != nil {
			return nil, r.err
		}
		return r.Triaged, nil
	case <-wall:
		return nil, &AsideError{fmt.Sprintf("its triage took longer than %s, and did not end on request", x.Wall)}
	}
}

// read triages a file, and makes a copy without the names of players.
func (x *Intake) read(ctx context.Context, file, name string, copied bool) (*Triaged, error) {
	if x.Without == nil || copied {
		by := x.Reader
		if x.Without != nil {
			by = x.Without
		}
		list, err := by.Read(ctx, file, name)
		return &Triaged{Readings: readings(list)}, err
	}
	f := files.Spool()
	defer f.Close()
	list, written, left, err := x.Without.ReadCopy(ctx, file, name, f)
	if err != nil {
		return nil, err
	}
	t := &Triaged{Readings: readings(list), Names: left}
	if !written {
		return t, nil
	}
	stat, err := f.Stat()
	if err != nil {
		return nil, err
	}
	content := io.NewSectionReader(f, 0, stat.Size())
	t.paths = elements(io.NewSectionReader(f, 0, stat.Size()))
	kept, err := x.Blobs.Put(ctx, content, 0)
	t.Copy = &kept
	return t, err
}

// elements lists the names of folders and files in a tar, each once, as far as it can be read.
func elements(content io.ReadSeeker) []string {
	found := map[string]bool{}
	for r := tar.NewReader(content); ; {
		h, err := r.Next()
		if err != nil {
			return slices.Sorted(maps.Keys(found))
		}
		for e := range strings.SplitSeq(h.Name, "/") {
			found[e] = true
		}
	}
}

func readings(list []*document.Report) (all []desk.Reading) {
	for _, r := range list {
		complete, _ := r.Completeness()
		all = append(all, desk.Reading{Report: r, Complete: complete})
	}
	return all
}

// Stored triages a stored bundle. It returns the same errors as Triage.
func (x *Intake) Stored(ctx context.Context, b *desk.Bundle) (*Triaged, error) {
	if b.Kept == "" {
		return nil, &AsideError{"its content is not kept any more"}
	}
	file, remove, err := blobs.ToFile(ctx, x.Blobs, b.Kept, b.Name, "")
	if errors.Is(err, fs.ErrNotExist) { // another program may have replaced it by a copy
		now, nowErr := x.Store.BundleByID(ctx, b.ID)
		if nowErr != nil && !errors.Is(nowErr, fs.ErrNotExist) {
			return nil, nowErr
		}
		if nowErr == nil && now.Kept != "" && now.Kept != b.Kept {
			b = now
			file, remove, err = blobs.ToFile(ctx, x.Blobs, b.Kept, b.Name, "")
		}
	}
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, &AsideError{"its content is not there: " + prose.OneLine(err.Error())}
	case errors.Is(err, blobs.ErrDamaged):
		return nil, &AsideError{prose.OneLine(err.Error())}
	case err != nil:
		return nil, err
	}
	t, err := x.Triage(ctx, file, b.Name, b.Kept != b.Hash)
	return t, errors.Join(err, remove())
}

// Put writes the result for a waiting bundle. If the bundle no longer waits, it writes nothing and written is false.
func (x *Intake) Put(ctx context.Context, b *desk.Bundle, t *Triaged) (changes []desk.Change, written bool, err error) {
	err = x.Store.Write(ctx, func(tx *desk.Tx) error {
		if written, err = tx.Claim(ctx, b.ID); err != nil || !written {
			return err
		}
		changes, err = t.Write(ctx, tx, b.ID, x.Tool)
		return err
	})
	if err == nil && written {
		err = x.Replaced(ctx, b, t)
	}
	return changes, written && err == nil, err
}

// SetAside records that a waiting bundle is not to be retried, with the reason.
func (x *Intake) SetAside(ctx context.Context, bundle int64, why string) error {
	return x.Store.Write(ctx, func(tx *desk.Tx) error {
		if waits, err := tx.Claim(ctx, bundle); err != nil || !waits {
			return err
		}
		return tx.SetAside(ctx, bundle, why)
	})
}
