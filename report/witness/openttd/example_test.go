package openttd_test

import (
	"context"
	"errors"
	"fmt"

	"github.com/desynctool/desynctool/report/witness"
	"github.com/desynctool/desynctool/report/witness/openttd"
)

// A program that does not say that it is OpenTTD plays nothing.
func ExampleGame() {
	p := &witness.Program{Path: "/usr/bin/true", Ask: func(context.Context, ...string) (string, error) { return "", nil }}
	err := openttd.Game().Check(context.Background(), p, &witness.Recording{Path: "server/commands-out.log"})
	var refused *witness.Refusal
	fmt.Println(errors.As(err, &refused), refused.Why)
	// Output:
	// true true -h does not say that it is OpenTTD
}
