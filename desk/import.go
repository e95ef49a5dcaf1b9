package desk

import (
	"archive/tar"
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/klauspost/compress/zstd"

	"github.com/desynctool/desynctool/desk/blobs"
	"github.com/desynctool/desynctool/internal/lazyregexp"
)

// Limits of an export. Contents of bundles may be as large as when they were received.
const (
	maxExportText   = 64 << 20 // of the manifest and the sums
	maxExportLine   = maxDocument + 1<<20
	maxExportWindow = 64 << 20 // of zstd
)

// ErrExport reports that a file is not a complete export.
var ErrExport = errors.New("not a whole export of a desk")

// NotEmptyError reports that the store for an import is not empty.
type NotEmptyError struct {
	Where string
	Table string
}

func (e *NotEmptyError) Error() string {
	return fmt.Sprintf("%s: the store has %s already; an export is brought into an empty one", e.Where, e.Table)
}

// Import imports an export into an empty store, which is created if needed. openBlobs opens the store of its bundles.
// The whole file is checked before the store is created or changed, and all rows are written in one transaction.
// Nothing of a truncated or modified export becomes visible; the error is then ErrExport.
//
// An export of an older program is read with its own schema, which is updated afterwards.
func Import(ctx context.Context, where string, o Options, openBlobs func() (blobs.Store, error), file string) (*Exported, error) {
	m, _, err := walkExport(ctx, file, nil, nil)
	if err != nil {
		return nil, err
	}
	list, err := migrations()
	if err != nil {
		return nil, err
	}
	if m.Schema > len(list) {
		return nil, &NewerError{file, m.Schema, len(list)}
	}
	o.Create, o.schema = true, m.Schema
	s, err := Open(ctx, where, o)
	if err != nil {
		return nil, err
	}
	defer s.Close()
	b, err := openBlobs()
	if err != nil {
		return nil, err
	}
	var done *Exported
	var added []string
	err = s.Write(ctx, func(tx *Tx) (err error) {
		done, err = tx.bringIn(ctx, file, b, &added)
		return err
	})
	if err != nil {
		for _, hash := range added {
			err = errors.Join(err, b.Delete(ctx, hash))
		}
		return nil, err
	}
	if err := s.Close(); err != nil {
		return nil, err
	}
	o.schema = 0 // update it
	if s, err = Open(ctx, where, o); err != nil {
		return nil, err
	}
	return done, s.Close()
}

// bringIn writes the content of an export. added collects the blobs that did not exist before.
func (tx *Tx) bringIn(ctx context.Context, file string, b blobs.Store, added *[]string) (*Exported, error) {
	has, err := tx.schema(ctx)
	if err != nil {
		return nil, err
	}
	own, err := tables(ctx, tx.Tx, has)
	if err != nil {
		return nil, err
	}
	for _, t := range own {
		var n int64
		if err := tx.QueryRowContext(ctx, "SELECT count(*) FROM (SELECT 1 FROM "+t.Name+" LIMIT 1) x").Scan(&n); err != nil {
			return nil, err
		}
		if n > 0 {
			return nil, &NotEmptyError{tx.store.where, t.Name}
		}
	}
	done := &Exported{}
	need := map[string]bool{} // blobs of bundles that have not occurred yet
	rows := func(m *manifest, t *table, in io.Reader) error {
		if m.Schema != has {
			return fmt.Errorf("%s: the store has version %d of the schema, the export %d; bring it into a store that is not there yet", tx.store.where, has, m.Schema)
		}
		i := slices.IndexFunc(own, func(o table) bool { return o.Name == t.Name })
		if i < 0 || !slices.Equal(own[i].Columns, t.Columns) {
			return fmt.Errorf("%s: %w: the table %s is not the one of schema %d", file, ErrExport, t.Name, has)
		}
		n, err := tx.fill(ctx, &own[i], in, need)
		switch {
		case err != nil:
			return fmt.Errorf("%s: table %s, line %d: %w", file, t.Name, n+1, err)
		case t.Name == "bundles":
			done.Bundles = n
		case t.Name == "reports":
			done.Reports = n
		}
		return nil
	}
	content := func(hash string, size int64, in io.Reader) error {
		if !need[hash] {
			return fmt.Errorf("%s: %w: no bundle needs the content %s", file, ErrExport, hash)
		}
		delete(need, hash)
		k, err := b.Put(ctx, in, max(size, 1))
		if k.New {
			*added = append(*added, k.Hash)
		}
		done.Blobs++
		done.Bytes += k.Bytes
		return err
	}
	_, end, err := walkExport(ctx, file, rows, content)
	if err != nil {
		return nil, err
	}
	done.Missing = end.Missing
	for _, hash := range end.Missing {
		delete(need, hash)
	}
	for hash := range need {
		return nil, fmt.Errorf("%s: %w: the content %s of a bundle is neither there nor said to be missing", file, ErrExport, hash)
	}
	return done, tx.continueIDs(ctx, own)
}

