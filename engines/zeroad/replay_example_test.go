package zeroad_test

import (
	"context"
	"fmt"

	"github.com/desynctool/desynctool/engines/engine"
	"github.com/desynctool/desynctool/engines/zeroad"
	"github.com/desynctool/desynctool/orderlog"
)

// Why a recording cannot be played is known before the game starts.
func ExampleGame() {
	game := zeroad.Game()
	program := &engine.Program{Path: "pyrogenesis"}
	joined := &engine.Recording{Path: "client/commands.txt", Header: orderlog.Header{
		FirstPoint: 37, Params: map[string]string{zeroad.ParamStart: `{"map":"maps/scenarios/arcadia","mods":[]}`},
	}}
	fmt.Println(game.Title, game.Modes)
	fmt.Println(game.Check(context.Background(), program, joined))
	// Output:
	// 0 A.D. [serialize rejoin]
	// client/commands.txt: it begins at turn 37: this peer joined then, and the state that it was sent is not in it; a recording of a peer that played from the start is needed
}
