package messages_test

import (
	"fmt"
	"log"
	"os"

	"github.com/desynctool/desynctool/engines"
	"github.com/desynctool/desynctool/engines/engine/messages"
)

// What GGRS wrote into a game's log.
func ExampleScan() {
	const name = "../../../testdata/loglines/ggrs.log"
	f, err := os.Open(name)
	if err != nil {
		log.Fatal(err)
	}
	defer f.Close()
	found, err := messages.Scan(f, name, engines.Messages())
	if err != nil {
		log.Fatal(err)
	}
	for _, c := range found.Claims[:2] {
		fmt.Printf("line %d, tick %d: %s\n", c.Pos.Line, c.Tick, c.Text)
	}
	// Output:
	// line 2, tick 100: DesyncDetected { frame: 100, local_checksum: 60519120394857162738495061728394, remote_checksum: 456, addr: 127.0.0.1:7001 }
	// line 3, tick 200: DesyncDetected { frame: 200, local_checksum: 0, remote_checksum: 7, addr: PeerId(7f1d2c9e-0b1a-4b7e-9f55-1c8a3e2d4f60) }
}