// schema returns the version of the store's schema.
func (tx *Tx) schema(ctx context.Context) (has int, err error) {
	err = tx.QueryRowContext(ctx, `SELECT coalesce(max(version), 0) FROM desk_versions`).Scan(&has)
	return has, err
}

// fill writes the rows of a table, and returns their number. It records the blobs that bundles need.
func (tx *Tx) fill(ctx context.Context, t *table, in io.Reader, need map[string]bool) (n int64, err error) {
	insert, err := tx.PrepareContext(ctx, t.insert())
	if err != nil {
		return 0, err
	}
	defer insert.Close()
	keptAt, hashAt := -1, -1
	if t.Name == "bundles" {
		keptAt = slices.IndexFunc(t.Columns, func(c column) bool { return c.Name == "kept" })
		hashAt = slices.IndexFunc(t.Columns, func(c column) bool { return c.Name == "hash" })
	}
	lines := bufio.NewReaderSize(in, 64<<10)
	for {
		line, err := readLine(lines)
		if err == io.EOF {
			return n, nil
		}
		if err != nil {
			return n, err
		}
		values, err := t.values(line)
		if err != nil {
			return n, fmt.Errorf("%w: %w", ErrExport, err)
		}
		if _, err := insert.ExecContext(ctx, values...); refused(err) {
			return n, fmt.Errorf("%w: %w", ErrExport, err)
		} else if err != nil {
			return n, err
		}
		if keptAt >= 0 {
			kept, _ := values[keptAt].(string)
			if kept == keptByHash {
				kept, _ = values[hashAt].(string)
			}
			if kept != "" {
				need[kept] = true
			}
		}
		n++
	}
}

// refused reports whether an error means that a row is not valid: a duplicate, or a reference to a missing row.
func refused(err error) bool {
	var code interface{ SQLState() string } // PostgreSQL: wrong values, violated constraints
	if errors.As(err, &code) {
		return strings.HasPrefix(code.SQLState(), "22") || strings.HasPrefix(code.SQLState(), "23")
	}
	var lite interface{ Code() int } // SQLite: a constraint
	return errors.As(err, &lite) && lite.Code()&0xff == 19
}

// readLine returns a line without its line feed; io.EOF after the last one.
func readLine(r *bufio.Reader) ([]byte, error) {
	var line []byte
	for {
		part, err := r.ReadSlice('\n')
		if len(line)+len(part) > maxExportLine {
			return nil, fmt.Errorf("%w: a line of more than %d bytes", ErrExport, maxExportLine)
		}
		line = append(line, part...)
		switch {
		case err == nil:
			return line[:len(line)-1], nil
		case err == io.EOF && len(line) > 0:
			return nil, fmt.Errorf("%w: the last line has no end", ErrExport)
		case err != bufio.ErrBufferFull:
			return nil, err
		}
	}
}

