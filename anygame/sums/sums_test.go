package sums_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/desynctool/desynctool/anygame/sums"
	"github.com/desynctool/desynctool/tracediff"
)

// read returns the text twins of all peers in a log, each after its name, and the pattern's title.
func read(t testing.TB, log string) (twins, title string) {
	t.Helper()
	p := sums.Learn([]byte(log), "game.log")
	if p == nil {
		return "", ""
	}
	f := p.Format()
	if len(log) <= tracediff.SniffLen && !f.Sniff([]byte(log)) {
		t.Errorf("the format does not know its own log")
	}
	peers := []string{""}
	if f.Peers != nil {
		list, err := f.Peers(strings.NewReader(log), "game.log")
		if err != nil {
			t.Fatal(err)
		}
		if len(list) > 0 {
			peers = list
		}
	}
	var out strings.Builder
	for i, peer := range peers {
		if peer != "" {
			fmt.Fprintf(&out, "[%s]\n", peer)
		}
		s, err := f.Read(strings.NewReader(log), "game.log", i)
		if err != nil {
			t.Fatal(err)
		}
		var twin strings.Builder
		if err := tracediff.WriteSource(&twin, s); err != nil {
			t.Fatal(err)
		}
		text := strings.TrimSuffix(strings.TrimPrefix(twin.String(), "%desynctool trace 1\n"), "%end\n")
		out.WriteString(text)
	}
	return out.String(), p.Title()
}

