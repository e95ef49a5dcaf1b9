package warzone

import (
	"testing"
)

// TestWrong takes lines that 4.3.3 has printed, and some that it has not.
func TestWrong(t *testing.T) {
	const said = "error   |18:56:33: [recvPlayerGameTime:474] Found CRC error when receiving GAME_GAME_TIME for player: 1 (checkTime: 25702, checkCrc: 25236)"
	if got, ok := parseWrong(said + "\n"); !ok || got != (wrong{key{1, 25702}, 0x6294}) {
		t.Error(got, ok)
	}
	for _, line := range []string{
		"", "error   |18:56:33: [dumpDebugSync:5101] Dumped spectator 23's sync error at gameTime 25702 to file: x/logs/desync25702_p23.txt",
		"[x] Found CRC error when receiving GAME_GAME_TIME for player: 256 (checkTime: 25702, checkCrc: 25236)",
		"[x] Found CRC error when receiving GAME_GAME_TIME for player: 1 (checkTime: -1, checkCrc: 25236)",
		"[x] Found CRC error when receiving GAME_GAME_TIME for player: 1 (checkTime: 25702, checkCrc: 65536)",
		"[x] Found CRC error when receiving GAME_GAME_TIME for player: 1 (checkTime: 25702, checkCrc: 25236",
	} {
		if got, ok := parseWrong(line); ok {
			t.Errorf("%q: %v", line, got)
		}
	}
}

// TestRead writes and reads the lines of a dump that report that a message was read; the first is a real one.
func TestRead(t *testing.T) {
	const said = "[recvPlayerGameTime] GAME_GAME_TIME p0;lat10,ct24702,crc056A,wlat1235\n"
	rep, ok := parseRead([]byte(said))
	want := report{0, GameTime{Latency: 10, CheckTime: 24702, CRC: 0x056A, WantedLatency: 1235}}
	if !ok || rep != want || string(readLine(rep)) != said {
		t.Errorf("%+v %v, %q", rep, ok, readLine(rep))
	}
	for _, line := range []string{"", "\n", "[recvPlayerGameTime] GAME_GAME_TIME p0;lat10,ct24702\n", "[recvPlayerGameTime] GAME_GAME_TIME p256;lat10,ct24702,crc056A,wlat1235\n"} {
		if rep, ok := parseRead([]byte(line)); ok {
			t.Errorf("%q: %+v", line, rep)
		}
	}
}

// TestBlank checks that after a blank report a queue is read as far as after the report that it replaces: the game
// compares with times that are 2 more than a multiple of 100.
func TestBlank(t *testing.T) {
	for time := uint32(102); time < 3000; time += 100 {
		for latency := range uint32(12) {
			was := report{1, GameTime{Latency: latency, CheckTime: time, CRC: 7, WantedLatency: 9}}
			now := blank(was)
			if now.CheckTime != 0 || now.CRC != 0 || now.WantedLatency != 9 {
				t.Fatalf("%+v", now)
			}
			for at := uint32(2); at < 5000; at += 100 {
				if a, b := at > time+100*latency, at > 100*now.Latency; a != b {
					t.Fatalf("%d %d: at %d read on %v, as a blank %v", time, latency, at, a, b)
				}
			}
		}
	}
}
