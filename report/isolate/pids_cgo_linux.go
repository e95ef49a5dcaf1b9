//go:build cgo

package isolate

// pids is nothing in a program with C code: package psx then looks for the program's threads in /proc, where they have
// other numbers.
const pids = 0
