package openra

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/desynctool/desynctool/engines/engine"
	"github.com/desynctool/desynctool/snapshot"
)

// Lines that are independent of others.
const (
	host       = "Player is host."
	traits     = "Synced Traits:"
	effects    = "Synced Effects:"
	orders     = "Orders Issued:"
	systemInfo = "Sync Report System Info:"
	noReport   = "No sync report available!"
)

// maxRecorded is the largest number of recorded frames that is accepted.
const maxRecorded = 1024

// decoder reads one report.
type decoder struct {
	name string
	text []byte
	pos  int
	last int // where the line that was read last begins
	row  int // and its number

	peer  string
	frame uint64
	rng   []byte
	drawn string // what people see of rng
	meta  map[string]string

	tables *tables
	actor  actor
	actors map[uint64]*seen // of an excerpt, in which an actor may come back
	framed bool             // the net frame is known
	spares []seen           // for more actors
}

// actor is the current actor. Its traits follow one after the other.
type actor struct {
	id    uint64
	known bool
	seen  *seen
}

func (d *decoder) errorf(format string, args ...any) error {
	return &engine.LineError{Name: d.name, Line: d.row, Err: fmt.Errorf(format, args...)}
}

// line returns the next line without its end.
func (d *decoder) line() ([]byte, error) {
	d.row++
	rest := d.text[d.pos:]
	n := bytes.IndexByte(rest, '\n')
	if n < 0 {
		return nil, d.errorf("the report ends within its text: %w", io.ErrUnexpectedEOF)
	}
	d.last = d.pos
	d.pos += n + 1
	return bytes.TrimSuffix(rest[:n], []byte("\r")), nil
}

// back undoes the last call of line.
func (d *decoder) back() { d.pos, d.row = d.last, d.row-1 }

func (d *decoder) ended() bool { return d.pos == len(d.text) }

// value reads a line that begins with prefix and returns the rest of it.
func (d *decoder) value(prefix string) (string, error) {
	line, err := d.line()
	if err != nil {
		return "", err
	}
	rest, ok := bytes.CutPrefix(line, []byte(prefix))
	if !ok {
		return "", d.errorf("%.40q, expected %q", line, prefix)
	}
	return strings.ToValidUTF8(string(rest), "\uFFFD"), nil
}

// report reads everything.
func (d *decoder) report() error {
	for _, only := range []string{systemInfo, noReport} {
		if bytes.HasPrefix(d.text, []byte(only)) {
			return d.lost()
		}
	}
	if err := d.head(); err != nil {
		return err
	}
	if err := d.blocks(effects, d.trait); err != nil {
		return err
	}
	if err := d.blocks(orders, d.effect); err != nil {
		return err
	}
	if err := d.orders(); err != nil {
		return err
	}
	if d.ended() {
		// A report up to release-20230225 ends with its orders. A line for the
		// host, or a client's number in the name, shows a newer one.
		if d.meta["host"] != "" || d.meta["client"] != "" {
			d.row++
			return d.errorf("the report ends without its last section: %w", io.ErrUnexpectedEOF)
		}
		return nil
	}
	frame, recorded, err := d.system()
	if err != nil {
		return err
	}
	d.meta["out_of_sync_frame"] = strconv.FormatInt(frame, 10)
	d.meta["recorded_frames"] = recorded
	return d.end()
}

// end checks that nothing follows.
func (d *decoder) end() error {
	if d.ended() {
		return nil
	}
	line, err := d.line()
	if err != nil {
		return err
	}
	return d.errorf("%.40q after the last section, expected the end", line)
}

// lost reads a report without a state.
func (d *decoder) lost() error {
	line, err := d.line()
	if err != nil {
		return err
	}
	lost := &LostFrameError{Name: d.name}
	if string(line) == noReport {
		if err := d.end(); err != nil {
			return err
		}
		return lost
	}
	d.back()
	frame, recorded, err := d.system()
	if err != nil {
		return err
	}
	lost.Frame = frame
	if lost.Recorded, err = d.frames(recorded); err != nil {
		return err
	}
	if _, err := d.value(fmt.Sprintf("Recorded frames do not contain the frame %d. %s", frame, noReport)); err != nil {
		return err
	}
	if err := d.end(); err != nil {
		return err
	}
	return lost
}

// system reads the last section, up to the recorded frames.
func (d *decoder) system() (frame int64, recorded string, err error) {
	line, err := d.line()
	if err != nil {
		return 0, "", err
	}
	if string(line) != systemInfo {
		return 0, "", d.errorf("%.40q, expected %q", line, systemInfo)
	}
	text, err := d.value("Out of sync frame: ")
	if err != nil {
		return 0, "", err
	}
	if frame, err = strconv.ParseInt(text, 10, 32); err != nil || frame <= 0 {
		return 0, "", d.errorf("%.40q, expected the number of a net frame", text)
	}
	if recorded, err = d.value("Recorded frames: "); err != nil {
		return 0, "", err
	}
	_, err = d.frames(recorded)
	return frame, recorded, err
}

