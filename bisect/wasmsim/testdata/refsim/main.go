// Command refsim is the reference sim as a WebAssembly module:
//
//	GOOS=wasip1 GOARCH=wasm go build -buildmode=c-shared -o refsim.wasm
//
// With -ldflags "-X main.fault=NAME/PLACE@TICK" it has a mistake.
package main

import (
	"fmt"
	"os"
	"unsafe"

	"github.com/desynctool/desynctool/bisect/extsim"
	"github.com/desynctool/desynctool/bisect/refsim"
)

var (
	fault   string
	server  = extsim.NewServer(refsim.Simulator(mistakes()...), refsim.SimName)
	request []byte
	reply   []byte
)

//go:wasmexport desynctool_alloc
func alloc(n uint32) uint32 {
	request = make([]byte, max(n, 1))
	return address(request)
}

//go:wasmexport desynctool_request
func handle(_, n uint32) uint64 {
	var err error
	if reply, err = server.Answer(request[:n]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		panic(err)
	}
	return uint64(address(reply))<<32 | uint64(len(reply))
}

func mistakes() []refsim.Fault {
	if fault == "" {
		return nil
	}
	f, _, err := refsim.ParseFault(fault)
	if err != nil {
		panic(err)
	}
	return []refsim.Fault{f}
}

func address(b []byte) uint32 { return uint32(uintptr(unsafe.Pointer(unsafe.SliceData(b)))) }

func main() {}