// continueIDs makes PostgreSQL number new rows after the imported ones, as SQLite does.
func (tx *Tx) continueIDs(ctx context.Context, list []table) error {
	if tx.store.kind != Postgres {
		return nil
	}
	for _, t := range list {
		if t.Columns[0].Name != "id" || t.Columns[0].Type != integerColumn {
			continue
		}
		if _, err := tx.ExecContext(ctx, fmt.Sprintf("SELECT setval(pg_get_serial_sequence('%s', 'id'), coalesce((SELECT max(id) FROM %s), 0) + 1, false)", t.Name, t.Name)); err != nil {
			return fmt.Errorf("%s: %w", t.Name, err)
		}
	}
	return nil
}

var (
	nameForm = lazyregexp.New(`^[a-z_][a-z0-9_]{0,62}$`)
	hashForm = lazyregexp.New(`^[0-9a-f]{64}$`)
)

// walkExport reads an export from start to end, and passes its parts to rows and content, unless they are nil. It
// returns nil only for a complete file: the sums match the data, and nothing follows.
func walkExport(ctx context.Context, file string, rows func(*manifest, *table, io.Reader) error, content func(hash string, size int64, in io.Reader) error) (*manifest, *sums, error) {
	f, err := os.Open(file)
	if err != nil {
		return nil, nil, err
	}
	defer f.Close()
	w := &exportWalk{ctx: ctx, file: file, rows: rows, content: content}
	if err := w.read(f); err != nil {
		return nil, nil, err
	}
	return &w.manifest, &w.end, nil
}

type exportWalk struct {
	ctx      context.Context
	file     string
	rows     func(*manifest, *table, io.Reader) error
	content  func(hash string, size int64, in io.Reader) error
	manifest manifest
	tables   int // tables read so far
	last     string
	seen     []entrySum
	end      sums
	ended    bool
}

// bad returns an error about the file itself.
func (w *exportWalk) bad(format string, args ...any) error {
	return fmt.Errorf("%s: %w: %w", w.file, ErrExport, fmt.Errorf(format, args...))
}

func (w *exportWalk) read(f io.Reader) error {
	unpacked, err := zstd.NewReader(bufio.NewReaderSize(f, 256<<10), zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxWindow(maxExportWindow))
	if err != nil {
		return w.bad("%w", err)
	}
	defer unpacked.Close()
	source := &watched{ctx: w.ctx, r: unpacked}
	in := tar.NewReader(source)
	for {
		h, err := in.Next()
		if err == io.EOF {
			break
		}
		if err == nil {
			err = w.entry(h, in)
		} else {
			err = w.bad("after %d files: %w", len(w.seen), err)
		}
		if source.err != nil { // an entry would treat it as the end
			return w.broken(source.err)
		}
		if err != nil {
			return err
		}
	}
	if !w.ended {
		return w.bad("it ends without %s", sumsName)
	}
	rest, err := io.Copy(io.Discard, source) // to the end of the frame, with its checksum
	if err != nil {
		return w.broken(err)
	}
	if rest > 1<<20 {
		return w.bad("%d bytes after its end", rest)
	}
	return nil
}

func (w *exportWalk) broken(err error) error {
	if w.ctx.Err() != nil {
		return context.Cause(w.ctx)
	}
	if errors.Is(err, io.EOF) {
		err = io.ErrUnexpectedEOF
	}
	return w.bad("after %d files: %w", len(w.seen), err)
}

// watched remembers an error, and ends when a context ends.
type watched struct {
	ctx context.Context
	r   io.Reader
	err error
}

func (s *watched) Read(p []byte) (int, error) {
	if s.ctx.Err() != nil {
		s.err = context.Cause(s.ctx)
		return 0, s.err
	}
	n, err := s.r.Read(p)
	if err != nil && err != io.EOF {
		s.err = err
	}
	return n, err
}

