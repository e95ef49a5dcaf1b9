// Package inputs reads the inputs of a game from files in any ordinary notation, and from the lines of a log, as an
// order log:
//
//	{"tick":5,"player":1,"cmd":"move","x":3}        one a line, or all in a list
//	{"tick":5,"orders":[{"player":1,"cmd":"move"}]} the orders of a tick in a list
//	tick,player,kind,x                              a table
//	tick,player1,player2                            a table with a column a player, in a file that is called inputs
//	tick 17 player 2 order move 3,4                 lines of a log
//	[tick 17] player 2: move 3 4                    most lines of a log
//	17 P2 move 3 4                                  most lines of a log
//
// Every order has a tick, and a player or a kind. The rest of an order is its payload: a map in JSON with sorted
// names. Times of a clock do not belong to it, since peers write different ones. A player with a name and no number
// gets a number that depends only on the name, and keeps the name in the payload.
package inputs

import (
	"bytes"
	"math"
	"strconv"
	"strings"

	"github.com/desynctool/desynctool/anygame/vocabulary"
	"github.com/desynctool/desynctool/internal/lazyregexp"
	"github.com/desynctool/desynctool/notation"
)

const (
	// window is by how many ticks an order may precede the newest one before it.
	window = 64
	// sampleLen is how long a sample may be. A shorter one is a whole file.
	sampleLen  = 1 << 20
	maxKinds   = 1 << 12
	maxKind    = 256 // bytes of the name of a kind
	maxPlaces  = 256
	maxMembers = 1 << 16 // values of one order, with what surrounds it
)

// Pattern is how the orders in one file are read. It does not change once it is learned.
type Pattern struct {
	notation *notation.Notation // nil for the lines of a log
	place    string             // of the orders in a document
	names    names
}

// names are the names of members with a role, empty where there is none. Wide is set if all others are players.
type names struct {
	tick, player, kind string
	wide               bool
	bare               bool // an order may have neither a player nor a kind
}

// Learn returns the pattern of a file by its beginning, whole lines of up to 1 MiB. It is nil if the file holds no
// orders.
func Learn(sample []byte, name string) *Pattern {
	head := sample[:min(len(sample), 64<<10)]
	if n := notation.Of(name, head, len(head) == len(sample)); n != nil && !n.Loose {
		return learnDocument(sample, n, inputFile.MatchString(name))
	}
	if bytes.IndexByte(sample[:min(len(sample), 4096)], 0) >= 0 {
		return nil
	}
	return learnLines(sample)
}

// inputFile fits the names of files with inputs. playerName fits the names of columns of players.
var (
	inputFile  = lazyregexp.New(`(?i)(^|[^a-z])(inputs?|orders|commands|cmds)([^a-z]|$)`)
	playerName = lazyregexp.New(`(?i)^(p|player|seat|slot|peer|client|pad|user|input)[ _-]?(\d+)([ _-]?(inputs?|pad|keys|buttons|cmd))?$`)
)

// Title tells where the tick, the player and the kind of an order are.
func (p *Pattern) Title() string {
	if p.notation == nil {
		return "lines with a tick, a player and an order"
	}
	out := "orders as " + p.notation.Title
	if p.names.wide {
		out += ", a column a player"
	}
	for _, part := range [][2]string{{"tick", p.names.tick}, {"player", p.names.player}, {"kind", p.names.kind}} {
		if part[1] != "" {
			out += ", " + part[0] + " in " + strconv.Quote(part[1])
		}
	}
	return out
}

// learnDocument finds the place with orders.
func learnDocument(sample []byte, n *notation.Notation, named bool) *Pattern {
	c := &collector{places: map[string]*census{}, named: named}
	err := n.Parse(sample, c)
	if fault, ok := err.(*notation.Error); err != nil && !(ok && (fault.Cut || len(sample) >= sampleLen)) {
		return nil
	}
	var best *census
	for _, one := range c.order {
		if one.fits() && (best == nil || one.orders > best.orders) {
			best = one
		}
	}
	if best == nil {
		return nil
	}
	p := &Pattern{notation: n, place: best.place, names: best.names()}
	all := &collector{pattern: p}
	_ = n.Parse(sample, all)
	if all.fault != nil || !ascends(all.found) {
		return nil
	}
	return p
}

// ascends reports whether the ticks of orders go back by at most a window.
func ascends(orders []order) bool {
	newest := uint64(0)
	for i := range orders {
		if orders[i].tick+window < newest {
			return false
		}
		newest = max(newest, orders[i].tick)
	}
	return len(orders) > 0
}

// order is one order that was read.
type order struct {
	tick    uint64
	player  uint32
	kind    string
	payload []byte
	offset  int64
	line    int64
}

// playerOf returns the number of a player. Named is set if it has a name only.
func playerOf(value string) (number uint32, named bool) {
	if n, err := strconv.ParseUint(value, 10, 32); err == nil {
		return uint32(n), false
	}
	h := uint32(0x811c9dc5) // FNV-1a
	for _, c := range []byte(value) {
		h = (h ^ uint32(c)) * 0x1000193
	}
	return h, true
}

// tickOf parses a tick.
func tickOf(value string) (uint64, bool) {
	n, err := strconv.ParseUint(value, 10, 63)
	return n, err == nil && n <= math.MaxInt64-window
}

// kindNames are the names of members with the kind of an order, the best first.
var kindNames = []string{
	"cmd", "command", "order", "action", "kind", "type", "op", "verb", "event", "input", "name", "msg",
}

// playerNames are names of players in addition to those that package vocabulary knows.
const playerNames = " by from who pid playerid issuer "

func isPlayer(name string) bool {
	if name != "" && name[len(name)-1] >= '0' && name[len(name)-1] <= '9' { // a column of each player
		return false
	}
	return vocabulary.Of(name) == vocabulary.Player || strings.Contains(playerNames, " "+strings.ToLower(name)+" ")
}

// local are names of members that each peer fills in by itself: times of a clock, and what loggers add.
const local = " ts timestamp datetime date walltime wall_time wallclock wall_clock logged_at received received_at " +
	"recv_time latency ping rtt level logger thread hostname caller "

func isLocal(name string) bool { return strings.Contains(local, " "+strings.ToLower(name)+" ") }

// kindName returns the name of a kind by the value of a member.
func kindName(member, value string) string {
	switch {
	case value == "" || len(value) > maxKind:
		return orderKind
	case value[0] == '-' || value[0] >= '0' && value[0] <= '9':
		return member + " " + value
	}
	return value
}

// orderKind is the kind of orders without one.
const orderKind = "input"

// Engine is the name of the engine in the dialect of such logs, whatever game they belong to.
const Engine = "any game"
