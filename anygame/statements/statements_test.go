package statements

import (
	"bytes"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"pgregory.net/rapid"

	"github.com/desynctool/desynctool/internal/textsearch"
	"github.com/desynctool/desynctool/tracediff"
)

// shown is a claim in short: LINE TICK, its values by peer, its writer, the peers that it accuses, and ~ if it may be a
// person's.
func shown(log *tracediff.ClaimLog) string {
	var out []string
	for _, c := range log.Claims {
		s := fmt.Sprintf("%d", c.Pos.Line)
		if c.HasTick {
			s += " " + log.Dialect.TickName(c.Tick)
		}
		if c.Of != "" {
			s += " " + c.Of + ":"
		}
		for _, v := range c.Values {
			s += fmt.Sprintf(" %s=%s", v.Peer, v.Value)
		}
		if c.By != "" {
			s += " by " + c.By
		}
		for _, p := range c.Peers {
			s += " !" + p
		}
		if c.Data {
			s += " data"
		}
		if c.Reported {
			s += " reported"
		}
		if c.Replay {
			s += " replayed"
		}
		if c.Quoted {
			s += " ~"
		}
		out = append(out, s)
	}
	return strings.Join(out, "; ")
}

func scanned(t *testing.T, text string) string {
	t.Helper()
	log, err := Scan(strings.NewReader(text), "x")
	if err != nil {
		t.Fatal(err)
	}
	return shown(log)
}

// ab is the begin of a long checksum.
var ab = strings.Repeat("ab0c", 10)

