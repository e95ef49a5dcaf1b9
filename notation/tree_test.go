package notation

import (
	"strings"
	"testing"
)

func TestTree(t *testing.T) {
	n := treeNotation()
	// As dump of Swift prints classes, structures, arrays, tuples, optionals, sets and dictionaries.
	parses(t, n, "==== frame 0040 (Ann) ====\n▿ Game.Match #0\n  - seed: 5\n  - name: \"Ann\"\n  ▿ pos: (1.5, -2.0)\n    - .0: 1.5\n    - .1: -2.0\n  ▿ foe: Optional(Game.Unit(hp: 3))\n    ▿ some: Game.Unit\n      - hp: 3\n"+
		"  - none: nil\n  ▿ units: 2 elements\n    ▿ Game.Unit #1\n      - hp: 3\n    ▿ Game.Unit #2\n      - hp: 4\n  - gone: 0 elements\n  ▿ kinds: 2 elements\n    - Game.Kind.elf\n    - Game.Kind.orc\n"+
		"  ▿ tags: 2 members\n    - 9\n    - 3\n  ▿ ammo: 1 key/value pair\n  ▿ bag: 2 key/value pairs\n    ▿ (2 elements)\n      - key: \"rope\"\n      - value: 2\n    ▿ (2 elements)\n      - key: 7\n      ▿ value: 1 element\n        - 5\n\n==== frame 41 (Ann) ====\n▿ Game.Match #0\n  - tick: 6\n",
		`{ "tick": number(40) "#type": text(Game.Match) "seed": bare(5) "name": text(Ann) "pos": { "0": bare(1.5) "1": bare(-2.0) end "foe": { "#type": text(Game.Unit) "hp": bare(3) end "none": null() `+
			`"units": [ { "#type": text(Game.Unit) "hp": bare(3) end { "#type": text(Game.Unit) "hp": bare(4) end end "gone": [ end "kinds": [ bare(Game.Kind.elf) bare(Game.Kind.orc) end `+
			`"tags": [ bare(3) bare(9) end "ammo": bare(1 key/value pair) "bag": { "rope": bare(2) "7": [ bare(5) end end end { "#type": text(Game.Match) "tick": bare(6) end`)
	parses(t, n, "# seen by Bob\r\n> View (fps 60)\r\nv World\r\n  - tick: 5\r\n  - at: (1, 2) facing 3\r\n  - chosen: []\r\n  v Units (2)\r\n    v Unit #7 \"Ann\" @0x0c6bab876f51\r\n      - hp: 3\r\n      v gun\r\n        - ammo: 2\r\n"+
		"    v Unit #9 \"Bob\" @0x0c6bab876f58\r\n      - hp: 4\r\n  v [0] Player\r\n    - gold: 5\r\n",
		`{ "View": bare((fps 60)) "World": { "tick": bare(5) "at": bare((1, 2) facing 3) "chosen": [ end "Units": [ { "#type": text(Unit) "#id": number(7) "#name": text(Ann) "hp": bare(3) "gun": { "ammo": bare(2) end end `+
			`{ "#type": text(Unit) "#id": number(9) "#name": text(Bob) "hp": bare(4) end end "Player": { "#type": text(Player) "#id": number(0) "gold": bare(5) end end end`)
	parses(t, n, "World\n├── tick: 5\n├── units\n│   ├── Unit #7\n│   │   └── hp: 3\n│   └── Unit #9\n│       └── hp: 4\n└── rng: 17\n",
		`{ "tick": bare(5) "units": [ { "#type": text(Unit) "#id": number(7) "hp": bare(3) end { "#type": text(Unit) "#id": number(9) "hp": bare(4) end end "rng": bare(17) end`)
	fails(t, n, "v A\n  - x: 1\nmessage\n      - y: 2\n", `at offset 21: "      - y: 2", expected the begin of a tree`)
	fails(t, n, "  v A\n    - x: 1\n- y: 2\n", `at offset 17: "- y: 2", expected a line as deep as the first one`)
	var deep strings.Builder
	for i := range 100 {
		deep.WriteString(strings.Repeat(" ", i) + "v A\n")
	}
	fails(t, n, deep.String(), `at offset 2205: more than 64 lines within each other`)
	sniffs(t, n, true, "▿ A\n  - x: 1\n  ▿ y: B\n    - z: 2\n    - w: 3\n", "A\n├── x: 1\n└── b\n    ├── y: 2\n    └── z: 3\n")
	sniffs(t, n, false, "", "- Fixed: 5\n  - note: 3\n  - note: 4\n- Added: 7\n", "* Fixed: 5\n  - note: 3\n  - note: 4\n", "v was: there\n  - and: he\n  - said: so\n  - to: her\n",
		"+ a: 1\n- a: 2\n+ b: 3\n- b: 4\n", "> a: 1\n> b: 2\n> c: 3\n", "A\n├── main.go\n└── b\n    └── c.go\n", "x: 1\ny: 2\n▿ A\n  - x: 1\n  - y: 2\n"+strings.Repeat("z: 3\n", 20))
}

func FuzzTree(f *testing.F) {
	f.Add([]byte("step 3\n▿ A #0\n  - x: 1\n  ▿ y: 1 key/value pairs\n    ▿ (2 elements)\n      - key: 1\n      - value: 2\n  ▿ z: 1 member\n    - 4\n"))
	f.Add([]byte("v A (1)\n  v B #1 \"c\" @0x1f\n    - d: [1, 2]\n|-- e\n|   `-- f: Optional(1)\n"))
	f.Fuzz(func(t *testing.T, text []byte) { robust(t, treeNotation(), text) })
}
