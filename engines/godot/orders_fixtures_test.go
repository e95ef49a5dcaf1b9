package godot_test

import (
	"path/filepath"
	"testing"

	"github.com/desynctool/desynctool/engines/godot/godottest"
	"github.com/desynctool/desynctool/internal/testkit/pinned"
)

const ordersCorpus = "../../testdata/godot-rollback"

type ordersDict = godottest.Dict

// vector is a Vector2 as the addon makes a dictionary of it.
func vector(x, y float64) ordersDict { return ordersDict{"_", "Vector2", "x", x, "y", y} }

// tank is a game of twelve ticks with Godot 3, in which peer 2 moves the client's tank otherwise in tick
// 8, by one bit of a float of 32 bits.
func ordersTank(peer int) []byte {
	var log []ordersDict
	state := func(tick int) ordersDict {
		y := 480.25 - 0.5*float64(tick)
		if peer == 2 && tick >= 8 {
			y += 1.0 / (1 << 15)
		}
		s := ordersDict{
			"/root/Main/ServerPlayer", ordersDict{"position", vector(64+8*float64(tick), 96), "health", 100, "_anim", 0.25 * float64(tick*peer)},
			"/root/Main/ClientPlayer", ordersDict{"position", vector(320, y), "health", 100 - tick/4, "ammo", []any{3, 12 - tick, nil}, "_anim", 0.5},
			"/root/Main/Johnny", ordersDict{"state", 7046029254386353131 + tick},
		}
		if tick >= 6 {
			s = append(s, "/root/Main/Bullet1", ordersDict{"position", vector(70+16*float64(tick), 96), "owner", "/root/Main/ServerPlayer"})
		}
		return s
	}
	log = append(log, godottest.Header(peer, ordersDict{"map", "plains", "rounds", 3}), godottest.State(0, state(0)), godottest.State(0, state(0)))
	for tick := 1; tick <= 12; tick++ {
		log = append(log, godottest.Frame(tick), godottest.Input(tick, ordersDict{
			1, ordersDict{"/root/Main/ServerPlayer", ordersDict{0, vector(1, 0)}},
			2, ordersDict{},
		}), godottest.State(tick, state(tick)))
	}
	log = append(log, godottest.Frame(12, "fatal_error", true, "fatal_error_message", "Fatal state mismatch"))
	return godottest.Content(3, log...)
}

// input is a game of six ticks with Godot 4, in which player 77 pressed something else in tick 4 than what peer
// 1 got.
func input(peer int) []byte {
	log := []ordersDict{godottest.Header(peer, ordersDict{})}
	gold := 0
	for tick := 0; tick <= 6; tick++ {
		pressed := 3
		if tick == 4 && peer == 1 {
			pressed = 5
		}
		if tick > 0 {
			gold += pressed
			log = append(log, godottest.Input(tick, ordersDict{1, ordersDict{"/root/Game", ordersDict{"pressed", 1}}, 77, ordersDict{"/root/Game", ordersDict{"pressed", pressed}}}))
		}
		log = append(log, godottest.State(tick, ordersDict{"/root/Game", ordersDict{"gold", gold, "place", godottest.Numbers(6, 4, uint32(tick))}}))
	}
	return godottest.Content(4, log...)
}

// fixtures are the files of the corpus, by name.
func fixtures() map[string][]byte {
	return map[string][]byte{
		"tank/20240115-180402-peer-1.log":          godottest.Pack(ordersTank(1)),
		"tank/20240115-180402-peer-2.log":          godottest.Pack(ordersTank(2)),
		"input/host/20250301-090000-peer-1.log":    godottest.Pack(input(1)),
		"input/client/20250301-090001-peer-77.log": godottest.Pack(input(77)),
	}
}

// TestFixtures: the files are what their program here writes.
func TestFixtures(t *testing.T) {
	for name, want := range fixtures() {
		pinned.File(t, filepath.Join(ordersCorpus, filepath.FromSlash(name)), want)
	}
}
