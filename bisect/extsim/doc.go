// Package extsim replays logs in simulators outside this process: a studio's own
// headless game, in any language.
//
// # Protocol
//
// Both sides exchange frames: a u32, little-endian, the length of the rest, and one MessagePack value of that length. A
// request is [id, method, [parameter...]], its reply [id, error, result], where error is nil or a string. Replies come
// in the order of the requests, and each has the id of its request. Hashes are the 8 bytes of a sync hash; headers and
// orders are encoded as in an order log, see package orderlog.
//
//	hello     [version u, client str]        {"protocol": u, "name": str, "build": str,
//	                                          "can": [str...], "max_request": u,
//	                                          "max_restore": u}
//	start     [header]                       [point u, hash]
//	step      [tick u, [[order...]...]]      bin, 8 bytes after each tick
//	state     []                             bin, a .snap                      "state"
//	save      []                             bin, in the target's own form     "save"
//	restore   [bin]                          [point u, hash]                   "save"
//	load      [bin, header or nil]           [point u, hash]                   "load"
//	begin     [tick u, [order...]]           nil                               "systems"
//	next      []                             [system str, more bool, hash]     "systems"
//	caches    []                             [str...]                          "caches"
//	validate  [tick u, [order...]]           [str...], one for each order      "validate"
//	test      [tick u, order]                [possible bool, hash]             "test"
//	predict   [tick u, player u, [order...]] hash                              "predict"
//	orders    []                             map, see docs/extsim.md           "orders"
//	where     [archetype str, column str,
//	           key u, key2 u]                [address u, bytes u]              "where"
//	branches  [mode u, file str, stop u]     [[thread u, count u, hash u]...]  "branches"
//
// The last column names the capability by which a target announces a request; the first three requests are for every
// target. docs/extsim.md specifies the protocol for other languages, byte by byte.
//
// # How a target is reached
//
// [New] starts a command and talks to it over its stdin and stdout, or over a socket that it connects to, since some
// engines print to stdout. Its stderr is its log; the last line becomes part of an error. [Serve] is the other side,
// for simulators in Go. [Check] finds out what a target gets wrong.
package extsim

import (
	"fmt"
	"time"

	"github.com/desynctool/desynctool/bisect"
)

// Version is the version of the protocol.
const Version = 1

// methods of the protocol.
const (
	helloMethod    = "hello"
	startMethod    = "start"
	stepMethod     = "step"
	stateMethod    = "state"
	saveMethod     = "save"
	restoreMethod  = "restore"
	loadMethod     = "load"
	beginMethod    = "begin"
	nextMethod     = "next"
	cachesMethod   = "caches"
	validateMethod = "validate"
	testMethod     = "test"
	predictMethod  = "predict"
	ordersMethod   = "orders"
	whereMethod    = "where"
	branchesMethod = "branches"
)

// needs is the capability that each optional request needs.
var needs = map[string]bisect.Capability{
	stateMethod: bisect.CanState, saveMethod: bisect.CanSave, restoreMethod: bisect.CanSave, loadMethod: bisect.CanLoad,
	beginMethod: bisect.CanSystems, nextMethod: bisect.CanSystems, cachesMethod: bisect.CanCaches,
	validateMethod: bisect.CanValidate, testMethod: bisect.CanTest, predictMethod: bisect.CanPredict, ordersMethod: bisect.CanOrders,
	whereMethod:    bisect.CanWhere,
	branchesMethod: bisect.CanBranches,
}

// Limits of frames, in bytes.
const (
	// DefaultMaxRequest is the largest request to a target that does not report how much it takes.
	DefaultMaxRequest = 16 << 20
	// maxReply is the largest reply, except for the states of state and save.
	maxReply = 16 << 20
	// maxState is the largest state, in a reply or in a request that Serve takes.
	maxState = 1 << 30
	// maxSave is the largest save: an image of 1 GiB, and what surrounds it.
	maxSave = maxState + 1<<20
)

// Deadlines for a request, and for the exit after the connection ends.
const (
	DefaultTimeout = time.Minute
	leaveTimeout   = 5 * time.Second
)

// ErrUnsupported is wrapped by the error of a request that a target has not announced.
var ErrUnsupported = bisect.ErrUnsupported

// RefusedError is the error that a target answers to a request. It still runs.
type RefusedError struct{ Msg string }

func (e *RefusedError) Error() string { return "the target refuses: " + e.Msg }

// BrokenError describes how a target broke off or broke the protocol. It no longer runs.
type BrokenError struct {
	Kind BrokenKind
	Msg  string
	Said string // the last line of its log, empty if there is none
}

// BrokenKind is the kind of error of a target.
type BrokenKind string

// Kinds of a BrokenError.
const (
	Malformed BrokenKind = "malformed" // it broke the protocol
	Died      BrokenKind = "died"      // it ended, or closed the connection
	Silent    BrokenKind = "silent"    // it did not answer in time
)

// SilentError is the error of a Call that was not answered in time.
type SilentError struct{ After time.Duration }

func (e SilentError) Error() string { return fmt.Sprintf("no answer within %v", e.After) }

func (e *BrokenError) Error() string {
	if e.Said == "" {
		return e.Msg
	}
	return e.Msg + ", having said " + quote(e.Said)
}
