package code

import "fmt"

func Example() {
	fmt.Println(Stack{
		{Function: "step_combat", File: `src\combat.c`, Line: 88, Module: "game", Offset: 0x1200},
		{Function: "game_tick", Module: "game", Offset: 0x1300},
		{Module: "/opt/game", Offset: 0x1400},
	})
	// Output: step_combat (combat.c:88) ← game_tick ← game+0x1400
}
