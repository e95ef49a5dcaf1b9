package warzone

import (
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"github.com/desynctool/desynctool/internal/file/compression"
	"github.com/desynctool/desynctool/internal/file/limits"
	"github.com/desynctool/desynctool/internal/file/partial"

	"github.com/desynctool/desynctool/snapshot"
)

// Format returns the format of sync dumps. Only the name of a dump shows the peer.
func Format() snapshot.Format {
	return snapshot.Format{
		Name:        "warzone-dump",
		Title:       "Warzone 2100 sync dump (desync<time>_p<slot>.txt)",
		ParseName:   ParseName,
		Naming:      newNaming,
		Ground:      ground,
		Sniff:       sniff,
		Anonymous:   true,
		Open:        snapshot.InMemory(Read),
		Checksummed: true,
	}
}

// sniff recognises the beginning of the first line, which is longer than SniffLen
// allows.
func sniff(head []byte) bool {
	if partial.Of(head, DumpFormat) {
		return true
	}
	rest, ok := strings.CutPrefix(string(head), "===== BEGIN gameTime=")
	return ok && strings.Contains(rest, " entries, CRC 0x")
}

// ParseName reads the name of a dump: desync25702_p1.txt, sync25702_p1.txt, and
// perhaps followed by .gz, .xz or .zst.
func ParseName(base string) (snapshot.FileName, bool) {
	n, ok := ParseDumpName(compression.PlainName(base))
	if !ok {
		return snapshot.FileName{}, false
	}
	return snapshot.FileName{Point: point(n.Time), Peer: SlotName(n.Slot)}, true
}

// point returns the state point of the dump of a game time.
func point(time uint32) snapshot.Point {
	return snapshot.Point{Tick: uint64(time / TickLength), Native: fmt.Sprint(time)}
}

// Read reads a dump of size bytes. Name is for errors, and contains the peer's slot. A dump that is torn or corrupt is
// a *frame.Error.
func Read(r io.ReaderAt, size int64, name string) (*snapshot.World, error) {
	if limits.State.Over(size) {
		return nil, limits.State.Reached(name, size)
	}
	dump, err := NewDump(io.NewSectionReader(r, 0, size), name)
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
	w.Seal = w.Meta["crc"]
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
		w.SetIncomplete(part.Missing(), part.Head.Twin())
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
