package spring

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"io"
	"math"
	"strings"
	"unicode/utf8"

	"github.com/desynctool/desynctool/engines/engine"
	"github.com/desynctool/desynctool/internal/file/frame"
	"github.com/desynctool/desynctool/internal/file/limits"
	"github.com/desynctool/desynctool/snapshot"
)

const (
	maxHead = 64 << 10
)

// Format returns the format of state dumps.
func Format() snapshot.Format {
	return snapshot.Format{
		Name:      "spring-state",
		Title:     "Spring and Recoil state dump",
		Naming:    newNaming,
		Ground:    ground,
		Sniff:     sniff,
		Anonymous: true,
		Usual:     func(base string) bool { return strings.Contains(base, "GameState") },
		Parts:     Parts,
		Open:      snapshot.InMemory(Read),
	}
}

// sniff recognises the first line: the engine's text before the first frame, or the first frame.
func sniff(head []byte) bool {
	if bytes.HasPrefix(head, []byte(" mapName: ")) {
		return true
	}
	rest, ok := bytes.CutPrefix(head, framePrefix)
	if !ok {
		return false
	}
	digits, rest, ok := bytes.Cut(rest, []byte(","))
	return ok && len(digits) > 0 && len(bytes.Trim(digits, "0123456789")) == 0 && bytes.HasPrefix(rest, []byte(" seed: "))
}

var framePrefix = []byte("frame: ")

// dumpHead is the part before the first frame.
type dumpHead struct {
	seed   uint64 // the first 8 bytes of the game's id; 0 if there is none
	engine bool   // the engine wrote the dump, not a script: of a frame's end
	meta   map[string]string
}

// metaKeys are the lines before the first frame that are kept, by their names
// in a state's head.
var metaKeys = map[string]string{"mapName": "map", "modName": "game", "syncVer": "build", "gameID": "game_id"}

func parseHead(b []byte) (h dumpHead) {
	h.meta = map[string]string{}
	for line := range bytes.Lines(b) {
		key, value, ok := strings.Cut(strings.TrimSpace(string(line)), ": ")
		if !ok {
			continue
		}
		if as := metaKeys[key]; as != "" && utf8.ValidString(value) {
			h.meta[as] = value
		}
		switch key {
		case "gameID":
			if id, err := hex.DecodeString(value); err == nil && len(id) == 16 {
				h.seed = binary.BigEndian.Uint64(id)
			}
			h.engine = true
		case "syncVer", "genState", "initSeed":
			h.engine = true
		}
	}
	return h
}

// point returns the state point of a frame. A script writes the state at the start
// of a frame, the engine that at its end.
func (h *dumpHead) point(number uint64) snapshot.Point {
	p := snapshot.Point{Tick: number, Native: fmt.Sprintf("frame %d", number)}
	if h.engine {
		p.Tick, p.Relation = number+1, snapshot.EndOf
	}
	return p
}

// headOf returns the part before the first frame, at offset at.
func headOf(r io.ReaderAt, at int64, name string) (h dumpHead, err error) {
	if at > maxHead {
		return h, malformed(name, 0, "no frame within the first %d bytes", maxHead)
	}
	b := make([]byte, at)
	if n, err := r.ReadAt(b, 0); err != nil && (err != io.EOF || n < len(b)) {
		return h, fmt.Errorf("%s: %w", name, err)
	}
	return parseHead(b), nil
}

