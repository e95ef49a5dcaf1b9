package widelands

import (
	"encoding/binary"
	"strconv"
	"sync"

	"github.com/desynctool/desynctool/orderlog"
)

// param is a number of a player's command, or a list of numbers.
type param struct {
	name   string
	width  uint8 // in bytes
	signed bool
	count  uint8 // of a list, the bytes of how many there are
}

// command is a command that the game's command queue can run. Players' commands have parameters and are in replays.
type command struct {
	name   string
	player bool
	params []param
}

// maxList bounds the lists of commands: no attack has that many soldiers.
const maxList = 1 << 16

// commands is the one table of commands, by id. The parameters belong to version 3 of the replay.
var commands = [256]command{
	1:  {"Build", true, []param{{name: "building", width: 2, signed: true}, paramX, paramY}},
	2:  {"BuildFlag", true, []param{paramX, paramY}},
	3:  {"BuildRoad", true, []param{paramX, paramY, {name: "steps", width: 1, count: 2}}},
	4:  {"FlagAction", true, []param{{name: "job", width: 1}, paramSerial}},
	5:  {"StartStopBuilding", true, []param{paramSerial}},
	6:  {"EnhanceBuilding", true, []param{paramSerial, {name: "building", width: 2}, {name: "keep_wares", width: 1}}},
	7:  {"Bulldoze", true, []param{paramSerial, {name: "recurse", width: 1}}},
	8:  {"ChangeTrainingOptions", true, []param{paramSerial, {name: "attribute", width: 1}, {name: "value", width: 2}}},
	9:  {"DropSoldier", true, []param{paramSerial, {name: "soldier", width: 4}}},
	10: {"ChangeSoldierCapacity", true, []param{paramSerial, {name: "change", width: 2, signed: true}}},
	11: {"EnemyFlagAction", true, []param{paramSerial, {name: "soldiers", width: 4, count: 4}, {name: "conquer", width: 1}}},
	12: {"SetWarePriority", true, []param{paramSerial, {name: "type", width: 1}, {name: "ware", width: 4, signed: true}, {name: "priority", width: 4}, {name: "site", width: 1}}},
	13: {"SetWareTargetQuantity", true, []param{{name: "economy", width: 4}, {name: "ware", width: 1}, {name: "quantity", width: 4}}},
	15: {"SetWorkerTargetQuantity", true, []param{{name: "economy", width: 4}, {name: "worker", width: 1}, {name: "quantity", width: 4}}},
	18: {"SetInputMaxFill", true, []param{paramSerial, {name: "ware", width: 4, signed: true}, {name: "type", width: 1}, {name: "fill", width: 4}, {name: "site", width: 1}}},
	21: {"MessageSetStatusRead", true, []param{{name: "message", width: 4}}},
	22: {"MessageSetStatusArchived", true, []param{{name: "message", width: 4}}},
	23: {"SetStockPolicy", true, []param{{name: "warehouse", width: 4}, {name: "is_worker", width: 1}, {name: "ware", width: 1}, {name: "policy", width: 1}}},
	24: {"DismantleBuilding", true, []param{paramSerial, {name: "keep_wares", width: 1}}},
	25: {"EvictWorker", true, []param{paramSerial}},
	26: {"MilitarySiteSetSoldierPreference", true, []param{paramSerial, {name: "preference", width: 1}}},
	27: {name: "ProposeTrade"},
	28: {"BuildWaterway", true, []param{paramX, paramY, {name: "steps", width: 1, count: 2}}},

	121: {"ShipSink", true, []param{paramSerial}},
	122: {"ShipCancelExpedition", true, []param{paramSerial}},
	123: {"StartOrCancelExpedition", true, []param{paramSerial}},
	124: {"ShipConstructPort", true, []param{paramSerial, paramX, paramY}},
	125: {"ShipScoutDirection", true, []param{paramSerial, {name: "direction", width: 1}}},
	126: {"ShipExploreIsland", true, []param{paramSerial, {name: "direction", width: 1}}},

	127: {name: "DestroyMapObject"},
	128: {name: "Act"},
	130: {name: "Incorporate"},
	131: {name: "LuaScript"},
	132: {name: "LuaCoroutine"},
	133: {name: "CalculateStatistics"},
	134: {"ExpeditionConfig", true, []param{paramSerial, {name: "type", width: 1}, {name: "ware", width: 4}, {name: "add", width: 1}}},
	135: {"PickCustomStartingPosition", true, []param{paramX, paramY}},
	200: {name: "EconomyBalance"},
	201: {name: "DeleteMessage"},
	202: {"ToggleMuteMessages", true, []param{{name: "building", width: 4}, {name: "all", width: 1}}},
	203: {"MarkMapObjectForRemoval", true, []param{{name: "object", width: 4}, {name: "mark", width: 1}}},
	250: {name: "NetCheckSync"},
	251: {name: "ReplaySyncWrite"},
	252: {name: "ReplaySyncRead"},
	253: {name: "ReplayEnd"},
}

