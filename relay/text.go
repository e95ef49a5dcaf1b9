package relay

import (
	"encoding/hex"
	"fmt"
	"math"
	"strconv"
	"strings"
)

// Text is the report as text: a sentence, then what differs, as the peers have it. It is empty without a report.
// Control characters and what is not ASCII in names and values are escaped.
func (r *Relay) Text() string {
	d, ok := read(r.report, len(r.peers))
	if !ok {
		return ""
	}
	var s strings.Builder
	r.writeFirst(&s, &d)
	for i := range d.columns {
		c := &d.columns[i]
		if c.rows > 0 || c.flags != 0 {
			fmt.Fprint(&s, c.name(), ": ", when(c.flags&1 != 0, "at least "), count(c.rows, "row"), when(c.flags&2 != 0 && d.stepName != "", ", differs first"), "\n")
		}
		for _, row := range c.values {
			r.writeRow(&s, &d, c, row)
		}
	}
	if d.flags&cut != 0 {
		s.WriteString("More differs than is listed.\n")
	}
	if d.silent != 0 {
		fmt.Fprintf(&s, "Not known of %s.\n", r.peersOf(d.silent))
	}
	fmt.Fprintf(&s, "Found by %s; each peer's values are its own word.\n", r.peersOf(1<<r.reporter))
	return s.String()
}

func (r *Relay) writeFirst(s *strings.Builder, d *readReport) {
	if len(d.groups) == 0 {
		s.WriteString(when(d.flags&foreign != 0, "The peers describe their states otherwise: they run different builds.\n"))
		s.WriteString(when(d.flags&foreign == 0, "The states that the peers still have do not differ.\n"))
		return
	}
	last, between := " and ", ", "
	for _, of := range d.groups {
		if of.members&(of.members-1) != 0 {
			last, between = " against ", " against " // some peers are in the same group
		}
	}
	for g, of := range d.groups {
		s.WriteString(when(g > 0, when(g+1 == len(d.groups), last)+when(g+1 < len(d.groups), between)) + r.peersOf(of.members))
	}
	since := when(d.flags&lost != 0, "at") + when(d.flags&lost == 0, "since")
	tick := d.point
	if d.flags&lost == 0 && tick > 0 {
		tick--
	}
	fmt.Fprintf(s, " have different states %s tick %d%s%s", since, tick, when(d.stepName != "", ", system "+escaped(d.stepName)), when(d.flags&lost != 0, ", the first that all of them still have"))
	if best, others := d.best(); best != nil {
		fmt.Fprint(s, ": ", best.name(), when(best.kind != 0, " differs"), when(best.kind == 0, " differ"))
		if best.label != "" && best.rows > 0 {
			fmt.Fprint(s, " in ", when(best.flags&1 != 0, "at least "), count(best.rows, "row"))
		}
		if others > 1 {
			fmt.Fprint(s, ", and ", count(others-1, "more column"))
		}
	}
	s.WriteString(".\n")
	for _, g := range d.groups {
		if g.inputs != d.groups[0].inputs {
			s.WriteString("The orders of that tick differ.\n")
			break
		}
	}
}

// best is the column that differs most directly, and how many there are.
func (d *readReport) best() (best *readColumn, others uint32) {
	for i := range d.columns {
		c := &d.columns[i]
		if c.rows == 0 && c.flags == 0 {
			continue
		}
		if c.flags&2 != 0 || d.step == endOfTick {
			others++
		}
		if best == nil || c.flags&2 > best.flags&2 || c.flags&2 == best.flags&2 && best.label == "" {
			best = c
		}
	}
	return best, others
}

func (r *Relay) writeRow(s *strings.Builder, d *readReport, c *readColumn, row foundRow) {
	for _, v := range row.values {
		if c.kind != 0 && v[0] == noRow { // the identity has that
			return
		}
	}
	fmt.Fprint(s, "  #", row.key, when(row.key2 != 0, fmt.Sprint("/", row.key2)))
	for g, v := range row.values {
		fmt.Fprint(s, when(g > 0, ","), " ", c.text(v), " on ", r.peersOf(d.groups[g].members))
	}
	s.WriteString("\n")
}

func (c *readColumn) name() string {
	switch {
	case c.label == "":
		return "RNG"
	case c.kind == 0:
		return escaped(c.label) + " entities"
	}
	return escaped(c.label) + " " + escaped(c.component) + "." + escaped(c.field)
}

func (c *readColumn) text(v value) string {
	switch {
	case v[0] == noRow:
		return "no row"
	case v[0] == noValue:
		return "no value"
	case c.kind == 0:
		return "a row"
	case c.kind == 13:
		return `"` + escaped(string(v.shown())) + `"` + when(v[0] == beginning, "...")
	case c.kind == bytesKind:
		return hex.EncodeToString(v.shown()) + when(v[0] == beginning, "...")
	}
	in := reader{b: v.shown()}
	n := in.number(min(8, len(in.b)))
	switch c.kind {
	case 1:
		return strconv.FormatBool(n != 0)
	case 2:
		return fmt.Sprint(int8(n))
	case 3:
		return fmt.Sprint(int16(n))
	case 4:
		return fmt.Sprint(int32(n))
	case 5:
		return fmt.Sprint(int64(n))
	case 10:
		return float(float64(math.Float32frombits(uint32(n))), 9)
	case 11:
		return float(math.Float64frombits(n), 17)
	case 12:
		return fmt.Sprint(int64(n), "/", c.scale)
	case 15:
		return fmt.Sprint("#", n)
	}
	return fmt.Sprint(n)
}

// float writes a number as C does.
func float(v float64, digits int) string {
	return strings.NewReplacer("+Inf", "inf", "-Inf", "-inf", "NaN", "nan").Replace(fmt.Sprintf("%.*g", digits, v))
}

// peersOf names peers: of more than five only four.
func (r *Relay) peersOf(members uint64) string {
	var names []string
	for i, name := range r.names {
		if members>>i&1 != 0 {
			names = append(names, escaped(name))
		}
	}
	switch n := len(names); {
	case n > 5:
		return fmt.Sprintf("%s and %d more", strings.Join(names[:4], ", "), n-4)
	case n > 1:
		return strings.Join(names[:n-1], ", ") + " and " + names[n-1]
	}
	return strings.Join(names, "")
}

func escaped(text string) string {
	var s strings.Builder
	for _, c := range []byte(text) {
		if c >= ' ' && c < 127 && c != '\\' {
			s.WriteByte(c)
		} else {
			fmt.Fprintf(&s, `\x%02x`, c)
		}
	}
	return s.String()
}

func count(n uint32, noun string) string { return fmt.Sprint(n, " ", noun, when(n != 1, "s")) }

func when(is bool, text string) string {
	if is {
		return text
	}
	return ""
}
