package ggpo

import (
	"bytes"
	"fmt"
	"io"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/desynctool/desynctool/engines/engine"
	"github.com/desynctool/desynctool/internal/file/compression"
	"github.com/desynctool/desynctool/snapshot"
)

// The runs that a state can belong to, as in file names.
const (
	original = "original" // the first time that the frames were played
	replay   = "replay"   // after an older state was loaded
)

// runs are the peers that they are.
var runs = map[string]string{original: snapshot.FirstRun, replay: snapshot.SecondRun}

// Format returns the format of logged states. Only names show it, except for the text of the game that comes with the
// library.
func StateFormat() snapshot.Format {
	return snapshot.Format{
		Name:      "ggpo-state",
		Title:     "GGPO self-test state (state-<frame>-{original,replay}.log)",
		ParseName: ParseName,
		Folders:   []string{"synclogs"},
		Sniff:     func(head []byte) bool { return bytes.HasPrefix(head, []byte("GameState object.")) },
		Unmarked:  true,
		Anonymous: true,
		Ground:    ground,
		Open:      snapshot.InMemory(Read),
	}
}

// ParseName reads the name of a logged state. The library writes at least four digits.
func ParseName(base string) (snapshot.FileName, bool) {
	rest, ok := strings.CutPrefix(base, "state-")
	if !ok {
		return snapshot.FileName{}, false
	}
	digits, run, ok := strings.Cut(strings.TrimSuffix(rest, ".log"), "-")
	if !ok || !strings.HasSuffix(rest, ".log") || len(digits) < 4 || len(digits) > 4 && digits[0] == '0' || runs[run] == "" {
		return snapshot.FileName{}, false
	}
	frame, err := strconv.ParseUint(digits, 10, 31)
	if err != nil {
		return snapshot.FileName{}, false
	}
	return snapshot.FileName{Point: snapshot.Point{Tick: frame}, Peer: runs[run]}, true
}

// Beside returns the path of the first run's state from the path of the second run's, which may be compressed.
func Beside(path string) (string, bool) {
	dir, base := filepath.Split(path)
	plain := compression.PlainName(base)
	if n, ok := ParseName(plain); !ok || n.Peer != snapshot.SecondRun {
		return "", false
	}
	i := len(plain) - len(replay+".log")
	return dir + base[:i] + original + base[i+len(replay):], true
}

// Read reads a logged state of size bytes. The name contains the frame and the run; under another name both are not
// known. A state that cannot be read gives an *[Error].
func Read(r io.ReaderAt, size int64, name string) (*snapshot.World, error) {
	text, err := engine.ReadText(r, size, name)
	if err != nil {
		return nil, err
	}
	if i := bytes.IndexByte(text, 0); i >= 0 {
		return nil, &engine.LineError{Name: name, Line: 1 + bytes.Count(text[:i], []byte("\n")), Err: fmt.Errorf("a zero byte, expected text")}
	}
	d := decoder{}
	number := 0
	for line := range bytes.Lines(text) {
		number++
		if err := d.line(strings.TrimRight(string(line), "\r\n")); err != nil {
			return nil, &engine.LineError{Name: name, Line: number, Err: err}
		}
	}
	w := &snapshot.World{}
	if n, ok := ParseName(compression.PlainName(filepath.Base(name))); ok {
		w.Point, w.Peer = n.Point, n.Peer
	}
	if w.Tables, err = d.tables.Tables(); err != nil {
		return nil, &engine.LineError{Name: name, Err: err}
	}
	return w, nil
}

// ground returns where the ships of the library's sample game are.
func ground(snapshot.State) *snapshot.Ground {
	return &snapshot.Ground{X: "x", Y: "y", Positions: []snapshot.Position{{Kind: "ship", Archetype: "ship", X: "ship.position"}}}
}
