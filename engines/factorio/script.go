package factorio

import (
	"bufio"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"io"

	"github.com/desynctool/desynctool/internal/file/frame"
	"github.com/desynctool/desynctool/tracediff"
)

// The head of script.dat: the version as four numbers of 16 bits and a byte that is 0, then how
// many parts follow, 32 bits. A part is the name of a mod with its length in a byte, the data
// with its length, and a byte. Numbers are little-endian. A length of data takes one byte, or
// 255 and four.
const (
	scriptHead = 9 + 4
	maxMods    = 1 << 16
	longLength = 255
)

func sniffScript(head []byte) bool {
	if len(head) < scriptHead+2 || head[8] != 0 {
		return false
	}
	number := func(at int) uint16 { return binary.LittleEndian.Uint16(head[at:]) }
	count := binary.LittleEndian.Uint32(head[9:])
	length := int(head[scriptHead])
	name := head[scriptHead+1:]
	return number(0) <= 2 && number(2) < 100 && number(4) < 1000 && number(6) < 1000 && 0 < count && count <= maxMods &&
		0 < length && length <= len(name) && modName(name[:length])
}

// modName reports whether some bytes can be the name of a mod.
func modName(name []byte) bool {
	for _, c := range name {
		if c != '-' && c != '_' && c != ' ' && c != '.' && (c < '0' || c > '9') && (c|0x20 < 'a' || c|0x20 > 'z') {
			return false
		}
	}
	return len(name) > 0
}

// script reads script.dat.
type script struct {
	in     *bufio.Reader
	name   string
	at     int64
	left   uint32 // parts that follow
	header tracediff.Header
	tick   uint64
	known  bool

	rec tracediff.Record
	cp  tracediff.Checkpoint
	err error
}

