// Package effort determines how much a test tries. By default all tests together take some minutes, so they try only a
// part. The environment variable DESYNCTOOL_FULL_TESTS makes them try more: with 1 the whole samples, as in .ci/run,
// which runs some of them by turns; with long also the tests that take hours together.
package effort

import (
	"flag"
	"os"
	"strconv"
)

// asked returns how much is tried. When pinned files are written, all of them are.
func asked() string {
	if os.Getenv("DESYNCTOOL_UPDATE") == "1" {
		return "1"
	}
	return os.Getenv("DESYNCTOOL_FULL_TESTS")
}

// Full reports whether the tests try everything except long tests: DESYNCTOOL_FULL_TESTS is 1 or long.
func Full() bool { return asked() == "1" || asked() == "long" }

// Of returns full if the tests try everything, else some. Both must test the same property: a smaller sample has fewer
// seeds, fewer ticks or fewer bytes.
func Of[T any](some, full T) T {
	if Full() {
		return full
	}
	return some
}

// Long returns full if DESYNCTOOL_FULL_TESTS is long, else some.
func Long[T any](some, full T) T {
	if asked() == "long" {
		return full
	}
	return some
}

// Turn reports whether it is the turn of the i-th of several long, similar tests; one in every runs at a time.
// DESYNCTOOL_TURN is a number that grows by one from run to run, so that every runs cover all tests: .ci/run counts the
// commits. Without it, and if long tests are requested, it is always the turn.
func Turn(i, every int) bool {
	turn, err := strconv.ParseUint(os.Getenv("DESYNCTOOL_TURN"), 10, 64)
	return err != nil || asked() == "long" || (uint64(i)+turn)%uint64(every) == 0
}

// InTurn is [Whole], and also skips the test unless it is its turn, see [Turn].
func InTurn(t interface {
	Helper()
	Skip(args ...any)
}, i, every int) {
	t.Helper()
	Whole(t)
	if !Turn(i, every) {
		t.Skip("it is not its turn: DESYNCTOOL_TURN")
	}
}

// Checks sets how often package pgregory.net/rapid checks a property, until the test ends. It changes nothing if the
// tests try everything, or if the flag -rapid.checks was given. The flag belongs to the process: parallel tests share
// it.
func Checks(t interface{ Cleanup(f func()) }, some int) {
	checks := flag.Lookup("rapid.checks")
	if Full() || checks == nil || checks.Value.String() != checks.DefValue {
		return
	}
	_ = checks.Value.Set(strconv.Itoa(some)) // a number, which the flag accepts
	t.Cleanup(func() { _ = checks.Value.Set(checks.DefValue) })
}

// Whole skips a test unless the tests try everything. It is for tests that take seconds and test a property across
// several packages or processes. Other tests cover the parts of the property, by default too.
func Whole(t interface {
	Helper()
	Skip(args ...any)
}) {
	t.Helper()
	if !Full() {
		t.Skip("only the whole sample has it: DESYNCTOOL_FULL_TESTS=1")
	}
}
