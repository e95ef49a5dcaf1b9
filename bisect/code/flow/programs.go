package flow

import (
	"encoding/hex"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"

	"github.com/desynctool/desynctool/bisect/code"
	"github.com/desynctool/desynctool/bisect/code/symbols"
	"github.com/desynctool/desynctool/internal/debuginfo"
)

// programs name the addresses of the recordings of one build. They have to be what ran: their build ids decide.
type programs struct {
	modules []Module
	open    map[int]*symbols.Program
	files   []*os.File
	notes   []string
}

func newPrograms(r *Recording) *programs {
	return &programs{modules: r.Modules, open: map[int]*symbols.Program{}}
}

// close closes the files.
func (p *programs) close() {
	for _, f := range p.files {
		_ = f.Close()
	}
}

// note adds a note once.
func (p *programs) note(format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	if slices.Contains(p.notes, text) {
		return
	}
	p.notes = append(p.notes, text)
}

// program opens a module, nil if it cannot be read.
func (p *programs) program(module int) *symbols.Program {
	if module >= len(p.modules) {
		return nil
	}
	if known, ok := p.open[module]; ok {
		return known
	}
	p.open[module] = nil
	m := &p.modules[module]
	name := filepath.Base(m.Path)
	f, err := os.Open(m.Path)
	if err != nil {
		p.note("%s cannot be read, and its functions are not known", name)
		return nil
	}
	p.files = append(p.files, f)
	if id, err := debuginfo.About(f); err == nil && len(m.BuildID) > 0 && id.Build != hex.EncodeToString(m.BuildID) {
		p.note("%s is another build than the one that ran: its build id is %s, expected %x", name, id.Build, m.BuildID)
		return nil
	}
	opened, err := symbols.Open(io.NewSectionReader(f, 0, 1<<62), name)
	if err != nil {
		p.note("%s: %v", name, err)
		return nil
	}
	if opened.Missing != nil {
		p.note("%s: %v", name, opened.Missing)
	}
	p.open[module] = opened
	return opened
}

// places returns the places of a branch, the innermost first. A branch is recorded by the address after the call of the
// recorder, so that its own place is the byte before.
func (p *programs) places(at Address) ([]code.Place, error) {
	if program := p.program(at.Module()); program != nil {
		return program.Places(at.Offset() - 1)
	}
	place := code.Place{Offset: at.Offset() - 1}
	if n := at.Module(); n < len(p.modules) {
		place.Module = filepath.Base(p.modules[n].Path)
	}
	return []code.Place{place}, nil
}

// named reports if the lines of a thread's branches are not known.
func (p *programs) named(r *Recording, thread uint32) error {
	list := make([]Address, window)
	b := r.Branches(r.Thread(thread))
	for _, at := range list[:b.Next(list)] {
		if places, err := p.places(at); err != nil || places[0].Line > 0 {
			return err
		}
	}
	if b.Err() != nil {
		return b.Err()
	}
	why := "there is none of the simulation's files: compile them with -g"
	if len(p.notes) > 0 {
		why = p.notes[0]
	}
	return fmt.Errorf("builds that were compiled otherwise are compared by lines, which need debug information: %s", why)
}

// line returns the place of a branch in the game's own code, and the line at which its function is declared. Code of a
// library that was inlined counts as the line that calls it; other code of a library has no place.
func (p *programs) line(at Address) (place code.Place, declared int, err error) {
	list, err := p.places(at)
	i := slices.IndexFunc(list, code.Place.Own)
	if err != nil || i < 0 {
		return code.Place{}, 0, err
	}
	declared, err = p.program(at.Module()).Declared(at.Offset()-1, i)
	return list[i], declared, err
}

// entry returns where the function of a branch begins, false if it is not known.
func (p *programs) entry(at Address) (Address, bool) {
	program := p.program(at.Module())
	if program == nil {
		return 0, false
	}
	entry, err := program.Entry(at.Offset() - 1)
	return at&^(1<<48-1) | Address(entry), err == nil && entry > 0
}

// decides returns the place of the last line of the block that begins with a branch, where the program decides how to go
// on. near has the branches around it; the next one of the same function ends the block, if it is where one of the builds
// goes on. Else an optimiser has moved blocks, and the beginning of the block is all that is certain.
func (p *programs) decides(at Address, near []Address, next [2][]code.Place) ([]code.Place, error) {
	entry, ok := p.entry(at)
	if !ok {
		return p.places(at)
	}
	end := Address(0)
	for _, other := range near {
		if other <= at || end > 0 && other >= end {
			continue
		}
		if of, _ := p.entry(other); of == entry {
			end = other
		}
	}
	if end == 0 {
		return p.places(at)
	}
	after, err := p.places(end)
	if err != nil {
		return nil, err
	}
	if !slices.ContainsFunc(next[:], func(list []code.Place) bool {
		return len(list) > 0 && list[0].Function == after[0].Function && list[0].Line == after[0].Line
	}) {
		return p.places(at)
	}
	return p.program(at.Module()).Last(at.Offset()-1, end.Offset()-1)
}

// calls returns the functions that the block that begins with a branch calls: up to the next call of the recorder.
func (p *programs) calls(at Address) []string {
	if program := p.program(at.Module()); program != nil {
		return program.Calls(at.Offset(), "__sanitizer_cov_trace_pc")
	}
	return nil
}

// decider returns the block that decided to go on at next: the last branch, or, if that returned from a function that was
// called in the block, the call. The stack is the one at the last branch.
func (p *programs) decider(last Address, stack []Address, next *Address) Address {
	if next == nil {
		return last
	}
	to, ok := p.entry(*next)
	if of, _ := p.entry(last); !ok || of == to {
		return last
	}
	for _, at := range stack {
		if of, ok := p.entry(at); ok && of == to {
			return at
		}
	}
	return last
}
