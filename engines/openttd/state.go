package openttd

import (
	"cmp"
	"fmt"
	"io"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/desynctool/desynctool/internal/file/compression"
	"github.com/desynctool/desynctool/internal/file/limits"
	"github.com/desynctool/desynctool/snapshot"
)

// DayTicks is the number of ticks in a day. Ticks and state points count from day 0 of year 0: the tick DATE; FRACT of
// a log has the number DATE * 74 + FRACT.
const DayTicks = 74

// Error is a malformed save.
type Error struct {
	Name   string // of the file
	Offset int64  // of the byte that could not be read or understood

	// Unpacked means that Offset counts unpacked bytes, not bytes of the file.
	Unpacked bool

	Err error // the expectation
}

func (e *Error) Error() string {
	if e.Unpacked {
		return fmt.Sprintf("%s: decompressed offset %d: %v", e.Name, e.Offset, e.Err)
	}
	return fmt.Sprintf("%s: offset %d: %v", e.Name, e.Offset, e.Err)
}

func (e *Error) Unwrap() error { return e.Err }

// Format returns the format of OpenTTD's savegames. It is not checksummed as a whole,
// because a raw container (OTTN) is not.
func Format() snapshot.Format {
	return snapshot.Format{
		Name:            "openttd",
		Title:           "OpenTTD savegame (OTTN, OTTZ, OTTX, OTTD)",
		ParseName:       ParseName,
		Usual:           usualName,
		Naming:          newNaming,
		Ground:          ground,
		Sniff:           stateSniff,
		Anonymous:       true,
		Open:            snapshot.InMemory(Read),
		ChecksummedFile: checksummed,
	}
}

// checksummed knows the containers that carry checksums. The second byte of the flags of an xz stream shows whether it
// does.
func checksummed(head []byte) bool {
	if !stateSniff(head) || string(head[:4]) == rawTag {
		return false
	}
	stream := head[headerSize:]
	return len(stream) < 8 || compression.Packing(stream) != "xz" || stream[7] != 0
}

func stateSniff(head []byte) bool {
	if len(head) < headerSize {
		return false
	}
	_, ok := containers[string(head[:4])]
	return ok
}

// ParseName reads the name of a save that the game writes for finding desyncs, dmp_cmds_<seed>_<date>.sav, both in hex.
// dmp_cmds_00000000_00000000.sav contains the game shown behind the title screen, which is not evidence of a session.
func ParseName(base string) (snapshot.FileName, bool) {
	rest, ok := strings.CutPrefix(base, "dmp_cmds_")
	if !ok {
		return snapshot.FileName{}, false
	}
	rest, ok = strings.CutSuffix(rest, ".sav")
	if !ok {
		return snapshot.FileName{}, false
	}
	seedText, dateText, ok := strings.Cut(rest, "_")
	if !ok || len(seedText) > 8 || len(dateText) > 8 {
		return snapshot.FileName{}, false
	}
	seed, err := strconv.ParseUint(seedText, 16, 32)
	if err != nil {
		return snapshot.FileName{}, false
	}
	date, err := strconv.ParseUint(dateText, 16, 32)
	if err != nil {
		return snapshot.FileName{}, false
	}
	if seed == 0 && date == 0 {
		return snapshot.FileName{NoEvidence: true}, true
	}
	return snapshot.FileName{Seed: seed, Point: point(date, 0)}, true
}

// usualName reports whether a client that lost its connection gives a save
// that name: netsave0.sav, netsave1.sav, ….
func usualName(base string) bool {
	number, ok := strings.CutPrefix(strings.TrimSuffix(base, ".sav"), "netsave")
	_, err := strconv.ParseUint(number, 10, 32)
	return ok && err == nil
}

// point names a moment like the game's own log. A save is written after the
// commands of its tick and before the rest of the tick.
func point(date, fract uint64) snapshot.Point {
	native := fmt.Sprintf("%08x", date)
	if fract != 0 {
		native += fmt.Sprintf(";%02x", fract)
	}
	return snapshot.Point{Tick: date*DayTicks + fract, Phase: snapshot.AfterOrders, Native: native}
}

// Read reads a save of size bytes. Name is for errors, and gives seed and
// point of a save that does not describe itself. A malformed save is an
// *Error.
func Read(r io.ReaderAt, size int64, name string) (*snapshot.World, error) {
	s := scratches.Get().(*scratch)
	defer s.free()
	return s.read(r, size, name)
}

func (s *scratch) read(r io.ReaderAt, size int64, name string) (*snapshot.World, error) {
	version, body, err := s.unpack(r, size, name)
	if err != nil {
		return nil, err
	}
	return s.readBody(version, body, name)
}

// readBody reads the unpacked content of the container. Tables may alias body if it is not s's buffer, or is too large
// to be used again.
func (s *scratch) readBody(version uint16, body []byte, name string) (*snapshot.World, error) {
	s.saves++
	d := decoder{
		name: name, version: version, body: body, end: len(body), reused: cap(s.body) > 0 && cap(s.body) <= maxScratch,
		rowsLeft: int(limits.Rows.Max()), namesLeft: int(limits.Columns.Max()), scratch: s,
	}
	if err := d.readChunks(); err != nil {
		return nil, err
	}
	w := &snapshot.World{Tables: d.tables}
	w.Meta = map[string]string{"save_version": strconv.Itoa(int(version))}
	if len(d.notes) > 0 {
		w.Meta["kept_as_bytes"] = strings.Join(d.notes, "; ")
	}
	if b := build(w); b != "" {
		w.Meta["build"] = b
	}

	if file, ok := ParseName(path.Base(name)); ok && !file.NoEvidence {
		w.Seed, w.Point = file.Seed, file.Point
	}
	if seed, ok := value(w, "PATS", "game_creation.generation_seed"); ok {
		w.Seed = seed
	}
	if date, fract, ok := saveDate(w); ok {
		w.Point = point(date, fract)
	}
	takeRNG(w)
	separateNoise(w)
	s.tables = w.Tables
	w.Tables = s.sorted()
	return w, nil
}

