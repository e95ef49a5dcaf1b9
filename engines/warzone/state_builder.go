package warzone

import (
	"bytes"
	"encoding/hex"
	"fmt"
	"strconv"

	"github.com/desynctool/desynctool/internal/file/partial"
	"github.com/desynctool/desynctool/internal/lists"

	"github.com/desynctool/desynctool/snapshot"
)

// maxTables is how many functions may have lines that fit into no row.
const maxTables = 1024

// builder turns the entries of a dump into tables.
//
// The order of the lines is kept as well: each row names the row that was
// begun before it; between a row's lines there are only those that fit into no
// row, and each of these names its place and the line before it.
type builder struct {
	objects [5]*stateObjects // by engine.Object
	economy *table
	count   *table
	times   *table
	player  *table
	game    *table
	rest    map[string]*table // by function
	noise   *table

	// The current row.
	name   []byte // "droid 288", empty before the first one
	key    uint64
	open   *stateObjects // its table, if it is an object
	power  int           // its lines so far, if it belongs to the economy
	mark   byte          // of its last line
	before string        // function of the last line since then

	partial bool // the dump is an excerpt

	buffer []byte
	err    error
}

func column(component, field string, typ snapshot.Type) snapshot.Column {
	return snapshot.NewColumn(component, field, typ, 0)
}

// Columns of tables. If rows name the row before, that is column 0.
const (
	countFirst = 1

	timeLatency = 1
	timeCheck   = 2
	timeCRC     = 3
	timeWanted  = 4

	playerName = 1

	endTime      = 0
	endAfter     = 1
	beginTime    = 2
	beginAfter   = 3
	mapName      = 4
	mapRandom    = 5
	mapAllocated = 6
	mapPosition  = 7
	mapAfter     = 8

	lineText   = 0
	lineIn     = 1
	lineBehind = 2
)

var counts = [...]string{"droid", "command", "constructor", "mission", "transporter"}

func newBuilder() *builder {
	b := &builder{rest: map[string]*table{}}
	b.objects = [...]*stateObjects{
		Droid:      newObjects(Droid, "Droid", "droidUpdate"),
		Structure:  newObjects(Structure, "Structure", "structureUpdate"),
		Feature:    newObjects(Feature, "Feature", "featureUpdate"),
		Projectile: newObjects(Projectile, "Projectile", "update"),
	}
	after := column("update", "after", snapshot.String)
	b.economy = newTable("Economy", after)
	for _, name := range economyAmounts {
		b.economy.columns = append(b.economy.columns, amountColumns(name[0], name[1])...)
	}
	b.count = newTable("Count", after)
	for _, name := range counts {
		b.count.columns = append(b.count.columns, column("count", name, snapshot.I32))
	}
	b.times = newTable("GameTime", after, column("message", "lat", snapshot.U32), column("message", "ct", snapshot.U32),
		column("message", "crc", snapshot.Bytes), column("message", "wlat", snapshot.U32))
	b.times.two = true
	b.player = newTable("Player", after, column("player", "name", snapshot.String))
	b.game = newTable("Game",
		column("end", "gameTime", snapshot.U32), column("end", "after", snapshot.String),
		column("begin", "gameTime", snapshot.U32), column("begin", "after", snapshot.String),
		column("game", "map", snapshot.String), column("game", "random", snapshot.Bytes),
		column("game", "allocated", snapshot.String), column("game", "position", snapshot.String),
		column("game", "after", snapshot.String))
	b.game.row(0)
	b.noise = newTable("Backtrace", column("line", "text", snapshot.String))
	b.noise.class = snapshot.Noise
	return b
}

// add takes the next entry.
func (b *builder) add(e *Entry) {
	if e.Gap != nil {
		b.forget(e.Gap)
	}
	switch {
	case e.Function == Backtrace:
		b.noise.row(uint64(len(b.noise.keysA)))
		b.noise.to(0).AppendBytes(e.Text)
	case e.MayDiffer(): // the version: Read makes it a property of the head
	case b.take(e):
		b.mark, b.before = e.Mark, ""
	default:
		b.leave(e)
	}
}

