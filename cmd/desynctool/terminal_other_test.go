//go:build !linux

package main

import (
	"fmt"
	"os"
)

// terminal is there on Linux only; scripts that use it are skipped elsewhere.
func terminal() {
	fmt.Fprintln(os.Stderr, "terminal: only on Linux")
	os.Exit(1)
}