// Parts lists the frames in a dump. It looks only for the lines that begin
// them. A frame that does not follow the one before is an error.
func Parts(r io.ReaderAt, size int64, name string) ([]snapshot.Part, error) {
	var parts []snapshot.Part
	var head dumpHead
	in := bufio.NewReaderSize(io.NewSectionReader(r, 0, size), scanSize)
	begin := true // of a line
	for at := int64(0); ; {
		line, err := in.ReadSlice('\n')
		if begin && bytes.HasPrefix(line, framePrefix) && (err == nil || err == bufio.ErrBufferFull) {
			if n := len(parts); n > 0 {
				parts[n-1].Size = at - parts[n-1].Offset
			} else {
				var err error
				if head, err = headOf(r, at, name); err != nil {
					return nil, err
				}
			}
			number, ok := frameNumber(trimEnd(line))
			if !ok {
				return nil, malformed(name, at, "%.40q, expected frame: NUMBER, seed: NUMBER", line)
			}
			if n := len(parts); n > 0 && parts[n-1].Point.Tick >= head.point(number).Tick {
				return nil, malformed(name, at, "frame %d after %s", number, parts[n-1].Point.Words())
			}
			parts = append(parts, snapshot.Part{Seed: head.seed, Point: head.point(number), Offset: at})
		}
		at += int64(len(line))
		begin = err == nil
		switch {
		case err == io.EOF && len(parts) == 0:
			return nil, malformed(name, 0, "no frame")
		case err == io.EOF:
			parts[len(parts)-1].Size = at - parts[len(parts)-1].Offset
			return parts, nil
		case err != nil && err != bufio.ErrBufferFull:
			return nil, fmt.Errorf("%s: %w", name, err)
		}
	}
}

// scanSize is how many bytes of a dump are searched at once.
const scanSize = 256 << 10

var seedMark = []byte(", seed: ")

// frameNumber parses "frame: 630, seed: 0".
func frameNumber(line []byte) (uint64, bool) {
	rest, ok := bytes.CutPrefix(line, framePrefix)
	digits, _, ok2 := bytes.Cut(rest, seedMark)
	n, ok3 := engine.ParseInt(digits)
	return uint64(n), ok && ok2 && ok3 && n >= 0 && n <= math.MaxInt32
}

// trimEnd returns a line without its end.
func trimEnd(line []byte) []byte {
	return bytes.TrimSuffix(bytes.TrimSuffix(line, []byte("\n")), []byte("\r"))
}

func malformed(name string, offset int64, format string, args ...any) error {
	return &frame.Error{Name: name, Offset: offset, Err: frame.Fault(args), Msg: fmt.Sprintf(format, args...)}
}

// Read reads the state of one frame: size bytes from the line that names it on, or from the part before the first
// frame. The name is for errors. A malformed state is a *frame.Error: it wraps frame.ErrTorn if it breaks off and
// frame.ErrCorrupt otherwise.
//
// Without the part before the first frame it is not known what wrote the state: it is taken for a script's, at the
// start of its frame. Parts does know.
func Read(r io.ReaderAt, size int64, name string) (*snapshot.World, error) {
	s := scratches.Get().(*scratch)
	defer s.free()
	return s.read(r, size, name)
}

func (s *scratch) read(r io.ReaderAt, size int64, name string) (*snapshot.World, error) {
	if limits.State.Over(size) {
		return nil, limits.State.Reached(name, size)
	}
	if int64(cap(s.content)) < size {
		s.content = make([]byte, size)
	}
	b := s.content[:size]
	if n, err := r.ReadAt(b, 0); err != nil && (err != io.EOF || int64(n) < size) {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	at := 0
	if !bytes.HasPrefix(b, framePrefix) {
		at = bytes.Index(b[:min(len(b), maxHead)], []byte("\nframe: ")) + 1
	}
	head := parseHead(b[:at])
	d := newDecoder(name, b[at:], s)
	if err := d.decode(); err != nil {
		return nil, err
	}
	number, _ := frameNumber(trimEnd(b[at : at+bytes.IndexByte(b[at:], '\n')]))
	w := &snapshot.World{Head: snapshot.Head{Seed: head.seed, Point: head.point(number), Meta: head.meta}}
	w.Tables = make([]snapshot.Table, 0, len(d.tables))
	for _, t := range d.tables {
		table, err := t.finish()
		if err != nil {
			return nil, malformed(name, int64(at), "%v", err)
		}
		w.Tables = append(w.Tables, table)
	}
	w.Sort()
	return w, nil
}
