package openra

import (
	"bytes"
	"fmt"
	"io"
	"strconv"

	"github.com/desynctool/desynctool/engines/engine"
)

// orders reads the orders up to the last section or the end. An order is
//
//	ClientId: 0 OrderString: "Move"
//	Type: "Fields".
//	Subject: "harv 343".
//	IsImmediate: False.
//	Player(PlayerName): Commander
//
// and an empty line, each line after a tab and a space. A text in quotes may continue in the next lines.
func (d *decoder) orders() error {
	t := d.tables.orders
	issued := map[uint64]uint64{} // by client
	for !d.ended() {
		line, err := d.line()
		if err != nil {
			return err
		}
		rest, indented := bytes.CutPrefix(line, []byte("\t "))
		text, first := bytes.CutPrefix(rest, []byte("ClientId: "))
		switch {
		case len(line) == 0 && len(issued) > 0:
		case string(line) == systemInfo:
			d.back()
			return nil
		case indented && first:
			number, rest, ok := bytes.Cut(text, []byte(" "))
			client, err := strconv.ParseUint(string(number), 10, 31)
			if err != nil || !ok {
				return d.errorf("%.60q, expected a client's number and an order", line)
			}
			t.addRow(client, issued[client])
			issued[client]++
			if err := d.orderField(t, rest); err != nil {
				return err
			}
		case indented && len(issued) > 0:
			if err := d.orderField(t, rest); err != nil {
				return err
			}
		default:
			return d.errorf("%.60q, expected an order or %q", line, systemInfo)
		}
	}
	return nil
}

// orderField reads "NAME: VALUE" of an order. Spaces, and a point after a text in
// quotes or a truth value, belong to the report.
func (d *decoder) orderField(t *table, line []byte) error {
	name, value, ok := bytes.Cut(line, []byte(": "))
	if !ok {
		return d.errorf("%.60q, expected a name and a value of an order", line)
	}
	var err error
	if bytes.HasPrefix(value, []byte(`"`)) {
		value, err = d.quoted(value[1:])
	} else if string(value) == "True." || string(value) == "False." {
		value = value[:len(value)-1]
	}
	if err != nil {
		return err
	}
	return d.set(t, name, value)
}

// quoted returns the text up to a closing quote at the end of a line, which may be
// a later one. It begins with rest of the line read last.
func (d *decoder) quoted(rest []byte) ([]byte, error) {
	var text []byte
	for row := d.row; ; {
		trimmed := bytes.TrimSuffix(bytes.TrimRight(rest, " "), []byte("."))
		if bytes.HasSuffix(trimmed, []byte(`"`)) {
			return append(text, trimmed[:len(trimmed)-1]...), nil
		}
		text = append(append(text, rest...), '\n')
		if d.ended() {
			return nil, &engine.LineError{Name: d.name, Line: row, Err: fmt.Errorf("text in quotes has no end: %w", io.ErrUnexpectedEOF)}
		}
		var err error
		if rest, err = d.line(); err != nil {
			return nil, err
		}
	}
}
