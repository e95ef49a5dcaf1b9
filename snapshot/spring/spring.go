// Package spring reads state dumps of the Spring engine and of Recoil: the text
// that the engine writes as ClientGameState-<random>-[<first>-<last>].txt or
// ServerGameState-…, and that scripts of games write in the same shape.
//
// A dump holds the state of many frames, one behind the other:
//
//	 mapName: MiniMap 1
//	minFrame: 0
//	frame: 0, seed: 0
//		units: 2
//			unitID: 17206 (name: tank)
//				pos: <146.000000, 167.065048, 180.000000>
//				heading: 0, mapSquare: 0
//				health: 1227.468750, experience: 0.000000
//				pieces: 4
//					name: base
//		features: 0
//		projectiles: 0
//		teams: 4
//			teamID: 0
//	frame: 30, seed: 0
//
// Tabs nest. Each kind of thing becomes a table keyed by the engine's ids, what a
// unit has of them a table keyed by (unit, index). docs/formats/spring.md has the
// mapping at length.
//
// Recoil prints floats as their bits, and vectors as a hash of theirs; the values
// stand beside them only if that was asked for.
//
// A dump carries no checksum. The numbers of units, pieces and so on that it tells
// are checked against what follows.
package spring

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/desynctool/desynctool/orderlog/frame"
	"github.com/desynctool/desynctool/snapshot"
)

const (
	maxState = 1 << 30 // bytes of the state of one frame
	maxHead  = 64 << 10
)

// Format returns the format of state dumps.
func Format() snapshot.Format {
	return snapshot.Format{
		Name:  "spring-state",
		Title: "Spring and Recoil state dump",
		Sniff: sniff,
		Usual: func(base string) bool { return strings.Contains(base, "GameState") },
		Parts: Parts,
		Open: func(r io.ReaderAt, size int64, name string) (snapshot.State, error) {
			w, err := Read(r, size, name)
			if err != nil {
				return nil, err
			}
			return snapshot.Hold(w)
		},
	}
}

// sniff recognises the first line: what the engine writes before the first frame,
// or the first frame.
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

// dumpHead is what stands before the first frame.
type dumpHead struct {
	seed   uint64 // the first 8 bytes of the game's id; 0 if there is none
	engine bool   // the engine wrote the dump, not a script: of a frame's end
}

