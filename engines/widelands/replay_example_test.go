package widelands_test

import (
	"context"
	"fmt"

	"github.com/desynctool/desynctool/engines/engine"
	"github.com/desynctool/desynctool/engines/engine/gamereplay"
	"github.com/desynctool/desynctool/engines/widelands"
)

// A replay without the saved game that it begins with cannot be played: the game writes both.
func ExampleGame() {
	w := &gamereplay.Witness{Game: widelands.Game(), Spec: "widelands"}
	rec := &engine.Recording{Path: "host/2026-11-20T08.55.13_nethost.wrpl", File: "2026-11-20T08.55.13_nethost.wrpl", Format: "widelands-replay"}
	fmt.Println(w.Check(context.Background(), rec))
	// Output:
	// host/2026-11-20T08.55.13_nethost.wrpl: 2026-11-20T08.55.13_nethost.wrpl.wgf is not there, the saved game that the replay begins with
}
