package desk

import (
	"archive/tar"
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"io/fs"
	"slices"

	"github.com/klauspost/compress/zstd"

	"github.com/desynctool/desynctool/desk/blobs"
	"github.com/desynctool/desynctool/internal/file/files"
)

// An export is a tar archive in one zstd frame: docs/formats/desk-export.md.
const (
	exportFormat  = "desynctool desk"
	exportVersion = 1

	manifestName = "manifest.json"
	sumsName     = "sums.json"
	tablesDir    = "tables/"
	linesSuffix  = ".ndjson"
	blobsDir     = "blobs/"
)

// manifest is the first file of an export.
type manifest struct {
	Format  string  `json:"format"`
	Version int     `json:"version"`
	Schema  int     `json:"schema"` // number of the last migration
	Tables  []table `json:"tables"` // in the order in which they can be filled
}

// sums is the last file of an export.
type sums struct {
	Entries []entrySum `json:"entries"` // all files before it, in order
	// Missing are the hashes of contents that were missing or damaged in the store, in order.
	Missing []string `json:"missing"`
}

type entrySum struct {
	Name   string `json:"name"`
	Bytes  int64  `json:"bytes"`
	SHA256 string `json:"sha256"`
}

// Exported describes the content of an export.
type Exported struct {
	Reports int64 `json:"reports"`
	Bundles int64 `json:"bundles"` // rows
	Blobs   int64 `json:"blobs"`   // contents of bundles
	Bytes   int64 `json:"bytes"`   // their unpacked bytes
	// Missing are the hashes of blobs that bundles should have, but that are missing or damaged, in order.
	Missing []string `json:"missing"`
}

// Export writes the content of a store: all tables at one moment, and the content of the bundles. Equal stores give
// equal bytes, in any database. Secrets of tokens and webhooks are in the export in the form in which the store has
// them.
func Export(ctx context.Context, s *Store, b blobs.Store, w io.Writer) (*Exported, error) {
	out, err := zstd.NewWriter(w, zstd.WithEncoderConcurrency(1), zstd.WithWindowSize(1<<20))
	if err != nil {
		return nil, err
	}
	defer out.Close()
	e := &exporting{tar: tar.NewWriter(out), done: &Exported{Missing: []string{}}, sums: sums{Entries: []entrySum{}}}
	kept, err := e.rows(ctx, s)
	if err != nil {
		return nil, err
	}
	for _, hash := range kept {
		if err := e.blob(ctx, b, hash); err != nil {
			return nil, err
		}
	}
	e.sums.Missing = e.done.Missing
	text, err := plainJSON(e.sums)
	if err != nil {
		return nil, err
	}
	if err := e.text(sumsName, text); err != nil {
		return nil, err
	}
	if err := e.tar.Close(); err != nil {
		return nil, err
	}
	return e.done, out.Close()
}

// exporting is the state of one Export.
type exporting struct {
	tar  *tar.Writer
	done *Exported
	sums sums
}

// rows writes the manifest and all tables in one transaction. It returns the blobs that bundles need, in order.
func (e *exporting) rows(ctx context.Context, s *Store) (kept []string, err error) {
	var options *sql.TxOptions
	if s.kind == Postgres { // in SQLite, every transaction sees one moment
		options = &sql.TxOptions{Isolation: sql.LevelRepeatableRead, ReadOnly: true}
	}
	tx, err := s.read.BeginTx(ctx, options)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", s.where, err)
	}
	defer tx.Rollback()
	list, err := migrations()
	if err != nil {
		return nil, err
	}
	m := manifest{Format: exportFormat, Version: exportVersion, Schema: len(list)}
	if m.Tables, err = tables(ctx, tx, m.Schema); err != nil {
		return nil, err
	}
	text, err := plainJSON(m)
	if err != nil {
		return nil, err
	}
	if err := e.text(manifestName, text); err != nil {
		return nil, err
	}
	for i := range m.Tables {
		n, err := e.table(ctx, s.kind, tx, &m.Tables[i])
		if err != nil {
			return nil, fmt.Errorf("%s: table %s: %w", s.where, m.Tables[i].Name, err)
		}
		switch m.Tables[i].Name {
		case "bundles":
			e.done.Bundles = n
		case "reports":
			e.done.Reports = n
		}
	}
	rows, err := tx.QueryContext(ctx, statement("export.kept"))
	if err != nil {
		return nil, err
	}
	kept, err = columnOf[string](rows, "export.kept")
	slices.Sort(kept)
	return kept, err
}

// table writes the rows of a table. Their size must be known first, so they wait in a file.
func (e *exporting) table(ctx context.Context, k Kind, tx *sql.Tx, t *table) (n int64, err error) {
	rows, err := tx.QueryContext(ctx, t.query(k))
	if err != nil {
		return 0, err
	}
	err = e.spooled(tablesDir+t.Name+linesSuffix, func(w io.Writer) error {
		return eachOf(rows, t.Name, func(scan func(...any) error) error {
			line, err := t.row(scan)
			if err != nil {
				return err
			}
			n++
			_, err = w.Write(line)
			return err
		})
	})
	return n, err
}

// blob writes the content of a bundle, if it exists and is intact.
func (e *exporting) blob(ctx context.Context, b blobs.Store, hash string) error {
	in, err := b.Open(ctx, hash)
	if err == nil {
		defer in.Close()
		err = e.spooled(blobsDir+hash, func(w io.Writer) error {
			n, err := io.Copy(w, in)
			if err == nil {
				e.done.Blobs++
				e.done.Bytes += n
			}
			return err
		})
	}
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, blobs.ErrDamaged) {
		e.done.Missing = append(e.done.Missing, hash)
		return nil
	}
	return err
}

// spooled writes a file with a size that is known only at the end. If write fails, the archive contains nothing of it.
func (e *exporting) spooled(name string, write func(io.Writer) error) error {
	f, err := files.Temporary()
	if err != nil {
		return err
	}
	defer f.Close()
	sum := &summing{w: f, hash: sha256.New()}
	if err := write(sum); err != nil {
		return err
	}
	if _, err := f.Seek(0, io.SeekStart); err != nil {
		return err
	}
	return e.entry(name, f, sum)
}

// text writes a file from memory.
func (e *exporting) text(name string, text []byte) error {
	return e.spooled(name, func(w io.Writer) error {
		_, err := w.Write(text)
		return err
	})
}

func (e *exporting) entry(name string, r io.Reader, sum *summing) error {
	if err := e.tar.WriteHeader(&tar.Header{Typeflag: tar.TypeReg, Name: name, Size: sum.n, Mode: 0o600}); err != nil {
		return err
	}
	if _, err := io.Copy(e.tar, r); err != nil {
		return err
	}
	e.sums.Entries = append(e.sums.Entries, entrySum{name, sum.n, hex.EncodeToString(sum.hash.Sum(nil))})
	return nil
}

// summing hashes and counts the bytes written.
type summing struct {
	w    io.Writer
	hash hash.Hash
	n    int64
}

func (s *summing) Write(b []byte) (int, error) {
	n, err := s.w.Write(b)
	s.hash.Write(b[:n])
	s.n += int64(n)
	return n, err
}
