package gekkonet_test

import (
	"fmt"
	"log"
	"os"

	"github.com/desynctool/desynctool/engines/gekkonet"
)

// The first message of a desync in a log.
func ExampleEngine() {
	f, err := os.Open("../../testdata/loglines/gekkonet.log")
	if err != nil {
		log.Fatal(err)
	}
	defer f.Close()
	found, err := gekkonet.Engine().Messages.Read(f, "gekkonet.log")
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(found.Dialect.Engine)
	fmt.Println(found.Claims[0].Text)
	// Output:
	// GekkoNet
	// DESYNC!!! f:240, rh:1, lc:2918735012, rc:17
}
