// Package openra reads OpenRA's sync reports as states: the
// syncreport-<UTC>-<client>.log that each client writes when the server reports that it
// is out of sync.
//
// A report is text. Lines have the system's line ends, but within an order there are bare line feeds on every system:
//
//	Player: Commander (Linux Unix 6.1.0.13 .NET CLR 6.0.22)
//	Player is host.
//	Game ID: 0b7e4b5c-… (Mod: Red Alert at Version release-20231010)
//	Sync for net frame 1204 -------------
//	SharedRandom: 1839201733 (#48213)
//	Synced Traits:
//		 343 harv Commander Mobile (9528824)
//			 Facing: 192
//	Synced Effects:
//		 Bullet (-51212)
//			 pos: 1024,2048,0
//	Orders Issued:
//		 ClientId: 0 OrderString: "Harvest"
//		 Type: "Fields".
//		 Subject: "harv 343".
//
//	Sync Report System Info:
//	Out of sync frame: 1204
//	Recorded frames: 1202,1203,1204,1198,1199,1200,1201
//
// The state belongs to the net frame in which the hashes differed, after its orders and before the rest of its step.
// The game keeps the states of the last few net frames (7, up to release-20230225 5); if that frame is not among them
// the report contains no state at all, and Read gives a [*LostFrameError].
//
// Each type of trait becomes a table, keyed by actor. docs/formats/openra.md has
// the mapping at length.
//
// A report carries no checksum of its text. Since release-20231010 its last section shows that it is complete. An older
// one ends with its orders, and looks complete if it was cut between two lines of them; so does a newer one of a client
// that is not the host if its name no longer has the client's number.
package openra

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/desynctool/desynctool/engines/engine"
	"github.com/desynctool/desynctool/internal/file/frame"
	"github.com/desynctool/desynctool/internal/file/partial"
	"github.com/desynctool/desynctool/internal/lists"
	"github.com/desynctool/desynctool/snapshot"
)

// LostFrameError means that a whole report contains no state: the game no longer had the state of the net frame in
// which the hashes differed, or never had one.
type LostFrameError struct {
	Name string // of the file

	// Frame is the net frame that is out of sync. It is 0 in reports up to
	// release-20230225, which do not give it.
	Frame int64

	// Recorded are the net frames that the game had states of, in no order. They are 0 where it had kept none yet: all
	// of them if sync reports are turned off. It is nil in reports up to release-20230225.
	Recorded []int64
}

// Unwrap returns frame.ErrLacking.
func (e *LostFrameError) Unwrap() error { return frame.ErrLacking }

func (e *LostFrameError) Error() string {
	switch {
	case e.Frame == 0:
		return e.Name + ": no state in the report: the game no longer had the state of the net frame that is out of sync"
	case !slices.ContainsFunc(e.Recorded, func(n int64) bool { return n != 0 }):
		return fmt.Sprintf("%s: no state in the report: net frame %d is out of sync, the game had recorded none (sync reports are off, or the game had just begun)", e.Name, e.Frame)
	}
	list := lists.Map(e.Recorded, func(n int64) string { return strconv.FormatInt(n, 10) })
	return fmt.Sprintf("%s: no state in the report: net frame %d is out of sync, the game had recorded net frames %s only", e.Name, e.Frame, strings.Join(list, ","))
}

const formatName = "openra"

// Format returns the format of OpenRA's sync reports. Their names have no state
// point, so that ParseName is nil.
func Format() snapshot.Format {
	return snapshot.Format{
		Name:  formatName,
		Title: "OpenRA sync report (syncreport-*.log)",
		Usual: func(base string) bool { return strings.HasPrefix(base, "syncreport") },

		NamesPeer: true,
		Ground:    ground,
		Sniff:     sniff,
		Open:      snapshot.InMemory(Read),
	}
}

// sniff recognises the first line of a report, with a state or without.
func sniff(head []byte) bool {
	if partial.Of(head, formatName) {
		return true
	}
	if bytes.HasPrefix(head, []byte(systemInfo)) { // which also begins the last three lines of a report with a state
		n := bytes.Count(head, []byte("\n"))
		return n != 3 || head[len(head)-1] != '\n'
	}
	if bytes.HasPrefix(head, []byte(noReport)) {
		return true
	}
	rest, ok := bytes.CutPrefix(head, []byte("Player: "))
	line, _, _ := bytes.Cut(rest, []byte("\n"))
	at, _ := platform(line)
	return ok && at >= 0
}

