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

// FaultKind is what of a store a fault is in.
type FaultKind string

// Kinds of faults, in the order in which they are looked for.
const (
	DatabaseFault FaultKind = "database" // the database cannot be read, or says itself that it is damaged
	RowFault      FaultKind = "row"      // a row refers to one that is not there, or lacks one that belongs to it
	CountFault    FaultKind = "count"    // what is counted is not what there is
	DocumentFault FaultKind = "document" // a document cannot be read, or is not the one of its report
	ContentFault  FaultKind = "content"  // the content of a bundle is not there, or is damaged
)

// Fault is something in a store that is not as it should be.
type Fault struct {
	Kind  FaultKind
	Where string // a table, a report, a group, a bundle
	Why   string
}

// Examined is what an examination of a store found.
type Examined struct {
	Where string // the store, for messages
	// Faults are the first ones of each kind, Found is how many there are.
	Faults []Fault
	Found  int64
	// LeftOver are the first blobs that no bundle needs, and that are older than a day; Left is how many there are, and
	// LeftBytes what they take as they are stored.
	LeftOver  []string
	Left      int64
	LeftBytes int64
	// What was read: rows of all tables, documents, bundles, their contents and what these have unpacked.
	Rows, Documents, Bundles, Contents, Bytes int64
}

// Examination is how a store is examined.
type Examination struct {
	// Most is how many faults of each kind, and how many left-overs, are listed; 0 means 100.
	Most int
	// Progress is called with how many of all documents and contents were read; it may be nil.
	Progress func(done, total int64)
}

// examining is one Examine.
type examining struct {
	*Store
	blobs  blobs.Store
	o      Examination
	done   *Examined
	listed map[FaultKind]int
	// read and total are documents and contents.
	read, total int64
}

// Examine reads all of the store at a place, and says what in it is not as it should be: what the database says of itself,
// rows, what is counted, documents, the contents of bundles, and blobs that are left over. openBlobs opens where the contents are.
//
// Nothing is changed but an older schema, which is brought up to date as Open does. Others may work with the store meanwhile:
// what is compared is read at one moment, and a content that was not what it should be is looked at again by the row of its
// bundle. A database that is not one is a fault; an error is what kept the examination from being made.
func Examine(ctx context.Context, where string, o Options, openBlobs func() (blobs.Store, error), e Examination) (*Examined, error) {
	x := &examining{o: e, done: &Examined{Where: where}, listed: map[FaultKind]int{}}
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
	x.Store, x.done.Where = s, s.where
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

// fault notes a fault.
func (x *examining) fault(kind FaultKind, where, why string, args ...any) {
	x.done.Found++
	if x.listed[kind] < x.o.Most {
		x.done.Faults = append(x.done.Faults, Fault{kind, where, fmt.Sprintf(why, args...)})
	}
	x.listed[kind]++
}

// tried makes an error a fault if the database is to blame for it.
func (x *examining) tried(where string, err error) error {
	if !isDamage(err) {
		return err
	}
	x.fault(DatabaseFault, where, "%s", reason(err))
	return nil
}

// step says that a document or a content was read.
func (x *examining) step() {
	if x.read++; x.o.Progress != nil {
		x.o.Progress(x.read, max(x.read, x.total))
	}
}

// count says how much there is to be read.
func (x *examining) count(ctx context.Context) error {
	return x.tried("documents and bundles", x.row(ctx, "examine.total", nil, &x.total))
}

// atOnce is how many bundles or documents are asked for at a time: what is held, and for how long an old state of the
// database is.
const atOnce = 200

// contents reads what is kept of all bundles.
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

// content reads what is kept of a bundle. Where it is not what it should be the bundle may have another content by now, or none.
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

// readBlob reads a blob to its end, and says how long its content is, or why it is not what it should be.
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
	return 0, "", err // of a bucket that does not answer, for one
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

// unreadable is an error of values that are not what their columns hold.
type unreadable struct{ err error }

func (u *unreadable) Error() string { return u.err.Error() }

// scanned has what cannot be scanned be unreadable.
func scanned(scan func(...any) error) func(...any) error {
	return func(dest ...any) error {
		if err := scan(dest...); err != nil {
			return &unreadable{err}
		}
		return nil
	}
}

// isDamage reports whether an error says that the database is damaged, and not that it cannot be reached.
func isDamage(err error) bool { return reason(err) != "" }

// reason is what a damaged database says, without where it was met; "" for any other error. Statements are right for a schema
// that is whole, so that one which names what is not there says so as well.
func reason(err error) string {
	var u *unreadable
	if errors.As(err, &u) {
		return u.Error()
	}
	var code interface { // of PostgreSQL
		error
		SQLState() string
	}
	if errors.As(err, &code) {
		state := code.SQLState()
		if slices.Contains([]string{"58030", "42P01", "42703"}, state) || strings.HasPrefix(state, "XX") || strings.HasPrefix(state, "22") { // input and output, no table, no column; internal, values
			return code.Error()
		}
	}
	var lite interface { // of SQLite
		error
		Code() int
	}
	if errors.As(err, &lite) && slices.Contains([]int{1, 10, 11, 26}, lite.Code()&0xff) { // an error, input and output, corrupt, not a database
		return lite.Error()
	}
	return ""
}

// moment runs f in a transaction that reads, and sees one moment of the database.
func (s *Store) moment(ctx context.Context, f func(*Tx) error) error {
	var options *sql.TxOptions
	if s.kind == Postgres { // SQLite shows a transaction one moment in any case
		options = &sql.TxOptions{Isolation: sql.LevelRepeatableRead, ReadOnly: true}
	}
	t, err := s.read.BeginTx(ctx, options)
	if err != nil {
		return fmt.Errorf("%s: %w", s.where, err)
	}
	defer t.Rollback()
	return f(s.In(t))
}