// forget forgets what lines before a gap said. Lines that fit into no row are keyed by the number of
// the line after the gap, and an object may be shown from any of its lines on.
func (b *builder) forget(g *partial.Gap) {
	b.name, b.key, b.open, b.power, b.mark, b.before = b.name[:0], uint64(g.Next), nil, 0, 0, ""
	b.partial = true
}

// take puts an entry into a row, if it fits into one: every byte of its text
// follows from the row.
func (b *builder) take(e *Entry) bool {
	if e.Object != NoObject {
		return b.object(e)
	}
	// The byte between the word and the number.
	between := byte(0)
	if e.HasID {
		between = e.Subject[len(e.Kind)]
	}
	switch e.Kind {
	case KindEconomy:
		return between >= '0' && between <= '9' && e.Mark == '<' && e.Function == "syncDebugEconomy" && b.addEconomy(e)
	case KindPower:
		return between >= '0' && between <= '9' && e.Mark == 0 && e.Function == KindPower && b.addPower(e)
	case KindCounts:
		return between == '[' && e.Mark == 0 && e.Function == "countUpdate" && b.addCounts(e)
	case KindGameTime:
		return between == ' ' && e.Mark == 0 && e.Function == "recvPlayerGameTime" && b.addTime(e)
	case KindPlayer:
		return between == ' ' && e.Mark == 0 && e.Function == "gameStateUpdate" && b.addPlayer(e)
	case KindEnd, KindBegin:
		return between == 0 && e.Mark == 0 && e.Function == "gameLoop" && b.addUpdate(e)
	case KindGame:
		return between == 0 && e.Mark == 0 && e.Function == "gameStateUpdate" && b.addGame(e)
	}
	return false
}

// begin begins a row that is named by a word and a number. It returns the name of
// the row before, which is valid until the next call.
func (b *builder) begin(word string, key uint64) (after []byte) {
	b.open, b.power, b.key = nil, 0, key
	b.buffer = append(b.buffer[:0], b.name...)
	b.name = append(append(b.name[:0], word...), ' ')
	b.name = strconv.AppendUint(b.name, key, 10)
	return b.buffer
}

func (b *builder) object(e *Entry) bool {
	t := b.objects[e.Object]
	if e.Function != t.function {
		return false
	}
	key := uint64(e.ID)
	if !e.HasID { // projectiles are listed one after the other
		key = uint64(len(t.rows))
		if e.Mark != '<' {
			key--
		}
	}
	if (e.Mark == '<' || b.partial && e.HasID) && !t.has(key) {
		after := b.begin(t.object.String(), key)
		t.begin(key, after)
		b.open = t
		return t.line(e)
	}
	return b.open == t && b.key == key && t.line(e)
}

func (b *builder) addCounts(e *Entry) bool {
	var values [len(counts)]int64
	if len(e.Values) != len(counts) || b.count.has(uint64(e.ID)) {
		return false
	}
	for i := range counts {
		v := &e.Values[i]
		n, ok := v.Int()
		if !ok || n != int64(int32(n)) || v.Name != counts[i] {
			return false
		}
		values[i] = n
	}
	after := b.begin(KindCounts, uint64(e.ID))
	b.count.row(uint64(e.ID))
	b.count.to(0).AppendBytes(after)
	for i, v := range values {
		b.count.to(countFirst + i).AppendInt(v)
	}
	return true
}

func (b *builder) addTime(e *Entry) bool {
	if len(e.Values) != 4 {
		return false
	}
	var values [5]int64
	for i, name := range [...]string{timeLatency: "lat", timeCheck: "ct", timeCRC: "crc", timeWanted: "wlat"} {
		if i == 0 {
			continue
		}
		v := &e.Values[i-1]
		n, ok := v.Int()
		if v.Name != name || i != timeCRC && (!ok || n != int64(uint32(n))) {
			return false
		}
		values[i] = n
	}
	crc, ok := digits(e.Values[timeCRC-1].Text, 4)
	if !ok {
		return false
	}
	t := b.times
	after := b.begin(KindGameTime, uint64(e.ID))
	t.next(uint64(e.ID))
	t.to(0).AppendBytes(after)
	t.to(timeLatency).AppendInt(values[timeLatency])
	t.to(timeCheck).AppendInt(values[timeCheck])
	t.to(timeCRC).AppendBytes(crc)
	t.to(timeWanted).AppendInt(values[timeWanted])
	return true
}