func (d *decoder) frames(recorded string) ([]int64, error) {
	var out []int64
	for text := range strings.SplitSeq(recorded, ",") {
		n, err := strconv.ParseInt(text, 10, 32)
		if err != nil || n < 0 || len(out) == maxRecorded {
			return nil, d.errorf("%.40q, expected at most %d numbers of net frames", recorded, maxRecorded)
		}
		out = append(out, n)
	}
	return out, nil
}

// player reads "Player: NAME (SYSTEM)".
func (d *decoder) player() error {
	player, err := d.value("Player: ")
	if err != nil {
		return err
	}
	at, ok := platform([]byte(player))
	system, closed := strings.CutSuffix(player[max(0, at):], ")")
	if !ok || !closed {
		return d.errorf("%.40q, expected a player's name and, in parentheses, a system", player)
	}
	if at > snapshot.MaxName {
		return d.errorf("player's name of %d bytes, expected at most %d", at, snapshot.MaxName)
	}
	d.peer = player[:at]
	d.meta["system"] = strings.TrimPrefix(system, " (")
	return nil
}

// head reads everything up to the traits.
func (d *decoder) head() error {
	if err := d.player(); err != nil {
		return err
	}
	line, err := d.line()
	if err != nil {
		return err
	}
	if string(line) == host {
		d.meta["host"] = "true"
	} else {
		d.back()
	}
	if err := d.game(); err != nil {
		return err
	}
	if err := d.netFrame(); err != nil {
		return err
	}
	if err := d.random(); err != nil {
		return err
	}
	if line, err = d.line(); err == nil && string(line) != traits {
		err = d.errorf("%.40q, expected %q", line, traits)
	}
	return err
}

// game reads "Game ID: ID (Mod: TITLE at Version VERSION)".
func (d *decoder) game() error {
	text, err := d.value("Game ID: ")
	if err != nil {
		return err
	}
	id, rest, ok := strings.Cut(text, " (Mod: ")
	at := strings.LastIndex(rest, " at Version ")
	rest, closed := strings.CutSuffix(rest, ")")
	if !ok || !closed || at < 0 {
		return d.errorf("%.40q, expected a game's id and, in parentheses, its mod and version", text)
	}
	d.meta["game_id"] = id
	d.meta["mod"] = rest[:at]
	d.meta["version"] = rest[at+len(" at Version "):]
	return nil
}

func (d *decoder) netFrame() error {
	text, err := d.value("Sync for net frame ")
	if err != nil {
		return err
	}
	number, ok := strings.CutSuffix(text, " -------------")
	if d.frame, err = strconv.ParseUint(number, 10, 31); err != nil || !ok {
		return d.errorf("%.40q, expected the number of a net frame and dashes", text)
	}
	d.framed = true
	return nil
}

// random reads "SharedRandom: LAST (#COUNT)": the number that was drawn last and
// how many were drawn.
func (d *decoder) random() error {
	text, err := d.value("SharedRandom: ")
	if err != nil {
		return err
	}
	a, b, ok := strings.Cut(text, " (#")
	b, closed := strings.CutSuffix(b, ")")
	last, okLast := parseInt32([]byte(a))
	count, okCount := parseInt32([]byte(b))
	if !ok || !closed || !okLast || !okCount {
		return d.errorf("%.40q, expected a random number and (#COUNT)", text)
	}
	d.rng = binary.BigEndian.AppendUint32(nil, uint32(last))
	d.rng = binary.BigEndian.AppendUint32(d.rng, uint32(count))
	d.drawn = fmt.Sprintf("count %d, last %d", count, last)
	return nil
}

// blocks reads a section up to the line that begins the next one: blocks of one
// line that begins with a tab, and lines of values that begin with two.
func (d *decoder) blocks(next string, begin func(line []byte) (*table, error)) error {
	var t *table
	for {
		line, err := d.line()
		if err != nil {
			return err
		}
		switch {
		case bytes.HasPrefix(line, []byte("\t\t ")) && t != nil:
			err = d.field(t, line[3:])
		case bytes.HasPrefix(line, []byte("\t ")):
			t, err = begin(line[2:])
		case string(line) == next:
			return nil
		default:
			err = d.errorf("%.40q, expected %q or the line before it", line, next)
		}
		if err != nil {
			return err
		}
	}
}

