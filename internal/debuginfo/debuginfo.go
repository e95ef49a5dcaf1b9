// Package debuginfo opens the debug information of programs: DWARF in ELF, PE and Mach-O files. It bounds the memory that
// DWARF takes, and returns an error where the readers of the standard library, which are not made for hostile files, panic.
package debuginfo

import (
	"bytes"
	"cmp"
	"debug/dwarf"
	"debug/elf"
	"debug/macho"
	"debug/pe"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/desynctool/desynctool/internal/file/limits"
	"github.com/desynctool/desynctool/internal/lists"
)

// Program is a program or a library.
type Program struct {
	// Data is its debug information.
	Data *dwarf.Data
	Big  bool // the byte order
	X86  bool // a long double has 10 bytes
}

// Open opens the debug information of a program.
func Open(r io.ReaderAt) (_ *Program, err error) {
	defer Damaged(&err)
	f, err := open(r)
	if err != nil {
		return nil, err
	}
	if err = measure(f.sections, f.missing); err != nil {
		return nil, wrapped(err)
	}
	data, err := f.dwarf()
	if err != nil {
		return nil, wrapped(err)
	}
	return &Program{Data: data, Big: f.big, X86: f.x86}, nil
}

func wrapped(err error) error {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return errors.New("debug information: the file ends before it")
	}
	return fmt.Errorf("debug information: %w", err)
}

// Damaged makes an error of a panic, for functions that read debug information.
func Damaged(err *error) {
	if fault := recover(); fault != nil {
		*err = fmt.Errorf("debug information is damaged: %.80v", fault)
	}
}

// file is a program of any format.
type file struct {
	sections []section
	missing  string // the error without debug information
	big, x86 bool
	dwarf    func() (*dwarf.Data, error)
	symbols  func() []Symbol
}

// section is a section of a program.
type section struct {
	name string
	size uint64
	io.ReaderAt
}

func open(r io.ReaderAt) (*file, error) {
	head := make([]byte, 4)
	if _, err := r.ReadAt(head, 0); err != nil {
		return nil, errors.New("not a program: it has fewer than 4 bytes")
	}
	var f *file
	var err error
	switch {
	case string(head) == elf.ELFMAG:
		f, err = openELF(r)
	case string(head[:2]) == "MZ":
		f, err = openPE(r)
	case slices.Contains([]uint32{macho.Magic32, macho.Magic64, 0xcefaedfe, 0xcffaedfe}, binary.LittleEndian.Uint32(head)):
		f, err = openMachO(r)
	default:
		return nil, errors.New("not a program: expected an ELF, PE or Mach-O file")
	}
	if err != nil {
		return nil, wrapped(err)
	}
	return f, nil
}

// maxSize bounds what a section claims.
const maxSize = 1 << 40

// measure bounds the memory that debug information takes once it is unpacked. Without any, the error is missing.
func measure(sections []section, missing string) error {
	sum, found := uint64(0), false
	for _, s := range sections {
		if !strings.Contains(s.name, "debug_") {
			continue
		}
		found = found || strings.HasSuffix(s.name, "debug_info")
		size := s.size
		head := make([]byte, 12)
		if s.ReaderAt != nil { // else it is compressed in the way of ELF, and its sizes are the sizes of the content
			_, _ = s.ReadAt(head, 0)
		}
		if bytes.HasPrefix(head, []byte("ZLIB")) {
			size = max(size, binary.BigEndian.Uint64(head[4:]))
		}
		sum += min(size, maxSize)
	}
	switch {
	case !found:
		return errors.New(missing)
	case limits.Memory.Over(int64(sum)):
		return limits.Memory.Reached("", int64(sum))
	}
	return nil
}

func openELF(r io.ReaderAt) (*file, error) {
	f, err := elf.NewFile(r)
	if err != nil {
		return nil, err
	}
	out := &file{
		missing: "there is none: build the game with -g, or give the file that its symbols were split into",
		big:     f.ByteOrder == binary.BigEndian, x86: f.Machine == elf.EM_X86_64 || f.Machine == elf.EM_386, dwarf: f.DWARF,
		symbols: func() []Symbol { return symbolsELF(f) },
	}
	for _, s := range f.Sections {
		out.sections = append(out.sections, section{s.Name, max(s.Size, s.FileSize), s.ReaderAt})
	}
	return out, nil
}

func openPE(r io.ReaderAt) (*file, error) {
	f, err := pe.NewFile(r)
	if err != nil {
		return nil, err
	}
	out := &file{
		missing: "there is no DWARF, and a .pdb is not read: describe the type with --struct",
		x86:     f.Machine == pe.IMAGE_FILE_MACHINE_AMD64 || f.Machine == pe.IMAGE_FILE_MACHINE_I386, dwarf: f.DWARF,
		symbols: func() []Symbol { return symbolsPE(f) },
	}
	for _, s := range f.Sections {
		out.sections = append(out.sections, section{s.Name, uint64(s.Size), s.ReaderAt})
	}
	return out, nil
}

func openMachO(r io.ReaderAt) (*file, error) {
	f, err := macho.NewFile(r)
	if err != nil {
		return nil, err
	}
	out := &file{
		missing: "there is none: give the file in GAME.dSYM/Contents/Resources/DWARF",
		big:     f.ByteOrder == binary.BigEndian, x86: f.Cpu == macho.CpuAmd64 || f.Cpu == macho.Cpu386, dwarf: f.DWARF,
		symbols: func() []Symbol { return symbolsMachO(f) },
	}
	out.sections = lists.Map(f.Sections, func(s *macho.Section) section { return section{s.Name, s.Size, s.ReaderAt} })
	return out, nil
}

// Symbol is a function by the program's symbol table.
type Symbol struct {
	Name string
	At   uint64 // its virtual address
	Size uint64 // 0 if it is not known
}

// Symbols returns the functions of a program's symbol table by ascending address. There may be none.
func Symbols(r io.ReaderAt) (list []Symbol, err error) {
	defer Damaged(&err)
	f, err := open(r)
	if err != nil {
		return nil, err
	}
	list = f.symbols()
	lists.SortStable(list, func(a, b Symbol) int { return cmp.Compare(a.At, b.At) })
	return list, nil
}

func symbolsELF(f *elf.File) (list []Symbol) {
	all, _ := f.Symbols()
	if len(all) == 0 {
		all, _ = f.DynamicSymbols()
	}
	for _, s := range all {
		if elf.ST_TYPE(s.Info) == elf.STT_FUNC && s.Value != 0 {
			list = append(list, Symbol{s.Name, s.Value, s.Size})
		}
	}
	return list
}

func symbolsPE(f *pe.File) (list []Symbol) {
	for _, s := range f.Symbols {
		if n := int(s.SectionNumber); s.Type == 0x20 && 0 < n && n <= len(f.Sections) { // a function
			list = append(list, Symbol{s.Name, uint64(f.Sections[n-1].VirtualAddress) + uint64(s.Value), 0})
		}
	}
	return list
}

func symbolsMachO(f *macho.File) (list []Symbol) {
	if f.Symtab == nil {
		return nil
	}
	for _, s := range f.Symtab.Syms {
		if n := int(s.Sect); s.Type&0x0e == 0x0e && 0 < n && n <= len(f.Sections) && f.Sections[n-1].Name == "__text" {
			list = append(list, Symbol{strings.TrimPrefix(s.Name, "_"), s.Value, 0})
		}
	}
	return list
}