var logs = []struct{ name, log, want, title string }{
	{
		"lines are missing, and no word is one for a tick",
		"Sync check @60 -> 2521816908\nSync check @70 -> 481330564\nSync check @90 -> 2216945187\nSync check @100 -> 1584718510\n" +
			"Sync check @110 -> 859083478\nSync check @130 -> 2497752158\nSync check @140 -> 282309727\nSync check @150 -> 3482309727\n",
		"tick=60 sum=2521816908\ntick=70 sum=481330564\ntick=90 sum=2216945187\ntick=100 sum=1584718510\n" +
			"tick=110 sum=859083478\ntick=130 sum=2497752158\ntick=140 sum=282309727\ntick=150 sum=3482309727\n",
		`tick is the first number that grows, checksum is "check"`,
	},
	{
		"words",
		"Frame 617 checksum: 577090037\nplayer joined\nFrame 618 checksum: 1577090038\nFrame 619 checksum: 77090039\n",
		"tick=617 sum=577090037\ntick=618 sum=1577090038\ntick=619 sum=77090039\n",
		`tick is the number at "Frame", checksum is "checksum"`,
	},
	{
		"the checksum is on a later line than its tick",
		"12:00:01 sim.rs:23 begin frame: 118\n12:00:01 sim.rs:45 frame 118 done\n12:00:01 sum.rs:86 State has checksum C3387452A3C84267\n" +
			"12:00:02 sim.rs:23 begin frame: 119\n12:00:02 input from peer 2, 16 bytes\n12:00:02 sum.rs:86 State has checksum 8817452A3C842671\n" +
			"12:00:03 sim.rs:23 begin frame: 120\n12:00:03 sum.rs:86 State has checksum 0017452A3C842671\n",
		"tick=118 sum=0xc3387452a3c84267\ntick=119 sum=0x8817452a3c842671\ntick=120 sum=0x0017452a3c842671\n",
		`tick is the number at "frame", checksum is "checksum"`,
	},
	{
		"a heading with the tick, and a checksum of each part below",
		"=== Turn 10 ===\nUnits: 9a3b22ff\nMap: 11aa3344\n=== Turn 20 ===\nUnits: 1b3b22fe\nMap: 91ab3344\n=== Turn 30 ===\nUnits: ec3b22fd\nMap: 51ab3344\n" +
			"=== Turn 40 ===\nUnits: 3d3b22fc\nMap: e1ab3344\n",
		"tick=10 scope=Units sum=0x9a3b22ff\ntick=10 scope=Map sum=0x11aa3344\ntick=20 scope=Units sum=0x1b3b22fe\ntick=20 scope=Map sum=0x91ab3344\n" +
			"tick=30 scope=Units sum=0xec3b22fd\ntick=30 scope=Map sum=0x51ab3344\ntick=40 scope=Units sum=0x3d3b22fc\ntick=40 scope=Map sum=0xe1ab3344\n", "",
	},
	{
		"letters with signs",
		"[Sync] F#0000100 H:2A8D077D\n[Net] ping 40\n[Sync] F#0000110 H:6194F80D\n[Sync] F#0000120 H:0B94F8AD\n[Sync] F#0000130 H:C194F10D\n",
		"tick=100 sum=0x2a8d077d\ntick=110 sum=0x6194f80d\ntick=120 sum=0x0b94f8ad\ntick=130 sum=0xc194f10d\n", "",
	},
	{
		"checksums of files between frames",
		"frame 1\nframe 2\nloaded a.png checksum 1d2a90f1\nframe 3\nframe 4\nframe 5\nframe 6\nframe 7\nframe 8\nloaded b.png checksum 77aa12ff\n" +
			"frame 9\nloaded c.png checksum 9f3acc01\n",
		"", "",
	},
	{
		"a file in each frame",
		"frame 1\nloaded a.png checksum 1d2a90f1\nframe 2\nloaded b.png checksum 77aa12ff\nframe 3\nloaded c.png checksum 9f3acc01\n",
		"", "",
	},
	{
		"checksums of files in one frame",
		"frame 1\nloaded a.png checksum 1d2a90f1\nloaded b.png checksum 77aa12ff\nframe 2\nloaded c.png checksum 9f3acc01\n",
		"", "",
	},
	{
		"maps after other text, of two peers",
		`12:00:01.1 [Info] {"evt":"hash","tick":10,"p":0,"h":"aa01bb02"}` + "\n12:00:01.2 [Info] connected\n" +
			`12:00:01.2 [Info] {"evt":"hash","tick":10,"p":1,"h":"aa01bb02"}` + "\n" +
			`12:00:02.1 [Info] {"evt":"hash","tick":20,"p":0,"h":"cc03dd04"}` + "\n" +
			`12:00:02.2 [Info] {"evt":"hash","tick":20,"p":1,"h":"cc03dd05"}` + "\n" +
			`12:00:03.1 [Info] {"evt":"hash","tick":30,"p":1,"h":"11111111"}` + "\n" +
			`12:00:03.2 [Info] {"evt":"hash","tick":30,"p":0,"h":"92222222"}` + "\n",
		"[peer 0]\ntick=10 sum=0xaa01bb02\ntick=20 sum=0xcc03dd04\ntick=30 sum=0x92222222\n[peer 1]\ntick=10 sum=0xaa01bb02\ntick=20 sum=0xcc03dd05\ntick=30 sum=0x11111111\n", "",
	},
	{
		"control characters",
		"turn 5 player \x01 crc 0000beef\nturn 5 player d crc 0000beef\nturn 6 player x crc 0000abcd\n",
		"", "",
	},
	{
		"one line",
		"Frame 617 checksum: 577090037\n",
		"tick=617 sum=577090037\n", "",
	},
	{
		"time stamps, levels and counters",
		"[12:00:01] INFO [sync] tick=1200 hash=0x9f3aCC01 players=4\n[12:00:02] [net] ping 16ms\n[12:00:02.5] WARN [main:3] [sync] tick=1201 hash=0x00000001 players=4\n" +
			"[12:00:03] DEBUG [sync] tick=1202 hash=0xdeadbeef players=3\n",
		"tick=1200 sum=0x9f3acc01\ntick=1201 sum=0x00000001\ntick=1202 sum=0xdeadbeef\n", "",
	},
	{
		"subsystems on a line",
		"step 44: physics 9ab3c1d2 ai 77e01f3b rng 5d1c22aa\nstep 45: physics 1ab3c1d3 ai 27e01f3c rng ad1c22ab\nstep 46: physics fab3c1d4 ai deadbeef rng 1d1c22ac\n",
		"tick=44 scope=physics sum=0x9ab3c1d2\ntick=44 scope=ai sum=0x77e01f3b\ntick=44 scope=rng sum=0x5d1c22aa\n" +
			"tick=45 scope=physics sum=0x1ab3c1d3\ntick=45 scope=ai sum=0x27e01f3c\ntick=45 scope=rng sum=0xad1c22ab\n" +
			"tick=46 scope=physics sum=0xfab3c1d4\ntick=46 scope=ai sum=0xdeadbeef\ntick=46 scope=rng sum=0x1d1c22ac\n", "",
	},
	{
		"a check at a tick",
		"[12:00:00.558] Sync check @600 -> 1987483925\n[12:00:01.563] Sync check @610 -> 2384964816\n[12:10:40.359] autosave written\n" +
			"[12:00:02.395] Sync check @620 -> 3804698724\n[12:00:03.191] Sync check @630 -> 1550714020\n",
		"tick=600 sum=1987483925\ntick=610 sum=2384964816\ntick=620 sum=3804698724\ntick=630 sum=1550714020\n", "",
	},
	{
		"calls",
		"checksum(600) = 5e201848\nchecksum(610) = 12345678\nchecksum(620) = 1e201847\nchecksum(630) = 90000001\n",
		"tick=600 sum=0x5e201848\ntick=610 sum=0x12345678\ntick=620 sum=0x1e201847\ntick=630 sum=0x90000001\n", "",
	},
	{
		"decimal checksums of subsystems on a line",
		"[12:00:23.590] tick 1980: physics=1252512371 projectiles=3436355531 ai=3120292870\n" +
			"[12:00:24.515] tick 2040: physics=3498216598 projectiles=3269957439 ai=3229227939\n" +
			"[12:00:25.327] tick 2100: physics=2458469232 projectiles=758918432 ai=347998994\n",
		"tick=1980 scope=physics sum=1252512371\ntick=1980 scope=projectiles sum=3436355531\ntick=1980 scope=ai sum=3120292870\n" +
			"tick=2040 scope=physics sum=3498216598\ntick=2040 scope=projectiles sum=3269957439\ntick=2040 scope=ai sum=3229227939\n" +
			"tick=2100 scope=physics sum=2458469232\ntick=2100 scope=projectiles sum=758918432\ntick=2100 scope=ai sum=347998994\n", "",
	},
	{
		"JSON with a subsystem on each line",
		`{"ts": 1700000001.28, "msg": "sync", "turn": 60, "system": "units", "hash": "0x8DC4742D"}` + "\n" +
			`{"ts": 1700000001.28, "msg": "sync", "turn": 60, "system": "rng", "hash": "0x24B4DA11"}` + "\n" +
			`{"ts": 1.5, "level": "info", "msg": "Player client1 connected from 10.0.0.147"}` + "\n" +
			`{"ts": 1700000001.30, "msg": "sync", "turn": 70, "system": "units", "hash": "0xE5F1AF39"}` + "\n" +
			`{"ts": 1700000001.30, "msg": "sync", "turn": 70, "system": "rng", "hash": "0xE38179D5"}` + "\n",
		"tick=60 scope=units sum=0x8dc4742d\ntick=60 scope=rng sum=0x24b4da11\n" +
			"tick=70 scope=units sum=0xe5f1af39\ntick=70 scope=rng sum=0xe38179d5\n", "",
	},
	{
		"lines of parts without names",
		`{"turn": 60, "zorbel": "units", "hash": "0x8DC4742D"}` + "\n" + `{"turn": 60, "zorbel": "rng", "hash": "0x24B4DA11"}` + "\n" +
			`{"turn": 70, "zorbel": "units", "hash": "0xE5F1AF39"}` + "\n" + `{"turn": 70, "zorbel": "rng", "hash": "0xE38179D5"}` + "\n",
		"tick=60 sum=0x8dc4742d\ntick=60 scope=#2 sum=0x24b4da11\ntick=70 sum=0xe5f1af39\ntick=70 scope=#2 sum=0xe38179d5\n", "",
	},
	{
		"a subsystem on each line",
		"tick 5 physics hash aa01\ntick 5 ai hash bb02\nloading\ntick 6 physics hash aa03\ntick 6 ai hash bb04\n",
		"tick=5 scope=physics sum=0xaa01\ntick=5 scope=ai sum=0xbb02\ntick=6 scope=physics sum=0xaa03\ntick=6 scope=ai sum=0xbb04\n", "",
	},
	{
		"a call",
		"DEBUG checksum(617) = 577090037\nDEBUG checksum(618) = 1577090038\nDEBUG checksum(619) = 77090039\n",
		"tick=617 sum=577090037\ntick=618 sum=1577090038\ntick=619 sum=77090039\n", "",
	},
	{
		"two columns",
		"617 577090037\n618 1577090038\n619 77090039\n620 3177090039\n",
		"tick=617 sum=577090037\ntick=618 sum=1577090038\ntick=619 sum=77090039\ntick=620 sum=3177090039\n", "",
	},
	{
		"a table with names",
		"tick,crc,rng\n12,9f3acc01,5d1c22aa\n13,12345678,6d1c22aa\n14,ff3acc01,1d1c22aa\n",
		"tick=12 sum=0x9f3acc01 sum.rng=0x5d1c22aa\ntick=13 sum=0x12345678 sum.rng=0x6d1c22aa\ntick=14 sum=0xff3acc01 sum.rng=0x1d1c22aa\n", "",
	},
	{
		"JSON lines",
		`{"t":"sync","turn":12,"crc":"9f3acc01"}` + "\n" + `{"t":"join","who":"x"}` + "\n" + `{"t":"sync","turn":13,"crc":"1f3acc01"}` + "\n" + `{"t":"sync","turn":14,"crc":"af3acc01"}` + "\n",
		"tick=12 sum=0x9f3acc01\ntick=13 sum=0x1f3acc01\ntick=14 sum=0xaf3acc01\n", "",
	},
	{
		"a sentence",
		"checksum for tick 617 is 0x77090037\nchecksum for tick 618 is 0x17090038\nchecksum for tick 619 is 0xa7090039\n",
		"tick=617 sum=0x77090037\ntick=618 sum=0x17090038\ntick=619 sum=0xa7090039\n", "",
	},
	{
		"the checksum comes first",
		"crc32=9f3acc01 at frame #12\ncrc32=1f3acc01 at frame #13\ncrc32=abcdefab at frame #14\n",
		"tick=12 sum=0x9f3acc01\ntick=13 sum=0x1f3acc01\ntick=14 sum=0xabcdefab\n", "",
	},
	{
		"a rollback",
		"frame 10 hash 0000000a\nframe 11 hash 0000000b\nframe 12 hash 0000000c\nrollback to 11\nframe 11 hash 000000b1\nframe 12 hash 000000c1\nframe 13 hash 0000000d\n",
		"tick=10 phase=predicted sum=0x0000000a\ntick=11 phase=predicted sum=0x0000000b\ntick=12 phase=predicted sum=0x0000000c\nevent=restore tick=11 at=13\n" +
			"tick=11 phase=predicted sum=0x000000b1\ntick=12 phase=predicted sum=0x000000c1\ntick=13 phase=predicted sum=0x0000000d\n", "",
	},
	{
		"phases",
		"frame 10 hash 0000000a (predicted)\nframe 10 hash 0000001a (confirmed)\nframe 11 hash 0000000b confirmed=false\nframe 11 hash 0000000b confirmed=true\n",
		"tick=10 phase=predicted sum=0x0000000a\ntick=10 sum=0x0000001a\ntick=11 phase=predicted sum=0x0000000b\ntick=11 sum=0x0000000b\n", "",
	},
	{
		"several peers",
		"turn 5 player 1 crc 0000beef\nturn 5 player 2 crc 0000beef\nturn 6 player 1 crc 0000abcd\nturn 6 player 2 crc 0000abcc\nturn 7 player 1 crc 00001234\nturn 7 player 2 crc 0000f234\n",
		"[player 1]\ntick=5 sum=0x0000beef\ntick=6 sum=0x0000abcd\ntick=7 sum=0x00001234\n[player 2]\ntick=5 sum=0x0000beef\ntick=6 sum=0x0000abcc\ntick=7 sum=0x0000f234\n", "",
	},
	{
		"colours",
		"\x1b[32mINFO\x1b[0m sync: \x1b[3mframe\x1b[0m\x1b[2m=\x1b[0m1 \x1b[3mhash\x1b[0m\x1b[2m=\x1b[0m9f3acc01\nINFO sync: frame=2 hash=1f3acc01\nINFO sync: frame=3 hash=2f3acc01\n",
		"tick=1 sum=0x9f3acc01\ntick=2 sum=0x1f3acc01\ntick=3 sum=0x2f3acc01\n", "",
	},
	{
		"checksums of others",
		"frame 1 checksum 9f3acc01\nreceived frame 1 checksum 9f3acc01\nframe 2 checksum 8f3acc01\nreceived frame 2 checksum 9f3acc01\nframe 3 checksum 7f3acc01\n" +
			"Desync at frame 3 checksum 7f3acc01 != 00000000\nframe 4 checksum 5f3acc01\n",
		"tick=1 sum=0x9f3acc01\ntick=2 sum=0x8f3acc01\ntick=3 sum=0x7f3acc01\ntick=4 sum=0x5f3acc01\n", "",
	},
	{
		"parts of the state with several words, and the state",
		"CRC after partition manager for frame 100 is 0x964DF678\nCRC after AI for frame 100 is 0x8C821E5F\nCRC for frame 100 is 0x8C821EAA\n" +
			"CRC after partition manager for frame 101 is 0x16FDF677\nCRC after AI for frame 101 is 0x1C821E5F\nCRC for frame 101 is 0x7C821EAA\n" +
			"CRC after partition manager for frame 102 is 0x264DF677\nCRC after AI for frame 102 is 0x2C821E5F\nCRC for frame 102 is 0x5C821EAA\n",
		`tick=100 scope="after partition manager" sum=0x964df678` + "\ntick=100 scope=\"after AI\" sum=0x8c821e5f\ntick=100 sum=0x8c821eaa\n" +
			`tick=101 scope="after partition manager" sum=0x16fdf677` + "\ntick=101 scope=\"after AI\" sum=0x1c821e5f\ntick=101 sum=0x7c821eaa\n" +
			`tick=102 scope="after partition manager" sum=0x264df677` + "\ntick=102 scope=\"after AI\" sum=0x2c821e5f\ntick=102 sum=0x5c821eaa\n", "",
	},
	{
		"JSON lines in any order",
		`{"hash":"9f3acc01","e":{"n":3,"names":["a b","c"]},"tick":120}` + "\n" + `{"tick":121,"e":{"n":3,"names":[]},"hash":"8f3acc01"}` + "\n" +
			`{"e":{},"hash":"7f3acc01","tick":122,"predicted":true}` + "\n" + `{"tick":122,"msg":"mismatch","hash":"00000000"}` + "\n",
		"tick=120 sum=0x9f3acc01\ntick=121 sum=0x8f3acc01\ntick=122 phase=predicted sum=0x7f3acc01\n", "",
	},
	{
		"JSON lines with the parts of the state",
		`{"tick":5,"sums":{"physics":"9f3acc01","ai":"8f3acc01"}}` + "\n" + `{"tick":6,"sums":{"physics":"6f3acc01","ai":"4f3acc01"}}` + "\n" +
			`{"tick":7,"sums":{"physics":"7f3acc01","ai":"df3acc01"}}` + "\n",
		"tick=5 scope=ai sum=0x8f3acc01\ntick=5 scope=physics sum=0x9f3acc01\ntick=6 scope=ai sum=0x4f3acc01\ntick=6 scope=physics sum=0x6f3acc01\n" +
			"tick=7 scope=ai sum=0xdf3acc01\ntick=7 scope=physics sum=0x7f3acc01\n", "",
	},
	{
		"JSON lines with a list of parts",
		`{"tick":5,"parts":[{"name":"physics","hash":1234567},{"name":"ai","hash":99}]}` + "\n" + `{"tick":6,"parts":[{"name":"ai","hash":98},{"name":"physics","hash":8234567}]}` + "\n" +
			`{"tick":7,"parts":[{"name":"physics","hash":234567},{"name":"ai","hash":5}]}` + "\n",
		"tick=5 scope=ai sum=99\ntick=5 scope=physics sum=1234567\ntick=6 scope=ai sum=98\ntick=6 scope=physics sum=8234567\n" +
			"tick=7 scope=ai sum=5\ntick=7 scope=physics sum=234567\n", "",
	},
	{
		"the peer's own checksum and that of another one",
		"Turn 12: local checksum 9f3acc01, remote checksum 9f3acc01\nTurn 13: local checksum 8f3acc01, remote checksum 8f3acc01\n" +
			"Turn 14: local checksum 7f3acc01, remote checksum 7f3acc02\n",
		"tick=12 sum=0x9f3acc01\ntick=13 sum=0x8f3acc01\ntick=14 sum=0x7f3acc01\n", "",
	},
	{
		"peers before the message",
		"[host] turn 3 state 9f3acc01\n[client1] turn 3 state 9f3acc01\n[host] turn 4 state 8f3acc01\n[client1] turn 4 state 8f3acc01\n" +
			"[host] turn 5 state 7f3acc01\n[client1] turn 5 state 6f3acc01\n",
		"[host]\ntick=3 sum=0x9f3acc01\ntick=4 sum=0x8f3acc01\ntick=5 sum=0x7f3acc01\n" +
			"[client1]\ntick=3 sum=0x9f3acc01\ntick=4 sum=0x8f3acc01\ntick=5 sum=0x6f3acc01\n", "",
	},
	{
		"checksums of two peers on a line",
		"tick=1 host=9f3acc01 guest=9f3acc01\ntick=2 host=8f3acc01 guest=8f3acc01\ntick=3 host=7f3acc01 guest=6f3acc01\n",
		"[host]\ntick=1 sum=0x9f3acc01\ntick=2 sum=0x8f3acc01\ntick=3 sum=0x7f3acc01\n" +
			"[guest]\ntick=1 sum=0x9f3acc01\ntick=2 sum=0x8f3acc01\ntick=3 sum=0x6f3acc01\n", "",
	},
	{
		"peers in a column of a table, one called by a word for peers",
		"time;frame;event;player;hash\n12:01;100;hash;host;aa11bb22\n12:01;100;hash;client;aa11bb22\n12:02;160;hash;host;cc33dd44\n12:02;160;hash;client;cc33dd45\n",
		"[host]\ntick=100 sum=0xaa11bb22\ntick=160 sum=0xcc33dd44\n[client]\ntick=100 sum=0xaa11bb22\ntick=160 sum=0xcc33dd45\n", "",
	},
	{
		"peers of a word and one that is a word for peers",
		"tick=1 peer=host hash=aa11bb22\ntick=1 peer=client hash=aa11bb22\ntick=2 peer=host hash=cc33dd44\ntick=2 peer=client hash=cc33dd45\n",
		"[host]\ntick=1 sum=0xaa11bb22\ntick=2 sum=0xcc33dd44\n[client]\ntick=1 sum=0xaa11bb22\ntick=2 sum=0xcc33dd45\n", "",
	},
	{
		"two checksums of one peer are not of two",
		"tick=1 state=9f3acc01 copy=9f3acc01\ntick=2 state=8f3acc01 copy=8f3acc01\ntick=3 state=7f3acc01 copy=7f3acc01\n",
		"tick=1 sum=0x9f3acc01\ntick=2 sum=0x8f3acc01\ntick=3 sum=0x7f3acc01\n", "",
	},
	{
		"no word for the tick",
		"SYNC 1 a1b2c3d4\nSYNC 2 b1b2c3d4\nSYNC 3 91b2c3d4\n",
		"tick=1 sum=0xa1b2c3d4\ntick=2 sum=0xb1b2c3d4\ntick=3 sum=0x91b2c3d4\n", "",
	},
	{
		"hashes in groups are not read in part",
		"Tick 100: World hash = 9F3A-CC01\nTick 101: World hash = 8F3A-CC01\nTick 102: World hash = 7F3A-CC01\n", "", "",
	},
	{
		"ids and positions are no checksums",
		"tick 1 unit 12345678 moved\ntick 2 unit 12345679 moved\ntick 3 unit 12345680 moved\n", "", "",
	},
	{
		"a short checksum named at the begin",
		"GAME: CRC for turn 10 = 5F2C (units=12)\nGAME: CRC for turn 11 = 9F2D (units=12)\nGAME: CRC for turn 12 = 00A1 (units=13)\n",
		"tick=10 sum=0x5f2c\ntick=11 sum=0x9f2d\ntick=12 sum=0x00a1\n", "",
	},
	{
		"two columns with a colon",
		"617: 9f3acc01\n618: 1f3acc01\n619: 7f3acc01\n620: 00000001\n",
		"tick=617 sum=0x9f3acc01\ntick=618 sum=0x1f3acc01\ntick=619 sum=0x7f3acc01\ntick=620 sum=0x00000001\n", "",
	},
	{
		"seeds that change",
		"sync_frame=100, sync_seed=1892841807, lag=1\nsync_frame=200, sync_seed=892841807, lag=2\nsync_frame=300, sync_seed=2892841807, lag=1\n",
		"tick=100 scope=sync_seed sum=1892841807\ntick=200 scope=sync_seed sum=892841807\ntick=300 scope=sync_seed sum=2892841807\n", "",
	},
	{
		"a part of the state hardly changes, and so its checksum has values near each other",
		"step 10 parts: map 4f0000a1 pawns 9a3b22ff ai 1b3b22fe\nstep 20 parts: map 4f1000b7 pawns 2c3b22fd ai eb3b22fe\n" +
			"step 30 parts: map 4f2000c3 pawns fe3b22ff ai 5b3b22fe\nstep 40 parts: map 4f1000d8 pawns 1a3b22ff ai 9d3b22fe\n",
		"tick=10 scope=map sum=0x4f0000a1\ntick=10 scope=pawns sum=0x9a3b22ff\ntick=10 scope=ai sum=0x1b3b22fe\n" +
			"tick=20 scope=map sum=0x4f1000b7\ntick=20 scope=pawns sum=0x2c3b22fd\ntick=20 scope=ai sum=0xeb3b22fe\n" +
			"tick=30 scope=map sum=0x4f2000c3\ntick=30 scope=pawns sum=0xfe3b22ff\ntick=30 scope=ai sum=0x5b3b22fe\n" +
			"tick=40 scope=map sum=0x4f1000d8\ntick=40 scope=pawns sum=0x1a3b22ff\ntick=40 scope=ai sum=0x9d3b22fe\n", "",
	},
	{
		"the name of the tick is no word for one",
		"epoch=7 state_hash=9f3acc01\nepoch=8 state_hash=1f3acc01\nepoch=9 state_hash=7f3acc01\nepoch=10 state_hash=00000001\nepoch=11 state_hash=5f3acc01\n",
		"tick=7 sum=0x9f3acc01\ntick=8 sum=0x1f3acc01\ntick=9 sum=0x7f3acc01\ntick=10 sum=0x00000001\ntick=11 sum=0x5f3acc01\n",
		`tick is the number at "epoch", checksum is "state_hash"`,
	},
	{
		"the tick is in brackets after a level",
		"[12:00:01.105][431]LogSim: Verbose: [2] Checksum 9F3ACC01\n[12:00:01.172][433]LogSim: Verbose: [4] Checksum 1F3ACC01\n[12:00:01.239][4]LogSim: Verbose: [6] Checksum 7F3ACC01\n" +
			"[12:00:01.305][6]LogSim: Verbose: [8] Checksum 0000000A\n[12:00:01.372][8]LogSim: Verbose: [10] Checksum 5F3ACC01\n",
		"tick=2 sum=0x9f3acc01\ntick=4 sum=0x1f3acc01\ntick=6 sum=0x7f3acc01\ntick=8 sum=0x0000000a\ntick=10 sum=0x5f3acc01\n", "",
	},
	{
		"the same in JSON",
		"{\"lvl\":\"info\",\"height\":7,\"root\":\"0x9f3acc019f3acc01\"}\n{\"lvl\":\"info\",\"height\":8,\"root\":\"0x1f3acc019f3acc01\"}\n" +
			"{\"lvl\":\"info\",\"height\":9,\"root\":\"0x7f3acc019f3acc01\"}\n{\"lvl\":\"warn\",\"queue\":3}\n" +
			"{\"lvl\":\"info\",\"height\":10,\"root\":\"0x2f3acc019f3acc01\"}\n{\"lvl\":\"info\",\"height\":11,\"root\":\"0x5f3acc019f3acc01\"}\n",
		"tick=7 sum=0x9f3acc019f3acc01\ntick=8 sum=0x1f3acc019f3acc01\ntick=9 sum=0x7f3acc019f3acc01\ntick=10 sum=0x2f3acc019f3acc01\ntick=11 sum=0x5f3acc019f3acc01\n", "",
	},
	{
		"packets have numbers too",
		"seq=7 crc=9f3acc01\nseq=8 crc=1f3acc01\nseq=9 crc=7f3acc01\nseq=10 crc=00000001\nseq=11 crc=5f3acc01\n", "", "",
	},
	{
		"checksums in base 64",
		"12:00:01 net.ts:131 [sync] step 5 digest 8x8uBbTk4isc (rng hash q0eusXsEbGhc)\n12:00:01 chat: <zed> nice digest\n" +
			"12:00:02 net.ts:131 [sync] step 10 digest BwbJHILGU+Dn (rng hash whJXC7hGYw5x)\n12:00:03 net.ts:131 [sync] step 15 digest Anbu/ScpugzN (rng hash 9yYGafo/tWWs)\n" +
			"12:00:04 net.ts:131 [sync] step 20 digest 0123456789ab (rng hash +QOX7DIFst59)\n",
		"tick=5 sum=8x8uBbTk4isc sum.hash=q0eusXsEbGhc\ntick=10 sum=BwbJHILGU+Dn sum.hash=whJXC7hGYw5x\n" +
			"tick=15 sum=Anbu/ScpugzN sum.hash=9yYGafo/tWWs\ntick=20 sum=0123456789ab sum.hash=+QOX7DIFst59\n", "",
	},
	{
		"the same in JSON",
		"{\"step\":5,\"digest\":\"8x8uBbTk4isc\"}\n{\"step\":10,\"digest\":\"BwbJHILGU+Dn\"}\n{\"step\":15,\"digest\":\"Anbu/ScpugzN\"}\n",
		"tick=5 sum=8x8uBbTk4isc\ntick=10 sum=BwbJHILGU+Dn\ntick=15 sum=Anbu/ScpugzN\n", "",
	},
	{
		"the first of three replicas is the odd one out",
		"Replica 0 (view=27) commits tick=16 checksum=0x78014756\nReplica 1 (view=31) commits tick=16 checksum=0x28091965\n" +
			"Replica 2 (view=31) commits tick=16 checksum=0x28091965\nReplica 0 (view=33) commits tick=17 checksum=0x14972780\n",
		"[Replica 0]\ntick=16 sum=0x78014756\ntick=17 sum=0x14972780\n[Replica 1]\ntick=16 sum=0x28091965\n[Replica 2]\ntick=16 sum=0x28091965\n", "",
	},
	{
		"the tick is in brackets at the begin",
		"[    90] sync hash=0x97568d93 peers=2 lag=3\n[   100] sync hash=0x2c36798f peers=2 lag=3\n[   110] sync hash=0x75fd2389 peers=2 lag=2\n",
		"tick=90 sum=0x97568d93\ntick=100 sum=0x2c36798f\ntick=110 sum=0x75fd2389\n", "",
	},
	{
		"a thread is in brackets at the begin",
		"[4007] tick 90 hash=0x97568d93\n[4003] tick 100 hash=0x2c36798f\n[4004] tick 110 hash=0x75fd2389\n",
		"tick=90 sum=0x97568d93\ntick=100 sum=0x2c36798f\ntick=110 sum=0x75fd2389\n", "",
	},
	{
		"numbers below zero",
		"tick 1: hash -1062276210\ntick 2: hash 1062276211\ntick 3: hash -62276212\n",
		"tick=1 sum=-1062276210\ntick=2 sum=1062276211\ntick=3 sum=-62276212\n", "",
	},
}

