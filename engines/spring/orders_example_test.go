package spring_test

import (
	"fmt"
	"log"
	"os"

	"github.com/desynctool/desynctool/engines/spring"
	"github.com/desynctool/desynctool/internal/file/compression"
)

// What a server wrote of desyncs into its log.
func ExampleReadInfolog() {
	const name = "../../testdata/spring/pos_1ulp/server/infolog.txt.gz"
	f, err := os.Open(name)
	if err != nil {
		log.Fatal(err)
	}
	defer f.Close()
	content, _, err := compression.Unpack(f, 0)
	if err != nil {
		log.Fatal(err)
	}
	infolog, err := spring.ReadInfolog(content, name)
	if err != nil {
		log.Fatal(err)
	}
	e := infolog.Errors[0]
	fmt.Printf("frame %d, %s: %08x, the server takes %08x for right\n", e.Frame, e.Players, e.Got, e.Correct)
	// Output: frame 712, [Carol]: 21f149fb, the server takes b5ba46e3 for right
}