// TestSaid reads what programs are known to write, and what others might.
func TestSaid(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"consistency failure (0 should be 216)", "1 actual=0 expected=216"},
		{"  34.522 Error GameActionHandler.cpp:2676: Multiplayer desynchronisation: crc test (heuristic) failed for crcTick(18621407) serverCRC(880134861) localCRC(1558050798)",
			"1 tick 18621407 server=880134861 local=1558050798 by local"},
		{"Replay has gone out of sync!\nInGame:D9C721A5 Replay:D8A198C0 Frame:110", "1 frame 110 InGame=D9C721A5 replay=D8A198C0"},
		{"x\n[Host]: lost synchronization with client 0!\nI have:     8500fc12479833420dd9e386f98ef607\nClient has: 5afded9210edb167fd2d1ac2a484a655\nFATAL ERROR",
			"2 host=8500fc12479833420dd9e386f98ef607 client=5afded9210edb167fd2d1ac2a484a655 by host !client 0"},
		{"[Warning:BeaverBuddies] Random state mismatch: 1126400659 != 1062276210", "1 one side=1126400659 the other side=1062276210"},
		{"Out of sync frame: 15911", "1 frame 15911 ~"},
		{"desync at tick 1200\nplayer 1 gold=500 wood=20\nplayer 2 gold=310 wood=10", "1 tick 1200 ~"},
		{"desync at tick 1200\nplayer 1: 500\nplayer 2: 310", "1 tick 1200 player 1=500 player 2=310"},
		{"Out of sync!\nUnityEngine.Debug:LogError (object)", "1"},
		{"Desync on frame 100. Local checksum: 7B, remote checksum: 1C8", "1 frame 100 local=7B remote=1C8 by local"},
		{"Checksum for beat 1950 mismatched: 00ccd1fb (sim) != afb419d9 (Birchwater).", "1 beat 1950 sim=00ccd1fb Birchwater=afb419d9"},
		{"Network out of sync seed: 87654321!=87654321 , hash: 3118210E!=31182108 Cycle 145", "1 cycle 145 one side=3118210E the other side=31182108"},
		{"[t=00:19:50.721959][f=0029967] Sync error for Prototypestill in frame 29959 (got d82f83ab, correct is 3d628959)",
			"1 frame 29959 Prototypestill=d82f83ab expected=3d628959 !Prototypestill"},
		{"Checksum for frame 12 does not match saved (123 != 456)", "1 frame 12 one side=123 the other side=456"},
		{`{"level":"error","msg":"desync detected","frame":120,"localHash":"0xabc1","remoteHash":"0xdef2"}`, "1 frame 120 local=0xabc1 remote=0xdef2 by local"},
		{`level=error msg="checksum mismatch" tick=120 local=abc123 remote=def456`, "1 tick 120 local=abc123 remote=def456 by local"},
		{"Possible desync detected: bob might have desynced at frame 31415", "1 frame 31415 ~"},
		{"Player Bob is out of sync", "1 !Bob ~"},
		{"JT_ has desynced", "1 !JT_ ~"},
		{"Consistency failure, player 2 out of sync", "1 !player 2 ~"},
		{"Out-Of-Sync error on turn 153", "1 turn 153 ~"},
		{"Warning: Network desync detected at tick 1234! Server hash: 1a2b3c4d5e, client hash: 5e4d3c2b1a", "1 tick 1234 server=1a2b3c4d5e client=5e4d3c2b1a"},
		{"Client seems to be out of sync with server: server random = 1234, client random 5678. Disconnecting client", "1 server=1234 client=5678"},
		{"On tick 500, remote state from peer 2 had hash (123456) which doesn't match local state hash (654321)", "1 tick 500 peer 2=123456 local=654321 by local ~"},
		{"error synced: out of sync in: checkup result: expected 145 got 146", "1 expected=145 actual=146"},
		{"player 0: 0x1234abcd, player 1: 0x1234abce - checksum mismatch at step 55", "1 step 55 player 0=0x1234abcd player 1=0x1234abce"},
		{"OOS at turn 5\nAlice: 1a2b3c4d\nBob: 5e6f7a8b", "1 turn 5 Alice=1a2b3c4d Bob=5e6f7a8b"},
		{"Checksum mismatch! Expected 0xDEADBEEF, got 0xCAFEBABE (frame 881)", "1 frame 881 expected=0xDEADBEEF actual=0xCAFEBABE"},
		{"Hash mismatch on tick 1200: client 3 reported 9f8e7d6c, expected 1a2b3c4d", "1 tick 1200 client 3=9f8e7d6c expected=1a2b3c4d !client 3"},
		{"State hash differs at step 88: 123456789 vs 987654321", "1 step 88 one side=123456789 the other side=987654321"},
		{"[2023-01-05 12:00:01] [ERROR] [Sync] Desync! Turn=451 Host=0x3fa1 Peer=0x3fb2", "1 turn 451 host=0x3fa1 peer=0x3fb2"},
		{"Turn 4 (200)...\nhash MISMATCH (0adaed4c66765b44 != 463e4df8c56a68ad)\nTurn 5 (200)...", "2 turn 4 one side=0adaed4c66765b44 the other side=463e4df8c56a68ad"},
		{"hash mismatch at turn 4: 0adaed4c66765b44 != 0000000000000000", "1 turn 4 ~"}, // zeros are no hash
		{"[12:03] bob: Desync at frame 12, local 0xabc remote 0xdef", "1 frame 12 local=0xabc remote=0xdef by local ~"},
		{"{\n  \"event\": \"desync\",\n  \"tick\": 120,\n  \"local\": \"0xabc\",\n  \"remote\": \"0xdef\"\n}", "2 tick 120 local=0xabc remote=0xdef by local"},
		{"desync:\n  tick: 120\n  expected: abc123\n  actual: def456", "1 tick 120 expected=abc123 actual=def456"},
		{"=== DESYNC ===\nTick: 120\nLocal hash: abc123\nRemote hash: def456", "1 tick 120 local=abc123 remote=def456 by local"},
		{"Desync report\n-------------\nTurn: 12\nPlayer 1 checksum: 1234567\nPlayer 2 checksum: 7654321", "1 turn 12 player 1=1234567 player 2=7654321"},
		{"desync.js:52 Desync at tick 5", "1 tick 5"},
		{"[2023.01.05-12.00.01:123][ 45]LogNet: Error: Desync at frame 5: Local 0x1 Remote 0x2", "1 frame 5 local=0x1 remote=0x2 by local"},
		{"Desync! (tick 120) A=0x123 B=0x456", "1 tick 120 A=0x123 B=0x456"},
		{"out-of-sync: client=3 tick=120 expected=aa11 actual=bb22", "1 tick 120 expected=aa11 actual=bb22"}, // 3 is no sum
		{"The checksum for turn 88 is different: server 123, client 456", "1 turn 88 server=123 client=456"},
		{"[Lockstep] Hash mismatch! Turn: 55 | Me: 123 | Peer: 456", "1 turn 55 local=123 peer=456 by local"},
		{"frame 120: state hash mismatch (got aa11, want bb22)", "1 frame 120 actual=aa11 expected=bb22"},
		{"bob: we got a desync at turn 5, my hash was 1234abcd and alice's was 5678abcd", "1 turn 5 ~"},
		{"Sync checksum from Bob for frame 991 is 0x1234, expected 0x4321", "1 frame 991 actual=0x1234 expected=0x4321"},
		{"first divergence: tick 4410", "1 tick 4410 ~"},
		{"State mismatch tick=4410 field=pos.x a=1.5 b=1.25", "1 tick 4410 pos.x: a=1.5 b=1.25"},
		{"*** Desync *** client Bob (2) frame 991 local=0x1234 remote=0x4321", "1 frame 991 local=0x1234 remote=0x4321 by local !Bob"},
		{"Gamestate hash mismatch between server (0x1a2b3c4d) and client (0x5e6f7a8b) at tick 9", "1 tick 9 server=0x1a2b3c4d client=0x5e6f7a8b"},
		{"Client 'bob' reported a desync at tick 12 (client rng = 0000001F/00000020, client was at tick 13); server is now at tick 14", "1 tick 12 !bob reported ~"},
		{"Desync detected!", "1 ~"},
		{"message=\"Ado64 reports out of sync errors.\"", "1 !Ado64 reported"},
		{"3DS link desync at frame 1f4 (1a2b3c4d != 5e6f7a8b)", "1 one side=1a2b3c4d the other side=5e6f7a8b"},
		{"net: DESYNC at frame 512 (local 1a2b3c4d remote 5e6f7a8b)", "1 frame 512 local=1a2b3c4d remote=5e6f7a8b by local"},
		{"Desync at frame 512 (local player 1)\nlocal 1234 vs remote 5678\n", "1 frame 512 local=1234 remote=5678 by local !player 1"},
		{"DESYNC at frame 512  1a2b3c4d vs 5e6f7a8b", "1 frame 512 one side=1a2b3c4d the other side=5e6f7a8b"},
		{"DESYNC at frame 512: ours 1a2b3c4d5e6f7081, peer 5e6f1a2b3c4d7081", "1 frame 512 local=1a2b3c4d5e6f7081 peer=5e6f1a2b3c4d7081 by local"},
		{"First desync at tick 120:\n  Server hash: abc123\n  Client hash: def456\n  NextEntityId: server=5 client=6", "1 tick 120 server=abc123 client=def456"},
		{"[netcode] desync at tick 120: ours=abc1 theirs=def2", "1 tick 120 local=abc1 remote=def2 by local"},
		{"Snapshot hash mismatch at turn 12: expected 123456, got 654321", "1 turn 12 expected=123456 actual=654321"},
		{"[mp/engine] state mismatch at tick 120, requested Resync (mismatched: pos,hp)", "1 tick 120"},
		{"Desynchronised at cycle 2125 with player 1", "1 cycle 2125 !player 1 ~"},
		{"REPLAY: Lost synchronization at time 3400\nI have:     3f238ef082a3e544\nReplay has: e56c3f70389ac251", "1 time 3400 local=3f238ef082a3e544 replay=e56c3f70389ac251 by local"},
		{"Sync test failed on frame 12: local hash 1234abcd remote hash 1234abce", "1 frame 12 local=1234abcd remote=1234abce by local"},
		{"[Error] Simulation checksum mismatch for player 3! Tick: 4800, Ours: 1837465520, Theirs: 192837465", "1 tick 4800 local=1837465520 remote=192837465 by local !player 3"},
		{"Frame 3021: checksum mismatch (P1: 9d8f3a21, P2: 1b2c3d4e)", "1 frame 3021 P1=9d8f3a21 P2=1b2c3d4e"},
		{"MP: Player 2 (Steve) desynced at tick 10233", "1 tick 10233 !player 2"},
		{"Sync hash for tick 440 does not match: expected=8412 actual=8413", "1 tick 440 expected=8412 actual=8413"},
		{"[SYNC] Mismatch detected at frame 1200 | mine=0xAB12 | theirs=0xCD34", "1 frame 1200 local=0xAB12 remote=0xCD34 by local"},
		{"rng state diverged at step 991: 17 vs 18", "1 step 991 one side=17 the other side=18"},
		{"* desync @ frame 4412 \u2014 p1 0x9a8b7c6d / p2 0x11223344", "1 frame 4412 p1=0x9a8b7c6d p2=0x11223344"},
		{"CRC mismatch detected. Frame=991, LocalCRC=ABCD1234, PlayerCRC[1]=ABCD1235", "1 frame 991 local=ABCD1234 player 1=ABCD1235 by local !player 1"},
		{"desync: {tick: 77, expected: \"a1b2c3d4\", actual: \"d4c3b2a1\"}", "1 tick 77 expected=a1b2c3d4 actual=d4c3b2a1"},
		{"2026-03-02 18:04:11 ERROR Desync detected", "1"},
		{"Your game is out of sync. You will be disconnected.", "1 ~"},
		{"The simulation diverged at tick 500.", "1 tick 500 ~"},
		{"It happened again. OOS on turn 153, the save is attached.", "1 turn 153 ~"},
		{"we went out of sync on turn 153", "1 turn 153 ~"},
		{"thread 'main' panicked at tests/replay.rs:61:5:\nassertion `left == right` failed: state hash differs at tick 77\n  left: 8116928441702991452\n right: 3308174512293300871",
			"2 tick 77 left=8116928441702991452 right=3308174512293300871"},
		{"assertion `left == right` failed\n  left: 5\n right: 6", ""},
		{">       assert h1 == h2, f\"tick {t}: state hash differs\"\nE       AssertionError: tick 412: state hash differs\nE       assert '9f3acc01' == '9f3acc02'\nE         - 9f3acc02",
			"2 tick 412 one side=9f3acc01 the other side=9f3acc02"},
		{"    Error:        Not equal:\n                  expected: 0x9f3acc01\n                  actual  : uint32(0x9f3acc02)\n    Test:         TestReplay\n    Messages:     checksum at tick 300",
			"2 tick 300 expected=0x9f3acc01 actual=0x9f3acc02"},
		{"Expected equality of these values:\n  a.checksum(tick)\n    Which is: 2671430657\n  b.checksum(tick)\n    Which is: 2671430658\ndesync in tick 88",
			"6 tick 88 one side=2671430657 the other side=2671430658"},
		{"  x lockstep\n\n    Expected: \"c0ffee11\"\n    Received: \"c0ffee12\"\n\n    hash mismatch after frame 240", "3 frame 240 expected=c0ffee11 actual=c0ffee12"},
		{"  Hash differs at tick 40\n  Expected: 2671430657\n  But was:  2671430658", "1 tick 40 expected=2671430657 actual=2671430658"},
		{"12:01:22.120  Desync: server says position (10.00, 5.00, 3.21) client says (10.00, 5.00, 3.42) at step 992  -  Server",
			"1 step 992 server=(10.00, 5.00, 3.21) client=(10.00, 5.00, 3.42)"},
		{"Simulation diverged between run A and run B after 18231 ticks; first different entity id=44 (Sheep), A.pos=(12,7) B.pos=(12,8)", "1 tick 18231 pos: A=(12,7) B=(12,8)"},
		{`<desync tick="5120"><peer name="host" sum="aa11bb22"/><peer name="kim" sum="aa11bb23"/></desync>`, "1 tick 5120 host=aa11bb22 kim=aa11bb23"},
		{"Sim: Checksum error in frame 540.\nActor 1: 9223812093812093\nActor 2: 9223812093812094", "1 frame 540 Actor 1=9223812093812093 Actor 2=9223812093812094"},
		{"Turn 88: my state hash = 5f01ac33; hashes of others: {\"ada\":\"5f01ac33\",\"bob\":\"77a0be12\"} => DESYNC", "1 turn 88 ada=5f01ac33 bob=77a0be12"},
		{`{"level":"error","msg":"state checksum mismatch","tick":9120,"want":"c0a8","got":"c0a9"}`, "1 tick 9120 expected=c0a8 actual=c0a9"},
		{"E 0:00:41:0212   _check: State mismatch on tick 812!\n  Remote hash: 2918271234\n  Local hash:  1177221003", "1 tick 812 remote=2918271234 local=1177221003 by local"},
		{"checksum mismatch: got 1120,44,30 expected 1120,44,29 on side 2, turn 7", "1 turn 7 actual=1120,44,30 expected=1120,44,29"},
		{"*** SYNC LOST *** (step 15066)\n   mine   : units=5021 rnd=881203 map=771\n   theirs : units=5021 rnd=881204 map=771", "1 step 15066 rnd: local=881203 remote=881204 by local"},
		{"Out Of Sync! Player 4 turn 132: sync value 18841232, local 18841231", "1 turn 132 player 4=18841232 local=18841231 by local !player 4"},
		{"Random seed check failed at frame 2500. Ours: 182731, server: 182733.", "1 frame 2500 local=182731 server=182733 by local"},
		{"Desync at SimFrame=4410 Object=Tank_12 Property=Health Server=80.0 Client=75.0", "1 frame 4410 Health of Tank_12: server=80.0 client=75.0"},
		{"Desync Report\n=============\nGame:      Robo Siege 1.22\nFrame:     30411\nPlayer:    Kim\nExpected:  0x5511AA01\nActual:    0x5511AA02\nSubsystem: Projectiles",
			"1 frame 30411 expected=0x5511AA01 actual=0x5511AA02"},
		{"Synchronisationsfehler in Runde 3301: erwartet 0xAA10, erhalten 0xAA12 (Spieler 2)", "1 turn 3301 expected=0xAA10 player 2=0xAA12 !player 2"},
		{"Désynchronisation détectée au tour 58 : somme de contrôle locale 7731, distante 7732", "1 turn 58 local=7731 remote=7732 by local"},
		{"Рассинхрон на такте 9001: контрольная сумма 0xDEAD, ожидалось 0xBEEF", "1 tick 9001 actual=0xDEAD expected=0xBEEF"},
		{"帧 1204 校验失败: 本地=0x8812AA 服务器=0x8812AB", "1 frame 1204 local=0x8812AA server=0x8812AB by local"},
		{"同期エラー フレーム 1200 ローカル 0xAA01 リモート 0xAA02", "1 frame 1200 local=0xAA01 remote=0xAA02 by local"},
		{"Error de sincronización en el turno 33: suma local 7731, suma remota 7732", "1 turn 33 local=7731 remote=7732 by local"},
		{"Sincronización completada en el turno 33", ""},
		{"Desync on turn 44!\n - ann: 77aa12ff\n - ben: 77aa12ff\n - cyn: 01234567", "1 turn 44 ann=77aa12ff ben=77aa12ff cyn=01234567"},
		{"{\"event\":\"desync\",\"tick\":5,\"mods\":{\"a\":\"77aa12ff\",\"b\":\"01234567\"}}", "1 tick 5"},
		{"Desync on turn 44!\nmods:\n  alpha: 77aa12ff\n  beta: 0123456f", "1 turn 44 ~"},
		{"{\n \"type\": \"desync\",\n \"frame\": 5,\n \"mods\": [\n  {\"name\": \"alpha\", \"hash\": \"77aa12ff\"},\n  {\"name\": \"beta\", \"hash\": \"0123456f\"}\n ]\n}", "2 frame 5 ~"},
		{"OutOfSync: frame=331 map checksums=[0x1af3, 0x77b0]", "1 frame 331"},
		{"desync on turn 44\nMap: 1234567\nSeed: 7654321", "1 turn 44 ~"},
		{"{\n  \"type\": \"desync\",\n  \"frame\": 2210,\n  \"players\": [\n    {\"name\": \"ann\", \"hash\": \"77aa12ff\"},\n    {\"name\": \"ben\", \"hash\": \"01234567\"}\n  ]\n}", "2 frame 2210 ann=77aa12ff ben=01234567"},
		{"OutOfSync: frame=331 checksums=[0x1af3, 0x1af3, 0x77b0]", "1 frame 331 [0]=0x1af3 [1]=0x1af3 [2]=0x77b0"},
		{"Desync! tick=1200\nmine:  {\"x\": 10.5, \"hp\": 40}\nother: {\"x\": 10.5, \"hp\": 41}", "1 tick 1200 hp: local=40 other=41 by local"},
		{"DESYNC frame 640\nfield            local        remote\nplayer[0].x      103.25       103.25\nplayer[0].vx     0.5          0.4999999", "1 frame 640 player[0].vx: local=0.5 remote=0.4999999 by local"},
		{"World state checksum does not match at frame 3300!\nOurs:   78 12 AA 0F\nTheirs: 78 12 AA 10", "1 frame 3300 local=78 12 AA 0F remote=78 12 AA 10 by local"},
		{"Client 2 out of sync on frame 1203 (hash A1B2C3D4, host F1E2D3C4)", "1 frame 1203 client 2=A1B2C3D4 host=F1E2D3C4 !client 2"},
		{"Desync detected! frame 313, local checksum: 12093812093810293, remote checksum: 12093812093810294, addr: PeerId(8c1f)", "1 frame 313 local=12093812093810293 remote=12093812093810294 by local"},
		{"tick 77: checksum 0x9f3acc01 -> 0x9f3acc02 (resimulated, should be equal)", "1 tick 77 one side=0x9f3acc01 the other side=0x9f3acc02"},
		{"Simulation diverged after 18231 ticks", "1 tick 18231 ~"},
		{"7:02PM ERR prevote step err=\"wrong Block.Header.AppHash.  Expected " + ab + "01, got " + ab + "02\" height=4410 module=consensus round=3", "1 height 4410 expected=" + ab + "01 actual=" + ab + "02"},
		{"E[05-15] enterPrevote: ProposalBlock is invalid module=consensus height=7 round=1 err=\"Wrong Block.Header.AppHash.  Expected " + ab + "01, got " + ab + "02\"", "1 height 7 expected=" + ab + "01 actual=" + ab + "02"},
		{"E[05-15] CONSENSUS FAILURE!!! err=\"wrong Block.Header.AppHash.\nExpected " + ab + "01, got " + ab + "02\"", "1 expected=" + ab + "01 actual=" + ab + "02"},
		{"wrong Block.Header.AppHash.  Expected 0142" + ab + ", got [142 79 194 197 189 178 218 227 75 55 185 135 160 172 150 4]", "1 expected=0142" + ab + " actual=8e4fc2c5bdb2dae34b37b987a0ac9604"},
		{"Error: stage encountered an error in block #5510: validation error: mismatched block state root: got 0x" + ab + "01, expected 0x" + ab + "02", "1 block 5510 actual=0x" + ab + "01 expected=0x" + ab + "02"},
		{"Failed to insert block (hash=0x" + ab + "ff, number=1221, parent_hash=0x" + ab + "fe): mismatched block state root: got 0x" + ab + "01, expected 0x" + ab + "02", "1 block 1221 actual=0x" + ab + "01 expected=0x" + ab + "02"},
		{`error={"message":"Invalid state root at slot 17216, wanted 0x` + ab + `01, got 0x` + ab + `02"}`, "1 slot 17216 expected=0x" + ab + "01 actual=0x" + ab + "02"},
		{"7:02PM ERR FAILURE!!! err=\"invalid block: wrong Block.Header.AppHash.  Expected " + ab + "01, got " + ab + "02\" module=p2p stack=\"goroutine 618 [running]:\\nmain.f()\\n\"", "1 expected=" + ab + "01 actual=" + ab + "02"},
		{"########## BAD BLOCK #########\nBlock: 1839 (0x" + ab + ")\nError: invalid merkle root (remote: " + ab + "01 local: " + ab + "02)\nWARN dropping peer    peer=" + ab + ab + " err=\"invalid merkle root (remote: " + ab + "01 local: " + ab + "02)\"",
			"3 block 1839 remote=" + ab + "01 local=" + ab + "02 by local; 4 remote=" + ab + "01 local=" + ab + "02 by local"},
		{`Error: desync from server: {"type":"desync","turn":800,"correctHash":33657047891752040}`, "1 turn 800"},
		{"[Warning] (System) - Desync - Correcting inputs from host frame=26810\n[Error] (System) - Player.Moves.Jump Server=28.085344 Client=28.184347", "1 frame 26810 Player.Moves.Jump: server=28.085344 client=28.184347"},
		{"Jan 06 12:29:36 eth-2 besu[295682]: RuntimeException: World State Root does not match expected value, header 0x" + ab + "01 calculated 0x" + ab + "02", "1 the other side=0x" + ab + "01 calculated=0x" + ab + "02"},
		{"EROR[12-02|02:32:20.625] [7/9 Execution] Wrong trie root of block 64962: " + ab + "01, expected (from header): " + ab + "02. Block hash: " + ab + "03", "1 block 64962 actual=" + ab + "01 expected=" + ab + "02"},
		{"[WARN] Could not validate block err=\"[7/7 Hashes] wrong trie root: " + ab + "01, expected (from header): " + ab + "02\"", "1 actual=" + ab + "01 expected=" + ab + "02"},
		{"ChargesUsed mismatch:\nHost: 9\nClient: 8\nItem: BELL", "1 ChargesUsed: host=9 client=8 ~"},
		{"[sim] tick 88\nunit 17 hp mismatch:\n  host: 40\n  client: 37", "2 tick 88 unit 17 hp: host=40 client=37"},
		{"Desync at tick 1411:\n\n| Field | Host | Client |\n|:--|--:|--:|\n| `rng` | 88120 | 88120 |\n| `unit[4].x` | 12.5 | 12.75 |", "1 tick 1411 unit[4].x: host=12.5 client=12.75"},
		{"Desync in frame 60\n| Value | Expected value | Actual value | Same |\n|---|---|---|---|\n| gold | 900 | 901 | no |", "1 frame 60 gold: expected=900 actual=901"},
		{"Desync! checksums of frame 3474 differ:\n  0x0593d52a   <- host\n  0x014fde30   <- client", "1 frame 3474 host=0x0593d52a client=0x014fde30"},
		{"Desync detected: player (2), frame 40", "1 frame 40 !player 2 ~"},
		{"The dumps of the desync:\n```\n--- _remote 20:29\n+++ _local 20:30\n@@ -23,7 +23,7 @@\n Power A\n-  Amount: 4\n+  Amount: 3\n Power B\n", "3 Amount: remote=4 local=3"},
		{"state root mismatch block=5 got=0xfc9482c650b36f5d expected=Head { parent_hash: 0x09ee7bb66dffcdb8, state_root: 0xfe1bd7ff16cd049a }",
			"1 block 5 actual=0xfc9482c650b36f5d expected=0xfe1bd7ff16cd049a"},
		{"WARN bad state root got=0x" + ab + "01 expected=Sealed { head: Head { parent_hash: 0x" + ab + "02, state_root: 0x" + ab + "03, body_root: Some(0x" + ab + "04), logs: 0x" + ab,
			"1 actual=0x" + ab + "01 expected=0x" + ab + "03"},
		{"state root mismatch block=5 got=0xfc9482c650b36f5d expected=Head { parent_hash: 0x09ee7bb66dffcdb8, body_root: 0xfe1bd7ff16cd049a }", "1 block 5"},
		{"state root mismatch got=0xfc9482c650b36f5d expected_head=ServerHead { parent_hash: 0x09ee7bb66dffcdb8, state_root: 0xfe1bd7ff16cd049a }",
			"1 actual=0xfc9482c650b36f5d expected=0xfe1bd7ff16cd049a"},
		{"desync: expected={tick: 7, hash: 1a2b3c4d} got={tick: 7, hash: 1a2b3c4e}", "1 tick 7 expected=1a2b3c4d actual=1a2b3c4e"},
		{"Join failed: PieceDb hash mismatch. Host: 1357847701 Ours: 4093699297", "1 host=1357847701 local=4093699297 by local data"},
		{"[ERROR] exception while joining game: Play.ConnectionFailedException: PieceDb hash mismatch. Host: 1357847701 Ours: 4093699297", "1 host=1357847701 local=4093699297 by local data"},
		{"server=00 client=b59f Sync error: map-checksums differ", "1 server=00 client=b59f data"},
		{"Configuration consistency check failed: Bad hash", "1 data ~"},
		{"joining: state hash mismatch. Host: 1357847701 Ours: 4093699297", "1 host=1357847701 local=4093699297 by local ~"},
		{"Join failed: hash mismatch at tick 7. Host: 1357847701 Ours: 4093699297", "1 tick 7 host=1357847701 local=4093699297 by local"},
		{"Unable to freeze slot 243108 with statehash 9cqDVL4r11Ud95iiuxcNuTeZb8iervqSDZ6FGX8Qw4A2, instead we have one with statehash Some(CA1KBoNTPGisRMbq8iQ6wzNN7Rz5SQeABCoVyeFyE9KV).",
			"1 slot 243108 expected=9cqDVL4r11Ud95iiuxcNuTeZb8iervqSDZ6FGX8Qw4A2 actual=CA1KBoNTPGisRMbq8iQ6wzNN7Rz5SQeABCoVyeFyE9KV ~"},
		{"Node A:\n```\nERR wrong AppHash. Expected " + ab + "01, got " + ab + "02\n```\n", "3 expected=" + ab + "01 actual=" + ab + "02 by Node A"},
		{"## Client\n```\nERR Desync at tick 5\n```\n", "3 tick 5"},
		{"## Client log\n```\n12:01:01 ERR Desync at tick 5: expected 12aa, got 12ab\n```\n", "3 tick 5 expected=12aa actual=12ab by Client"},
		{"Client version:\n```\n12:01:01 ERR Desync at tick 5: expected 12aa, got 12ab\n```\n", "3 tick 5 expected=12aa actual=12ab"},
		{"Client:\n```\n12:01:01 ERR Desync at tick 5: server=12aa client=12ab\n```\n", "3 tick 5 server=12aa client=12ab"},
		{"3:06PM ERR err=\"wrong Block.Header.AppHash.  Expected " + ab + "01, got " + ab + "02\" height=108 round=0 stack=[{\"func\":\"NewLog.f\",\"line\":\"14\"},{\"line",
			"1 height 108 expected=" + ab + "01 actual=" + ab + "02"},
		{"[ERROR src/regs.cc:299:print_mismatch()] rbx 0x7000 != 0xf4d000 (replaying vs. recorded)", "1 rbx: replay=0x7000 recorded=0xf4d000 by replay replayed"},
		{"Variable out of sync at turn 88: m_gold, host 12, client 13", "1 turn 88 m_gold: host=12 client=13"},
		{"Line 6180: Variable Out Of Sync : Unit::m_damage", "1 Unit::m_damage:"},
		{"> Exception of type System.InvalidOperationException: Out of sync in frame 5996: Blame Tick.", "1 frame 5996"},
		{"Line 6179: [592.109] DBG: Unit out of sync. Player=63, Name=Rider, id=1649", "1"},
		{"desync detected: client 3, host 1", "1 !client 3 !host 1 ~"},
		{"2023-05-03 12:30:41.2|Processed block 7 (0x321749...70e6ac) is invalid: \n\n2023-05-03 12:30:41.2|- hash: expected 0x" + ab + ", got 0x" + ab[1:] + "c",
			"3 block 7 expected=0x" + ab + " actual=0x" + ab[1:] + "c"},
		{"2023-05-03 12:30:41.2|Processed the parent block 7 (0x321749...70e6ac), it is not invalid: \n\n2023-05-03 12:30:41.2|- hash: expected 0x" + ab + ", got 0x" + ab[1:] + "c",
			""},
		{"2024-05-24T05:47:52Z ERROR core: fork at frame 7, hash mismatch: ship_hash=Hash(0x5f3a91c7) expected_crew_hash=Hash(0x77e01f3b)", ""},
		{"2024-05-24T05:47:52Z ERROR core: fork at frame 7, hash mismatch: crew_hash=Hash(0x5f3a91c7) expected_crew_hash=Hash(0x77e01f3b)", "1 frame 7 actual=0x5f3a91c7 expected=0x77e01f3b"},
		{"E161123 07:26:03 store.go:1884  shard 5 is inconsistent at tick 8: expected checksum 5f3a91c7, got 77e01f3b--- leader\n+++ follower", "1 tick 8 expected=5f3a91c7 actual=77e01f3b"},
		{"tick 0 state differs: fade 0/1 rng 17/18", "1 tick 0 fade: one side=0 the other side=1"},
		{"tick 0 state differs: fade 0/1 rng 17/18 (recorded/replayed)", "1 tick 0 fade: recorded=0 replay=1 by replay replayed"},
		{"tick 0 state differs: fade 1/1\n                      rng 17/18 hp 3/3 (recorded/replayed)", "1 tick 0 rng: recorded=17 replay=18 by replay replayed"},
		{"tick 0 state differs: fade 0/1\nfps 30/60 now (recorded/replayed)", "1 tick 0 fade: one side=0 the other side=1"},
		{"[347917.2] DBG: Queue values, current -520; other 0\n[347917.2] DBG: Variable Out Of Sync : m_iFaith\nGame Turn : 126", "2 turn 126 m_iFaith:"},
		{"tick 0 state differs: fade 1/1 rng 17/18 hp.", "1 tick 0 rng: one side=17 the other side=18"},
		{"[regs.cc:299] rbx 0x70002000 != 0xf4d000 (replaying vs. recorded)", "1 rbx: replay=0x70002000 recorded=0xf4d000 by replay replayed"},
		{"r8 0 != 0x3 (recorded / replayed)", "1 r8: recorded=0 replay=0x3 by replay replayed"},
		{"consistency failure at tick 0: recorded 3952e998e45b78b7, replayed 3d8a539ef54168fa", "1 tick 0 recorded=3952e998e45b78b7 replay=3d8a539ef54168fa by replay replayed"},
		{"Replay mismatch at tick 5: recorded 3952e998, replayed 3d8a539e", "1 tick 5 recorded=3952e998 replay=3d8a539e by replay replayed"},
		{"12:04:11 INFO sim::rollback: mismatch between predicted and confirmed on tick Tick(1485) for component \"body::Spin\".", "1 tick 1485 body::Spin:"},
		{"Flow::NonDeterministicFlowError: Unexpected command marker (7) (expected activity (14))", "1 actual=7 expected=14 by actual replayed"},
		{"Hash mismatch! State divergence detected for pending shares!", "1 ~"},
		{"Hash mismatch at frame 5: local 9cqDVL4r11Ud95iiuxcNuTeZb8iervqSDZ6FGX8Qw4A2 remote CA1KBoNTPGisRMbq8iQ6wzNN7Rz5SQeABCoVyeFyE9KV",
			"1 frame 5 local=9cqDVL4r11Ud95iiuxcNuTeZb8iervqSDZ6FGX8Qw4A2 remote=CA1KBoNTPGisRMbq8iQ6wzNN7Rz5SQeABCoVyeFyE9KV by local"},
		{"Hash mismatch at frame 5: local q83vEjRWeJASNFZ4kBI0Vg== remote q83vEjRWeJ/SNFZ4kBI0Vw==", "1 frame 5 local=q83vEjRWeJASNFZ4kBI0Vg== remote=q83vEjRWeJ/SNFZ4kBI0Vw== by local"},
		{"frame 3409 failed to match hash 9cabcd11 caabcd11", "1 frame 3409 one side=9cabcd11 the other side=caabcd11"},
		{"[WARN  sim::votes] 9cqDVL4r11Ud95iiuxcNuTeZb8iervqSDZ6FGX8Qw4A2 dropped slots [3409] failed to match hash 1a2b3c4d 1a2b3c4e", "1 slot 3409 one side=1a2b3c4d the other side=1a2b3c4e"},
		{"E190305 14:52:51.825947 686646 sim/check.go:110  [n3,check] replica (n2,s2):2 is inconsistent: expected checksum 16305128fce4247f, got 15f200e0ed74ba58",
			"1 expected=16305128fce4247f actual=15f200e0ed74ba58"},
		{`desync {"turn":800,"correctHash":33657047,"yourHash":33657055}`, "1 turn 800 expected=33657047 actual=33657055"},
		{"desync at height 108 round 3: expected 52880fb4, got 92e5e579", "1 height 108 expected=52880fb4 actual=92e5e579"},
		{"hash mismatch at block 2424: expected 52880fb44d6a7e83, got 92e5e5798da6d0a9", "1 block 2424 expected=52880fb44d6a7e83 actual=92e5e5798da6d0a9"},
		{"ERROR: checksum mismatch at slot 2424: expected 52880fb44d6a7e83, got 92e5e5798da6d0a9", "1 slot 2424 expected=52880fb44d6a7e83 actual=92e5e5798da6d0a9"},
		{"desync in tick 7 at height 108: expected 52880fb4, got 92e5e579", "1 tick 7 expected=52880fb4 actual=92e5e579"},
		{"Root hash does not match for block 24015,\nexpected " + ab + "01,\nwas " + ab + "02", "1 block 24015 expected=" + ab + "01 actual=" + ab + "02"},
		{"Number: 12\nHash: 0x" + ab + "\n\n\nError: invalid merkle root (remote: " + ab + "01 local: " + ab + "02)", "5 block 12 remote=" + ab + "01 local=" + ab + "02 by local"},
		{"Checksum mismatch at frame 12: expected " + ab + "01, got " + ab + "02", "1 frame 12 expected=" + ab + "01 actual=" + ab + "02"},
		{"desync at tick 30,488,260: local 52880fb4 remote 92e5e579", "1 tick 30488260 local=52880fb4 remote=92e5e579 by local"},
		{"desync at tick 30.488.260: local 52880fb4 remote 92e5e579", "1 tick 30488260 local=52880fb4 remote=92e5e579 by local"},
		{"desync at tick 30'488'260: local 52880fb4 remote 92e5e579", "1 tick 30488260 local=52880fb4 remote=92e5e579 by local"},
		{"desync at tick 30_488: local 52880fb4 remote 92e5e579", "1 tick 30488 local=52880fb4 remote=92e5e579 by local"},
		{"desync at tick 30\u2009488: local 52880fb4 remote 92e5e579", "1 tick 30488 local=52880fb4 remote=92e5e579 by local"},
		{"desync at tick 30 488 260: local 52880fb4 remote 92e5e579", "1 tick 30488260 local=52880fb4 remote=92e5e579 by local"},
		{"desync at tick 30, 488 units: local 52880fb4 remote 92e5e579", "1 tick 30 local=52880fb4 remote=92e5e579 by local"},
		{"desync at tick 30.488: local 52880fb4 remote 92e5e579", "1 local=52880fb4 remote=92e5e579 by local"},
		{"> Checksum Error <<\n\n1. CHECKSUM ERROR: 41 != 160 ram/:mainboard/0/0a7e0000-0a7fffff (index: 7)\n2. CHECKSUM ERROR: 5 != 6 timer/beep/0/m_start (index: 8)",
			"3 ram/:mainboard/0/0a7e0000-0a7fffff: one side=41 the other side=160 ~; 4 timer/beep/0/m_start: one side=5 the other side=6 ~"},
		{"# Clients desync\n\n  1.105 Info Session.cpp:94: updateTick(107) received peerID(1)\n  4.738 Info Session.cpp:94: updateTick(124) peer is out of sync", "4 tick 124"},
		{"2019-02-03 13:37:23  Stage 2 block check failed for #4699 (0x30…81)\nError: Invalid(StateRoot(Mismatch { expected: 0x" + ab + "01, found: 0x" + ab + "02 }))",
			"2 block 4699 expected=0x" + ab + "01 actual=0x" + ab + "02"},
		{"F160401 14:17:37.97 store/check.go:16  copy: range=24 [/Sys/\"up-\x8b\"-/Sys/\"up-\x8c\"), checksum mismatch: e = " + ab + "01, v = " + ab[:20],
			""},
		{"F160401 14:17:37.97 store/check.go:16  copy: range=24 [/Sys/\"up-\x8b\"-/Sys/\"up-\x8c\"), checksum mismatch: e = " + ab + "01, v = 77e0" + ab,
			"1 one side=" + ab + "01 the other side=77e0" + ab},
		{"checksum mismatch at tick 7: 41 != 12:04:11.5 5f3a91c7", ""},
		{"Major checksum mismatch: replica [15:43:120]: checksum 1, replica [15:44:121]: checksum 2", "1 replica [15:43:120]=1 replica [15:44:121]=2"},
		{"The correct frame 120 checksum is 508030672FFBD971, but client B desynced: its checksum for frame 120 on client B is 875164D47C219510.",
			"1 frame 120 expected=508030672FFBD971 B=875164D47C219510 !B"},
		{"desync tick=77 expected_hash=12aa received_hash=12ab from=player_2", "1 tick 77 expected=12aa player_2=12ab !player_2"},
	} {
		if got := scanned(t, c.text); got != c.want {
			t.Errorf("%s\n got %s\nwant %s", c.text, got, c.want)
		}
	}
}

