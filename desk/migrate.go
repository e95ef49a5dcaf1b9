package desk

import (
	"context"
	"embed"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

//go:embed migrations/*.sql
var migrationFiles embed.FS

// NewerError reports that a newer program wrote a store, with a schema that this program does not know.
type NewerError struct {
	Where      string
	Has, Knows int
}

func (e *NewerError) Error() string {
	return fmt.Sprintf("%s: its schema is version %d, and this program knows versions up to %d; use a newer desynctool", e.Where, e.Has, e.Knows)
}

// migration updates a schema from the previous version to its own.
type migration struct {
	version int
	name    string
	text    string
}

// migrations returns all migrations in order: the files in the folder, with names that begin with their versions, 0001
// and so on without a gap.
func migrations() ([]migration, error) {
	entries, err := migrationFiles.ReadDir("migrations")
	if err != nil {
		return nil, err
	}
	var list []migration
	for _, e := range entries {
		number, _, _ := strings.Cut(e.Name(), "_")
		version, err := strconv.Atoi(number)
		if err != nil || version != len(list)+1 {
			return nil, fmt.Errorf("%s: expected a name that begins with %04d_", e.Name(), len(list)+1)
		}
		text, err := migrationFiles.ReadFile("migrations/" + e.Name())
		if err != nil {
			return nil, err
		}
		list = append(list, migration{version, e.Name(), string(text)})
	}
	return list, nil
}

// migrate updates the schema to the newest version, or to upTo if that is not 0. Each version is one transaction,
// together with the row that records it, so an interrupted migration continues where it stopped.
func (s *Store) migrate(ctx context.Context, create bool, upTo int) error {
	list, err := migrations()
	if err != nil {
		return err
	}
	has, err := s.version(ctx)
	if err != nil {
		return fmt.Errorf("%s: %w", s.where, err)
	}
	switch {
	case has > len(list):
		return &NewerError{s.where, has, len(list)}
	case has == 0 && !create:
		return &MissingError{s.where}
	}
	if upTo != 0 {
		list = list[:upTo]
	}
	for _, m := range list[min(has, len(list)):] {
		if err := s.Write(ctx, func(tx *Tx) error { return tx.migrate(ctx, m) }); err != nil {
			return fmt.Errorf("%s: %s: %w", s.where, m.name, err)
		}
	}
	return nil
}

// versionTable contains the versions that were reached.
const versionTable = `CREATE TABLE IF NOT EXISTS desk_versions (version BIGINT NOT NULL PRIMARY KEY)`

// version returns the version of the schema, 0 if there is none.
func (s *Store) version(ctx context.Context) (has int, err error) {
	find := `SELECT count(*) FROM sqlite_master WHERE type = 'table' AND name = 'desk_versions'`
	if s.kind == Postgres {
		find = `SELECT count(*) FROM pg_tables WHERE schemaname = current_schema() AND tablename = 'desk_versions'`
	}
	if err := s.write.QueryRowContext(ctx, find).Scan(&has); err != nil || has == 0 {
		return 0, err
	}
	err = s.write.QueryRowContext(ctx, `SELECT coalesce(max(version), 0) FROM desk_versions`).Scan(&has)
	return has, err
}

// lockKey is the advisory lock of programs that migrate the same PostgreSQL database.
const lockKey = 0x6465736b // "desk"

func (tx *Tx) migrate(ctx context.Context, m migration) error {
	statements := []string{versionTable}
	if tx.store.kind == Postgres {
		statements = slices.Insert(statements, 0, fmt.Sprintf("SELECT pg_advisory_xact_lock(%d)", lockKey))
	}
	for _, text := range statements {
		if _, err := tx.ExecContext(ctx, text); err != nil {
			return err
		}
	}
	var there int
	if err := tx.QueryRowContext(ctx, `SELECT count(*) FROM desk_versions WHERE version = $1`, m.version).Scan(&there); err != nil || there > 0 {
		return err // another program was faster
	}
	for text := range strings.SplitSeq(withoutComments(tx.store.kind.types(m.text)), ";") {
		if text = strings.TrimSpace(text); text == "" {
			continue
		}
		if _, err := tx.ExecContext(ctx, text); err != nil {
			return errors.Join(err, errors.New(text))
		}
	}
	_, err := tx.ExecContext(ctx, `INSERT INTO desk_versions (version) VALUES ($1)`, m.version)
	return err
}

// withoutComments removes comments, which may contain semicolons. No migration has two dashes in a string.
func withoutComments(text string) string {
	var b strings.Builder
	for line := range strings.Lines(text) {
		before, _, cut := strings.Cut(line, "--")
		b.WriteString(before)
		if cut {
			b.WriteByte('\n')
		}
	}
	return b.String()
}
