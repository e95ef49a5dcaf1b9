package verdict

import (
	"slices"
	"strings"

	"github.com/desynctool/desynctool/bisect"
)

// inBuild are the classes of mistakes in a build's code or data, by what it makes otherwise
// than the trusted one; right after the first system that does, where that is known.
func (b *bench) inBuild(s *shape, t *traits) []string {
	order := []string{DifferentData, UnstableSort, Locale, IterationOrder} // the last where one is excluded
	switch {
	case s == nil:
	case s.rng && s.rows == 0:
		return []string{RNGLeak}
	case s.floats && s.near:
		return []string{Float}
	case s.rng && s.traded > 0:
		order = []string{IterationOrder, UnstableSort, RNGLeak}
	case s.rng:
		order = []string{RNGLeak, DifferentData, Locale}
	case s.archetypes > 1 || s.traded > 0 || s.only[0] > 0 && s.only[0] == s.only[1]: // data is mostly of one kind of entity
		order = []string{UnstableSort, IterationOrder, Locale}
	}
	if b.onHost() {
		order = append([]string{HostOnly}, order...)
	}
	if t.locale != nil {
		order = append([]string{Locale}, order...)
	}
	return order
}

// onHost reports whether the peer that is wrong is the host.
func (b *bench) onHost() bool {
	name := strings.ToLower(b.peer)
	return strings.Contains(name, "host") || strings.Contains(name, "server")
}

// andHealed adds to classes that the states are equal again later, if they are: not where the
// RNG differs, which goes on from there.
func (t *traits) andHealed(s *shape, classes ...string) []string {
	if t.healed && !(s != nil && s.rng) {
		return append([]string{SelfHealed}, classes...)
	}
	return classes
}

// outside is what is left where the peer's own build is sound in every way, here: what did not
// come from it, or comes with the machine.
func (b *bench) outside(t *traits) bool {
	if b.varies(false) { // it came to what the others have by chance
		return b.show(b.unsteady()...)
	}
	classes := []string{ForeignWrite, BitFlip, ThreadTiming}
	switch s := b.seen; {
	case s == nil:
	case s.floats && s.near:
		classes = []string{Float, ForeignWrite}
	case s.single != nil && s.single.BitsChanged == 1:
		classes = []string{BitFlip, ForeignWrite}
	case s.single != nil:
		classes = []string{ForeignWrite}
	}
	if t.locale != nil {
		classes = append([]string{Locale}, classes...)
	}
	return b.left(classes...)
}

// unmade are the classes that nothing excludes where an experiment in a mode was not made.
var unmade = map[bisect.TrialMode][]string{
	bisect.CheckCaches: {StaleCache},
	bisect.CheckPurity: {ImpureValidation},
	bisect.Predict:     {PredictionLeak},
	bisect.Serialize:   {SaveForgets, Uninitialized},
	bisect.Repeat:      {WallClock, IterationOrder},
	bisect.Against:     {Float, RNGLeak},
}

// left takes classes as what is left after all experiments. Those that only an experiment
// excludes that could not be made are left too; where that makes them too many nothing is
// shown.
func (b *bench) left(classes ...string) bool {
	if b.unproven {
		return false
	}
	var more []string
	for i := range b.c.Experiments {
		x := &b.c.Experiments[i]
		switch {
		case x.Result == NotMade:
			return false
		case x.Result == Impossible && !x.Whole:
			more = append(more, unmade[x.Mode]...)
		}
	}
	classes = slices.DeleteFunc(classes, b.c.excluded)
	all := unique(slices.Concat(classes[:min(len(classes), mostClasses)], more))
	if len(more) > 0 && len(slices.DeleteFunc(slices.Clone(all), b.c.excluded)) > mostClasses {
		return false
	}
	return b.show(all...)
}
