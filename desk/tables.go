package desk

import (
	"bytes"
	"context"
	"database/sql"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/desynctool/desynctool/internal/lazyregexp"
	"github.com/desynctool/desynctool/internal/lists"
)

// columnType is the type of a column, in both databases.
type columnType string

const (
	integerColumn  columnType = "integer"
	textColumn     columnType = "text"
	boolColumn     columnType = "boolean"
	bytesColumn    columnType = "bytes"
	documentColumn columnType = "document" // output of the triage, as JSON
)

// column is a column of a table.
type column struct {
	Name string     `json:"name"`
	Type columnType `json:"type"`
}

// table is a table of the store, as in an export.
type table struct {
	Name    string   `json:"name"`
	Columns []column `json:"columns"`
}

var createTable = lazyregexp.New(`(?m)^CREATE TABLE (\w+)`)

// tableNames returns the tables of migrations, each after the tables that it refers to. PostgreSQL requires this order
// to create them.
func tableNames(upTo int) ([]string, error) {
	list, err := migrations()
	if err != nil {
		return nil, err
	}
	var names []string
	for _, m := range list[:min(upTo, len(list))] {
		for _, found := range createTable.FindAllStringSubmatch(withoutComments(m.text), -1) {
			names = append(names, found[1])
		}
	}
	return names, nil
}

// querier is a database or a transaction.
type querier interface {
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
}

// tables describes the tables of the store.
func tables(ctx context.Context, q querier, schema int) ([]table, error) {
	names, err := tableNames(schema)
	if err != nil {
		return nil, err
	}
	var list []table
	for _, name := range names {
		t, err := describe(ctx, q, name)
		if err != nil {
			return nil, err
		}
		list = append(list, t)
	}
	return list, nil
}

// describe describes one table of the store.
func describe(ctx context.Context, q querier, name string) (t table, err error) {
	t.Name = name
	rows, err := q.QueryContext(ctx, "SELECT * FROM "+name+" WHERE 1 = 0")
	if err != nil {
		return t, fmt.Errorf("%s: %w", name, err)
	}
	columns, err := rows.ColumnTypes()
	rows.Close()
	if err != nil {
		return t, fmt.Errorf("%s: %w", name, err)
	}
	for _, c := range columns {
		kind, err := typeOf(name, c)
		if err != nil {
			return t, err
		}
		t.Columns = append(t.Columns, column{c.Name(), kind})
	}
	return t, nil
}

func typeOf(table string, c *sql.ColumnType) (columnType, error) {
	switch name := strings.ToUpper(c.DatabaseTypeName()); name {
	case "INTEGER", "BIGINT", "INT4", "INT8":
		return integerColumn, nil
	case "TEXT":
		return textColumn, nil
	case "BOOLEAN", "BOOL":
		return boolColumn, nil
	case "BLOB", "BYTEA":
		if table == "documents" && c.Name() == "body" {
			return documentColumn, nil
		}
		return bytesColumn, nil
	default:
		return "", fmt.Errorf("%s.%s has type %s, which an export does not know", table, c.Name(), name)
	}
}

// list returns the columns of a table, as in a statement.
func (t *table) list() string {
	return strings.Join(lists.Map(t.Columns, func(c column) string { return c.Name }), ", ")
}

// query selects all rows in an order that does not depend on the database: by id, or by all columns except columns of
// bytes. The first of these columns are the key.
func (t *table) query(k Kind) string {
	var by []string
	for _, c := range t.Columns {
		switch {
		case c.Name == "id":
			by = []string{c.Name}
		case len(by) == 1 && by[0] == "id": // which is enough
		case c.Type == textColumn && k == Postgres:
			by = append(by, c.Name+` COLLATE "C"`)
		case c.Type != bytesColumn && c.Type != documentColumn:
			by = append(by, c.Name)
		}
	}
	return "SELECT " + t.list() + " FROM " + t.Name + " ORDER BY " + strings.Join(by, ", ")
}

// insert adds a row.
func (t *table) insert() string {
	var values []string
	for i := range t.Columns {
		values = append(values, "$"+strconv.Itoa(i+1))
	}
	return "INSERT INTO " + t.Name + " (" + t.list() + ") VALUES (" + strings.Join(values, ", ") + ")"
}

