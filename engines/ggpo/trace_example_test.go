package ggpo_test

import (
	"fmt"
	"log"

	"github.com/desynctool/desynctool/engines/ggpo"
	"github.com/desynctool/desynctool/internal/file/files"
	"github.com/desynctool/desynctool/tracediff"
)

// The message with which it logs the state of a frame.
func ExampleFormat() {
	format := ggpo.TraceFormat()
	claims, err := tracediff.ReadClaims(files.Disk, "../../testdata/ggpo/vectorwar/synclogs/state-0013-replay.log", &format, tracediff.ReadOptions{})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(claims.Peer, "of", claims.Dialect.Engine)
	for _, c := range claims.Claims {
		fmt.Println(c.Text)
	}
	// Output:
	// second run of GGPO
	// state-0013-replay.log is there: the checksum of frame 13 was another one when it was played again
}