// TestUnsaid reads texts that have a word for a desync and report none, or one of data of another kind.
func TestUnsaid(t *testing.T) {
	for _, text := range []string{
		"size 3 != 4 (expected vs. actual)", "[sim] Replay mismatch in version 12: recorded 1.2, replayed 1.3", "[ui] component \"App.Main\" state mismatch at step 5",
		"Image hash mismatch height=1080: expected 52880fb4, got 92e5e579", "Server is not joined: version hash mismatch. Host: 1357847701 Ours: 4093699297", "Register out of sync: see docs", "[12:04:11] WARN Node out of sync. peers=3 height=12",
		"crc mismatch at block 1200: expected 52880fb44d6a7e83, got 92e5e5798da6d0a9", "save slot 1200: hash mismatch, expected 52880fb4, got 92e5e579",
		"Expected: 2671430657\nReceived: 2671430658\nfile a.zip has another checksum at step 5", "Expected: 26714306\nReceived: 26714307\nin tick 5",
		`<title>What is a desync?</title>`, `<map tick="5"><file name="a.png" hash="aa11bb22"/><file name="b.png" hash="aa11bb23"/></map>`,
		"tick 5 checksum\nExpected: 26714306\nReceived: 26714306",
		"", "we got desyncs since 1.2", "no desync at tick 5", "desync check passed at tick 7", "0 desyncs", "desyncs: 0", "desync: 3", "checksums match at tick 4",
		"version mismatch: 1.2 != 1.3", "protocol version mismatch: 12 != 13", "map checksum mismatch: 1234abcd != 5678abcd", "checksum mismatch in mods.zip: 1234abcd != 5678abcd",
		"- Fixed a desync at turn 5", "Fix out of sync in frame 0 of replays", "Is it out of sync at turn 5?", "desync_log.txt", "/var/log/desync/frame 5", "saved desync-report-2022-08-02.zip",
		"verifying module: checksum mismatch\n\tdownloaded: h1:abc\n\tgo.sum: h1:def",
		"SHA256 mismatch\nExpected: e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855\nActual: a3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b856",
		`log.Printf("desync at tick %d", tick)`, `if hash != other { // desync at frame 5`, "// desync at frame 5: local 1, remote 2", "if (frame != 5) desync(frame, 5);",
		"desync_detection = true", "desync.interval: 30", "enableDesyncLog=1", "--desync-frame 5", "  --oos N    write an out-of-sync report at turn N",
		"If you desync at turn 50, restart.", "How to debug a desync", "## Desync", "Multiplayer desync", "Out of sync", "OOS", "the async task finished at step 5: 1 != 2",
		"This never goes out of sync at turn 5.", "desync recovery at tick 5", "The clocks are out of sync.", "audio out of sync", "subtitle out of sync with video",
		`{"desync": false, "tick": 5}`, "at Game.Net.Desync.Check (Int32 frame) [0x00000]", "expected 4 players, got 3", "assertion failed: expected 5, got 6", "5 != 6",
		"FAIL: TestHash: hash should be stable", "CRC mismatch in frame 120 of stream 0", "npm ERR! integrity checksum failed: wanted sha512-abc but got sha512-def",
		"Wallet is out of sync with the chain.", "Your branch is out of sync with remote", "lockfile is out of sync with package.json", "FAIL: overlay desync detected",
		"Desync Detected on Bybit \u2014 Refetching Snapshot", "exit code 1 \u2014 desync detected (at least one signal fired)", "Test step 5: expected 10, got 12",
		"const a=b.mean(x);const d=x.map(y=>y.hash!=a);if(tick=5){desync(d)}", "Desync report\nframe 12 follows", `"specifi": [3, 4, 8], "sync": [3, 4], "server": [3, 4]`,
		"Mario Tennis always seems to desync around VI 1448", `The previously reported "5400 frames, 0 desyncs" is retracted`, "Out of sync at turn 5 is fixed",
		"Player 1 never moved during that test, but Player 2 heard at one point Player 1 was hit, triggering the consistency failure.", "the game will desync within 3 inputs",
		"Desync on turn 5 while loading no longer occurs", "Every row desynced within 500 to 2700 frames; every lossy row passed", "1. Start two clients\n2. wait 10 s\n3. out of sync",
		"Version mismatch:\nHost: 1.2\nClient: 1.3", "Map size mismatch:\nServer: 3\nClient: 4", "Score mismatch:\nAnn: 3\nBob: 4", "Hp mismatch:\nHost: 4\nClient: 4",
		"Fix state root mismatch", "document: invalid state root element", "committed state app_hash=" + ab + "01 height=7", "--- local.cfg\n+++ remote.cfg\n@@ -1,2 +1,2 @@\n-a: 1\n+a: 2\n",
		"The states:\n--- a.txt\n+++ b.txt\n@@ -1,2 +1,2 @@\n-a: 1\n+a: 2\n", "The states:\n--- local.txt\n+++ remote.txt\n@@ -1,2 +1,2 @@\n-version: 1\n+version: 2\n",
		"Desync list\n| Player | Client version | Server version |\n|---|---|---|\n| Bob | 1.2 | 1.3 |",
		"seed 41: 3 replays, diverges at tick 225 every time", "Sync layer requests roll back to frame N", "iframe out of sync", "sync error rate 5%", "state mismatch: expected CONNECTED, got IDLE",
	} {
		if got := scanned(t, text); got != "" {
			t.Errorf("%s\n got %s", text, got)
		}
	}
}

