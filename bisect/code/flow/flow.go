// Package flow compares the branches that two builds of a simulation took in a tick.
//
// A build that was compiled with -fsanitize-coverage records its branches by docs/sdk/c/desynctool_branches.h; docs/code.md
// specifies the file. [Read] opens it, [Recording.Branches] reads the branches of a thread, and [Find] lets two
// simulators record the same tick and returns where they went different ways.
package flow
