package notation

import (
	"bytes"

	"github.com/desynctool/desynctool/internal/lazyregexp"
)

// wide is a table in which each peer has its own column for every value, as people make in a spreadsheet. Each of its rows
// is read as one row for each peer.
//
//	turn,Host mana,Client1 mana,Host hp,Client1 hp,notes
//	1,21,21,90,90,
type wide struct {
	peers  [][]byte
	peerOf []int    // of each column, -1 for one that all peers share
	names  [][]byte // of each column, without its peer
}

// machines are the words for peers in the names of columns. Two players of one game have such names too, but not the same values.
var machines = lazyregexp.New(`(?i)^(host|server|client|guest|peer|machine|player|pc)[0-9]{0,3}$`)

// wideOf returns how a table with names of columns and its first rows is wide; nil if it is not. Peers have the same values,
// and at least one value that changes.
func wideOf(names [][]byte, rows [][][]byte) *wide {
	const fewestValues, fewestRows = 2, 4
	w := &wide{}
	index := map[string]int{}
	columns := map[string][]int{} // of each value, by peer
	for _, name := range names {
		words := bytes.FieldsFunc(name, func(c rune) bool { return c == ' ' || c == '_' || c == '.' || c == '-' })
		who := -1
		for i, word := range words {
			if len(words) > 1 && machines.Match(word) {
				p, known := index[string(word)]
				if !known {
					p = len(w.peers)
					index[string(word)], w.peers = p, append(w.peers, word)
				}
				who, words = p, append(append([][]byte(nil), words[:i]...), words[i+1:]...)
				break
			}
		}
		if who >= 0 {
			name = bytes.Join(words, []byte{'_'})
			columns[string(name)] = append(columns[string(name)], len(w.names))
		}
		w.peerOf, w.names = append(w.peerOf, who), append(w.names, name)
	}
	if len(w.peers) < 2 || len(columns) < fewestValues || len(rows) < fewestRows {
		return nil
	}
	changing, equal := 0, 0
	for _, list := range columns {
		if len(list) != len(w.peers) {
			return nil
		}
		same, changes := true, false
		for _, row := range rows {
			for _, column := range list {
				same = same && bytes.Equal(row[column], row[list[0]])
				changes = changes || !bytes.Equal(row[column], rows[0][column])
			}
		}
		if changes {
			if changing++; same {
				equal++
			}
		}
	}
	if equal == 0 || 2*equal <= changing {
		return nil
	}
	return w
}

// give gives a row to a sink, for each peer.
func (w *wide) give(cells [][]byte, at int, to Sink) {
	for p, peer := range w.peers {
		to.BeginMap(at)
		for i, cell := range cells {
			if w.peerOf[i] >= 0 && w.peerOf[i] != p {
				continue
			}
			to.Name(w.names[i])
			giveCell(to, cell)
		}
		to.Name([]byte("peer"))
		to.Scalar(Text, peer)
		to.End(at)
	}
}

// IsWide reports whether a text begins like a table of CSV in which each peer has its own column for every value.
func IsWide(head []byte) bool {
	r, fits := csvShape(head, false)
	if !fits {
		return false
	}
	names, err := r.row(nil)
	return err == nil && r.wide(names) != nil
}

// wide looks at the rows that follow the header.
func (r csvReader) wide(names [][]byte) *wide {
	var rows [][][]byte
	for r.blankLines(); len(rows) < sniffRows && r.at < len(r.text); r.blankLines() {
		cells, err := r.row(nil)
		if err != nil || len(cells) != len(names) {
			break
		}
		rows = append(rows, cells)
	}
	return wideOf(names, rows)
}
