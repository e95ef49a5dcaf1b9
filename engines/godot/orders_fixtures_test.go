package godot_test

import (
	"path/filepath"
	"testing"

	"github.com/desynctool/desynctool/internal/testkit/pinned"
)

const ordersCorpus = "../../testdata/godot-rollback"

// vector is a Vector2 as the addon makes a dictionary of it.
func vector(x, y float64) dict { return dict{"_", "Vector2", "x", x, "y", y} }

// tank is a game of twelve ticks with Godot 3, in which peer 2 moves the client's tank otherwise in tick
// 8, by one bit of a float of 32 bits.
func ordersTank(peer int) []byte {
	var log []dict
	state := func(tick int) dict {
		y := 480.25 - 0.5*float64(tick)
		if peer == 2 && tick >= 8 {
			y += 1.0 / (1 << 15)
		}
		s := dict{
			"/root/Main/ServerPlayer", dict{"position", vector(64+8*float64(tick), 96), "health", 100, "_anim", 0.25 * float64(tick*peer)},
			"/root/Main/ClientPlayer", dict{"position", vector(320, y), "health", 100 - tick/4, "ammo", []any{3, 12 - tick, nil}, "_anim", 0.5},
			"/root/Main/Johnny", dict{"state", 7046029254386353131 + tick},
		}
		if tick >= 6 {
			s = append(s, "/root/Main/Bullet1", dict{"position", vector(70+16*float64(tick), 96), "owner", "/root/Main/ServerPlayer"})
		}
		return s
	}
	log = append(log, logHeader(peer, dict{"map", "plains", "rounds", 3}), logState(0, state(0)), logState(0, state(0)))
	for tick := 1; tick <= 12; tick++ {
		log = append(log, logFrame(tick), logInput(tick, dict{
			1, dict{"/root/Main/ServerPlayer", dict{0, vector(1, 0)}},
			2, dict{},
		}), logState(tick, state(tick)))
	}
	log = append(log, logFrame(12, "fatal_error", true, "fatal_error_message", "Fatal state mismatch"))
	return logContent(3, log...)
}

// input is a game of six ticks with Godot 4, in which player 77 pressed something else in tick 4 than what peer
// 1 got.
func input(peer int) []byte {
	log := []dict{logHeader(peer, dict{})}
	gold := 0
	for tick := 0; tick <= 6; tick++ {
		pressed := 3
		if tick == 4 && peer == 1 {
			pressed = 5
		}
		if tick > 0 {
			gold += pressed
			log = append(log, logInput(tick, dict{1, dict{"/root/Game", dict{"pressed", 1}}, 77, dict{"/root/Game", dict{"pressed", pressed}}}))
		}
		log = append(log, logState(tick, dict{"/root/Game", dict{"gold", gold, "place", numbersValue(6, 4, uint32(tick))}}))
	}
	return logContent(4, log...)
}

// fixtures are the files of the corpus, by name.
func fixtures() map[string][]byte {
	return map[string][]byte{
		"tank/20240115-180402-peer-1.log":          packLog(ordersTank(1)),
		"tank/20240115-180402-peer-2.log":          packLog(ordersTank(2)),
		"input/host/20250301-090000-peer-1.log":    packLog(input(1)),
		"input/client/20250301-090001-peer-77.log": packLog(input(77)),
	}
}

// TestFixtures: the files are what their program here writes.
func TestFixtures(t *testing.T) {
	for name, want := range fixtures() {
		pinned.File(t, filepath.Join(ordersCorpus, filepath.FromSlash(name)), want)
	}
}
