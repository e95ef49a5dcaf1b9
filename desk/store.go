package desk

import (
	"cmp"
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/jackc/pgx/v5/stdlib"
	_ "modernc.org/sqlite" // the driver sqlite
)

// DatabaseName is the name of the database file in a store's folder.
const DatabaseName = "desk.sqlite"

// Options configures how a store is opened.
type Options struct {
	// Create creates the store if it does not exist. A PostgreSQL database must exist; its tables are created.
	Create bool
	// Now is the clock of receipts and events, nil for time.Now.
	Now func() time.Time

	// Unsynced lets the system decide when SQLite's files are written to the disk. That is much faster. A loss of power
	// may then damage the store; the end of the process loses nothing. It is for tests, and for stores that can be
	// recreated. It has no effect on PostgreSQL, which has its own setting.
	Unsynced bool

	// Connections is the maximum number of connections to a PostgreSQL server, 0 for [Connections]. The parameter
	// pool_max_conns in its address replaces it. It has no effect on SQLite.
	Connections int

	// schema is the version to which a store is updated, 0 for the last one.
	schema int
}

// Connections is the default maximum number of connections to a PostgreSQL server, and leastConnections the least: a
// worker holds one as long as it runs, and a transaction needs one.
const (
	Connections      = 4
	leastConnections = 2
)

// Store is an open store. Its methods are safe for concurrent use.
type Store struct {
	kind  Kind
	where string // for messages, without a password
	// write is used for transactions that write; for SQLite it has a single connection. read serves everything else.
	write, read *sql.DB
	pool        *pgxpool.Pool // of write, nil for SQLite
	now         func() time.Time
	// fileName is set by NameFiles, nil by default.
	fileName func(name string, known []string) string
}

// MissingError reports that the store does not exist.
type MissingError struct{ Where string }

func (e *MissingError) Error() string {
	return e.Where + ": there is no desk yet; desynctool desk add makes one"
}

// IsURL reports whether a store is given by the address of a database, not by a folder.
func IsURL(where string) bool {
	return strings.HasPrefix(where, "postgres://") || strings.HasPrefix(where, "postgresql://")
}

// Open opens the store in a folder, or in the database at a postgres:// address. An older store is updated. A store of
// a newer program is a NewerError.
func Open(ctx context.Context, where string, o Options) (*Store, error) {
	s := &Store{where: where, now: o.Now}
	if s.now == nil {
		s.now = time.Now
	}
	open := func(dir string, create bool) error { return s.openFolder(dir, create, o.Unsynced) }
	if IsURL(where) {
		open = func(address string, _ bool) error { return s.openPostgres(ctx, address, o.Connections) }
	}
	if err := open(where, o.Create); err != nil {
		return nil, err
	}
	if err := s.migrate(ctx, o.Create, o.schema); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return s, nil
}

// openFolder opens the SQLite database in a folder. It uses WAL mode, so readers do not wait for the writer. Unless
// unsynced is set, commits survive a loss of power. Data that is deleted or replaced, such as names of players, is overwritten.
func (s *Store) openFolder(dir string, create, unsynced bool) error {
	s.kind = SQLite
	file := filepath.Join(dir, DatabaseName)
	switch _, err := os.Stat(file); {
	case errors.Is(err, fs.ErrNotExist) && !create:
		return &MissingError{dir}
	case errors.Is(err, fs.ErrNotExist):
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return err
		}
	case err != nil:
		return err
	}
	if err := private(dir, file); err != nil {
		return err
	}
	sync := "FULL"
	if unsynced {
		sync = "OFF"
	}
	address := func(more string) string {
		path := (&url.URL{Path: filepath.ToSlash(file)}).EscapedPath()
		return "file:" + path + "?_pragma=busy_timeout(20000)&_pragma=journal_mode(WAL)&_pragma=synchronous(" + sync + ")&_pragma=foreign_keys(1)&_pragma=cache_size(-16384)" + more
	}
	var err error
	if s.write, err = sql.Open("sqlite", address("&_txlock=immediate&_pragma=secure_delete(1)")); err != nil {
		return err
	}
	s.write.SetMaxOpenConns(1)
	if s.read, err = sql.Open("sqlite", address("&_pragma=query_only(1)")); err != nil {
		return err
	}
	s.read.SetMaxOpenConns(max(4, runtime.GOMAXPROCS(0)))
	s.read.SetMaxIdleConns(4)
	return nil
}

