//go:build unix

package main

import (
	"bytes"
	"embed"
	"encoding/binary"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"

	"github.com/desynctool/desynctool/tools/internal/try"
)

// tanks is a game of tanks that drive and shoot. Its script dumps the state every few frames, like scripts of games for
// engines without a dump.
//
//go:embed tanks
var tanks embed.FS

// The game and the map of the sessions of Spring, because Debian has none. They are written each time, with the same
// bytes.
const (
	springGame = "Witness Tanks 1"
	springMap  = "Witness Field 1"
)

// writeSpringData writes the game and the map below a folder of data.
func writeSpringData(dir string) {
	files := map[string][]byte{
		"maps/field.sdd/mapinfo.lua":        []byte(fieldInfo),
		"maps/field.sdd/maps/field.smf":     fieldMap(),
		"maps/field.sdd/maps/field.smt":     fieldTiles(),
		"games/tanks.sdd/objects3d/box.s3o": boxModel(),
	}
	game := filepath.Join(dir, "games", "tanks.sdd")
	try.Check(os.RemoveAll(game))
	try.Check(os.CopyFS(game, try.Get(fs.Sub(tanks, "tanks"))))
	for name, b := range files {
		save(filepath.Join(dir, filepath.FromSlash(name)), b)
	}
}

const fieldInfo = `return {
	name = "Witness Field", version = "1", modtype = 3, maphardness = 100, gravity = 130, notDeformable = true,
	mapfile = "maps/field.smf", depend = {"Map Helper v1"},
	smf = {minheight = 80, maxheight = 240},
	teams = {
		[0] = {startPos = {x = 180, z = 180}},
		[1] = {startPos = {x = 820, z = 200}},
		[2] = {startPos = {x = 500, z = 820}},
	},
}
`

// fieldSide is the side of the map in squares of 8.
const fieldSide = 128

// fieldMap is a map of hills, as sums of integer waves.
func fieldMap() []byte {
	var out bytes.Buffer
	put := func(v ...any) {
		for _, one := range v {
			binary.Write(&out, binary.LittleEndian, one)
		}
	}
	const (
		head    = 80
		heights = 2 * (fieldSide + 1) * (fieldSide + 1)
		half    = fieldSide / 2 * fieldSide / 2
		name    = "field.smt\x00"
		tiles   = 8 + 4 + len(name) + 4*(fieldSide/4)*(fieldSide/4)
		minimap = 699048
	)
	at := int32(head)
	next := func(size int32) int32 { at += size; return at - size }
	out.WriteString("spring map file\x00")
	put(int32(1), int32(20261), int32(fieldSide), int32(fieldSide), int32(8), int32(8), int32(32), float32(80), float32(240))
	put(next(heights), next(half), next(int32(tiles)), next(minimap), next(half), next(8), int32(0))
	for z := range fieldSide + 1 {
		for x := range fieldSide + 1 {
			wave := func(v, period int) int { return abs(v%(2*period)-period) * 65535 / period }
			put(uint16((wave(x, 23) + wave(z, 31) + wave(x+z, 17)) / 3))
		}
	}
	out.Write(make([]byte, half))
	put(int32(1), int32(1), int32(1))
	out.WriteString(name)
	out.Write(make([]byte, 4*(fieldSide/4)*(fieldSide/4)))
	out.Write(make([]byte, minimap))
	out.Write(make([]byte, half))
	put(int32(0), int32(0))
	return out.Bytes()
}

func abs(v int) int { return max(v, -v) }

func fieldTiles() []byte {
	b := []byte("spring tilefile\x00")
	for _, v := range []uint32{1, 1, 32, 1} {
		b = binary.LittleEndian.AppendUint32(b, v)
	}
	return append(b, make([]byte, 680)...)
}

// boxModel is a box of one piece, "base".
func boxModel() []byte {
	const head, piece = 52, 52
	var vertices, table []byte
	f := func(v float32) { vertices = binary.LittleEndian.AppendUint32(vertices, math.Float32bits(v)) }
	for i := range 8 {
		x, y, z := float32(i&1)*20-10, float32(i>>1&1)*14, float32(i>>2&1)*24-12
		for _, v := range []float32{x, y, z, 0, 1, 0, 0, 0} {
			f(v)
		}
	}
	for _, i := range []uint32{0, 2, 1, 1, 2, 3, 4, 5, 6, 5, 7, 6, 0, 1, 4, 1, 5, 4, 2, 6, 3, 3, 6, 7, 0, 4, 2, 2, 4, 6, 1, 3, 5, 3, 7, 5} {
		table = binary.LittleEndian.AppendUint32(table, i)
	}
	names := head + piece + len(vertices) + len(table)
	var out bytes.Buffer
	out.WriteString("Spring unit\x00")
	for _, v := range []any{
		uint32(0), float32(18), float32(14), float32(0), float32(7), float32(0), uint32(head), uint32(0), uint32(names + 5), uint32(names + 5),
		uint32(names), uint32(0), uint32(0), uint32(8), uint32(head + piece), uint32(0), uint32(0), uint32(len(table) / 4), uint32(head + piece + len(vertices)), uint32(0),
		float32(0), float32(0), float32(0),
	} {
		binary.Write(&out, binary.LittleEndian, v)
	}
	out.Write(vertices)
	out.Write(table)
	out.WriteString("base\x00\x00")
	return out.Bytes()
}

// springScript is a start script: the players, the rules, and which player's memory is changed at which frame.
func springScript(port int, players []string, host string, me string, options map[string]int) string {
	var b bytes.Buffer
	p := func(format string, args ...any) { fmt.Fprintf(&b, format, args...) }
	p("[game]\n{\nhostip=127.0.0.1;\nhostport=%d;\n", port)
	if me != "" {
		p("myplayername=%s;\n", me)
	}
	if me == host {
		p("ishost=1;\n")
	} else {
		p("ishost=0;\n")
	}
	p("mapname=%s;\ngametype=%s;\nstartpostype=0;\ngamestartdelay=0;\n", springMap, springGame)
	p("numplayers=%d;\nnumteams=%d;\nnumallyteams=%d;\n", len(players), len(players), len(players))
	for i, name := range players {
		p("[player%d]\n{\nname=%s;\nteam=%d;\nspectator=0;\n}\n", i, name, i)
		p("[team%d]\n{\nteamleader=%d;\nallyteam=%d;\nside=Tanks;\n}\n[allyteam%d]\n{\nnumallies=0;\n}\n", i, i, i, i)
	}
	p("[modoptions]\n{\nstartmetal=1000;\nstartenergy=1000;\nminspeed=%d;\nmaxspeed=%d;\n", options["speed"], options["speed"])
	for _, name := range []string{"lastframe", "dumpperiod", "pokeframe", "pokeplayers", "pokeunit"} {
		p("%s=%d;\n", name, options[name])
	}
	p("}\n}\n")
	return b.String()
}
