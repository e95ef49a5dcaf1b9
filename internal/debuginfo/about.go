package debuginfo

import (
	"bytes"
	"debug/elf"
	"debug/macho"
	"debug/pe"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"strings"
)

// Identity is the information that a program or library contains about itself.
type Identity struct {
	Format  string `json:"format"` // ELF, PE or Mach-O
	Machine string `json:"machine"`
	Build   string `json:"build_id,omitempty"` // the build id in hexadecimal digits, "" if it has none
}

var errNoProgram = errors.New("not a program")

// About returns the information of a program about itself.
func About(r io.ReaderAt) (id Identity, err error) {
	defer func() {
		if recover() != nil {
			err = errNoProgram
		}
	}()
	head := make([]byte, 4)
	if _, err := r.ReadAt(head, 0); err != nil {
		return id, errNoProgram
	}
	switch {
	case string(head) == elf.ELFMAG:
		return elfIdentity(r)
	case string(head[:2]) == "MZ":
		return peIdentity(r)
	}
	switch binary.LittleEndian.Uint32(head) {
	case macho.Magic32, macho.Magic64, 0xcefaedfe, 0xcffaedfe:
		return machoIdentity(r)
	}
	return id, errNoProgram
}

const maxNotes = 64 << 10 // bytes that are read of notes

func elfIdentity(r io.ReaderAt) (Identity, error) {
	f, err := elf.NewFile(r)
	if err != nil {
		return Identity{}, err
	}
	p := Identity{Format: "ELF", Machine: strings.TrimPrefix(f.Machine.String(), "EM_")}
	for _, s := range f.Progs {
		if s.Type == elf.PT_NOTE && p.Build == "" {
			raw, _ := io.ReadAll(io.LimitReader(s.Open(), maxNotes)) // what is cut off has no notes
			p.Build = buildNote(raw, f.ByteOrder, int(max(s.Align, 4)))
		}
	}
	for _, s := range f.Sections {
		if s.Type == elf.SHT_NOTE && p.Build == "" {
			raw, _ := io.ReadAll(io.LimitReader(s.Open(), maxNotes))
			p.Build = buildNote(raw, f.ByteOrder, int(max(s.Addralign, 4)))
		}
	}
	return p, nil
}

// buildNote returns the build id in notes of an ELF file, which begin at multiples of align.
func buildNote(raw []byte, order binary.ByteOrder, align int) string {
	for len(raw) >= 12 && align <= 8 {
		size, length, kind := uint64(order.Uint32(raw)), uint64(order.Uint32(raw[4:])), order.Uint32(raw[8:])
		up := func(n uint64) uint64 { return (n + uint64(align) - 1) / uint64(align) * uint64(align) }
		from := up(12 + size)
		if from+length > uint64(len(raw)) {
			return ""
		}
		name, content := string(raw[12:12+size]), raw[from:from+length]
		switch {
		case name == "GNU\x00" && kind == 3:
			return hex.EncodeToString(content)
		case name == "Go\x00\x00" && kind == 4:
			return string(content)
		}
		raw = raw[min(up(from+length), uint64(len(raw))):]
	}
	return ""
}

func peIdentity(r io.ReaderAt) (Identity, error) {
	f, err := pe.NewFile(r)
	if err != nil {
		return Identity{}, err
	}
	machines := map[uint16]string{pe.IMAGE_FILE_MACHINE_I386: "386", pe.IMAGE_FILE_MACHINE_AMD64: "X86_64", pe.IMAGE_FILE_MACHINE_ARM64: "AARCH64"}
	p := Identity{Format: "PE", Machine: machines[f.Machine]}
	if p.Machine == "" {
		p.Machine = fmt.Sprintf("machine %#x", f.Machine)
	}
	var debug pe.DataDirectory
	switch h := f.OptionalHeader.(type) {
	case *pe.OptionalHeader32:
		debug = h.DataDirectory[pe.IMAGE_DIRECTORY_ENTRY_DEBUG]
	case *pe.OptionalHeader64:
		debug = h.DataDirectory[pe.IMAGE_DIRECTORY_ENTRY_DEBUG]
	}
	const entry, codeView = 28, 2
	raw := make([]byte, min(debug.Size, 100*entry))
	for _, s := range f.Sections {
		if debug.VirtualAddress < s.VirtualAddress || debug.VirtualAddress-s.VirtualAddress >= s.Size {
			continue
		}
		if _, err := s.ReadAt(raw, int64(debug.VirtualAddress-s.VirtualAddress)); err != nil {
			return p, nil
		}
	}
	for ; len(raw) >= entry; raw = raw[entry:] {
		if binary.LittleEndian.Uint32(raw[12:]) != codeView {
			continue
		}
		record := make([]byte, 24)
		_, err := r.ReadAt(record, int64(binary.LittleEndian.Uint32(raw[24:])))
		if err == nil && bytes.HasPrefix(record, []byte("RSDS")) {
			p.Build = guid(record[4:20]) + fmt.Sprintf("-%d", binary.LittleEndian.Uint32(record[20:]))
		}
	}
	return p, nil
}

// guid returns a GUID as Windows writes it: its first three parts are little-endian.
func guid(b []byte) string {
	order := binary.LittleEndian
	return fmt.Sprintf("%08x-%04x-%04x-%x-%x", order.Uint32(b), order.Uint16(b[4:]), order.Uint16(b[6:]), b[8:10], b[10:16])
}

func machoIdentity(r io.ReaderAt) (Identity, error) {
	f, err := macho.NewFile(r)
	if err != nil {
		return Identity{}, err
	}
	p := Identity{Format: "Mach-O", Machine: strings.TrimPrefix(f.Cpu.String(), "Cpu")}
	const uuid = 0x1b
	for _, load := range f.Loads {
		if raw := load.Raw(); len(raw) >= 24 && f.ByteOrder.Uint32(raw) == uuid {
			b := raw[8:24]
			p.Build = fmt.Sprintf("%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:])
		}
	}
	return p, nil
}