// TestAround reads the same statement with what people and programs put around it.
func TestAround(t *testing.T) {
	const said = "Simulation checksum mismatch on turn 134: local=0x1f31, remote=0x2f"
	const want = "1 turn 134 local=0x1f31 remote=0x2f by local"
	for _, text := range []string{
		said, said + "\r\n", "> " + said, ">> " + said, "&gt; " + said, "- " + said, "* " + said, "1. " + said, "+" + said, "-" + said, " " + said, "**" + said + "**", "`" + said + "`",
		"| " + said + " |", "\x1b[31m" + said + "\x1b[0m", "[12:04:11] " + said, "2026-03-02T18:04:11Z ERROR " + said, "Mar  2 18:04:11 [net] " + said, "<p><b>" + said + "</b></p>",
		"<tr><td>" + strings.Replace(said, ":", ":</td><td>", 1) + "</td></tr>", "[ERROR] net::sync: " + said, "E/Unity (1234): " + said, "[t=00:01:02.3][f=000134] " + said,
		"<span class=\"log\">" + strings.ReplaceAll(said, "=", "=&quot;") + "</span>", "\xef\xbb\xbf" + said, `[game.cpp:120] ` + said,
	} {
		got := scanned(t, strings.Replace(text, "```\n", "", 1))
		if i := strings.IndexByte(got, ' '); i < 0 || "1"+got[i:] != want {
			t.Errorf("%q\n got %s\nwant %s", text, got, want)
		}
	}
	for _, text := range []string{
		"Bob \u2014 Today at 12:04\n```\n" + said + "\n```\n", "\x00"[:0] + strings.Repeat("x\n", 200_000) + said + strings.Repeat("\ny", 200_000), strings.Repeat("z", 300_000) + "\n" + said,
	} {
		if got := scanned(t, text); !strings.HasSuffix(got, want[1:]) {
			t.Errorf("%.40q\n got %s\nwant %s", text, got, want)
		}
	}
}