func TestLearn(t *testing.T) {
	for _, one := range logs {
		t.Run(one.name, func(t *testing.T) {
			got, title := read(t, one.log)
			if diff := cmp.Diff(one.want, got); diff != "" {
				t.Errorf("%s\n%s", title, diff)
			}
			if one.title != "" && title != one.title {
				t.Errorf("title %s", title)
			}
		})
	}
}

// TestIdentities: the identity of an object of Java is no checksum.
func TestIdentities(t *testing.T) {
	for line, want := range map[string]bool{
		"tick=%d World@%08x[units=5]\n": false, "tick=%d leader=Unit@%08x gold=4\n": false, "tick=%d state@%08x\n": true, "tick=%d Hash@%08x\n": true, "tick=%d sum=%08x to=Unit@1f\n": true,
	} {
		var text strings.Builder
		for tick := range 40 {
			fmt.Fprintf(&text, line, tick, 0x9e3779b1*uint32(tick+1)|1<<31)
		}
		if p := sums.Learn([]byte(text.String()), "x"); (p != nil) != want {
			t.Errorf("%s is a log with checksums: %v", line, p != nil)
		}
	}
}

// TestTwins: what a game guesses, simulates again and confirms on lines of several forms is one checksum. The last one
// counts.
func TestTwins(t *testing.T) {
	for _, forms := range [][3]string{
		{"predict frame %d sum %08x", "resimulate frame %d sum %08x", "confirmed frame %d sum %08x"},
		{"frame %d first pass, hash=%08x", "frame %d corrected by input, hash=%08x", "frame %d final, hash=%08x"},
	} {
		var log strings.Builder
		for frame := 3; frame < 60; frame += 3 {
			for i, form := range forms {
				for k := range 3 {
					sum := uint32(frame+k) * 2654435761
					if i == 0 && k > 0 {
						sum ^= 0x5bd1e995
					}
					fmt.Fprintf(&log, form+"\n", frame+k, sum)
				}
			}
		}
		p := sums.Learn([]byte(log.String()), "game.log")
		if p == nil {
			t.Fatal("nothing is learned")
		}
		s, err := p.Format().Read(strings.NewReader(log.String()), "game.log", 0)
		if err != nil {
			t.Fatal(err)
		}
		seen := map[uint64]int{}
		for {
			r, err := s.Next()
			if err != nil {
				break
			}
			if c := r.Checkpoint; c != nil && c.Phase == tracediff.Confirmed {
				if seen[c.Tick]++; c.Scope != "" || string(c.Sums[0].Value) != fmt.Sprintf("0x%08x", uint32(c.Tick)*2654435761) {
					t.Errorf("%s: tick %d: scope %q, %s", forms[0], c.Tick, c.Scope, c.Sums[0].Value)
				}
			}
		}
		if len(seen) < 40 {
			t.Errorf("%s: %d ticks", forms[0], len(seen))
		}
		for tick, n := range seen {
			if n != 1 {
				t.Errorf("%s: tick %d: %d checksums", forms[0], tick, n)
			}
		}
	}
}