func parseHead(b []byte) (h dumpHead) {
	for line := range bytes.Lines(b) {
		key, value, ok := strings.Cut(strings.TrimSpace(string(line)), ": ")
		if !ok {
			continue
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
		p.Tick, p.Native = number+1, fmt.Sprintf("end of frame %d", number)
	}
	return p
}

// Parts lists the frames in a dump. It only looks for the lines with which they
// begin. A frame that is there twice is an error.
func Parts(r io.ReaderAt, size int64, name string) ([]snapshot.Part, error) {
	s := scanner{r: r, size: size}
	var parts []snapshot.Part
	var head dumpHead
	for {
		at, line, err := s.next()
		if err != nil && err != io.EOF {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		if n := len(parts); n > 0 {
			end := at
			if err == io.EOF {
				end = size
			}
			parts[n-1].Size = end - parts[n-1].Offset
		}
		if err == io.EOF {
			break
		}
		if len(parts) == 0 {
			if at > maxHead {
				return nil, malformed(name, 0, "no frame within the first %d bytes", maxHead)
			}
			b := make([]byte, at)
			if _, err := r.ReadAt(b, 0); err != nil && err != io.EOF {
				return nil, fmt.Errorf("%s: %w", name, err)
			}
			head = parseHead(b)
		}
		number, ok := frameNumber(line)
		if !ok {
			return nil, malformed(name, at, "%.40q, expected frame: NUMBER, seed: NUMBER", line)
		}
		if n := len(parts); n > 0 && parts[n-1].Point.Tick >= head.point(number).Tick {
			return nil, malformed(name, at, "frame %d behind %s", number, parts[n-1].Point.Native)
		}
		parts = append(parts, snapshot.Part{Seed: head.seed, Point: head.point(number), Offset: at})
	}
	if len(parts) == 0 {
		return nil, malformed(name, 0, "no frame")
	}
	return parts, nil
}

// frameNumber parses "frame: 630, seed: 0".
func frameNumber(line []byte) (uint64, bool) {
	rest, ok := bytes.CutPrefix(line, framePrefix)
	digits, _, ok2 := bytes.Cut(rest, []byte(", seed: "))
	n, err := strconv.ParseUint(string(digits), 10, 31)
	return n, ok && ok2 && err == nil
}

// scanner finds the lines that begin with "frame: ".
type scanner struct {
	r    io.ReaderAt
	size int64
	base int64 // offset of buf
	buf  []byte
	pos  int
}

const (
	scanSize   = 1 << 20
	maxHeading = 128 // bytes of such a line
)

// next returns the offset and the content of the next such line.
func (s *scanner) next() (int64, []byte, error) {
	for {
		rest := s.buf[s.pos:]
		i := 0
		if s.base+int64(s.pos) != 0 || !bytes.HasPrefix(rest, framePrefix) {
			i = bytes.Index(rest, []byte("\nframe: ")) + 1
		}
		whole := s.base+int64(len(s.buf)) == s.size
		if i > 0 || len(rest) > 0 && s.base+int64(s.pos) == 0 && bytes.HasPrefix(rest, framePrefix) {
			if whole || len(rest)-i >= maxHeading {
				line, _, _ := bytes.Cut(rest[i:min(len(rest), i+maxHeading)], []byte("\n"))
				at := s.base + int64(s.pos+i)
				s.pos += i + len(framePrefix)
				return at, bytes.TrimSuffix(line, []byte("\r")), nil
			}
		} else if whole {
			return 0, nil, io.EOF
		}
		// What may be the start of a heading stays.
		keep := min(len(rest), maxHeading+len(framePrefix)+1)
		if i > 0 {
			keep = len(rest) - i + 1
		}
		begin := s.base + int64(len(s.buf)-keep)
		n := min(scanSize, s.size-begin)
		if int64(cap(s.buf)) < n {
			s.buf = make([]byte, n)
		}
		s.buf = s.buf[:n]
		got, err := s.r.ReadAt(s.buf, begin)
		if err != nil && err != io.EOF {
			return 0, nil, err
		}
		if int64(got) < n {
			return 0, nil, io.ErrUnexpectedEOF
		}
		s.base, s.pos = begin, 0
		if begin > 0 && keep == 0 {
			continue
		}
	}
}

func malformed(name string, offset int64, format string, args ...any) error {
	return &frame.Error{Name: name, Offset: offset, Err: frame.ErrCorrupt, Msg: fmt.Sprintf(format, args...)}
}

// Read reads the state of one frame: size bytes from the line that names it on.
// The name is for errors. A malformed state is a *frame.Error: it wraps
// frame.ErrTorn if it breaks off and frame.ErrCorrupt otherwise.
func Read(r io.ReaderAt, size int64, name string) (*snapshot.World, error) {
	if size > maxState {
		return nil, malformed(name, 0, "state of %d bytes, at most %d are read", size, int64(maxState))
	}
	b := make([]byte, size)
	if n, err := r.ReadAt(b, 0); err != nil && (err != io.EOF || int64(n) < size) {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	if i := bytes.Index(b, framePrefix); i > 0 && !bytes.HasPrefix(b, framePrefix) {
		b = b[i:] // the whole file of one frame
	}
	d := newDecoder(name, b)
	w := &snapshot.World{Head: snapshot.Head{Meta: map[string]string{}}}
	if err := d.decode(w); err != nil {
		return nil, err
	}
	var err error
	if w.Tables, err = d.tables(); err != nil {
		return nil, &frame.Error{Name: name, Err: frame.ErrCorrupt, Msg: err.Error()}
	}
	w.Sort()
	return w, nil
}
