// Package try ends the steps of a tool at the first error. A tool does one thing after the other, and no step makes sense
// after one that failed: the error of a step goes up to the function that defers Catch.
package try

import "fmt"

// failure is an error on its way to Catch.
type failure struct{ error }

// Check ends the steps if there is an error.
func Check(err error) {
	if err != nil {
		panic(failure{err})
	}
}

// Get returns a value, or ends the steps if there is an error.
func Get[T any](value T, err error) T {
	Check(err)
	return value
}

// Failed is what to panic with where there is no error but a reason to end the steps.
func Failed(format string, args ...any) error { return failure{fmt.Errorf(format, args...)} }

// Catch sets err to the error that ended the steps of the function that defers it. Other panics go on.
func Catch(err *error) {
	switch p := recover().(type) {
	case nil:
	case failure:
		*err = p.error
	default:
		panic(p)
	}
}
