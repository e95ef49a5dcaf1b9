// Package effort decides how much of what a test could try it does try. A newcomer
// waits some minutes for all tests together, so they try some of it. The environment
// variable DESYNCTOOL_FULL_TESTS has them try more. With 1 they try the whole samples.
// With turns, as .ci/run has it, a third of the packages do, and another third in the next
// run. With long they also try what takes hours together.
package effort

import (
	"flag"
	"hash/crc32"
	"os"
	"path/filepath"
	"strconv"
	"sync"
)

// asked returns how much is tried. When pinned files are written, all of them are.
func asked() string {
	if os.Getenv("DESYNCTOOL_UPDATE") == "1" {
		return "1"
	}
	full := os.Getenv("DESYNCTOOL_FULL_TESTS")
	if full != "turns" {
		return full
	}
	if turn, ok := turn(); ok && (third()+turn)%3 != 0 {
		return ""
	}
	return "1"
}

// turn returns DESYNCTOOL_TURN, a number that grows by one from run to run: .ci/run counts the commits.
func turn() (uint64, bool) {
	n, err := strconv.ParseUint(os.Getenv("DESYNCTOOL_TURN"), 10, 64)
	return n, err == nil
}

// third returns 0, 1 or 2 for the package under test: digits of a checksum of its path by which the thirds take about as
// long.
var third = sync.OnceValue(func() uint64 {
	dir, err := os.Getwd() // where go test runs the tests of a package
	if err != nil {
		return 0
	}
	for root := dir; ; root = filepath.Dir(root) {
		if _, err := os.Stat(filepath.Join(root, "go.mod")); err == nil || root == filepath.Dir(root) {
			path, _ := filepath.Rel(root, dir)
			return uint64(crc32.ChecksumIEEE([]byte(filepath.ToSlash(path))) / 5 % 3)
		}
	}
})

// Asked reports whether a variable has the tests try more: it is 1, and where packages take turns it is the turn of this
// package.
func Asked(variable string) bool {
	return os.Getenv(variable) == "1" && (os.Getenv("DESYNCTOOL_FULL_TESTS") != "turns" || asked() == "1")
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

// Turn reports whether it is the turn of the i-th of some things that take long and are alike. One in every of them is
// tried at a time: every runs try all of them, and three times as many runs if packages take turns too. DESYNCTOOL_TURN
// is the number of the run. Without it, and where what is long is asked for, it is everything's turn.
func Turn(i, every int) bool {
	n, ok := turn()
	if os.Getenv("DESYNCTOOL_FULL_TESTS") == "turns" {
		n /= 3
	}
	return !ok || asked() == "long" || (uint64(i)+n)%uint64(every) == 0
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
