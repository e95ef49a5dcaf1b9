package minimize_test

import (
	"context"
	"fmt"
	"log"

	"github.com/desynctool/desynctool/bisect/minimize"
	"github.com/desynctool/desynctool/orderlog"
	"github.com/desynctool/desynctool/snapshot"
)

// needs is a Test that diverges where two orders are both given.
type needs [2]string

func (n needs) Name() string { return "both orders" }

func (n needs) Run(_ context.Context, c *minimize.Candidate, _ *snapshot.World) (minimize.Outcome, error) {
	found := map[string]bool{}
	for _, o := range c.Orders() {
		found[string(o.Payload)] = true
	}
	out := minimize.Outcome{Verdict: minimize.InSync, Replays: 1, Ticks: c.Until()}
	if found[n[0]] && found[n[1]] {
		out.Verdict, out.Signature = minimize.Diverges, minimize.Signature{Archetype: "Infantry", Kind: "integer"}
	}
	return out, nil
}

// The two of a hundred orders without which nothing goes wrong.
func ExampleRun() {
	session := &orderlog.Log{Header: orderlog.Header{Seed: 7, Kinds: []orderlog.OrderKind{{Name: "move"}}}}
	for tick := range uint64(100) {
		order := orderlog.Order{Tick: tick, Player: 1, Payload: fmt.Append(nil, "to ", tick)}
		session.Ticks = append(session.Ticks, orderlog.Tick{Number: tick, Orders: []orderlog.Order{order}})
	}
	in, err := minimize.NewInput(session, nil)
	if err != nil {
		log.Fatal(err)
	}
	r, err := minimize.Run(context.Background(), in, needs{"to 17", "to 42"}, minimize.Options{})
	if err != nil {
		log.Fatal(err)
	}
	for _, o := range r.Best.Orders() {
		fmt.Printf("tick %d: %s\n", o.Tick, o.Payload)
	}
	fmt.Printf("up to state point %d, %s\n", r.Best.Until(), r.Signature)
	// Output:
	// tick 17: to 17
	// tick 42: to 42
	// up to state point 43, Infantry, integer
}
