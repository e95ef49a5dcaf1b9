// Package warzone reads the sync dumps of Warzone 2100, desync25702_p1.txt, as
// states.
//
// A dump is what a peer computed in one tick, line by line; package
// orderlog/warzone has its form. The lines about one object become one row:
//
//	[droidUpdate] < droid160627 = p7;pos(5569,5558,378),…    before its update
//	[droidUpdate] M droid160627 = p7;pos(5569,5558,378),…    in the middle of it
//	[droidUpdate] > droid160627 = p7;pos(5573,5564,379),…    after it
//
// The last of them is the state, in columns such as pos.x; earlier ones are in
// the components before and middle. The column update.after names the row before,
// so that the order of updates, which must be the same on all peers, is kept as well.
// Lines that fit into no row are rows of a table that is named like their function,
// with their text. So no difference between the lines of two dumps is lost, except of
// those that may differ: the game's version, which is a property of the head, and
// backtraces, which are noise. docs/formats/warzone2100.md has all tables.
package warzone

import (
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"github.com/desynctool/desynctool/orderlog/excerpt"
	"github.com/desynctool/desynctool/orderlog/limits"
	"github.com/desynctool/desynctool/orderlog/packed"
	engine "github.com/desynctool/desynctool/orderlog/warzone"
	"github.com/desynctool/desynctool/snapshot"
)

// Format returns the format of sync dumps. Only its name says whose state a dump
// is.
func Format() snapshot.Format {
	return snapshot.Format{
		Name:      "warzone-dump",
		Title:     "Warzone 2100 sync dump (desync<time>_p<slot>.txt)",
		ParseName: ParseName,
		Naming:    newNaming,
		Ground:    ground,
		Sniff:     sniff,
		Anonymous: true,
		Open: func(r io.ReaderAt, size int64, name string) (snapshot.State, error) {
			w, err := Read(r, size, name)
			if err != nil {
				return nil, err
			}
			return snapshot.Hold(w)
		},
		Checksummed: true,
	}
}

// sniff recognises the beginning of the first line, which is longer than SniffLen
// allows.
func sniff(head []byte) bool {
	if excerpt.Of(head, engine.DumpFormat) {
		return true
	}
	rest, ok := strings.CutPrefix(string(head), "===== BEGIN gameTime=")
	return ok && strings.Contains(rest, " entries, CRC 0x")
}

// ParseName reads the name of a dump: desync25702_p1.txt, sync25702_p1.txt, and
// perhaps followed by .gz, .xz or .zst.
func ParseName(base string) (snapshot.FileName, bool) {
	n, ok := engine.ParseDumpName(packed.PlainName(base))
	if !ok {
		return snapshot.FileName{}, false
	}
	return snapshot.FileName{Point: point(n.Time), Peer: engine.SlotName(n.Slot)}, true
}

// point returns the state point of the dump of a game time.
func point(time uint32) snapshot.Point {
	return snapshot.Point{Tick: uint64(time / engine.TickLength), Native: fmt.Sprint(time)}
}

// Read reads a dump of size bytes. Name is for errors, and says whose state it
// is. A dump that is torn or corrupt is a *frame.Error.
func Read(r io.ReaderAt, size int64, name string) (*snapshot.World, error) {
	if limits.State.Over(size) {
		return nil, limits.State.Reached(name, size)
	}
	dump, err := engine.NewDump(io.NewSectionReader(r, 0, size), name)
	if err != nil {
		return nil, err
	}
	b := newBuilder()
	for {
		e, err := dump.Next()
		if err == io.EOF {
			break
		}
		if err != nil {
			return nil, err
		}
		b.add(e)
	}
	head := dump.Head()
	w := &snapshot.World{
		Head: snapshot.Head{
			Point: point(head.Time),
			Meta:  map[string]string{"crc": fmt.Sprintf("0x%08X", head.CRC)},
		},
	}
	if file, ok := ParseName(filepath.Base(name)); ok {
		w.Peer = file.Peer
	}
	if v := dump.Version(); v != "" {
		w.Meta["build"] = strings.ToValidUTF8(v, "\uFFFD")
	}
	if !dump.Verified() {
		w.Meta["crc"] += ", not verified"
	}
	if part := dump.Part(); part != nil {
		w.SetIncomplete(part.Missing(), part.Head.Paste)
		if file, ok := ParseName(filepath.Base(name)); !part.Timed && ok {
			w.Point = file.Point
		} else if !part.Timed {
			w.Point = snapshot.Point{Native: "game time", Relation: snapshot.Some}
		}
	}
	if w.Tables, err = b.tables(); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	w.Sort()
	return w, nil
}
