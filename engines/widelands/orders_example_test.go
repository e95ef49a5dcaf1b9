package widelands_test

import (
	"fmt"
	"io"
	"log"
	"strings"

	"github.com/desynctool/desynctool/engines/widelands"
)

func ExampleStream() {
	stream := "\x68\x97\x76\x02\x00\x80\x00\x00\x00" + "\x95\x30\x01\x00\x00\x0b" + "\x84\x2a\x00\x00\x00"
	s, err := widelands.NewStream(strings.NewReader(stream), "2026-11-20T08.55.13_nethost.wrpl.wss")
	if err != nil {
		log.Fatal(err)
	}
	for {
		e, err := s.Next()
		if err == io.EOF {
			break
		}
		if err != nil {
			log.Fatal(err)
		}
		fmt.Print(e.Clock, " ", widelands.CommandName(e.Command), ": ", e.Kind)
		for i := range e.Kind.NumFields() {
			fmt.Printf(" %s=%d", e.Kind.FieldName(i), e.Value(i))
		}
		fmt.Println()
	}
	// Output:
	// 161431 Act: RunQueue due=161431 command=128
	// 161431 Act: CmdAct serial=304 type=11
	// 161431 Act: Random value=42
}
