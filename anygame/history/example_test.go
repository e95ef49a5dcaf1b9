package history_test

import (
	"fmt"
	"os"
	"strings"

	"github.com/desynctool/desynctool/anygame/history"
	"github.com/desynctool/desynctool/notation"
	"github.com/desynctool/desynctool/tracediff"
)

// The checksums of a game that nobody described.
func ExampleLearn() {
	const text = `{"match": 77, "checksums": {"0": "F4DBDF21", "5": "83dcefb7", "10": "1ad5be0d"}}`
	h := history.Learn(notation.Of("a.json", []byte(text), true), []byte(text))
	source, err := h.Format().Read(strings.NewReader(text), "a.json", 0)
	if err != nil {
		fmt.Println(err)
		return
	}
	if err := tracediff.WriteSource(os.Stdout, source); err != nil {
		fmt.Println(err)
	}
	// Output:
	// %desynctool trace 1
	// tick=0 sum=0xf4dbdf21
	// tick=5 sum=0x83dcefb7
	// tick=10 sum=0x1ad5be0d
	// %end
}
