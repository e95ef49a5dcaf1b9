package desk

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"github.com/desynctool/desynctool/internal/prose"
)

// database runs the database's own checks, reads all rows, and compares them with each other, all at one moment.
func (x *examining) database(ctx context.Context) error {
	return x.moment(ctx, func(tx *Tx) error {
		if err := x.integrity(ctx, tx); err != nil {
			return err
		}
		if err := x.tables(ctx, tx); err != nil {
			return err
		}
		if err := x.tried("table audit", tx.guarded(ctx, func() error { return x.audit(ctx, tx) })); err != nil {
			return err
		}
		for i := range references {
			r := &references[i]
			err := tx.guarded(ctx, func() error { return x.reference(ctx, tx, r) })
			if err := x.tried("table "+r.table, err); err != nil {
				return err
			}
		}
		for _, l := range lacking {
			err := tx.guarded(ctx, func() error { return x.lacking(ctx, tx, l.statement, l.why) })
			if err := x.tried("rows that belong together", err); err != nil {
				return err
			}
		}
		for _, c := range countings {
			err := tx.guarded(ctx, func() error { return x.counting(ctx, tx, c) })
			if err := x.tried("what is counted", err); err != nil {
				return err
			}
		}
		return nil
	})
}

// guarded runs f. If f fails, the transaction can continue.
func (tx *Tx) guarded(ctx context.Context, f func() error) error {
	if tx.store.kind != Postgres { // SQLite continues in any case
		return f()
	}
	if _, err := tx.ExecContext(ctx, "SAVEPOINT step"); err != nil {
		return err
	}
	err := f()
	if err == nil {
		return nil
	}
	if _, back := tx.ExecContext(ctx, "ROLLBACK TO SAVEPOINT step"); back != nil {
		return errors.Join(err, back)
	}
	clear(tx.prepared)
	return err
}

// integrity makes SQLite check its pages and indexes. PostgreSQL has no such check that every server supports.
func (x *examining) integrity(ctx context.Context, tx *Tx) error {
	if x.kind != SQLite {
		return nil
	}
	rows, err := tx.QueryContext(ctx, fmt.Sprintf("PRAGMA integrity_check(%d)", x.o.Most))
	if err == nil {
		err = eachOf(rows, "integrity_check", func(scan func(...any) error) error {
			var line string
			err := scan(&line)
			if err == nil && line != "ok" {
				x.fault(DatabaseFault, DatabaseName, "%s", prose.OneLine(line))
			}
			return err
		})
	}
	return x.tried(DatabaseName, err)
}

// tables reads all rows of all tables, except the documents, which are read one by one, and checks the rules of their columns.
func (x *examining) tables(ctx context.Context, tx *Tx) error {
	list, err := migrations()
	if err != nil {
		return err
	}
	names, err := tableNames(len(list))
	if err != nil {
		return err
	}
	for _, name := range names {
		if name == "documents" {
			continue
		}
		err := tx.guarded(ctx, func() error {
			n, err := readAll(ctx, tx.Tx, "SELECT * FROM "+name)
			x.done.Rows += n
			if err != nil {
				return err
			}
			return x.columns(ctx, tx, name)
		})
		if err := x.tried("table "+name, err); err != nil {
			return err
		}
	}
	return nil
}

// readAll reads the result of a query, and returns the number of rows.
func readAll(ctx context.Context, q querier, query string) (n int64, err error) {
	rows, err := q.QueryContext(ctx, query)
	if err != nil {
		return 0, err
	}
	defer rows.Close()
	columns, err := rows.Columns()
	if err != nil {
		return 0, err
	}
	dest := make([]any, len(columns))
	for i := range dest {
		dest[i] = new(sql.RawBytes)
	}
	for ; rows.Next(); n++ {
		if err := rows.Scan(dest...); err != nil {
			return n, &unreadable{err}
		}
	}
	return n, rows.Err()
}

// audit follows the chain of the audit: an entry that was changed, or one that was taken out or put in, breaks it. The
// entries of an older program, which have no link, come before it.
func (x *examining) audit(ctx context.Context, tx *Tx) error {
	last := ""
	return tx.each(ctx, "audit.chain", nil, func(scan func(...any) error) error {
		var id, at int64
		var who, what, about, has string
		if err := scanned(scan)(&id, &at, &who, &what, &about, &has); err != nil {
			return err
		}
		if expected := link(last, at, who, what, about); has != expected && (has != "" || last != "") {
			x.fault(RowFault, fmt.Sprintf("audit %d", id), "its link is %q, expected %s: it was changed, or an entry before it is gone", has, expected)
		}
		last = has
		x.done.Audit = has
		return nil
	})
}

