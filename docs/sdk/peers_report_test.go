package sdk_test

import (
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/desynctool/desynctool/snapshot"
)

// A place is a value of a state: of the RNG the label is empty, of a row itself the field.
type place struct {
	label, field string
	key, key2    uint64
}

// valuesOf are all values of a state: "row" of a row, "none" of an absent value, else its bytes in hexadecimal.
func valuesOf(w *snapshot.World) map[place]string {
	all := map[place]string{{}: "row", {field: "RNG.state"}: hex.EncodeToString(w.RNG)}
	for _, t := range w.Tables {
		for row := range t.Rows() {
			if t.Class != snapshot.Archetype {
				continue
			}
			key := t.Keys.At(row)
			all[place{t.Label, "", key.A, key.B}] = "row"
			for i := range t.Columns {
				c, value := &t.Columns[i], "none"
				if c.Has(row) {
					value = hex.EncodeToString(c.Raw(row))
				}
				all[place{t.Label, c.Component + "." + c.Field, key.A, key.B}] = value
			}
		}
	}
	return all
}

// flightRootOf is the hash of a state, by docs/exchange.md.
func flightRootOf(w *snapshot.World) uint64 {
	type column struct {
		component, field string
		number, sum      uint64
	}
	row := func(key, key2 uint64) uint64 { return mix64(mix64(key+0x632be59bd9b4e019) ^ key2) }
	cell := func(row, v uint64) uint64 { return mix64(row + mix64(v+0x8ebc6af09c88c6e3)) }
	schema := uint64(0)
	var leaves []uint64
	table := func(label string, rows uint64, columns ...column) {
		schema = mix64((schema + 1) ^ bytes64([]byte(label)))
		sums := []uint64{rows}
		for _, c := range columns {
			schema = mix64(schema ^ bytes64([]byte(c.component)))
			schema = mix64(schema ^ bytes64([]byte(c.field)))
			schema = mix64(schema + c.number)
			sums = append(sums, c.sum)
		}
		leaves = append(leaves, leaf64(sums...))
	}
	table("", mix64(row(0, 0)+1), column{"RNG", "state", uint64(snapshot.Bytes), cell(row(0, 0), bytes64(w.RNG))})
	for _, t := range w.Tables {
		if t.Class != snapshot.Archetype {
			continue
		}
		rows, columns := uint64(0), []column{}
		for i := range t.Rows() {
			rows += mix64(row(t.Keys.At(i).A, t.Keys.At(i).B) + 1)
		}
		for i := range t.Columns {
			c, sum := &t.Columns[i], uint64(0)
			for k := range t.Rows() {
				if !c.Has(k) {
					continue
				}
				var v [8]byte
				if c.Type == snapshot.String || c.Type == snapshot.Bytes {
					binary.LittleEndian.PutUint64(v[:], bytes64(c.Raw(k)))
				} else {
					copy(v[:], c.Raw(k))
				}
				sum += cell(row(t.Keys.At(k).A, t.Keys.At(k).B), binary.LittleEndian.Uint64(v[:]))
			}
			columns = append(columns, column{c.Component, c.Field, uint64(c.Type) + uint64(c.Scale)<<8, sum})
		}
		table(t.Label, rows, columns...)
	}
	h := schema
	for _, leaf := range leaves {
		h = mix64(h+leaf) + 1
	}
	return h
}

// A flightReport is a report of a flight recorder, read by docs/exchange.md.
type flightReport struct {
	flags           byte
	seed, point     uint64
	system          string
	silent          uint64
	groups          []flightGroup
	tables, columns uint32
	listed          []flightColumn
}

type flightGroup struct{ members, root, step, inputs uint64 }

type flightColumn struct {
	label, field string
	flags        byte
	rows         uint32
	values       map[place][]reportedValue // of each group
}

// A reportedValue is complete, or a beginning with the hash of the whole.
type reportedValue struct {
	state byte
	bytes []byte
	size  uint32
	hash  uint64
}

// is reports whether a value is that of a state.
func (v reportedValue) is(true_ string, there bool) bool {
	whole, err := hex.DecodeString(true_)
	switch v.state {
	case 0:
		return true_ == "none"
	case 1:
		return true_ == "row" && len(v.bytes) == 0 || there && err == nil && string(whole) == string(v.bytes)
	case 2:
		return err == nil && uint32(len(whole)) == v.size && bytes64(whole) == v.hash && strings.HasPrefix(string(whole), string(v.bytes))
	}
	return !there
}

// A packedReader reads little-endian numbers; it is bad after its end.
type packedReader struct {
	b   []byte
	bad bool
}

func (p *packedReader) bytes(n int) []byte {
	if n > len(p.b) {
		p.bad, p.b = true, nil
		return make([]byte, n)
	}
	b := p.b[:n]
	p.b = p.b[n:]
	return b
}

func (p *packedReader) number(n int) (v uint64) {
	for i, b := range p.bytes(n) {
		v |= uint64(b) << (8 * i)
	}
	return v
}

func (p *packedReader) text() string { return string(p.bytes(int(p.number(1)))) }

func (p *packedReader) value() (v reportedValue) {
	v.state = byte(p.number(1))
	if v.state == 1 || v.state == 2 {
		v.bytes = p.bytes(int(p.number(1)))
	}
	if v.state == 2 {
		v.size, v.hash = uint32(p.number(4)), p.number(8)
	}
	p.bad = p.bad || v.state > 3
	return v
}

