package desk

import (
	"context"
	"fmt"
	"strings"

	"github.com/desynctool/desynctool/internal/prose"
)

// columnRule holds for some columns of a table: a condition in SQL that both databases know, with § for the column, and
// the value that it expects, in words.
type columnRule struct {
	table, columns      string
	condition, expected string
}

// Conditions.
const (
	notNegative = "§ >= 0"
	aNumber     = "§ >= 1"
	aDay        = "§ BETWEEN 0 AND 100000" // the year 2243
	aHash       = "length(§) = 64 AND trim(§, '0123456789abcdef') = ''"
)

// valueOf returns a rule for a column with a few possible values.
func valueOf(table, column string, values ...string) columnRule {
	return columnRule{table, column, "§ IN ('" + strings.Join(values, "', '") + "')", "expected one of " + strings.Join(values, ", ")}
}

// columnRules are the rules of all columns that do not hold any number or any text. Columns with the number of a row are
// among the references, the blob of a bundle is examined with its content.
var columnRules = []columnRule{
	{"bundles", "bytes kept_bytes received_at times", notNegative, "expected no negative number"},
	{"bundles", "hash", aHash, "expected a SHA-256"},
	valueOf("bundles", "state", "waiting", "read", "aside"),
	{"receipts", "at", notNegative, "expected no negative number"},
	{"receipts", "id", aNumber, "expected a number from 1 on"},
	{"builds", "day", aDay, "expected a day"},
	{"groups", "code", "length(§) BETWEEN 1 AND 64 AND trim(§, '0123456789abcdef') = ''", "expected hex digits"},
	valueOf("groups", "state", "open", "closed", "ignored", "merged"),
	{"groups", "reports peers", notNegative, "expected no negative number"},
	{"groups", "first_day last_day", aDay, "expected a day"},
	{"variants", "reports peers", notNegative, "expected no negative number"},
	{"variant_builds", "reports", notNegative, "expected no negative number"},
	{"variant_days", "reports", notNegative, "expected no negative number"},
	{"variant_days", "day", aDay, "expected a day"},
	{"variant_traits", "reports", notNegative, "expected no negative number"},
	{"game_counts", "reports", notNegative, "expected no negative number"},
	{"trait_sets", "list", "trim(§, '0123456789,') = ''", "expected numbers with commas"},
	{"reports", "tick", "§ >= -1", "expected a tick, or -1"},
	{"reports", "match_no", aNumber, "expected a number from 1 on"},
	{"reports", "day", aDay, "expected a day"},
	{"reports", "peers times", notNegative, "expected no negative number"},
	{"reports", "complete", "§ BETWEEN 0 AND 100", "expected a number from 0 to 100"},
	valueOf("reports", "status", "in-sync", "diverged", "inconclusive", "error"),
	{"events", "at", notNegative, "expected no negative number"},
	{"tokens", "public", "length(§) = 16 AND trim(§, '0123456789abcdef') = ''", "expected 16 hex digits"},
	{"tokens", "hash", aHash, "expected a SHA-256"},
	valueOf("tokens", "scope", "upload", "read", "triage"),
	{"tokens", "made_at revoked_at", notNegative, "expected no negative number"},
	{"sessions", "hash", aHash, "expected a SHA-256"},
	{"sessions", "until", notNegative, "expected no negative number"},
	{"audit", "id", aNumber, "expected a number from 1 on"},
	{"audit", "at", notNegative, "expected no negative number"},
	{"audit", "link", "§ = '' OR " + aHash, "expected a SHA-256, or nothing"},
	{"uploads", "secret", aHash, "expected a SHA-256"},
	{"uploads", "length synced until", notNegative, "expected no negative number"},
	{"uploads", "bundle", "§ = '' OR " + aHash, "expected a SHA-256, or nothing"},
	{"shares", "hash bundle", aHash, "expected a SHA-256"},
	{"shares", "match_no", aNumber, "expected a number from 1 on"},
	{"shares", "made_at revoked_at", notNegative, "expected no negative number"},
	{"news", "at", notNegative, "expected no negative number"},
	{"news", "id report_id", aNumber, "expected a number from 1 on"},
	valueOf("news", "what", "new", "came-back"),
	{"webhooks", "secret", "length(§) BETWEEN 16 AND 4096", "expected 16 to 4096 characters"},
	{"webhooks", "id", aNumber, "expected a number from 1 on"},
	{"webhooks", "address", "§ LIKE 'http://%' OR § LIKE 'https://%'", "expected an address of the web"},
	{"webhooks", "made_at removed_at", notNegative, "expected no negative number"},
	valueOf("deliveries", "state", "due", "done", "failed"),
	{"deliveries", "tries next_at", notNegative, "expected no negative number"},
}

// columns finds the values of a table that no column of that name may have.
func (x *examining) columns(ctx context.Context, tx *Tx, name string) error {
	for _, r := range columnRules {
		if r.table != name {
			continue
		}
		for _, column := range strings.Fields(r.columns) {
			if err := x.refused(ctx, tx, name, column, "NOT ("+strings.ReplaceAll(r.condition, "§", column)+")", r.expected); err != nil {
				return err
			}
		}
	}
	if x.kind != SQLite { // which alone keeps a text in a column of numbers
		return nil
	}
	t, err := describe(ctx, tx, name)
	if err != nil {
		return err
	}
	kinds := map[columnType]string{integerColumn: "integer", boolColumn: "0 or 1", textColumn: "text", bytesColumn: "blob", documentColumn: "blob"}
	for _, c := range t.Columns {
		condition := "typeof(" + c.Name + ") <> '" + kinds[c.Type] + "'"
		if c.Type == boolColumn {
			condition = c.Name + " NOT IN (0, 1)"
		}
		if err := x.refused(ctx, tx, name, c.Name, condition, "expected a value of type "+kinds[c.Type]); err != nil {
			return err
		}
	}
	return nil
}

// refused notes the values of a column that a condition finds.
func (x *examining) refused(ctx context.Context, tx *Tx, table, column, condition, expected string) error {
	var n int64
	var first string
	query := "SELECT count(*), coalesce(min(CAST(" + column + " AS TEXT)), '') FROM " + table + " WHERE " + condition
	if err := tx.QueryRowContext(ctx, query).Scan(&n, &first); err != nil || n == 0 {
		return err
	}
	more := ""
	if n > 1 {
		more = fmt.Sprintf(" (%s)", prose.Count(n, "row", "rows"))
	}
	x.fault(RowFault, "table "+table, "%s is %q, %s%s", column, first, expected, more)
	return nil
}