// hashed cuts "TEXT (HASH)".
func (d *decoder) hashed(line []byte) ([]byte, int32, error) {
	if at := bytes.LastIndex(line, []byte(" (")); at >= 0 && line[len(line)-1] == ')' {
		if hash, ok := parseInt32(line[at+2 : len(line)-1]); ok {
			return line[:at], hash, nil
		}
	}
	return nil, 0, d.errorf("%.60q, expected it to end with a hash in parentheses", line)
}

// trait reads "ID KIND OWNER TRAIT (HASH)". An owner is a player's name and may
// have spaces.
func (d *decoder) trait(line []byte) (*table, error) {
	text, hash, err := d.hashed(line)
	if err != nil {
		return nil, err
	}
	number, rest, ok := bytes.Cut(text, []byte(" "))
	kind, rest, two := bytes.Cut(rest, []byte(" "))
	at := bytes.LastIndexByte(rest, ' ')
	if !ok || !two || at < 0 {
		return nil, d.errorf("%.60q, expected an actor's id, kind, owner and trait", line)
	}
	id, err := strconv.ParseUint(string(number), 10, 32)
	if err != nil || number[0] == '+' {
		return nil, d.errorf("%.60q, expected the id of an actor", line)
	}
	if !d.actor.known || d.actor.id != id {
		if err := d.begins(id, kind, rest[:at]); err != nil {
			return nil, err
		}
	}
	t, err := d.table(d.tables.traits, "", rest[at+1:])
	if err != nil {
		return nil, err
	}
	n := d.actor.seen.count(t)
	if n > 0 {
		if t.more == nil {
			if t.more, err = d.tables.add(t.label+".more", t.component, true); err != nil {
				return nil, d.errorf("%w", err)
			}
		}
		t = t.more
	}
	return t, d.begin(t, id, n, hash)
}

// begins makes an actor the current one.
func (d *decoder) begins(id uint64, kind, owner []byte) error {
	if known := d.actors[id]; known != nil {
		d.actor = actor{id: id, known: true, seen: known}
		return nil
	}
	s := d.actor.seen
	if s == nil || d.actors != nil {
		s = d.spare()
	}
	s.reset()
	d.actor = actor{id: id, known: true, seen: s}
	if d.actors != nil {
		d.actors[id] = s
	}
	all := d.tables.actors
	all.addRow(id, 0)
	if err := d.set(all, []byte("kind"), kind); err != nil {
		return err
	}
	return d.set(all, []byte("owner"), owner)
}

// effect reads "NAME (HASH)".
func (d *decoder) effect(line []byte) (*table, error) {
	name, hash, err := d.hashed(line)
	if err != nil {
		return nil, err
	}
	t, err := d.table(d.tables.effects, "effect ", name)
	if err != nil {
		return nil, err
	}
	return t, d.begin(t, uint64(len(t.keysA)), 0, hash)
}

// begin adds a row with its sync hash.
func (d *decoder) begin(t *table, a, b uint64, hash int32) error {
	t.addRow(a, b)
	if err := d.tables.setHash(t, hash); err != nil {
		return d.errorf("%w", err)
	}
	return nil
}

// field reads "NAME: VALUE" of the current row.
func (d *decoder) field(t *table, line []byte) error {
	name, value, ok := bytes.Cut(line, []byte(": "))
	if !ok {
		return d.errorf("%.60q, expected a name and a value", line)
	}
	return d.set(t, name, value)
}

// set gives the current row a value.
func (d *decoder) set(t *table, name, value []byte) error {
	if err := d.tables.set(t, name, value); err != nil {
		return d.errorf("%w", err)
	}
	return nil
}

// table returns the table of a type of trait or effect.
func (d *decoder) table(of map[string]*table, prefix string, name []byte) (*table, error) {
	if t := of[string(name)]; t != nil {
		return t, nil
	}
	if !plain(name) || bytes.IndexByte(name, ' ') >= 0 || string(name) == syncComponent {
		return nil, d.errorf("%.60q, expected the name of a type", name)
	}
	t, err := d.tables.add(prefix+string(name), string(name), false)
	if err != nil {
		return nil, d.errorf("%w", err)
	}
	of[string(name)] = t
	return t, nil
}

// parseInt32 parses a number. The sign follows the system's language, and may be U+2212.
func parseInt32(text []byte) (int32, bool) {
	digits, negative := bytes.CutPrefix(text, []byte("-"))
	if !negative {
		digits, negative = bytes.CutPrefix(text, []byte("\u2212"))
	}
	n, ok := engine.ParseInt(digits)
	if !ok || digits[0] == '-' {
		return 0, false
	}
	if negative {
		n = -n
	}
	return int32(n), n == int64(int32(n))
}
