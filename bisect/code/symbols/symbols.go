// Package symbols names the places in a program: the functions, files and lines of addresses, by its DWARF; the functions
// alone, by its symbol table, where there is no DWARF.
package symbols

import (
	"cmp"
	"debug/dwarf"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/desynctool/desynctool/bisect/code"
	"github.com/desynctool/desynctool/internal/debuginfo"
	"github.com/desynctool/desynctool/internal/lists"
)

// Program names the places in one program or library.
type Program struct {
	// Missing is why no lines are known, nil if the program has DWARF.
	Missing error

	module    string
	data      *dwarf.Data
	units     []*unit
	ranges    []span[*unit]      // ascending
	functions []debuginfo.Symbol // of the symbol table, for code without DWARF
	calls     *debuginfo.Calls
}

// unit is a compilation unit, read when it is first needed.
type unit struct {
	entry     *dwarf.Entry
	read      bool
	lines     []line
	functions []*function
}

// line is a row of the line table: from its address to the address of the next.
type line struct {
	at   uint64
	file string
	line int // 0 ends a sequence
	col  int
}

// function is a function, or a call of one that was inlined.
type function struct {
	name     string
	line     int // where it is declared
	ranges   [][2]uint64
	inlined  []*function
	callFile string // of an inlined one, the place of the call
	callLine int
	callCol  int
}

// span is a range of addresses.
type span[T any] struct {
	from, to uint64
	of       T
}

// Open reads a program. Its name becomes the module of the places.
func Open(r io.ReaderAt, name string) (_ *Program, err error) {
	p := &Program{module: name}
	if p.functions, err = debuginfo.Symbols(r); err != nil {
		return nil, err
	}
	if p.calls, err = debuginfo.OpenCalls(r); err != nil {
		return nil, err
	}
	info, err := debuginfo.Open(r)
	if err != nil {
		p.Missing = err
		return p, nil
	}
	p.data = info.Data
	defer debuginfo.Damaged(&err)
	return p, p.index()
}

// index finds the addresses of the units.
func (p *Program) index() error {
	r := p.data.Reader()
	for {
		e, err := r.Next()
		if err != nil {
			return fmt.Errorf("%s: debug information: %w", p.module, err)
		}
		if e == nil {
			break
		}
		r.SkipChildren()
		if e.Tag != dwarf.TagCompileUnit {
			continue
		}
		u := &unit{entry: e}
		ranges, err := p.data.Ranges(e)
		if err != nil {
			return fmt.Errorf("%s: debug information: %w", p.module, err)
		}
		for _, at := range ranges {
			p.ranges = append(p.ranges, span[*unit]{at[0], at[1], u})
		}
		p.units = append(p.units, u)
	}
	lists.SortStable(p.ranges, func(a, b span[*unit]) int { return cmp.Compare(a.from, b.from) })
	return nil
}

// unitOf returns the unit of an address, nil if there is none.
func (p *Program) unitOf(at uint64) (*unit, error) {
	i, _ := slices.BinarySearchFunc(p.ranges, at, func(s span[*unit], at uint64) int {
		if s.to <= at {
			return -1
		}
		return 1
	})
	if i == len(p.ranges) || at < p.ranges[i].from {
		return nil, nil
	}
	u := p.ranges[i].of
	return u, p.load(u)
}

// symbolOf returns the function of an address by the symbol table, nil if there is none.
func (p *Program) symbolOf(at uint64) *debuginfo.Symbol {
	i, found := slices.BinarySearchFunc(p.functions, at, func(s debuginfo.Symbol, at uint64) int { return cmp.Compare(s.At, at) })
	if !found {
		i--
	}
	if i < 0 || p.functions[i].Size > 0 && at-p.functions[i].At >= p.functions[i].Size {
		return nil
	}
	return &p.functions[i]
}

// load reads the lines and functions of a unit.
func (p *Program) load(u *unit) (err error) {
	if u.read {
		return nil
	}
	u.read = true
	defer debuginfo.Damaged(&err)
	table, err := p.data.LineReader(u.entry)
	if err != nil || table == nil {
		return err
	}
	var e dwarf.LineEntry
	for {
		if err := table.Next(&e); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			return fmt.Errorf("%s: debug information: %w", p.module, err)
		}
		l := line{at: e.Address, line: e.Line, col: e.Column}
		if e.EndSequence {
			l.line = 0
		} else if e.File != nil {
			l.file = e.File.Name
		}
		u.lines = append(u.lines, l)
	}
	lists.SortStable(u.lines, func(a, b line) int {
		if c := cmp.Compare(a.at, b.at); c != 0 {
			return c
		}
		return cmp.Compare(min(a.line, 1), min(b.line, 1)) // the end of a sequence before the beginning of the next
	})
	files := table.Files()
	tree := &treeReader{p: p, r: p.data.Reader(), files: files}
	tree.r.Seek(u.entry.Offset)
	if _, err := tree.r.Next(); err != nil {
		return err
	}
	return tree.children(&u.functions, 0)
}