// TestPieces gives a text in pieces of all lengths.
func TestPieces(t *testing.T) {
	text := "a\nOOS at turn 5\nAlice: 1a2b3c4d\nBob: 5e6f7a8b\n\n" + strings.Repeat("Turn 7\nnothing\n", 30_000) + "Out of sync in frame 9\n" + strings.Repeat("x", 70_000) + " desync at tick 5\nDesync at tick 6"
	want := scanned(t, text)
	if !strings.HasSuffix(want, "60006 frame 9 ~; 60008 frame 6 ~") && !strings.HasSuffix(want, "; 60008 turn 6 ~") {
		t.Errorf("%s", want)
	}
	one, err := Scan(iotest.OneByteReader(strings.NewReader(text)), "x")
	if err != nil {
		t.Fatal(err)
	}
	if got := shown(one); got != want {
		t.Errorf("byte by byte %s, at once %s", got, want)
	}
}

// TestRepository counts what is found in the documents and programs of the repository, which are about desyncs and quote
// statements, but report none themselves. Eight are verdicts of desynctool in a test, without the word that begins them.
func TestRepository(t *testing.T) {
	found := map[string]int{}
	err := filepath.WalkDir("../..", func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			if strings.HasPrefix(d.Name(), ".") && len(d.Name()) > 2 || d.Name() == "testdata" || d.Name() == "statements" {
				return fs.SkipDir
			}
			return nil
		}
		text, err := os.ReadFile(path)
		if err != nil || !d.Type().IsRegular() || bytes.IndexByte(text, 0) >= 0 {
			return err
		}
		log, err := Scan(bytes.NewReader(text), path)
		if err == nil && len(log.Claims) > 0 {
			found[filepath.Ext(path)] += len(log.Claims)
			for _, c := range log.Claims {
				t.Logf("%s:%d: %s", path, c.Pos.Line, c.Text)
			}
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if found[".go"] > 15 || found[".md"] > 20 || len(found) > 2 {
		t.Errorf("found %v", found)
	}
}

// TestShapes reads each message after many lines that differ from it in their numbers or in a word: no line is passed over
// because an earlier one was none.
func TestShapes(t *testing.T) {
	dull := []string{
		"Turn 134: checksum 1f31aa02, sync", "sync: tick 640 ours 5f3a91c7 theirs 5f3a91c7", "InGame:D9C721A5 Replay:D9C721A5 Frame:110", "[sync] Frame 617 checksum: 5f3a91c7",
		"no desync at turn 5", "0 desyncs in turn 5", "desync: 0", "state mismatch count: 12", "hash mismatch in map 1234abcd != 5678abcd",
	}
	for _, said := range []string{
		"Simulation checksum mismatch on turn 134: local=0x1f31, remote=0x2f", "sync: tick 640 ours 5f3a91c7 theirs 77e01f3b", "InGame:D9C721A5 Replay:D8A198C0 Frame:110",
		"desync at turn 5", "Desync: tick 12",
	} {
		alone := scanned(t, said)
		for _, times := range []int{3, 100} { // so many that they are not searched any more
			text := strings.Repeat(strings.Join(dull, "\n")+"\n", times)
			if got := scanned(t, text+said); alone == "" || got != fmt.Sprint(len(dull)*times+1)+alone[1:] {
				t.Errorf("%s\n got %s\nwant %s", said, got, alone)
			}
		}
	}
}

// TestStems: a line of a shape has a stem if all have, but for one stem.
func TestStems(t *testing.T) {
	for _, stem := range append(slices.Clone(stems), short[:]...) {
		if !textsearch.IsPlain(stem) && !hasOddStem([]byte(stem+" ")) {
			t.Errorf("%q may be a part of a number", stem)
		}
	}
	for text, want := range map[string]bool{"it SHOULD be": true, "should": false, "": false, "a should ": true} {
		if hasOddStem([]byte(text)) != want {
			t.Errorf("%q: %v", text, !want)
		}
	}
}

func FuzzScan(f *testing.F) {
	f.Add([]byte("Desync on frame 100. Local checksum: 7B, remote checksum: 1C8\n<b>x</b> &amp; \x1b[31m"))
	f.Add([]byte("OOS at turn 5\nAlice: 1a2b3c4d\nBob: 5e6f7a8b"))
	f.Add([]byte("[12:03] \"bob\" desynced player '2' (0 should be 216) != sync"))
	f.Fuzz(func(t *testing.T, text []byte) {
		log, err := Scan(bytes.NewReader(text), "x")
		if err != nil {
			t.Fatal(err)
		}
		lines := int64(bytes.Count(text, []byte("\n")) + 1)
		for _, c := range log.Claims {
			if c.Pos.Line < 1 || c.Pos.Line > lines || len(c.Text) > maxText+8 || c.HasTick && log.Dialect.TickName == nil {
				t.Fatalf("%+v", c)
			}
			for i := range c.Values {
				if len(c.Values) < 2 || c.Values[i].Value == "" {
					t.Fatalf("%+v", c)
				}
			}
		}
	})
}

func BenchmarkScan(b *testing.B) {
	line := "[12:04:11] INFO world: unit 1402 moved from 12,55 to 13,55 and waits for the others there (path 0x1f, cost 12.5)\n"
	text := []byte(strings.Repeat(line, 20_000))
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		if _, err := Scan(bytes.NewReader(text), "x"); err != nil {
			b.Fatal(err)
		}
	}
}