var (
	paramSerial = param{name: "serial", width: 4}
	paramX      = param{name: "x", width: 2, signed: true}
	paramY      = param{name: "y", width: 2, signed: true}
)

// commandNames has "Act" at 128, "command 77" where the table has none.
var commandNames = sync.OnceValue(func() *[256]string {
	t := &[256]string{}
	for i := range t {
		if t[i] = commands[i].name; t[i] == "" {
			t[i] = "command " + strconv.Itoa(i)
		}
	}
	return t
})

// CommandName returns the name of a command by its id: "Act", or "command 77" if
// it is not known.
func CommandName(id uint8) string { return commandNames()[id] }

// number reads a number of width bytes.
func (p *param) number(b []byte, width uint8) int64 {
	var n uint64
	for i := range int(width) {
		n |= uint64(b[i]) << (8 * i)
	}
	if p.signed {
		return int64(n<<(64-8*width)) >> (64 - 8*width)
	}
	return int64(n)
}

// walk goes through the parameters of a command in b, which begins with its id. It
// returns the command's length, and if b is too short, how many bytes are needed to know more.
// The number of a list that is too long is returned as list.
func (c *command) walk(b []byte, each func(path string, v int64)) (length int, whole bool, list uint32) {
	at := 2
	for i := range c.params {
		p := &c.params[i]
		if p.count == 0 {
			if at+int(p.width) > len(b) {
				return at + int(p.width), false, 0
			}
			if each != nil {
				each(p.name, p.number(b[at:], p.width))
			}
			at += int(p.width)
			continue
		}
		if at+int(p.count) > len(b) {
			return at + int(p.count), false, 0
		}
		var count [4]byte
		copy(count[:], b[at:at+int(p.count)])
		n := binary.LittleEndian.Uint32(count[:])
		at += int(p.count)
		if n > maxList {
			return at, false, n
		}
		if at+int(n)*int(p.width) > len(b) {
			return at + int(n)*int(p.width), false, 0
		}
		for j := range int(n) {
			if each != nil {
				each(p.name+"["+strconv.Itoa(j)+"]", p.number(b[at+j*int(p.width):], p.width))
			}
		}
		at += int(n) * int(p.width)
	}
	return at, true, 0
}

// Fields splits the payload of an order: the serialised command, which begins with its id and its player. It returns
// nil if the payload does not fit the kind.
func Fields(kind string, payload []byte) []orderlog.Field {
	if len(payload) < 2 || commandNames()[payload[0]] != kind || !commands[payload[0]].player {
		return nil
	}
	var out []orderlog.Field
	n, whole, _ := commands[payload[0]].walk(payload, func(path string, v int64) {
		out = append(out, orderlog.Field{Path: path, Value: strconv.FormatInt(v, 10)})
	})
	if !whole || n != len(payload) {
		return nil
	}
	return out
}