// reference is a column with the numbers of rows in another table.
type reference struct {
	table, column, to string
	none              bool // 0 means none
}

// references are all references in the store. News may belong to a report that was deleted since.
var references = []reference{
	{"receipts", "bundle_id", "bundles", false},
	{"builds", "game_id", "games", false},
	{"groups", "game_id", "games", false}, {"groups", "merged_in", "groups", true}, {"groups", "first_build", "builds", true}, {"groups", "last_build", "builds", true},
	{"group_keys", "game_id", "games", false}, {"group_keys", "group_id", "groups", false},
	{"variants", "game_id", "games", false}, {"variants", "group_id", "groups", false},
	{"variant_prints", "variant_id", "variants", false},
	{"variant_builds", "variant_id", "variants", false}, {"variant_builds", "build_id", "builds", false},
	{"variant_days", "variant_id", "variants", false},
	{"variant_traits", "variant_id", "variants", false}, {"variant_traits", "trait_id", "traits", false},
	{"game_counts", "game_id", "games", false},
	{"set_traits", "set_id", "trait_sets", false}, {"set_traits", "trait_id", "traits", false},
	{"reports", "bundle_id", "bundles", false}, {"reports", "variant_id", "variants", true}, {"reports", "game_id", "games", false},
	{"reports", "build_id", "builds", true}, {"reports", "set_id", "trait_sets", true},
	{"documents", "report_id", "reports", false},
	{"report_peers", "report_id", "reports", false},
	{"events", "group_id", "groups", true}, {"events", "undone", "events", true},
	{"sessions", "token_id", "tokens", false},
	{"news", "group_id", "groups", false},
	{"deliveries", "webhook_id", "webhooks", false}, {"deliveries", "news_id", "news", false},
}

// reference finds the rows with references to missing rows.
func (x *examining) reference(ctx context.Context, tx *Tx, r *reference) error {
	query := "SELECT count(*), coalesce(min(c." + r.column + "), 0), coalesce(max(c." + r.column + "), 0) FROM " + r.table + " c LEFT JOIN " + r.to + " r ON r.id = c." + r.column + " WHERE r.id IS NULL"
	if r.none {
		query += " AND c." + r.column + " <> 0"
	}
	var n, first, last int64
	if err := tx.QueryRowContext(ctx, query).Scan(&n, &first, &last); err != nil {
		return err
	}
	switch rows := prose.Count(n, "row", "rows"); {
	case n == 0:
	case first == last:
		x.fault(RowFault, "table "+r.table, "%s %d is not in %s (%s)", r.column, first, r.to, rows)
	default:
		x.fault(RowFault, "table "+r.table, "%s %d and others are not in %s (%s)", r.column, first, r.to, rows)
	}
	return nil
}

// lacking are statements that find rows without something that belongs to them, each with a description.
var lacking = []struct{ statement, why string }{
	{"examine.read", "it was read, and has no report"},
	{"examine.undocumented", "it has no document"},
}

func (x *examining) lacking(ctx context.Context, tx *Tx, statement, why string) error {
	return tx.each(ctx, statement, nil, func(scan func(...any) error) error {
		var where string
		err := scanned(scan)(&where)
		if err == nil {
			x.fault(RowFault, where, "%s", why)
		}
		return err
	})
}

// countings are statements that find counts that do not match the rows.
var countings = []string{
	"examine.receipts", "examine.sets", "examine.variants", "examine.variant-peers", "examine.variant-builds", "examine.variant-days", "examine.variant-traits",
	"examine.groups", "examine.group-peers", "examine.group-first-day", "examine.group-last-day", "examine.game-counts",
}

func (x *examining) counting(ctx context.Context, tx *Tx, statement string) error {
	return tx.each(ctx, statement, nil, func(scan func(...any) error) error {
		var where, what string
		var has, expected int64
		if err := scanned(scan)(&where, &what, &has, &expected); err != nil {
			return err
		}
		if what == "first day" || what == "last day" {
			x.fault(CountFault, where, "its %s is %q, expected %q", what, Day(has), Day(expected))
		} else {
			x.fault(CountFault, where, "it counts %d %s, expected %d", has, what, expected)
		}
		return nil
	})
}

// events reads the events of all groups.
func (x *examining) events(ctx context.Context) error {
	err := x.each(ctx, "examine.events", nil, func(scan func(...any) error) error {
		if e, err := scanEvent(scan); err != nil {
			x.fault(RowFault, fmt.Sprintf("event %d", e.ID), "it cannot be read: %s", err)
		}
		return ctx.Err()
	})
	return x.tried("table events", err)
}