// TestSums compares hasSums with a pattern.
func TestSums(t *testing.T) {
	run := regexp.MustCompile(`[0-9a-f](?:x[0-9a-f]*|[0-9a-f]*)`)
	part := rapid.SampledFrom([]string{"0", "12", "617", "9f3acc", "0x", "0X", "x", "A", "ee", "g", "é", " ", ":", "577090037", "ffffff", " 123456 "})
	line := rapid.Map(rapid.SliceOfN(part, 0, 12), func(parts []string) string { return strings.Join(parts, "") })
	found := 0
	rapid.Check(t, func(t *rapid.T) {
		text := line.Draw(t, "line")
		low := strings.ToLower(text)
		var sums []string
		for _, at := range run.FindAllStringIndex(low, -1) {
			one := low[at[0]:at[1]]
			if len(one) >= minSum && strings.ContainsAny(one, "0123456789") && (at[1] == len(low) || !isLetter(low[at[1]])) && (at[0] == 0 || !isLetter(low[at[0]-1])) {
				sums = append(sums, one)
			}
		}
		differ := slices.ContainsFunc(sums, func(s string) bool { return s != sums[0] })
		if hasSums([]byte(text), true) != (len(sums) > 1) || hasSums([]byte(text), false) != differ {
			t.Fatalf("%q has the sums %q", text, sums)
		}
		found += len(sums)
	})
	if found == 0 {
		t.Fatal("no line had a sum")
	}
}

// TestDull: lines are searched for some time only for each shape that they have, unless their sums may make them
// statements.
func TestDull(t *testing.T) {
	var text strings.Builder
	for i := range 20_000 {
		fmt.Fprintf(&text, "net: packet %03d matched\nFrame %03d: the client expects 0x%08x\nunit %d moved\n", i%100+100, i%100+100, i+1<<20, i%10)
	}
	s, w := NewScanner("x"), textsearch.NewWindow(strings.NewReader(text.String()), "x")
	for search := s.Join(w); w.Next() == nil; {
		search()
	}
	if log := s.Log(); len(log.Claims) > 0 || w.Searched > int64(text.Len())/20 {
		t.Errorf("%d claims, %d of %d bytes were searched", len(log.Claims), w.Searched, text.Len())
	}
	equal := strings.Repeat("InGame:D9C721A5 Replay:D9C721A5 Frame:108\n", 3)
	before := scanned(t, equal)
	if got := scanned(t, equal+"InGame:D9C721A5 Replay:D8A198C0 Frame:110\n"); got == before || !strings.Contains(got, "frame 110") {
		t.Errorf("after lines of the same shape with equal sums: %q, and %q without the last line", got, before)
	}
}
