package desk

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"
	"strings"

	"github.com/desynctool/desynctool/desk/blobs"
	"github.com/desynctool/desynctool/internal/file/limits"
)

// FaultKind is the part of a store that has a fault.
type FaultKind string

// Kinds of faults, in the order of the checks.
const (
	DatabaseFault FaultKind = "database" // the database cannot be read, or itself reports damage
	RowFault      FaultKind = "row"      // a row refers to a missing row, or lacks one that belongs to it
	CountFault    FaultKind = "count"    // a stored count does not match the rows
	DocumentFault FaultKind = "document" // a document cannot be read, or does not match its report
	ContentFault  FaultKind = "content"  // the content of a bundle is missing or damaged
)

// Fault is a problem in a store.
type Fault struct {
	Kind  FaultKind
	Where string // a table, a report, a group, a bundle
	Why   string
}

// Examined is the result of examining a store.
type Examined struct {
	// Faults are the first faults of each kind. Found counts all.
	Faults []Fault
	Found  int64
	// LeftOver are the first blobs that no bundle needs and that are older than a day. Left is how many there are,
	// LeftBytes their size in the store.
	LeftOver  []string
	Left      int64
	LeftBytes int64
	// The amount that was read: rows of all tables, documents, bundles, their contents, and the unpacked bytes of
	// these.
	Rows, Documents, Bundles, Contents, Bytes int64
	// Audit is the link of the last entry of the audit, empty if none has one: all entries follow from it.
	Audit string
}

// Examination configures how a store is examined.
type Examination struct {
	// Most is how many faults of each kind, and how many left-over blobs, are listed. 0 means 100.
	Most int
	// Progress is called with the number of documents and contents that were read, and the total. It may be nil.
	Progress func(done, total int64)
}

// examining is the state of one Examine.
type examining struct {
	*Store
	blobs  blobs.Store
	o      Examination
	done   *Examined
	listed map[FaultKind]int
	// read and total count documents and contents.
	read, total int64
}

// Examine reads the whole store and reports every fault: in the database's own checks, in rows, counts, documents and
// contents of bundles, and blobs that are left over. openBlobs opens the store of the contents.
//
// It changes nothing, except that it updates an older schema, as Open does. Others may use the store meanwhile: data
// that is compared is read at one moment, and a content with a fault is checked again against the current row of its
// bundle. A file that is not a database is a fault. An error means that the examination was not possible.
func Examine(ctx context.Context, where string, o Options, openBlobs func() (blobs.Store, error), e Examination) (*Examined, error) {
	x := &examining{o: e, done: &Examined{}, listed: map[FaultKind]int{}}
	x.o.Most = cmp.Or(e.Most, 100)
	s, err := Open(ctx, where, o)
	if isDamage(err) {
		x.fault(DatabaseFault, "the database", "it cannot be opened: %s", reason(err))
		return x.done, nil
	}
	if err != nil {
		return nil, err
	}
	defer s.Close()
	x.Store = s
	if x.blobs, err = openBlobs(); err != nil {
		return nil, err
	}
	for _, step := range []func(context.Context) error{x.count, x.database, x.events, x.documents, x.contents, x.leftOver} {
		if err := step(ctx); err != nil {
			return nil, err
		}
	}
	return x.done, nil
}

// fault records a fault.
func (x *examining) fault(kind FaultKind, where, why string, args ...any) {
	x.done.Found++
	if x.listed[kind] < x.o.Most {
		x.done.Faults = append(x.done.Faults, Fault{kind, where, fmt.Sprintf(why, args...)})
	}
	x.listed[kind]++
}

// tried turns an error into a fault if the database caused it.
func (x *examining) tried(where string, err error) error {
	if !isDamage(err) {
		return err
	}
	x.fault(DatabaseFault, where, "%s", reason(err))
	return nil
}

// step reports that a document or a content was read.
func (x *examining) step() {
	if x.read++; x.o.Progress != nil {
		x.o.Progress(x.read, max(x.read, x.total))
	}
}

// count determines how much there is to read.
func (x *examining) count(ctx context.Context) error {
	return x.tried("documents and bundles", x.row(ctx, "examine.total", nil, &x.total))
}

// atOnce is how many bundles or documents are requested at a time. It limits the memory, and how long an old state of
// the database is held.
const atOnce = 200

// contents reads the stored content of all bundles.
func (x *examining) contents(ctx context.Context) error {
	for after := int64(0); ; {
		var list []Bundle
		err := x.each(ctx, "examine.bundles", []any{after, atOnce}, func(scan func(...any) error) error {
			b, err := scanBundle(scanned(scan))
			list = append(list, *b)
			return err
		})
		if err != nil {
			return x.tried("bundles", err)
		}
		for i := range list {
			after = list[i].ID
			x.done.Bundles++
			if err := x.content(ctx, &list[i]); err != nil {
				return err
			}
		}
		if len(list) < atOnce {
			return nil
		}
	}
}

