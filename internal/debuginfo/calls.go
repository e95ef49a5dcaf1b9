package debuginfo

import (
	"cmp"
	"debug/elf"
	"encoding/binary"
	"io"
	"slices"
	"strings"
)

// Calls knows which functions the code of a program calls by name. It reads ELF for x86-64; of other programs it knows
// none.
type Calls struct {
	text  []*elf.Section
	names map[uint64]string // of functions, and of the stubs that lead to those of libraries
	slots map[uint64]string // of the addresses of functions of libraries, by where they are kept
}

// OpenCalls opens a program.
func OpenCalls(r io.ReaderAt) (c *Calls, err error) {
	defer Damaged(&err)
	c = &Calls{names: map[uint64]string{}, slots: map[uint64]string{}}
	f, err := elf.NewFile(r)
	if err != nil || f.Machine != elf.EM_X86_64 || f.Class != elf.ELFCLASS64 {
		return c, nil
	}
	for _, s := range symbolsELF(f) {
		c.names[s.At] = s.Name
	}
	imported, _ := f.DynamicSymbols() // none in a program without libraries
	for _, s := range f.Sections {
		switch {
		case s.Type == elf.SHT_RELA:
			c.relocations(s, imported)
		case s.Flags&elf.SHF_EXECINSTR != 0:
			c.text = append(c.text, s)
		}
	}
	for _, s := range c.text {
		if size := s.Entsize; s.Name == ".plt" || s.Name == ".plt.sec" || s.Name == ".plt.got" {
			size = cmp.Or(size, 16)
			c.stubs(s, size)
		}
	}
	return c, nil
}

// relocations notes where the addresses of functions are kept.
func (c *Calls) relocations(s *elf.Section, imported []elf.Symbol) {
	b, err := s.Data()
	if err != nil {
		return
	}
	for ; len(b) >= 24; b = b[24:] {
		if n := binary.LittleEndian.Uint32(b[12:]); 0 < n && int64(n) <= int64(len(imported)) {
			c.slots[binary.LittleEndian.Uint64(b)] = imported[n-1].Name
		}
	}
}

// stubs names the stubs of a section: each jumps to the address in a slot.
func (c *Calls) stubs(s *elf.Section, size uint64) {
	b, err := s.Data()
	if err != nil {
		return
	}
	for at := uint64(0); at+size <= uint64(len(b)); at += size {
		for i := uint64(0); i+6 <= size; i++ {
			if stub := b[at:]; stub[i] == 0xff && stub[i+1] == 0x25 {
				if name, ok := c.slots[target(s.Addr+at+i+6, stub[i+2:])]; ok {
					c.names[s.Addr+at] = name
				}
				break
			}
		}
	}
}

// target adds a distance to the address after an instruction.
func target(after uint64, distance []byte) uint64 {
	return after + uint64(int64(int32(binary.LittleEndian.Uint32(distance))))
}

// maxBlock bounds the code that is read of a block.
const maxBlock = 4096

// Block returns the functions that the code from an address on calls up to the next call of a function whose name begins
// with end, or to the next function, sorted. A number in the code that is by chance the distance to a function would be
// taken for a call.
func (c *Calls) Block(from uint64, end string) (names []string) {
	for _, s := range c.text {
		if from < s.Addr || from >= s.Addr+s.Size {
			continue
		}
		b := make([]byte, min(maxBlock, s.Addr+s.Size-from))
		if _, err := s.ReadAt(b, int64(from-s.Addr)); err != nil {
			return nil
		}
		for i := range b {
			if _, begins := c.names[from+uint64(i)]; begins && i > 0 {
				return sorted(names)
			}
			var name string
			var ok bool
			switch {
			case b[i] == 0xe8 && i+5 <= len(b):
				name, ok = c.names[target(from+uint64(i)+5, b[i+1:])]
			case i+6 <= len(b) && b[i] == 0xff && b[i+1] == 0x15:
				name, ok = c.slots[target(from+uint64(i)+6, b[i+2:])]
			default:
				continue
			}
			if ok && end != "" && strings.HasPrefix(name, end) {
				return sorted(names)
			}
			if ok {
				names = append(names, name)
			}
		}
	}
	return sorted(names)
}

func sorted(names []string) []string {
	slices.Sort(names)
	return slices.Compact(names)
}
