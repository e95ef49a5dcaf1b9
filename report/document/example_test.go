package document_test

import (
	"log"
	"os"

	"github.com/desynctool/desynctool/report/document"
	"github.com/desynctool/desynctool/snapshot"
)

func ExampleDiff() {
	state := func(hp int64) snapshot.State {
		c := snapshot.NewColumn("Health", "hp", snapshot.I32, 0)
		c.AppendInt(hp)
		s, err := snapshot.Hold(&snapshot.World{Tables: []snapshot.Table{{
			Label: "Infantry", Keys: snapshot.Keys{A: []uint64{8}}, Columns: []snapshot.Column{c},
		}}})
		if err != nil {
			log.Fatal(err)
		}
		return s
	}
	d, err := snapshot.Compare(state(40), state(41), snapshot.DiffOptions{})
	if err != nil {
		log.Fatal(err)
	}
	if err := document.Diff(d, [2]string{"host", "client"}, nil).Text(os.Stdout, document.NewStyle(false), false); err != nil {
		log.Fatal(err)
	}
	// Output:
	// DIVERGED  at state point 0  host | client
	// Infantry  1 value differs
	//   8  Health.hp  40 | 41  integer, 1 bit
}