// row returns a row as a line of JSON, with a line feed at its end.
func (t *table) row(scan func(dest ...any) error) ([]byte, error) {
	dest := make([]any, len(t.Columns))
	for i, c := range t.Columns {
		switch c.Type {
		case integerColumn:
			dest[i] = new(sql.NullInt64)
		case boolColumn:
			dest[i] = new(sql.NullBool)
		case textColumn:
			dest[i] = new(sql.NullString)
		default:
			dest[i] = new([]byte)
		}
	}
	if err := scan(dest...); err != nil {
		return nil, err
	}
	var line bytes.Buffer
	for i, c := range t.Columns {
		before := `,"`
		if i == 0 {
			before = `{"`
		}
		line.WriteString(before + c.Name + `":`)
		value, err := cellJSON(c, dest[i])
		if err != nil {
			return nil, fmt.Errorf("%s.%s: %w", t.Name, c.Name, err)
		}
		line.Write(value)
	}
	line.WriteString("}\n")
	return line.Bytes(), nil
}

// packedBytes is the form of bytes, and of texts that are not UTF-8, in a line.
type packedBytes struct {
	Base64 string `json:"base64"`
}

func cellJSON(c column, value any) ([]byte, error) {
	switch v := value.(type) {
	case *sql.NullInt64:
		if v.Valid {
			return strconv.AppendInt(nil, v.Int64, 10), nil
		}
	case *sql.NullBool:
		if v.Valid {
			return strconv.AppendBool(nil, v.Bool), nil
		}
	case *sql.NullString:
		if v.Valid && utf8.ValidString(v.String) {
			return plainJSON(v.String)
		} else if v.Valid {
			return plainJSON(packedBytes{base64.StdEncoding.EncodeToString([]byte(v.String))})
		}
	case *[]byte:
		switch {
		case *v == nil:
		case c.Type == documentColumn:
			text, err := unpackJSON(*v)
			if err == nil && (!json.Valid(text) || bytes.ContainsAny(text, "\n\r")) {
				err = fmt.Errorf("a document is damaged: expected JSON in one line")
			}
			return text, err
		default:
			return plainJSON(packedBytes{base64.StdEncoding.EncodeToString(*v)})
		}
	}
	return []byte("null"), nil
}

// plainJSON is json.Marshal without escapes for HTML.
func plainJSON(v any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	err := e.Encode(v)
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), err
}

// values parses the output of row.
func (t *table) values(line []byte) ([]any, error) {
	var cells map[string]json.RawMessage
	if err := json.Unmarshal(line, &cells); err != nil {
		return nil, err
	}
	if len(cells) != len(t.Columns) {
		return nil, fmt.Errorf("%d values, expected %d", len(cells), len(t.Columns))
	}
	var values []any
	for _, c := range t.Columns {
		raw, ok := cells[c.Name]
		if !ok {
			return nil, fmt.Errorf("no value of %s", c.Name)
		}
		v, err := cellValue(c, raw)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", c.Name, err)
		}
		values = append(values, v)
	}
	return values, nil
}

func cellValue(c column, raw json.RawMessage) (any, error) {
	if string(raw) == "null" {
		return nil, nil
	}
	unpacked := func() ([]byte, error) {
		var p packedBytes
		if err := json.Unmarshal(raw, &p); err != nil {
			return nil, err
		}
		return base64.StdEncoding.DecodeString(p.Base64)
	}
	switch c.Type {
	case integerColumn:
		var n int64
		err := json.Unmarshal(raw, &n)
		return n, err
	case boolColumn:
		var b bool
		err := json.Unmarshal(raw, &b)
		return b, err
	case documentColumn:
		var text bytes.Buffer
		if err := json.Compact(&text, raw); err != nil {
			return nil, err
		}
		return packText(text.Bytes())
	case textColumn:
		if raw[0] == '{' {
			b, err := unpacked()
			return string(b), err
		}
		var s string
		err := json.Unmarshal(raw, &s)
		return s, err
	}
	return unpacked()
}