// TestLearnAlone: the only log of a session may have the checksums of several peers, by words that mean another peer in
// each log.
func TestLearnAlone(t *testing.T) {
	const line = "[12:00:0%d] %s checksum at frame %d: 0x%08X\n"
	for _, sides := range [][2]string{{"local", "remote"}, {"my", "peer"}, {"server", "client"}} {
		var log strings.Builder
		for i, sum := range []uint32{0xabcdef01, 0x1203ef01, 0x7703ef44} {
			fmt.Fprintf(&log, line+line, i, sides[0], 480+i, sum, i, sides[1], 480+i, sum+uint32(i/2))
		}
		p := sums.LearnAlone([]byte(log.String()))
		if p == nil || p.Format().Peers == nil {
			t.Fatalf("%v: not a log of peers", sides)
		}
		peers, err := p.Format().Peers(strings.NewReader(log.String()), "log")
		if diff := cmp.Diff(sides[:], peers); err != nil || diff != "" {
			t.Errorf("%v: %v", err, diff)
		}
	}
	if p := sums.LearnAlone([]byte(benchmarkLog(10)[:4096])); p != nil {
		t.Errorf("a log of one peer: %s", p.Title())
	}
}

// benchmarkLog is a log with a checkpoint on each n-th line.
func benchmarkLog(n int) string {
	var out strings.Builder
	for i := 0; out.Len() < 4<<20; i++ {
		if i%n == 0 {
			fmt.Fprintf(&out, "[12:00:%02d.123] INFO [sync] tick=%d hash=0x%08x players=4\n", i%60, 100+i/n, uint32(i)*2654435761+12345)
		} else {
			fmt.Fprintf(&out, "[12:00:%02d.123] DEBUG [render] drew %d objects of the scene in %d us, nothing to do\n", i%60, i%1000, i%777)
		}
	}
	return out.String()
}

