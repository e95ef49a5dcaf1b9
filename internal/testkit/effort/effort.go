// Package effort says how much of what a test could try it does try. A newcomer
// waits some minutes for all tests together, so that they try some of it. The
// environment variable DESYNCTOOL_FULL_TESTS has them try more: 1 the whole
// samples, as .ci/run does, which takes turns with some of them; long also those that take hours together.
package effort

import (
	"flag"
	"os"
	"strconv"
)

// asked returns how much is tried. Whoever has pinned files written has all of them written.
func asked() string {
	if os.Getenv("DESYNCTOOL_UPDATE") == "1" {
		return "1"
	}
	return os.Getenv("DESYNCTOOL_FULL_TESTS")
}

// Full reports whether the tests try everything but what is long:
// DESYNCTOOL_FULL_TESTS is 1 or long.
func Full() bool { return asked() == "1" || asked() == "long" }

// Of returns full where the tests try everything, else some of it. Both are of the
// same property: a smaller sample has fewer seeds, fewer ticks or fewer bytes.
func Of[T any](some, full T) T {
	if Full() {
		return full
	}
	return some
}

// Long returns full where DESYNCTOOL_FULL_TESTS is long, else some of it.
func Long[T any](some, full T) T {
	if asked() == "long" {
		return full
	}
	return some
}

// Turn reports whether it is the turn of the i-th of some things that take long and are alike, of which one in every is
// tried at a time. DESYNCTOOL_TURN is a number that grows by one from run to run, so that as many runs try all of them:
// .ci/run counts the commits. Without it, and where what is long is asked for, it is everything's turn.
func Turn(i, every int) bool {
	turn, err := strconv.ParseUint(os.Getenv("DESYNCTOOL_TURN"), 10, 64)
	return err != nil || asked() == "long" || (uint64(i)+turn)%uint64(every) == 0
}

// InTurn is [Whole], and skips the test unless it is its turn, see [Turn].
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

// Checks has package pgregory.net/rapid try a property so many times until the test ends. It changes nothing where the
// tests try everything, or the flag -rapid.checks was given. The flag belongs to the process: parallel tests share it.
func Checks(t interface{ Cleanup(f func()) }, some int) {
	checks := flag.Lookup("rapid.checks")
	if Full() || checks == nil || checks.Value.String() != checks.DefValue {
		return
	}
	_ = checks.Value.Set(strconv.Itoa(some)) // a number, which the flag takes
	t.Cleanup(func() { _ = checks.Value.Set(checks.DefValue) })
}

// Whole skips a test unless the tests try everything: one that takes seconds, of a property that lies between
// several packages or processes. What makes up the property is tried by other tests, by default too.
func Whole(t interface {
	Helper()
	Skip(args ...any)
}) {
	t.Helper()
	if !Full() {
		t.Skip("only the whole sample has it: DESYNCTOOL_FULL_TESTS=1")
	}
}
