package openttd_test

import (
	"context"
	"errors"
	"fmt"

	"github.com/desynctool/desynctool/engines/engine"
	"github.com/desynctool/desynctool/engines/openttd"
)

// A program that does not report that it is OpenTTD plays nothing.
func ExampleGame() {
	p := &engine.Program{Path: "/usr/bin/true", Ask: func(context.Context, ...string) (string, error) { return "", nil }}
	err := openttd.Game().Check(context.Background(), p, &engine.Recording{Path: "server/commands-out.log"})
	var refused *engine.Refusal
	fmt.Println(errors.As(err, &refused), refused.Why)
	// Output:
	// true true -h does not name OpenTTD
}