func BenchmarkRead(b *testing.B) {
	for _, n := range []int{1, 10} {
		b.Run(fmt.Sprintf("every%d", n), func(b *testing.B) {
			log := benchmarkLog(n)
			p := sums.Learn([]byte(log[:1<<20]), "log")
			b.SetBytes(int64(len(log)))
			for b.Loop() {
				s, err := p.Format().Read(strings.NewReader(log), "log", 0)
				if err != nil {
					b.Fatal(err)
				}
				for err == nil {
					_, err = s.Next()
				}
			}
		})
	}
}

func BenchmarkReadJSON(b *testing.B) {
	var out strings.Builder
	for i := 0; out.Len() < 4<<20; i++ {
		fmt.Fprintf(&out, "{\"level\":\"info\",\"tick\":%d,\"hash\":\"%08x\",\"units\":%d}\n", i, uint32(i)*2654435761+12345, i%300)
	}
	log := out.String()
	p := sums.Learn([]byte(log[:1<<20]), "log")
	b.SetBytes(int64(len(log)))
	for b.Loop() {
		s, err := p.Format().Read(strings.NewReader(log), "log", 0)
		if err != nil {
			b.Fatal(err)
		}
		for err == nil {
			_, err = s.Next()
		}
	}
}

func BenchmarkLearn(b *testing.B) {
	log := []byte(benchmarkLog(3)[:1<<20])
	b.SetBytes(int64(len(log)))
	for b.Loop() {
		sums.Learn(log, "log")
	}
}