// reportOf is the report that a peer has.
func (p *peerProgram) reportOf(t *testing.T) *flightReport {
	t.Helper()
	b, err := hex.DecodeString(p.ask(t, "report"))
	if err != nil {
		t.Fatal(err)
	}
	r, err := readFlightReport(b)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func readFlightReport(b []byte) (*flightReport, error) {
	p := &packedReader{b: b}
	if string(p.bytes(4)) != "DFR\x01" {
		return nil, errors.New("not a report")
	}
	r := &flightReport{flags: byte(p.number(1)), seed: p.number(8), point: p.number(8)}
	p.number(2)
	r.system, r.silent = p.text(), p.number(8)
	for range p.number(1) {
		r.groups = append(r.groups, flightGroup{p.number(8), p.number(8), p.number(8), p.number(8)})
	}
	r.tables, r.columns = uint32(p.number(4)), uint32(p.number(4))
	for n := p.number(1); n > 0 && !p.bad; n-- {
		c := flightColumn{label: p.text(), values: map[place][]reportedValue{}}
		component, field := p.text(), p.text()
		if p.number(1) != 0 {
			c.field = component + "." + field
		}
		p.number(4)
		c.flags, c.rows = byte(p.number(1)), uint32(p.number(4))
		for rows := p.number(4); rows > 0 && !p.bad; rows-- {
			at := place{c.label, c.field, p.number(8), p.number(8)}
			for range r.groups {
				c.values[at] = append(c.values[at], p.value())
			}
		}
		r.listed = append(r.listed, c)
	}
	if p.bad || len(p.b) > 0 {
		return nil, fmt.Errorf("the report cannot be read, %d bytes are left", len(p.b))
	}
	return r, nil
}

// A truth is what differs between a game with the planted mistake and one without it, at the end of the first tick that
// ends with other states: [0] without, [1] with it.
type truth struct {
	lost       bool // the tick is no longer kept: ends is the first state that all keep
	tick       uint64
	system     string
	step, ends [2]*snapshot.World // after the first system with other states; at the end
}

// truthOf plays both games without recorders.
func truthOf(t *testing.T, command []string, seed uint64, plant planted) truth {
	t.Helper()
	var games [2]*peerProgram
	for i, kind := range []int{0, plant.kind} {
		games[i] = startPeer(t, command, 0, 0, seed, planted{plant.tick, plant.system, kind}, false, false)
		defer games[i].ends(t)
	}
	states := func() (w [2]*snapshot.World, same bool) {
		for i, g := range games {
			w[i] = g.state(t)
		}
		return w, flightRootOf(w[0]) == flightRootOf(w[1])
	}
	for range plant.tick {
		games[0].ask(t, "play")
		games[1].ask(t, "play")
	}
	for tick := plant.tick; tick < plant.tick+100; tick++ {
		found := truth{tick: tick}
		for range 5 {
			name := games[0].ask(t, "step")
			games[1].ask(t, "step")
			if w, same := states(); !same && found.system == "" {
				found.system, found.step = name, w
			}
		}
		if w, same := states(); !same {
			found.ends = w
			return found
		}
	}
	return truth{}
}

// holds fails the test for all that is wrong in a report. wrong are the peers with the mistake, as bits.
func (want truth) holds(t *testing.T, r *flightReport, wrong, all uint64) {
	t.Helper()
	if r.point != want.tick+1 || r.system != want.system || r.silent != 0 || r.flags&2 != 0 || (r.flags&1 != 0) != want.lost || len(r.groups) != 2 {
		t.Fatalf("reported %d, %q, flags %d, silent %x, %d groups; expected %d, %q", r.point, r.system, r.flags, r.silent, len(r.groups), want.tick+1, want.system)
	}
	var sides [2]int // of the groups: 1 with the mistake
	for g, group := range r.groups {
		if group.members == wrong {
			sides[g] = 1
		} else if group.members != all&^wrong {
			t.Fatalf("group %b, expected %b and %b", group.members, wrong, all&^wrong)
		}
		if group.root != flightRootOf(want.ends[sides[g]]) || !want.lost && group.step != flightRootOf(want.step[sides[g]]) || group.inputs != r.groups[0].inputs {
			t.Errorf("group %b has other hashes", group.members)
		}
	}
	ends := [2]map[place]string{valuesOf(want.ends[0]), valuesOf(want.ends[1])}
	missing := differing(ends)
	first := map[string]bool{}
	step := want.step
	if want.lost {
		step = want.ends
	}
	for at, both := range differing([2]map[place]string{valuesOf(step[0]), valuesOf(step[1])}) {
		first[at.label+" "+at.field] = first[at.label+" "+at.field] || both || at.field == ""
	}
	for _, c := range r.listed {
		rows := uint32(0)
		for at, values := range c.values {
			for g, v := range values {
				truth, there := ends[sides[g]][at]
				if !v.is(truth, there) {
					t.Errorf("%v: group %d has %+v, in truth %q", at, g, v, truth)
				}
			}
			both, differs := missing[at]
			if !differs {
				t.Errorf("%v is listed and does not differ", at)
			}
			if both || at.field == "" {
				rows++
			}
			delete(missing, at)
		}
		if c.flags&1 == 0 && rows != c.rows || c.rows < rows {
			t.Errorf("%s %s: %d rows, listed are %d", c.label, c.field, c.rows, rows)
		}
		if name := c.label + " " + c.field; !want.lost && c.flags&2 != 0 != first[name] {
			t.Errorf("%s: flags %d, but that it differs after the system is %v", name, c.flags, first[name])
		}
	}
	if r.flags&4 != 0 {
		return // it says that there are more
	}
	for at := range missing {
		t.Errorf("%v differs and is not listed", at)
	}
}

// differing are the places whose values differ, and whether both sides have the row.
func differing(sides [2]map[place]string) map[place]bool {
	all := map[place]bool{}
	for k := range sides {
		for at, value := range sides[k] {
			if other, both := sides[1-k][at]; other != value && !(value == "none" && !both) {
				all[at] = both
			}
		}
	}
	return all
}
