package vocabulary_test

import (
	"strings"
	"testing"

	"github.com/desynctool/desynctool/anygame/vocabulary"
)

func TestOf(t *testing.T) {
	for meaning, names := range map[vocabulary.Meaning]string{
		vocabulary.Tick:    "tick Frame TURN simFrame net_frame frame_number tickCount turnNo hash_frame GameTick current_tick netFrameIdx Takt tur Такт",
		vocabulary.Sum:     "hash checksum CRC crc32 sha256 md5 stateHash sync_hash frame_checksum fnv1a xxh64 syncChecksum statehash StateHash64 Prüfsummen ХЕШ",
		vocabulary.WeakSum: "sync rng random_state rngState sum",
		vocabulary.Player:  "player player_id peer clientNumber Slot",
		vocabulary.Measure: "frame_time tickRate hash_size ms ping player_count uuid ptr hashCount req requestNonce trace_span",
		vocabulary.Other:   "units gold physics x players hashes",
	} {
		for _, name := range strings.Fields(names) {
			if got := vocabulary.Of(name); got != meaning {
				t.Errorf("%s: %d, want %d", name, got, meaning)
			}
		}
	}
}

func TestStatesAndInputs(t *testing.T) {
	for name, want := range map[string][2]bool{
		"hp": {true, false}, "playerGold": {true, false}, "pos.x": {true, false}, "buttons": {false, true}, "stick_x": {true, true},
		"player": {}, "hpx": {}, "": {}, "gol": {},
	} {
		if got := [2]bool{vocabulary.InState(name), vocabulary.IsInput(name)}; got != want {
			t.Errorf("%s: in a state and an input: %v, want %v", name, got, want)
		}
	}
}

func TestParts(t *testing.T) {
	for name, want := range map[string]string{
		"simFrame": "sim frame", "SIM_FRAME": "sim frame", "HTTPServer2Port": "http server port", "": "", "_1_": "", "a": "a", "Größe": "größe",
	} {
		if got := strings.Join(vocabulary.Parts(name), " "); got != want {
			t.Errorf("%q: %q, want %q", name, got, want)
		}
	}
}