// others are texts with numbers and hashes that are no logs of checksums.
var others = map[string]string{
	"Go test output":   "=== RUN   TestA\n--- PASS: TestA (0.01s)\n=== RUN   TestB\n--- PASS: TestB (0.02s)\nok  \texample.org/a\t0.012s\nok  \texample.org/b\t1.212s\n",
	"a build":          "Step 1/4 : FROM golang\n ---> 5a8f3b2c9d1e\nStep 2/4 : COPY . .\n ---> 1c2d3e4f5a6b\nStep 3/4 : RUN make\n ---> 9a8b7c6d5e4f\nStep 4/4 : CMD x\n",
	"steps of a build": "#7 sha256:5a8f3b2c9d1e0001 1.05MB / 1.05MB 0.3s\n#7 sha256:6a8f3b2c9d1e0002 2.05MB / 2.05MB 0.4s\n#8 sha256:7a8f3b2c9d1e0003 3.05MB / 3.05MB 0.9s\n",
	"packages":         "Package: a\nSize: 123456\nSHA256: 5a8f3b2c9d1e00015a8f3b2c9d1e0001\n\nPackage: b\nSize: 123499\nSHA256: 6a8f3b2c9d1e00015a8f3b2c9d1e0001\n\nPackage: c\nSize: 23456\nSHA256: 7a8f3b2c9d1e00015a8f3b2c9d1e0001\n",
	"checksums":        "5a8f3b2c9d1e00015a8f3b2c9d1e0001  ./a-1.txt\n6a8f3b2c9d1e00015a8f3b2c9d1e0001  ./a-2.txt\n7a8f3b2c9d1e00015a8f3b2c9d1e0001  ./a-3.txt\n",
	"accesses":         "10.0.0.1 - - [01/Jan/2026:00:00:01 +0000] \"GET /a?frame=1&hash=5a8f3b2c HTTP/1.1\" 200 5316\n10.0.0.2 - - [01/Jan/2026:00:00:02 +0000] \"GET /a?user=2&id=6a8f3b2c HTTP/1.1\" 200 5317\n10.0.0.3 - - [01/Jan/2026:00:00:03 +0000] \"GET /b HTTP/1.1\" 200 5318\n",
	"a chat":           "[12:00:01] bob: my turn 5 was bad\n[12:00:02] al: hash 1234?\n[12:00:03] bob: frame 12 I think\n",
	"frame times":      "frame 1 took 16683221 ns\nframe 2 took 16523425 ns\nframe 3 took 17683123 ns\nframe 4 took 12683123 ns\n",
	"frames in memory": "frame 1 at 0x7ffdeadbeef0\nframe 2 at 0x7ffdeadbef10\nframe 3 at 0x7ffdeadc0010\n",
	"a call stack":     "frame #0: 0x00007fff2038c1b2 libsystem`mach_msg_trap\nframe #1: 0x00007fff20395fed libsystem`read\nframe #2: 0x00007fff2a38c1a2 libobjc`x\n",
	"commits":          "commit 5a8f3b2c9d1e00015a8f3b2c9d1e0001\nDate: 2026-01-01\n\ncommit 6a8f3b2c9d1e00015a8f3b2c9d1e0001\nDate: 2026-01-02\n\ncommit 7a8f3b2c9d1e00015a8f3b2c9d1e0001\n",
	"ids of sessions":  "turn 1 session=5a8f3b2c ok\nturn 2 session=6a8f3b2c ok\nturn 3 session=7a8f3b2c ok\n",
	"training":         "step 100 loss 0.34231 lr 0.0001\nstep 200 loss 0.31231 lr 0.0001\nstep 300 loss 0.30231 lr 0.0001\n",
	"units":            "tick 1 units 104 gold 100200300\ntick 2 units 105 gold 100200310\ntick 3 units 105 gold 100200320\n",
	"positions":        "tick,x,y\n1,100000,200000\n2,100100,200300\n3,100400,200500\n4,100500,200900\n",
	"claims":           "Desync at frame 100: checksum 5a8f3b2c != 6a8f3b2c\nDesync at frame 200: checksum 7a8f3b2c != 6a8f3b2c\nDesync at frame 300: checksum 8a8f3b2c != 6a8f3b2c\n",
	"other checksums":  "received checksum 5a8f3b2c for tick 5\nreceived checksum 6a8f3b2c for tick 6\nreceived checksum 7a8f3b2c for tick 7\n",
	"peers on a line":  "frame 1 p1 hash aaaa1111 p2 hash aaaa1111\nframe 2 p1 hash baaa1111 p2 hash baaa1111\nframe 3 p1 hash caaa1111 p2 hash cbaa1111\n",
	"a list of a person": "1. Node 0 (view=27) commits op=16 checksum=78014756\n2. Node 1 (view=31) commits op=16 checksum=28091965\n" +
		"3. Node 2 (view=31) commits op=16 checksum=28091965\n4. Node 0 (view=33) commits op=16 checksum=78014756\n5. Node 0 (view=33) commits op=17 checksum=14972780\n",
	"statistics": "frame 1: 123456789 bytes in 34 packets\nframe 2: 993456781 bytes in 31 packets\nframe 3: 343456782 bytes in 35 packets\n",
}

