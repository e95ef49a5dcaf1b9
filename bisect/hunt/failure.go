package hunt

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"strings"

	"github.com/desynctool/desynctool/bisect"
	"github.com/desynctool/desynctool/bisect/extsim"
	"github.com/desynctool/desynctool/bisect/minimize"
	"github.com/desynctool/desynctool/internal/lazyregexp"
)

// Failure is what departs or breaks off in a session.
type Failure struct {
	Seed    uint64           `json:"from"`
	Mode    bisect.TrialMode `json:"mode"`
	Depth   int              `json:"depth,omitempty"`   // of Rollback
	Predict []uint32         `json:"predict,omitempty"` // of that mode

	// Point is the first state point that departs, nil if the simulator broke off.
	Point *uint64 `json:"point,omitempty"`
	// System is the one after which the states depart, empty if that is not known.
	System    string             `json:"system,omitempty"`
	Signature minimize.Signature `json:"signature"`
	// Broke is how the simulator broke off, empty if it did not. Why is the simulator's own explanation.
	Broke Broke  `json:"broke,omitempty"`
	Why   string `json:"why,omitempty"`
	// Means is a sentence on what follows.
	Means string `json:"means"`
}

// Broke is how a simulator broke off.
type Broke string

// How simulators break off.
const (
	Died      Broke = "died"
	Silent    Broke = "is silent"
	Malformed Broke = "breaks the protocol"
	Refuses   Broke = "refuses what it should play"
	Failed    Broke = "failed"
)

var checksumSignature = minimize.Signature{Kind: minimize.KindSum}

// numbers are what one error has otherwise than the next.
var numbers = lazyregexp.New(`0x[0-9a-fA-F]+|[0-9]+`)

// broke takes the error of a simulator.
func (f *Failure) broke(err error) {
	f.Broke, f.Why = Failed, err.Error()
	text := f.Why
	var broken *extsim.BrokenError
	var refused *extsim.RefusedError
	switch {
	case errors.As(err, &broken):
		text = broken.Msg
		f.Broke = map[extsim.BrokenKind]Broke{extsim.Died: Died, extsim.Silent: Silent, extsim.Malformed: Malformed}[broken.Kind]
	case errors.As(err, &refused):
		f.Broke, text = Refuses, refused.Msg
	}
	text = numbers.ReplaceAllString(strings.ToValidUTF8(text, "?"), "N")
	const most = 120
	f.Signature = minimize.Signature{Archetype: string(f.Broke) + ": " + text[:min(len(text), most)], Kind: minimize.KindBroken}
	f.Means = "the simulator broke off"
}

// departs takes what a replay found.
func (f *Failure) departs(t *bisect.Trial) {
	f.Point, f.System, f.Signature, f.Means = &t.First.Point, t.First.System, minimize.SignatureOf(t.First), t.Means
}

// classes group modes that find the same mistakes.
var classes = map[bisect.TrialMode]string{
	Checksum: "checksum", bisect.Dual: "unsteady", bisect.Serialize: "save", bisect.Rollback: "save", bisect.Predict: "prediction",
	bisect.CheckPurity: "test", bisect.CheckCaches: "cache", bisect.Against: "against",
}

// traits are what failures of one mistake have in common.
func (f *Failure) traits() []string {
	s := f.Signature
	if f.Broke != "" {
		return []string{s.Kind, s.Archetype} // in whichever mode it shows
	}
	if f.Mode == bisect.Dual {
		return []string{classes[f.Mode], f.System} // its values are others each time
	}
	list := []string{classes[f.Mode], s.Kind}
	if f.Mode == bisect.Against {
		list = append(list, f.System) // elsewhere it is not always known
	}
	if s.Component != "" {
		return append(list, s.Component, s.Field)
	}
	return append(list, s.Archetype)
}

// Fingerprint returns 16 hex digits that failures of one mistake have in common.
func (f *Failure) Fingerprint() string {
	h := sha256.New()
	for _, part := range f.traits() {
		h.Write([]byte(part + "\x00"))
	}
	return hex.EncodeToString(h.Sum(nil)[:8])
}
