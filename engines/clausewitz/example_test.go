package clausewitz_test

import (
	"fmt"
	"log"
	"os"

	"github.com/desynctool/desynctool/engines/clausewitz"
)

// The first message of a desync in a log.
func ExampleEngine() {
	f, err := os.Open("../../testdata/loglines/crusaderkings3.log")
	if err != nil {
		log.Fatal(err)
	}
	defer f.Close()
	found, err := clausewitz.Engine().Messages.Read(f, "crusaderkings3.log")
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(found.Dialect.Engine)
	fmt.Println(found.Claims[0].Text[:len("Out of sync! Dumping checksums")])
	// Output:
	// Clausewitz
	// Out of sync! Dumping checksums
}