func TestOthers(t *testing.T) {
	for name, text := range others {
		if p := sums.Learn([]byte(text), "x"); p != nil {
			t.Errorf("%s: %s", name, p.Title())
		}
	}
}

// TestPass: the checkpoints behind a place are the same where what is before it is passed.
func TestPass(t *testing.T) {
	for _, l := range logs {
		p := sums.Learn([]byte(l.log), "game.log")
		if p == nil {
			continue
		}
		for peer := range 2 {
			records := func(pass, from int64) (list []string) {
				s, err := p.Format().Read(strings.NewReader(l.log), "game.log", peer)
				if err != nil {
					t.Fatal(err)
				}
				if s, ok := s.(tracediff.Passer); !ok {
					t.Fatalf("%s: its source passes nothing", l.name)
				} else if pass > 0 {
					s.Pass(pass)
				}
				for {
					r, err := s.Next()
					if err != nil {
						return list
					}
					if r.Checkpoint != nil && r.Pos.Offset >= from {
						list = append(list, fmt.Sprint(r.Pos.Offset, r.Checkpoint.Tick, r.Checkpoint.Sums))
					}
				}
			}
			for at := range int64(len(l.log)) {
				if want, got := records(0, at), records(at, at); !cmp.Equal(want, got) {
					t.Fatalf("%s: from byte %d on: %s", l.name, at, cmp.Diff(want, got))
				}
			}
		}
	}
}

