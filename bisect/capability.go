package bisect

import (
	"errors"
	"io"
)

// ErrUnsupported is wrapped by the error of a simulator that lacks a requested capability.
var ErrUnsupported = errors.New("the target does not support it")

// Capability is something that a simulator can do in addition to its steps.
type Capability string

// Capabilities, each with its interface. The names are the same as in the external protocol.
const (
	CanState    Capability = "state"    // Saver
	CanSave     Capability = "save"     // Restorer
	CanLoad     Capability = "load"     // Sim.Resume
	CanSystems  Capability = "systems"  // Stepper
	CanCaches   Capability = "caches"   // CacheChecker
	CanValidate Capability = "validate" // Validator
	CanTest     Capability = "test"     // Tester
	CanPredict  Capability = "predict"  // Predictor
	CanOrders   Capability = "orders"   // OrderTeller
	CanWhere    Capability = "where"    // Locator
	CanBranches Capability = "branches" // Brancher
)

// Capabilities returns all capabilities.
func Capabilities() []Capability {
	return []Capability{CanState, CanSave, CanLoad, CanSystems, CanCaches, CanValidate, CanTest, CanPredict, CanOrders, CanWhere, CanBranches}
}

// Partial is a Simulator that has methods of interfaces that it does not support, and reports which ones it supports.
type Partial interface {
	Simulator
	Can(c Capability) bool
}

// As returns a simulator as one of the interfaces beyond Simulator, and whether it has that capability.
func As[T Simulator](s Simulator, c Capability) (T, bool) {
	var none T
	if p, ok := s.(Partial); ok && !p.Can(c) {
		return none, false
	}
	t, ok := s.(T)
	return t, ok
}

// Close ends an instance that uses resources outside this process.
func Close(s Simulator) error {
	if closer, ok := s.(io.Closer); ok {
		return closer.Close()
	}
	return nil
}
