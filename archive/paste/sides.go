package paste

import (
	"bytes"
	"slices"
	"strings"

	"github.com/desynctool/desynctool/internal/lazyregexp"
)

// ofRole finds the name of a machine by its role at the begin of a line, and what the line has of it: Host: tick 5 hash 5f3a.
var ofRole = lazyregexp.New(`(?i)^[ \t]*(?:[-*+>] +)?(?:\**|\[)((?:host|server|client|guest|local|remote|peer|player)(?:[ #_-]*\d{1,3})?(?: \([\pL\pN_.-]{1,30}\))?)(?:\**:\**|\]:?)[ \t]+(.*)$`)

// byRole takes lines that each begin with the role of a machine, and have a checksum of it, as the logs of these machines.
func (p *peeler) byRole() {
	var list []block
	for line := range bytes.Lines(p.text) {
		m := ofRole.FindSubmatch(bytes.TrimRight(line, "\r\n"))
		if m == nil {
			continue
		}
		name, _ := named(m[1])
		i := slices.IndexFunc(list, func(b block) bool { return b.label == name })
		if i < 0 {
			i, list = len(list), append(list, block{label: name})
		}
		list[i].text = append(append(list[i].text, m[2]...), '\n')
	}
	p.logsOf(list)
}

// byMark takes the lines that a diff of two logs marks as the logs of two machines: < and >, or - and +.
func (p *peeler) byMark() {
	for _, marks := range []string{"<>", "-+"} {
		list := []block{{label: "left"}, {label: "right"}}
		for line := range bytes.Lines(p.text) {
			line = bytes.TrimRight(line, "\r\n")
			i := bytes.IndexByte([]byte(marks), append(line[:len(line):len(line)], 0)[0])
			if i < 0 {
				continue
			}
			if name, ok := strings.CutPrefix(string(line), strings.Repeat(marks[i:i+1], 3)+" "); ok {
				list[i].label, _ = named([]byte(name))
			} else if len(bytes.Trim(line, marks+" ")) > 0 {
				list[i].text = append(append(list[i].text, bytes.TrimLeft(line[1:], " ")...), '\n')
			}
		}
		if list[0].label != list[1].label {
			p.logsOf(list)
		}
	}
}

// logsOf takes texts as the logs of several machines, if all have checksums, and a tick in common.
func (p *peeler) logsOf(list []block) {
	if len(p.files) > 0 || len(list) < 2 {
		return
	}
	for i := range list {
		if list[i].ticks = p.known.Ticks(list[i].text); len(list[i].ticks) == 0 {
			return
		}
	}
	if inCommon(list) {
		p.note("%d logs with checksums were found in the text, which is left out", len(list))
		p.machines(list)
	}
}

// fieldHeads are what the column of fields is called in a table with a column for each machine, if it has a name.
var fieldHeads = []string{"field", "value", "name", "property", "what", "key"}

// columns returns the columns of a table that has the fields of a state in its rows, and a machine in each column, as blocks.
//
//	|      | Host | Client |
//	|------|------|--------|
//	| tick | 1200 | 1200   |
//	| hash | 5f3a | 77e0   |
func (b *block) columns() (list []block) {
	var rows [][]string
	for line := range strings.Lines(string(b.text)) {
		rows = append(rows, strings.Split(strings.TrimRight(line, "\n"), "\t"))
	}
	if len(rows) < 2 {
		return nil
	}
	head, width := rows[0], len(rows[1])
	if len(head) == width && slices.Contains(fieldHeads, strings.ToLower(head[0])) {
		head = head[1:]
	}
	if len(head) != width-1 || len(head) < 2 {
		return nil
	}
	for i, label := range head {
		one := block{set: true}
		if one.label, _ = named([]byte(label)); len(label) > maxLabel {
			return nil
		}
		for _, row := range rows[1:] {
			if len(row) != width {
				return nil
			}
			one.text = append(one.text, row[0]+": "+row[1+i]+"\n"...)
		}
		list = append(list, one)
	}
	return list
}