// platforms are the platforms that the game knows, as it writes them.
var platforms = [...]string{" (Windows ", " (Linux ", " (OSX ", " (Unknown "}

// platform returns the position of the space between a player's name and the system in parentheses, -1 if there is
// none. Both may have parentheses in them.
func platform(line []byte) (at int, found bool) {
	at = -1
	for _, p := range platforms {
		at = max(at, bytes.LastIndex(line, []byte(p)))
	}
	return at, at >= 0
}

// Read reads a report of size bytes. Name is for errors, and has the client's
// number, which only newer reports have. A malformed report is an *engine.LineError, one without a state a
// *LostFrameError.
func Read(r io.ReaderAt, size int64, name string) (*snapshot.World, error) {
	text, err := engine.ReadText(r, size, name)
	if err != nil {
		return nil, err
	}
	head, text, excerpted := partial.Cut(text)
	d := newDecoder(name, text)
	var pieces *pieces
	if excerpted {
		d.row++
		pieces = d.excerpt()
	} else if err := d.report(); err != nil {
		if !isPartial(text, err) {
			return nil, err
		}
		if d = newDecoder(name, text); len(text) > 0 {
			pieces = d.excerpt()
		}
		if !d.framed || pieces.wrong > 0 {
			return nil, err // it is not only shortened
		}
		if errors.Is(err, io.ErrUnexpectedEOF) {
			pieces.cut()
		}
	}
	list, err := d.tables.finish()
	if err != nil {
		return nil, &engine.LineError{Name: name, Err: err}
	}
	w := &snapshot.World{
		Head: snapshot.Head{
			Seed:  seed(d.meta["game_id"]),
			Point: snapshot.Point{Tick: d.frame, Phase: snapshot.AfterOrders, Native: fmt.Sprintf("net frame %d", d.frame)},
			Peer:  d.peer,
			Meta:  d.meta,
		},
		Tables: list,
	}
	if d.rng != nil {
		w.SetRNG(d.rng, d.drawn)
	}
	if pieces != nil {
		pieces.mark(&w.Head, head)
	}
	if !d.framed {
		w.Point = snapshot.Point{Phase: snapshot.AfterOrders, Native: "net frame", Relation: snapshot.Some}
	}
	w.Sort()
	return w, nil
}

func newDecoder(name string, text []byte) *decoder {
	d := &decoder{name: name, text: text, tables: newTables(), meta: map[string]string{}}
	if n, ok := client(filepath.Base(name)); ok {
		d.meta["client"] = n
	}
	return d
}

// isPartial reports whether an error may be due to a text that was shortened, by a person or in transit: it breaks off,
// marks where lines were left out, or has lost its tabs.
func isPartial(text []byte, err error) bool {
	var wrong *engine.LineError
	if !errors.As(err, &wrong) {
		return false
	}
	if errors.Is(err, io.ErrUnexpectedEOF) || !bytes.Contains(text, []byte("\n\t")) && bytes.Contains(text, []byte("\n ")) {
		return true
	}
	for line := range bytes.Lines(text) {
		if _, gap := partial.ParseGap(bytes.TrimRight(line, "\r\n")); gap {
			return true
		}
	}
	return false
}

// seed returns the first eight bytes of a game's id, which is a GUID, so that
// reports of two games can be distinguished. It is 0 for what is not a GUID.
func seed(id string) uint64 {
	b, err := hex.DecodeString(strings.ReplaceAll(id, "-", ""))
	if err != nil || len(b) != 16 {
		return 0
	}
	return binary.BigEndian.Uint64(b)
}

// client returns the number of the client in a name like
// syncreport-2023-11-05T181502Z-0.log, which another suffix may follow.
// Reports of replays and those up to release-20230225 have none.
func client(base string) (string, bool) {
	rest, ok := strings.CutPrefix(base, "syncreport-")
	if !ok {
		return "", false
	}
	stem, _, ok := strings.Cut(rest, ".log")
	if !ok {
		return "", false
	}
	_, number, ok := strings.Cut(stem, "Z-")
	if n, err := strconv.ParseUint(number, 10, 31); !ok || err != nil || strconv.FormatUint(n, 10) != number {
		return "", false
	}
	return number, true
}