// digits decodes n hexadecimal digits with capital letters.
func digits(text []byte, n int) ([]byte, bool) {
	if len(text) != n || bytes.ContainsAny(text, "abcdef") {
		return nil, false
	}
	b, err := hex.AppendDecode(nil, text)
	return b, err == nil
}

// quoted returns what is between quotes.
func quoted(text []byte) ([]byte, bool) {
	n := len(text)
	if n < 2 || text[0] != '"' || text[n-1] != '"' {
		return nil, false
	}
	return text[1 : n-1], true
}

func (b *builder) addPlayer(e *Entry) bool {
	name, ok := quoted(e.Values[0].Text)
	if !ok || len(e.Values) != 1 || e.Values[0].Name != "" || b.player.has(uint64(e.ID)) {
		return false
	}
	after := b.begin(KindPlayer, uint64(e.ID))
	b.player.row(uint64(e.ID))
	b.player.to(0).AppendBytes(after)
	b.player.to(playerName).AppendBytes(name)
	return true
}

func (b *builder) addUpdate(e *Entry) bool {
	time, after := endTime, endAfter
	if e.Kind == KindBegin {
		time, after = beginTime, beginAfter
	}
	v, ok := e.Values[0].Int()
	if !ok || v != int64(uint32(v)) || b.game.columns[time].Rows() > 0 {
		return false
	}
	b.game.to(after).AppendBytes(b.begin(e.Kind, 0))
	b.game.to(time).AppendInt(v)
	return true
}

func (b *builder) addGame(e *Entry) bool {
	name, ok1 := quoted(e.Values[0].Text)
	hex, ok2 := bytes.CutPrefix(e.Values[1].Text, []byte("0x"))
	random, ok3 := digits(hex, 8)
	if !ok1 || !ok2 || !ok3 || b.game.columns[mapName].Rows() > 0 {
		return false
	}
	b.game.to(mapAfter).AppendBytes(b.begin(KindGame, 0))
	b.game.to(mapName).AppendBytes(name)
	b.game.to(mapRandom).AppendBytes(random)
	b.game.to(mapAllocated).AppendBytes(e.Values[2].Text)
	b.game.to(mapPosition).AppendBytes(e.Values[3].Text)
	return true
}

// leave keeps an entry that fits into no row: it becomes one of its function's
// table, keyed by the current row.
func (b *builder) leave(e *Entry) {
	t := b.rest[e.Function]
	if t == nil {
		if len(b.rest) == maxTables {
			b.err = fmt.Errorf("more than %d functions", maxTables)
			return
		}
		t = newTable(e.Function+"()", column("line", "text", snapshot.String), column("line", "in", snapshot.String),
			column("line", "behind", snapshot.String))
		t.two = true
		b.rest[e.Function] = t
	}
	t.next(b.key)
	t.to(lineText).AppendBytes(e.Text)
	b.buffer = append(b.buffer[:0], b.name...)
	if b.mark != 0 {
		b.buffer = append(b.buffer, ' ', b.mark)
	}
	t.to(lineIn).AppendBytes(b.buffer)
	t.to(lineBehind).AppendString(b.before)
	b.before = e.Function
}

// tables returns all tables, in no order.
func (b *builder) tables() ([]snapshot.Table, error) {
	if b.err != nil {
		return nil, b.err
	}
	all := lists.Map([]*table{b.economy, b.count, b.times, b.player, b.game, b.noise}, (*table).finish)
	all = append(all, lists.Map(b.objects[Droid:], func(t *stateObjects) snapshot.Table { return t.finish() })...)
	for _, t := range b.rest {
		all = append(all, t.finish())
	}
	return all, nil
}
