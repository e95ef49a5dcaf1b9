package faf_test

import (
	"fmt"
	"log"
	"os"

	"github.com/desynctool/desynctool/engines/faf"
)

// The first message of a desync in a log.
func ExampleEngine() {
	f, err := os.Open("../../testdata/loglines/faf-1.log")
	if err != nil {
		log.Fatal(err)
	}
	defer f.Close()
	found, err := faf.Engine().Messages.Read(f, "faf-1.log")
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(found.Dialect.Engine)
	fmt.Println(found.Claims[0].Text)
	// Output:
	// Supreme Commander: Forged Alliance
	// Checksum for beat 1950 mismatched: 00cc3e2923949f4304ca537e1de5d1fb (sim) != afb4d6814241642358c83b0ca9a919d9 (Birchwater).
}