// Places returns the place of an address and the calls that were inlined around it, the innermost first. It returns one
// place with module and offset alone if nothing else is known.
func (p *Program) Places(at uint64) ([]code.Place, error) {
	plain := code.Place{Module: p.module, Offset: at}
	u, err := p.unitOf(at)
	if u == nil || err != nil {
		if s := p.symbolOf(at); s != nil {
			plain.Function = s.Name
		}
		return []code.Place{plain}, err
	}
	l := u.lineOf(at)
	plain.File, plain.Line, plain.Column = l.file, l.line, l.col
	chain := inlinedAt(u.functions, at)
	if len(chain) == 0 {
		return []code.Place{plain}, nil
	}
	var list []code.Place
	for i, f := range slices.Backward(chain) {
		one := plain
		one.Function = f.name
		if i < len(chain)-1 { // where it calls the next inner one
			one.File, one.Line, one.Column = chain[i+1].callFile, chain[i+1].callLine, chain[i+1].callCol
		}
		list = append(list, one)
	}
	return list, nil
}

// Calls returns the functions that the code from an address on calls up to the next call of a function whose name begins
// with end, sorted, by the names of the linker.
func (p *Program) Calls(from uint64, end string) []string { return p.calls.Block(from, end) }

// Declared returns the line at which a function around an address is declared, 0 if it is not known: the innermost one, or
// the one that it was inlined in so many calls farther out.
func (p *Program) Declared(at uint64, out int) (int, error) {
	u, err := p.unitOf(at)
	if u == nil || err != nil {
		return 0, err
	}
	chain := inlinedAt(u.functions, at)
	if len(chain) <= out {
		return 0, nil
	}
	return chain[len(chain)-1-out].line, nil
}

// Entry returns where the function around an address begins, not counting functions inlined in it; 0 if it is not known.
func (p *Program) Entry(at uint64) (uint64, error) {
	u, err := p.unitOf(at)
	if u == nil || err != nil {
		if s := p.symbolOf(at); s != nil {
			return s.At, err
		}
		return 0, err
	}
	if chain := inlinedAt(u.functions, at); len(chain) > 0 {
		return chain[0].ranges[0][0], nil
	}
	return 0, nil
}

// Last returns the place of the last line of a block of code from one address to before another, at which the next block
// begins: the line that decides where the program goes on.
func (p *Program) Last(from, next uint64) ([]code.Place, error) {
	u, err := p.unitOf(from)
	if u == nil || err != nil {
		return p.Places(from)
	}
	i := u.rowOf(next) - 1 // the row of the next block itself may begin before its address
	for ; i >= 0 && u.lines[i].at > from; i-- {
		if u.lines[i].line > 0 && u.lines[i].at < u.lines[i+1].at {
			return p.Places(u.lines[i].at)
		}
	}
	return p.Places(from)
}

// rowOf returns the number of the row of an address, -1 if it is before all.
func (u *unit) rowOf(at uint64) int {
	i, _ := slices.BinarySearchFunc(u.lines, at+1, func(l line, at uint64) int { return cmp.Compare(l.at, at) })
	return i - 1
}

// lineOf returns the row of an address.
func (u *unit) lineOf(at uint64) line {
	if i := u.rowOf(at); i >= 0 {
		return u.lines[i]
	}
	return line{}
}

// inlinedAt returns the function of an address and the calls inlined in it, the innermost last.
func inlinedAt(list []*function, at uint64) (chain []*function) {
	for {
		i := slices.IndexFunc(list, func(f *function) bool {
			return slices.ContainsFunc(f.ranges, func(r [2]uint64) bool { return r[0] <= at && at < r[1] })
		})
		if i < 0 || len(chain) == maxDepth {
			return chain
		}
		chain = append(chain, list[i])
		list = list[i].inlined
	}
}

// maxDepth bounds how deep entries lie in each other.
const maxDepth = 100