// private has only their owner read the folder of a store and its database, in which the secrets of webhooks are. SQLite
// gives its other files the mode of the database.
func private(dir, file string) error {
	f, err := os.OpenFile(file, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	if err := f.Close(); err != nil {
		return err
	}
	if runtime.GOOS == "windows" { // where a folder's own list decides
		return nil
	}
	for _, path := range []string{dir, file, file + "-wal", file + "-shm"} {
		info, err := os.Stat(path)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err == nil && info.Mode().Perm()&0o077 != 0 {
			err = os.Chmod(path, info.Mode().Perm()&0o700)
		}
		if err != nil {
			return fmt.Errorf("others may read a file of the desk: %w", err)
		}
	}
	return nil
}

// openPostgres makes a pool of connections. None is opened before it is needed.
func (s *Store) openPostgres(ctx context.Context, address string, connections int) error {
	s.kind = Postgres
	u, err := url.Parse(address)
	if err != nil {
		return errors.New("the address of the database cannot be read") // the error would repeat the password
	}
	s.where = u.Redacted()
	config, err := pgxpool.ParseConfig(address)
	if err != nil {
		return fmt.Errorf("%s: %w", s.where, err)
	}
	if !u.Query().Has("pool_max_conns") {
		config.MaxConns = int32(cmp.Or(connections, Connections))
	}
	if config.MaxConns < leastConnections {
		return fmt.Errorf("%s: pool_max_conns is %d, expected %d or more", s.where, config.MaxConns, leastConnections)
	}
	config.MaxConnIdleTime = 5 * time.Minute
	if s.pool, err = pgxpool.NewWithConfig(context.WithoutCancel(ctx), config); err != nil {
		return fmt.Errorf("%s: %w", s.where, err)
	}
	s.write = stdlib.OpenDBFromPool(s.pool)
	s.read = s.write
	return nil
}

// Kind returns which database the store is in.
func (s *Store) Kind() Kind { return s.kind }

// Where returns the store's name for messages.
func (s *Store) Where() string { return s.where }

// Now returns the time of this machine, for receipts and events.
func (s *Store) Now() time.Time { return s.now().UTC() }

// NameFiles sets the function that chooses the name of a bundle's file in the store, for the bundle and its receipts.
// Its arguments are the file's name, and texts that may begin with the pseudonyms of players in the bundle. It must be
// called before the store is written to. Without it, files keep their names.
func (s *Store) NameFiles(file func(name string, known []string) string) { s.fileName = file }

// DB returns the database for transactions that write. A queue keeps its jobs there, so that a job ends in the
// transaction that writes its results.
func (s *Store) DB() *sql.DB { return s.write }

// Close closes the database.
func (s *Store) Close() error {
	var err error
	if s.write != nil {
		err = s.write.Close()
	}
	if s.read != nil && s.read != s.write {
		err = errors.Join(err, s.read.Close())
	}
	if s.pool != nil {
		s.pool.Close()
	}
	return err
}

// Tx is a transaction. Its methods run statements by their names in the files in sql.
type Tx struct {
	*sql.Tx
	store    *Store
	prepared map[string]*sql.Stmt
	// games, traits and sets of traits are cached ids.
	games  map[string]int64
	traits map[[2]string]int64
	sets   map[string]int64
}

// Write runs f in a transaction that writes, and commits it unless f returns an error. It retries if another
// transaction was in the way, so f may run more than once.
func (s *Store) Write(ctx context.Context, f func(*Tx) error) error {
	for try := 1; ; try++ {
		if err := s.once(ctx, f); err == nil || try == 10 || !conflict(err) || ctx.Err() != nil {
			return err
		}
		select {
		case <-time.After(time.Duration(try*try) * 5 * time.Millisecond):
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

func (s *Store) once(ctx context.Context, f func(*Tx) error) error {
	t, err := s.write.BeginTx(ctx, nil)
	if err != nil {
		return fmt.Errorf("%s: %w", s.where, err)
	}
	defer t.Rollback() // no effect after Commit
	tx := s.In(t)
	if err := f(tx); err != nil {
		return err
	}
	if err := t.Commit(); err != nil {
		return fmt.Errorf("%s: %w", s.where, err)
	}
	return nil
}

// In returns a transaction of DB as a transaction of the store.
func (s *Store) In(t *sql.Tx) *Tx {
	return &Tx{Tx: t, store: s, prepared: map[string]*sql.Stmt{}, games: map[string]int64{}, traits: map[[2]string]int64{}, sets: map[string]int64{}}
}

// conflict reports whether an error means that another transaction was in the way.
func conflict(err error) bool {
	var code interface{ SQLState() string } // PostgreSQL
	if errors.As(err, &code) {
		switch code.SQLState() {
		case "40001", "40P01": // serialization failure, deadlock
			return true
		}
	}
	var lite interface{ Code() int } // SQLite: busy
	return errors.As(err, &lite) && lite.Code()&0xff == 5
}

// Unreachable reports whether an error means that the database server does not answer now: it does not run, begins,
// ends, or has no connection left for this user. It may answer later.
func Unreachable(err error) bool {
	var code interface{ SQLState() string }
	if errors.As(err, &code) {
		switch state := code.SQLState(); state {
		case "57P01", "57P02", "57P03", "53300": // shut down, crashed, begins, too many connections
			return true
		default:
			return strings.HasPrefix(state, "08") // the connection failed
		}
	}
	var name *net.DNSError
	if errors.As(err, &name) {
		return !name.IsNotFound
	}
	var way *net.OpError
	return errors.As(err, &way) || errors.Is(err, driver.ErrBadConn) || errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.EOF)
}

// stmt prepares a statement once for a transaction.
func (tx *Tx) stmt(ctx context.Context, name string) (*sql.Stmt, error) {
	if st := tx.prepared[name]; st != nil {
		return st, nil
	}
	st, err := tx.PrepareContext(ctx, statement(name))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	tx.prepared[name] = st
	return st, nil
}

// run runs a statement without a result, and returns how many rows it changed.
func (tx *Tx) run(ctx context.Context, name string, args ...any) (int64, error) {
	st, err := tx.stmt(ctx, name)
	if err != nil {
		return 0, err
	}
	r, err := st.ExecContext(ctx, args...)
	if err != nil {
		return 0, fmt.Errorf("%s: %w", name, err)
	}
	return r.RowsAffected()
}

// runAll runs statements that have the same argument.
func (tx *Tx) runAll(ctx context.Context, arg any, names ...string) error {
	for _, name := range names {
		if _, err := tx.run(ctx, name, arg); err != nil {
			return err
		}
	}
	return nil
}

// row runs a statement that returns one row, and reads it into dest. Without a row the error is sql.ErrNoRows.
func (tx *Tx) row(ctx context.Context, name string, args []any, dest ...any) error {
	st, err := tx.stmt(ctx, name)
	if err != nil {
		return err
	}
	err = st.QueryRowContext(ctx, args...).Scan(dest...)
	if err != nil && !errors.Is(err, sql.ErrNoRows) {
		return fmt.Errorf("%s: %w", name, err)
	}
	return err
}

// each runs a statement and calls f for each row, with a function that reads it.
func (tx *Tx) each(ctx context.Context, name string, args []any, f func(scan func(dest ...any) error) error) error {
	st, err := tx.stmt(ctx, name)
	if err != nil {
		return err
	}
	rows, err := st.QueryContext(ctx, args...)
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	return eachOf(rows, name, f)
}

func eachOf(rows *sql.Rows, name string, f func(scan func(dest ...any) error) error) error {
	defer rows.Close()
	for rows.Next() {
		if err := f(rows.Scan); err != nil {
			return err
		}
	}
	if err := rows.Err(); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	return nil
}

// row is (*Tx).row without a transaction.
func (s *Store) row(ctx context.Context, name string, args []any, dest ...any) error {
	err := s.read.QueryRowContext(ctx, statement(name), args...).Scan(dest...)
	if err != nil && !errors.Is(err, sql.ErrNoRows) {
		return fmt.Errorf("%s: %w", name, err)
	}
	return err
}

// each is (*Tx).each without a transaction. f must not run another statement that needs its own connection, because
// concurrent calls could then block each other.
func (s *Store) each(ctx context.Context, name string, args []any, f func(scan func(dest ...any) error) error) error {
	rows, err := s.read.QueryContext(ctx, statement(name), args...)
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	return eachOf(rows, name, f)
}

// reader runs statements that read. It is a store or a transaction.
type reader interface {
	row(ctx context.Context, name string, args []any, dest ...any) error
	each(ctx context.Context, name string, args []any, f func(scan func(dest ...any) error) error) error
}

// columnOf returns the values of rows with one column.
func columnOf[T any](rows *sql.Rows, name string) (list []T, err error) {
	err = eachOf(rows, name, func(scan func(...any) error) error {
		var x T
		err := scan(&x)
		list = append(list, x)
		return err
	})
	return list, err
}

// rowsOf returns a value for each row of a statement. into returns the destinations for a row's columns.
func rowsOf[T any](ctx context.Context, q reader, into func(*T) []any, name string, args ...any) (list []T, err error) {
	err = q.each(ctx, name, args, func(scan func(...any) error) error {
		var x T
		err := scan(into(&x)...)
		list = append(list, x)
		return err
	})
	return list, err
}

// valuesOf returns the values of a statement with one column.
func valuesOf[T any](ctx context.Context, q reader, name string, args ...any) ([]T, error) {
	return rowsOf(ctx, q, func(x *T) []any { return []any{x} }, name, args...)
}

// readRows returns the result of read for each row of a statement.
func readRows[T any](
	ctx context.Context, q reader, read func(scan func(...any) error) (T, error), name string, args ...any,
) (list []T, err error) {
	err = q.each(ctx, name, args, func(scan func(...any) error) error {
		x, err := read(scan)
		list = append(list, x)
		return err
	})
	return list, err
}

// readOne returns the result of read for the only row of a statement. If there is no row, the error is fs.ErrNotExist,
// with what as the name of the thing that is missing.
func readOne[T any](
	ctx context.Context, q reader, what string, read func(scan func(...any) error) (T, error), name string, args ...any,
) (x T, err error) {
	list, err := readRows(ctx, q, read, name, args...)
	switch {
	case err != nil:
		return x, err
	case len(list) == 0:
		return x, fmt.Errorf("%s: %w", what, fs.ErrNotExist)
	}
	return list[0], nil
}
