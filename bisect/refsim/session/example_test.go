package session_test

import (
	"fmt"
	"log"

	"github.com/desynctool/desynctool/bisect/refsim"
	"github.com/desynctool/desynctool/bisect/refsim/session"
)

func ExampleRecord() {
	fault, err := session.ParseFault("bit-flip/Combat@50:client")
	if err != nil {
		log.Fatal(err)
	}
	truth, err := session.Record(session.Options{
		Config: refsim.Config{Seed: 7, Entities: 200},
		Ticks:  100,
		Faults: []session.Fault{fault},
	}, session.Sink{
		Detected: func(point uint64) { fmt.Println("detected at state point", point) },
	})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(truth.Peer, "diverged in", *truth.System, *truth.Component)
	// Output:
	// detected at state point 51
	// client diverged in Combat Health
}