// entry reads one file of the archive.
func (w *exportWalk) entry(h *tar.Header, in io.Reader) error {
	if w.ended {
		return w.bad("%.80q comes after %s", h.Name, sumsName)
	}
	if h.Typeflag != tar.TypeReg {
		return w.bad("%.80q is not a regular file", h.Name)
	}
	sum := &summing{w: io.Discard, hash: sha256.New()}
	body := io.TeeReader(in, sum)
	if err := w.part(h, body); err != nil {
		return err
	}
	if _, err := io.Copy(io.Discard, body); err != nil {
		return w.bad("%s: %w", h.Name, err)
	}
	got := entrySum{h.Name, sum.n, hex.EncodeToString(sum.hash.Sum(nil))}
	if hash, ok := strings.CutPrefix(h.Name, blobsDir); ok && got.SHA256 != hash {
		return w.bad("%s has the SHA-256 %s", h.Name, got.SHA256)
	}
	if !w.ended {
		w.seen = append(w.seen, got)
	}
	return nil
}

func (w *exportWalk) part(h *tar.Header, body io.Reader) error {
	hash, isBlob := strings.CutPrefix(h.Name, blobsDir)
	switch {
	case len(w.seen) == 0:
		if h.Name != manifestName {
			return w.bad("it begins with %.80q, expected %s", h.Name, manifestName)
		}
		return w.begin(body)
	case w.tables < len(w.manifest.Tables):
		t := &w.manifest.Tables[w.tables]
		if want := tablesDir + t.Name + linesSuffix; h.Name != want {
			return w.bad("%.80q, expected %s", h.Name, want)
		}
		w.tables++
		if w.rows != nil {
			return w.rows(&w.manifest, t, body)
		}
		return nil
	case h.Name == sumsName:
		return w.finish(body)
	case !isBlob || !hashForm.MatchString(hash) || hash <= w.last:
		return w.bad("%.80q, expected %s and a SHA-256 that follows %q, or %s", h.Name, blobsDir, w.last, sumsName)
	}
	w.last = hash
	if w.content != nil {
		return w.content(hash, h.Size, body)
	}
	return nil
}

func (w *exportWalk) begin(body io.Reader) error {
	if err := w.text(body, manifestName, &w.manifest); err != nil {
		return err
	}
	m := &w.manifest
	switch {
	case m.Format != exportFormat:
		return w.bad("its format is %.80q, expected %q", m.Format, exportFormat)
	case m.Version != exportVersion:
		return w.bad("its version is %d, expected %d", m.Version, exportVersion)
	case m.Schema < 1 || len(m.Tables) == 0:
		return w.bad("it has %d tables of schema %d", len(m.Tables), m.Schema)
	}
	for _, t := range m.Tables {
		if !nameForm.MatchString(t.Name) || len(t.Columns) == 0 {
			return w.bad("a table is called %.80q and has %d columns", t.Name, len(t.Columns))
		}
	}
	return nil
}

func (w *exportWalk) finish(body io.Reader) error {
	if err := w.text(body, sumsName, &w.end); err != nil {
		return err
	}
	for i, want := range w.end.Entries {
		if i < len(w.seen) && w.seen[i] != want {
			return w.bad("%s is not what was written: it has %d bytes and the SHA-256 %s, expected %d and %s", w.seen[i].Name, w.seen[i].Bytes, w.seen[i].SHA256, want.Bytes, want.SHA256)
		}
	}
	if len(w.end.Entries) != len(w.seen) {
		return w.bad("it has %d files before %s, expected %d", len(w.seen), sumsName, len(w.end.Entries))
	}
	w.ended = true
	return nil
}

// text reads a JSON file.
func (w *exportWalk) text(body io.Reader, name string, into any) error {
	text, err := io.ReadAll(io.LimitReader(body, maxExportText+1))
	if err != nil {
		return w.bad("%s: %w", name, err)
	}
	if len(text) > maxExportText {
		return w.bad("%s has more than %d bytes", name, maxExportText)
	}
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	if err := d.Decode(into); err != nil {
		return w.bad("%s: %w", name, err)
	}
	return nil
}
