// Command desynctool-wasm runs a simulator in the form of a WebAssembly module, for desynctool --sim wasm:FILE. See
// docs/extsim.md.
package main

import (
	"os"

	"github.com/desynctool/desynctool/cmd/desynctool-wasm/wasmprogram"
)

func main() { os.Exit(wasmprogram.Main(os.Args[1:], os.Stdin, os.Stdout, os.Stderr)) }