// content reads the stored content of a bundle. If it has a fault, the bundle may meanwhile have another content, or
// none.
func (x *examining) content(ctx context.Context, b *Bundle) error {
	if b.Kept == "" {
		return nil
	}
	defer x.step()
	for {
		content := "its content"
		if b.Kept != b.Hash {
			content += ", " + b.Kept + "," // a copy without names
		}
		n, why, err := readBlob(ctx, x.blobs, b.Kept)
		switch {
		case err != nil:
			return err
		case why == "" && b.Kept == b.Hash && n != b.Bytes:
			x.fault(RowFault, "bundle "+b.Hash, "its row has %d bytes, and it is %d bytes long", b.Bytes, n)
			fallthrough
		case why == "":
			x.done.Contents++
			x.done.Bytes += n
			return nil
		}
		now, err := x.BundleByID(ctx, b.ID)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return x.tried("bundles", err)
		}
		if err != nil || now.Kept == "" {
			return nil // deleted meanwhile
		}
		if now.Kept == b.Kept {
			x.fault(ContentFault, "bundle "+b.Hash, "%s %s", content, why)
			return nil
		}
		b = now
	}
}

// readBlob reads a blob to its end. It returns the length of its content, or the reason why it is not as expected.
func readBlob(ctx context.Context, b blobs.Store, hash string) (n int64, why string, err error) {
	if !hashForm.MatchString(hash) {
		return 0, "is not called by a SHA-256", nil
	}
	in, err := b.Open(ctx, hash)
	if err == nil {
		n, err = io.Copy(io.Discard, in)
		err = errors.Join(err, in.Close())
	}
	var path *fs.PathError
	var long *limits.Error
	switch {
	case err == nil:
		return n, "", nil
	case ctx.Err() != nil:
		return 0, "", context.Cause(ctx)
	case errors.Is(err, fs.ErrNotExist):
		return 0, "is not there", nil
	case errors.Is(err, blobs.ErrDamaged):
		return 0, "is damaged", nil
	case errors.As(err, &path):
		return 0, "cannot be read: " + path.Err.Error(), nil
	case errors.As(err, &long):
		return 0, "is longer than may be read", nil
	}
	return 0, "", err // for example a bucket that does not answer
}

// leftOver finds the blobs that no bundle needs.
func (x *examining) leftOver(ctx context.Context) error {
	return x.tried("bundles", x.unneeded(ctx, x.blobs, func(info blobs.Info) {
		x.done.Left++
		x.done.LeftBytes += info.Stored
		if len(x.done.LeftOver) < x.o.Most {
			x.done.LeftOver = append(x.done.LeftOver, info.Hash)
		}
	}))
}

// unreadable is an error about values that do not fit their columns.
type unreadable struct{ err error }

func (u *unreadable) Error() string { return u.err.Error() }

// scanned makes errors of scan unreadable errors.
func scanned(scan func(...any) error) func(...any) error {
	return func(dest ...any) error {
		if err := scan(dest...); err != nil {
			return &unreadable{err}
		}
		return nil
	}
}

// isDamage reports whether an error means that the database is damaged, not that it is unreachable.
func isDamage(err error) bool { return reason(err) != "" }

// reason returns a damaged database's message, without the place, and "" for any other error. Statements are correct
// for an intact schema, so a missing table or column also means damage.
func reason(err error) string {
	var u *unreadable
	if errors.As(err, &u) {
		return u.Error()
	}
	var code interface { // PostgreSQL
		error
		SQLState() string
	}
	if errors.As(err, &code) {
		state := code.SQLState()
		if slices.Contains([]string{"58030", "42P01", "42703"}, state) || strings.HasPrefix(state, "XX") || strings.HasPrefix(state, "22") { // input and output, no table, no column; internal, values
			return code.Error()
		}
	}
	var lite interface { // SQLite
		error
		Code() int
	}
	if errors.As(err, &lite) && slices.Contains([]int{1, 10, 11, 26}, lite.Code()&0xff) { // an error, input and output, corrupt, not a database
		return lite.Error()
	}
	return ""
}

// moment runs f in a read transaction that sees one moment of the database.
func (s *Store) moment(ctx context.Context, f func(*Tx) error) error {
	var options *sql.TxOptions
	if s.kind == Postgres { // in SQLite, every transaction sees one moment
		options = &sql.TxOptions{Isolation: sql.LevelRepeatableRead, ReadOnly: true}
	}
	t, err := s.read.BeginTx(ctx, options)
	if err != nil {
		return fmt.Errorf("%s: %w", s.where, err)
	}
	defer t.Rollback()
	return f(s.In(t))
}
