package widelands

import (
	"strconv"
	"sync"
)

// Kind is a kind of entries of a sync stream.
type Kind uint8

// Kinds of entries. The last two have no tag: they follow the payload of other entries.
const (
	Desync               Kind = iota + 1 // the peer noticed a desync
	DestroyObject                        // a map object is destroyed
	ProcessRequests                      // an economy looks for the best supply of a request
	HandleActiveSupplies                 // an economy sends idle supplies to warehouses
	StartTransfer                        // a ware or worker is sent to a request
	RunQueue                             // a command is run
	RandomSeed                           // the generator is seeded
	Random                               // a random number is drawn
	CmdAct                               // a map object acts
	Battle                               // two soldiers begin to fight
	BobSetPosition                       // something that moves gets a position
	ActiveSupply                         // one of HandleActiveSupplies
	Launched                             // the command that a StartTransfer sends
)

// field is one number of a payload: bits of its 8 bytes, taken as a little-endian
// number.
type field struct {
	name   string
	shift  uint8
	bits   uint8
	signed bool
	text   func(v int64) string // nil if it is just the number
}

// layout describes the entries of a kind.
type layout struct {
	name   string
	tag    byte // 0 if it has none
	length uint8
	fields []field
}

// layouts is the one table of kinds.
var layouts = [...]layout{
	Desync:               {"Desync", 0x14, 4, []field{{name: "player", bits: 32, signed: true}}},
	DestroyObject:        {"DestroyObject", 0x24, 4, []field{{name: "serial", bits: 32}}},
	ProcessRequests:      {"ProcessRequests", 0x36, 6, []field{{name: "type", bits: 8}, {name: "index", shift: 8, bits: 8}, {name: "target", shift: 16, bits: 32}}},
	HandleActiveSupplies: {"HandleActiveSupplies", 0x44, 4, []field{{name: "count", bits: 32}}},
	StartTransfer:        {"StartTransfer", 0x58, 8, []field{{name: "target", bits: 32}, {name: "source", shift: 32, bits: 32}}},
	RunQueue:             {"RunQueue", 0x68, 8, []field{{name: "due", bits: 32}, {name: "command", shift: 32, bits: 32, text: commandText}}},
	RandomSeed:           {"RandomSeed", 0x74, 4, []field{{name: "seed", bits: 32}}},
	Random:               {"Random", 0x84, 4, []field{{name: "value", bits: 32}}},
	CmdAct:               {"CmdAct", 0x95, 5, []field{{name: "serial", bits: 32}, {name: "type", shift: 32, bits: 8, text: objectText}}},
	Battle:               {"Battle", 0xa8, 8, []field{{name: "first", bits: 32}, {name: "second", shift: 32, bits: 32}}},
	BobSetPosition: {"BobSetPosition", 0xb8, 8, []field{
		{name: "serial", bits: 32}, {name: "x", shift: 32, bits: 16, signed: true}, {name: "y", shift: 48, bits: 16, signed: true},
	}},
	ActiveSupply: {"ActiveSupply", 0, 8, []field{{name: "position", bits: 32}, {name: "warehouse", shift: 32, bits: 32}}},
	Launched:     {"Launched", 0, 4, []field{{name: "serial", bits: 32}}},
}

// kinds has the kind of each tag, 0 for no kind.
var kinds = func() (t [256]Kind) {
	for k := Desync; int(k) < len(layouts); k++ {
		if tag := layouts[k].tag; tag != 0 {
			t[tag] = k
		}
	}
	return t
}()

// sizes has the length of an entry by its tag, 0 if the tag is unknown or the entry cannot simply be skipped.
var sizes = func() (t [256]uint8) {
	for k := Desync; int(k) < len(layouts); k++ {
		if l := &layouts[k]; l.tag != 0 && k != HandleActiveSupplies && k != StartTransfer && k != RunQueue {
			t[l.tag] = 1 + l.length
		}
	}
	return t
}()

// String returns the engine's name of the kind: "CmdAct".
func (k Kind) String() string {
	if k < Desync || int(k) >= len(layouts) {
		return "kind " + strconv.Itoa(int(k))
	}
	return layouts[k].name
}

// NumFields returns how many numbers an entry of the kind contains, at most three.
func (k Kind) NumFields() int { return len(layouts[k].fields) }

// FieldName returns the name of field i: "serial".
func (k Kind) FieldName(i int) string { return layouts[k].fields[i].name }

// objects are names of map objects' types. The game writes 0 for one that is gone.
var objects = map[int]string{
	0: "gone", 1: "resource", 2: "terrain", 3: "ware", 4: "battle", 5: "ship fleet", 6: "ferry fleet",
	10: "bob", 11: "critter", 12: "ship", 13: "worker", 14: "soldier", 15: "carrier", 16: "ferry",
	30: "immovable",
	40: "flag", 41: "port dock", 42: "road base", 43: "road", 44: "waterway",
	100: "building", 101: "construction site", 102: "dismantle site", 103: "warehouse", 104: "market",
	105: "military site", 106: "production site", 107: "training site",
}

// objectTexts has "11 critter" at 11.
var objectTexts = sync.OnceValue(func() *[256]string {
	t := &[256]string{}
	for i := range t {
		t[i] = strconv.Itoa(i)
		if name := objects[i]; name != "" {
			t[i] += " " + name
		}
	}
	return t
})

func objectText(v int64) string { return objectTexts()[v&0xff] }

// commandTexts has "128 Act" at 128.
var commandTexts = sync.OnceValue(func() *[256]string {
	t := &[256]string{}
	for i := range t {
		t[i] = strconv.Itoa(i)
		if name := commands[i].name; name != "" {
			t[i] += " " + name
		}
	}
	return t
})

func commandText(v int64) string { return commandTexts()[v&0xff] }