// TestSeeds: equal states of random numbers do not show that all is equal; equal checksums do.
func TestSeeds(t *testing.T) {
	for text, want := range map[string]bool{
		"frame 1 x=1.5 seed=651545192\nframe 2 x=1.7 seed=824225998\nframe 3 x=1.9 seed=573269612\nframe 4 x=2 seed=93269612\n":                      true,
		"frame 1 crc=651545192 seed=1651545192\nframe 2 crc=824225998 seed=824225997\nframe 3 crc=573269612 seed=1573269612\nframe 4 crc=1 seed=2\n": false,
	} {
		p := sums.Learn([]byte(text), "x")
		if p == nil {
			t.Fatalf("%s: no pattern", text)
		}
		source, err := p.Format().Read(strings.NewReader(text), "x", 0)
		if err != nil || source.Dialect().Partial != want {
			t.Errorf("%s: %t, want %t, %v", text, !want, want, err)
		}
	}
}

// TestTraffic: what a machine counts of sent and received bytes is not about the checksums of another peer.
func TestTraffic(t *testing.T) {
	var text strings.Builder
	for tick := range uint32(60) {
		fmt.Fprintf(&text, "sync: frame %d hash=%08x sent=%d recv=%d\n", tick, tick*0x9e3779b1+0x8f00000a, 900*tick, 450*tick+tick%7)
	}
	if p := sums.Learn([]byte(text.String()), ""); p == nil || !strings.Contains(p.Title(), "hash") {
		t.Error("not learned")
	}
}

// TestSaidSums: numbers in hexadecimal are checksums of parts of the state if the message of their lines has a word for them,
// however seldom they change.
func TestSaidSums(t *testing.T) {
	log := func(message string) (out string) {
		for tick := range uint32(60) {
			out += fmt.Sprintf(`{"ts":"2026-04-01T09:00:%02dZ","msg":%q,"tick":%d,"Wells":"%08x","Herd":"%08x","Gate":"5ac00ebf","conn":"9f3a%04x"}`+"\n",
				tick, message, tick, tick/20*0x9e3779b1+0x8f00000a, tick/7*0x85ebca6b+0x1a2b3c4d, tick*7)
		}
		return out
	}
	if p := sums.Learn([]byte(log("loaded")), ""); p != nil {
		t.Error(p.Title())
	}
	p := sums.Learn([]byte(log("state digest written")), "")
	if p == nil {
		t.Fatal("not learned")
	}
	if title := p.Title(); !strings.Contains(title, "Wells") || !strings.Contains(title, "Herd") || strings.Contains(title, "conn") {
		t.Error(title)
	}
}

// TestChanged: words between the word for a checksum and its value are no name of it.
func TestChanged(t *testing.T) {
	var log strings.Builder
	for i := range 40 {
		fmt.Fprintf(&log, "debug(net): input tick=%d unit=4 dq=0\ndebug(sim): tick %d: state hash changed to %d\n", i, i, int64(i+1)*-0x1E3779B97F4A7C15)
	}
	p := sums.Learn([]byte(log.String()), "stderr.txt")
	if p == nil || !strings.Contains(p.Title(), `checksum is "hash changed"`) && !strings.Contains(p.Title(), `checksum is "hash"`) {
		t.Fatal(p)
	}
}
