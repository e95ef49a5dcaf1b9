package hunt_test

import (
	"context"
	"fmt"

	"github.com/desynctool/desynctool/bisect/hunt"
	"github.com/desynctool/desynctool/bisect/refsim"
)

// A save that forgets a field: sessions are made up until one shows it, and become small.
func Example() {
	h, err := hunt.New(hunt.Target{Sim: refsim.Simulator(refsim.Fault{Name: "save-omits-field", Place: "Movement"})})
	if err != nil {
		fmt.Println(err)
		return
	}
	r, err := h.Run(context.Background(), h.Begin(1), nil, hunt.Options{Sessions: 1})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, f := range r.Findings {
		fmt.Printf("%s, seed %#x: %d order, %d ticks\n", f.Name(), f.Seed, f.Smaller.Orders, f.Smaller.Ticks)
	}
	// Output:
	// serialize, Transport/Fatigue.level, float, seed 0x1: 1 order, 6 ticks
}