// value returns a number of the first record of a chunk that describes itself.
func value(w *snapshot.World, chunk, field string) (v uint64, ok bool) {
	t := w.Table(snapshot.Archetype, chunk)
	if t == nil || t.Rows() == 0 {
		return 0, false
	}
	c := t.Column(chunk, field)
	if c == nil || c.Type.Width() == 0 {
		return 0, false
	}
	return c.Uint(0), true
}

// saveDate returns the date that the game's log and file names use. Since OpenTTD 14 that is the date of the economy,
// which may differ from the calendar.
func saveDate(w *snapshot.World) (date, fract uint64, ok bool) {
	for _, prefix := range []string{"economy_", ""} {
		date, ok = value(w, "DATE", prefix+"date")
		if !ok {
			continue
		}
		fract, ok = value(w, "DATE", prefix+"date_fract")
		if ok && date <= 1<<31-1 && fract <= 1<<16-1 {
			return date, fract, true
		}
	}
	return 0, 0, false
}

// build returns the version of the game that wrote the save, "" if its log does not contain it. Each change of version
// since the map was made has an entry; versions up to 13 write the text as a list of bytes that ends with zeros.
func build(w *snapshot.World) string {
	const label, field = "GLOG.action.revision", "revision.text"
	if t := w.Table(snapshot.Archetype, label); t != nil && t.Rows() > 0 {
		if c := t.Column("revision", field); c != nil && c.Type == snapshot.String {
			return strings.ToValidUTF8(string(c.Raw(t.Rows()-1)), "\uFFFD")
		}
	}
	t := w.Table(snapshot.Archetype, label+"."+field)
	if t == nil || t.Rows() == 0 || len(t.Columns) != 1 || t.Columns[0].Type != snapshot.U8 {
		return ""
	}
	last := t.Rows() - 1
	first := last - int(t.Keys.B[last]%packBase)
	text, _, _ := strings.Cut(string(t.Columns[0].Data[first:]), "\x00")
	return strings.ToValidUTF8(text, "\uFFFD")
}

// takeRNG moves the two words of the sim's random number generator from the
// DATE table to the World. They stay big-endian, so that in hex they read as
// in the sync lines of the game's log.
func takeRNG(w *snapshot.World) {
	t := w.Table(snapshot.Archetype, "DATE")
	if t == nil || t.Rows() != 1 {
		return
	}
	var rng []byte
	for _, field := range rngFields {
		c := t.Column("DATE", field)
		if c == nil || c.Type != snapshot.U32 {
			return
		}
		v := c.Uint(0)
		rng = append(rng, byte(v>>24), byte(v>>16), byte(v>>8), byte(v))
	}
	w.RNG = rng
	_, t.Columns = part(t.Columns, func(field string) bool {
		return field == rngFields[0] || field == rngFields[1]
	})
}

var rngFields = [...]string{"random_state[0]", "random_state[1]"}

// part returns the columns that belong to some, and the others, for which it takes the memory of all.
func part(all []snapshot.Column, belongs func(field string) bool) (some, others []snapshot.Column) {
	others = all[:0]
	for _, c := range all {
		if belongs(c.Field) {
			some = append(some, c)
		} else {
			others = append(others, c)
		}
	}
	clear(all[len(others):])
	if len(others) == 0 {
		others = nil
	}
	return some, others
}

// noiseChunks are chunks that are not the sim's state: the log of changes to the save, scripts (which run on the server
// only) and the view of the player who saved.
var noiseChunks = map[string]bool{"AIPL": true, "GLOG": true, "GSDT": true, "VIEW": true}

// noiseFields are single fields of that kind.
var noiseFields = map[string]func(field string) bool{
	// Only the server decides when the next AI company starts.
	"DATE": func(field string) bool {
		return field == "next_competitor_start" || strings.HasPrefix(field, "competitors_interval")
	},
	// Paths of NewGRF files.
	"NGRF": func(field string) bool { return field == "filename" },
	// Currency and units of each player; the game does not send them.
	"PATS": func(field string) bool { return strings.HasPrefix(field, "locale.") },
}

// separateNoise turns tables into noise and moves columns that are noise to
// noise tables of the same label and keys.
func separateNoise(w *snapshot.World) {
	for i := range w.Tables {
		t := &w.Tables[i]
		if chunk, _, _ := strings.Cut(t.Label, "."); noiseChunks[chunk] {
			t.Class = snapshot.Noise
			continue
		}
		isNoise := noiseFields[t.Label]
		if isNoise == nil {
			continue
		}
		moved, kept := part(t.Columns, isNoise)
		if moved == nil {
			continue
		}
		t.Columns = kept
		w.Tables = append(w.Tables, snapshot.Table{
			Label: t.Label, Class: snapshot.Noise, Keys: t.Keys, Columns: moved,
		})
	}
}

// sorted returns the tables in their order. Their columns are in theirs.
func (s *scratch) sorted() []snapshot.Table {
	s.order = s.order[:0]
	for i := range s.tables {
		s.order = append(s.order, i)
	}
	slices.SortFunc(s.order, func(i, j int) int {
		a, b := &s.tables[i], &s.tables[j]
		return cmp.Or(cmp.Compare(a.Class, b.Class), strings.Compare(a.Label, b.Label))
	})
	tables := make([]snapshot.Table, len(s.order))
	for to, from := range s.order {
		tables[to] = s.tables[from]
	}
	return tables
}
