// Package gdb finds the first write of a tick that two builds of a game make differently.
//
// It starts both builds under gdb, lets them play to the beginning of the tick, and watches the memory of the first values
// that differ after it. The commands go over the machine interface of gdb; no Python and no special build is needed, only
// debug information for the names of lines.
package gdb