func newScript(in io.Reader, name string, tick uint64, known bool) (*script, error) {
	s := &script{in: bufio.NewReaderSize(in, 64<<10), name: name, tick: tick, known: known}
	head, err := s.in.Peek(scriptHead + 1 + 255)
	if err != nil && err != io.EOF {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	if !sniffScript(head) {
		return nil, &frame.Error{Name: name, Err: frame.ErrUnrecognized, Msg: "expected the version, the number of mods and a name, as script.dat of Factorio has them"}
	}
	s.left = binary.LittleEndian.Uint32(head[9:])
	s.header.Peer = peerOf(name)
	s.header.Build = fmt.Sprintf("%d.%d.%d", binary.LittleEndian.Uint16(head), binary.LittleEndian.Uint16(head[2:]), binary.LittleEndian.Uint16(head[4:]))
	n, _ := s.in.Discard(scriptHead)
	s.at = int64(n)
	return s, nil
}

func (s *script) Header() tracediff.Header { return s.header }

func (s *script) Dialect() tracediff.Dialect {
	return dialect("Factorio data of mods", "the data that mods and the scenario keep: not the map", s.known)
}

// Next returns a checkpoint for each mod: a hash and the length of its data.
func (s *script) Next() (*tracediff.Record, error) {
	if s.err != nil {
		return nil, s.err
	}
	if s.err = s.mod(); s.err != nil {
		return nil, s.err
	}
	return &s.rec, nil
}

// mod reads a part.
func (s *script) mod() error {
	at := s.at
	if s.left == 0 {
		if _, err := s.in.ReadByte(); err == io.EOF {
			return io.EOF
		}
		return &frame.Error{Name: s.name, Offset: at, Err: frame.ErrCorrupt, Msg: "more bytes after the last mod"}
	}
	s.left--
	name, length, err := s.begin()
	if err != nil {
		return err
	}
	h := sha256.New()
	n, err := io.CopyN(h, s.in, length)
	if s.at += n; err != nil {
		return s.cut(at, err)
	}
	if _, err := s.byte(at); err != nil {
		return err
	}
	s.cp = tracediff.Checkpoint{
		Tick: s.tick, Scope: "mod " + name, Sums: append(s.cp.Sums[:0], tracediff.BytesSum("", h.Sum(nil)[:sumSize])),
		Count: uint64(length), HasCount: true,
	}
	s.rec = tracediff.Record{Pos: tracediff.Position{Offset: at}, Checkpoint: &s.cp}
	return nil
}

// begin reads the name of a mod and the length of its data.
func (s *script) begin() (name string, length int64, err error) {
	at := s.at
	n, err := s.byte(at)
	if err != nil {
		return "", 0, err
	}
	b := make([]byte, n)
	if err := s.full(b, at); err != nil {
		return "", 0, err
	}
	if !modName(b) {
		return "", 0, &frame.Error{Name: s.name, Offset: at, Err: frame.ErrCorrupt, Msg: fmt.Sprintf("%.40q, expected the name of a mod", b)}
	}
	short, err := s.byte(at)
	if err != nil || short != longLength {
		return string(b), int64(short), err
	}
	var long [4]byte
	if err := s.full(long[:], at); err != nil {
		return "", 0, err
	}
	length = int64(int32(binary.LittleEndian.Uint32(long[:])))
	if length < 0 {
		return "", 0, &frame.Error{Name: s.name, Offset: at, Err: frame.ErrCorrupt, Msg: fmt.Sprintf("data of %d bytes", length)}
	}
	return string(b), length, nil
}

func (s *script) byte(at int64) (byte, error) {
	var b [1]byte
	err := s.full(b[:], at)
	return b[0], err
}

func (s *script) full(b []byte, at int64) error {
	n, err := io.ReadFull(s.in, b)
	if s.at += int64(n); err != nil {
		return s.cut(at, err)
	}
	return nil
}

// cut returns the error for a file that ends inside the part that begins at a place.
func (s *script) cut(at int64, err error) error {
	if err == io.EOF || err == io.ErrUnexpectedEOF {
		return &frame.Error{Name: s.name, Offset: at, Lost: s.at - at, Err: frame.ErrTorn, Msg: "the file ends inside the data of a mod"}
	}
	return fmt.Errorf("%s: offset %d: %w", s.name, s.at, err)
}

// narrowScript finds the first byte in which the data of a mod differs, and the text before it,
// which mostly is the name of a field.
func narrowScript(sides []tracediff.Side) ([][]tracediff.Detail, error) {
	out := make([][]tracediff.Detail, len(sides))
	other := otherOf(sides)
	if other < 0 {
		return out, nil
	}
	var in [2]*script
	var left [2]int64
	var path tracediff.Detail
	for i, side := range []*tracediff.Side{&sides[0], &sides[other]} {
		at := side.Value.Pos.Offset
		if err := side.SkipTo(at); err != nil {
			return out, err
		}
		in[i] = &script{in: bufio.NewReaderSize(side.In, 64<<10), name: side.Name, at: at}
		name, length, err := in[i].begin()
		if err != nil {
			return out, err
		}
		left[i], path = length, tracediff.Detail{Text: "data of mod " + name}
	}
	last, text := "", []byte(nil) // the text before what differs, and the one that is read
	for at := 0; ; at++ {
		var shown [2][]byte
		for i := range in {
			b, err := in[i].in.Peek(int(min(left[i], window)))
			if err != nil && err != io.EOF {
				return out, fmt.Errorf("%s: offset %d: %w", in[i].name, in[i].at, err)
			}
			shown[i] = b
		}
		if len(shown[0]) == 0 && len(shown[1]) == 0 {
			return out, nil
		}
		if len(shown[0]) > 0 && len(shown[1]) > 0 && shown[0][0] == shown[1][0] {
			switch c := shown[0][0]; {
			case ' ' <= c && c <= '~':
				if len(text) < maxText {
					text = append(text, c)
				}
			default:
				if len(text) >= minText {
					last = string(text)
				}
				text = text[:0]
			}
			for i := range in {
				in[i].in.Discard(1)
				in[i].at++
				left[i]--
			}
			continue
		}
		if len(text) >= minText {
			last = string(text)
		}
		for i, side := range []int{0, other} {
			details := []tracediff.Detail{path}
			if last != "" {
				details = append(details, tracediff.Detail{Text: fmt.Sprintf("after the text %q", last)})
			}
			value := hexOf(shown[i], 0)
			if left[i] > window {
				value += " …"
			}
			out[side] = append(details, tracediff.Detail{Text: "bytes " + value, Aside: fmt.Sprintf("offset %d", in[i].at)})
		}
		return out, nil
	}
}

// How many bytes a named text has.
const (
	minText = 3
	maxText = 80
)
