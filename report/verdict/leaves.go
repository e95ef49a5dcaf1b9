package verdict

import (
	"slices"
	"strings"
	"unicode"

	"github.com/desynctool/desynctool/bisect"
)

// inBuild are the classes of mistakes in a build's code or data, by the differences to the trusted build; right after
// the first system that differs, if it is known. Alone is set if the difference itself shows the classes.
func (b *bench) inBuild(s *shape, t *traits) (order []string, alone bool) {
	order = []string{DifferentData, UnstableSort, Locale, IterationOrder}
	switch {
	case s == nil:
	case s.rng && s.rows == 0:
		return []string{RNGLeak}, true
	case s.floats && s.near:
		return []string{Float}, true
	case s.traded > 0: // neither other numbers nor other draws give the same values in other rows
		order = []string{UnstableSort, IterationOrder, Locale}
	case s.rng:
		order = []string{RNGLeak, DifferentData, Locale, UnstableSort, IterationOrder}
	case s.archetypes > 1 || s.only[0] > 0 && s.only[0] == s.only[1]: // data is mostly of one kind of entity
		order = []string{UnstableSort, IterationOrder, Locale, DifferentData}
	}
	order = b.orHost(order)
	if t.locale != nil {
		order = append([]string{Locale}, order...)
	}
	return order, false
}

// orHost adds the class of what only the host does: first if the peer that is wrong is the host, last if nothing shows
// which peer is.
func (b *bench) orHost(classes []string) []string {
	switch is, known := b.onHost(); {
	case is:
		return append([]string{HostOnly}, classes...)
	case !known:
		return append(classes, HostOnly)
	}
	return classes
}

// onHost reports whether the peer that is wrong is the host, and whether that is known: a file names the host, or a
// peer is called host or server.
func (b *bench) onHost() (is, known bool) {
	for _, f := range b.e.Stated {
		for _, name := range f.Values {
			if f.Name == hostPeer && slices.ContainsFunc(b.e.Bisect.Replay.Peers, func(p bisect.ReplayedPeer) bool { return p.Name == name }) {
				return name == b.peer, true
			}
		}
	}
	for _, p := range b.e.Bisect.Replay.Peers {
		known = known || calledHost(p.Name)
	}
	return calledHost(b.peer), known
}

// hostPeer is the fact that names the host (docs/recording.md).
const hostPeer = "host peer"

// calledHost reports whether a peer's name contains the word host, or server.
func calledHost(name string) bool {
	words := strings.FieldsFunc(strings.ToLower(name), func(r rune) bool { return !unicode.IsLetter(r) })
	return slices.ContainsFunc(words, func(word string) bool { return word == "host" || strings.Contains(word, "server") })
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
	if b.varies(false) { // it had the others' state by chance
		return b.showUnsteady()
	}
	classes := []string{ForeignWrite, BitFlip, ThreadTiming}
	if s := b.seen; s != nil {
		switch {
		case s.single != nil && s.single.BitsChanged == 1:
			classes = []string{BitFlip, ForeignWrite, ThreadTiming}
		case s.single != nil:
			classes = []string{ForeignWrite, ThreadTiming}
		}
		switch {
		case s.floats && s.near:
			classes = append([]string{Float}, classes...)
		case s.rng && s.rows == 0: // a replay does not run the code outside of the sim, which may draw
			classes = append([]string{RNGLeak}, classes...)
		}
	}
	classes = append(classes, Uninitialized) // a replay does not fill memory with what the peer had done before
	classes = b.orHost(classes)              // nor does it run a script of the host
	if t.locale != nil {
		classes = append([]string{Locale}, classes...)
	}
	return b.left(classes...)
}

// unmade are the classes that nothing excludes if an experiment in a mode was not made, in
// addition to the classes of excludes.
var unmade = map[bisect.TrialMode][]string{
	bisect.Serialize: {Uninitialized},
	bisect.Repeat:    {WallClock, IterationOrder},
	bisect.Against:   {Float, RNGLeak},
}

// mostLeft is how many classes may be left after experiments: a longer list is of no use.
const mostLeft = 8

// left takes classes as not excluded, and with them each class with an experiment that was not made or could not have
// shown it.
func (b *bench) left(classes ...string) bool {
	if b.unproven {
		return false
	}
	for i := range b.c.Experiments {
		switch x := &b.c.Experiments[i]; {
		case x.Result == NotMade:
			return false
		case x.Result == Impossible && !x.Whole:
			classes = append(classes, unmade[x.Mode]...)
		}
	}
	if b.c.Compared == nil { // hashes differ, and that states do is not known
		classes = append(classes, ChecksumDefect)
	}
	for _, mode := range []bisect.TrialMode{bisect.CheckCaches, bisect.CheckPurity, bisect.Predict, bisect.Serialize} {
		classes = append(classes, excludes[mode]...)
	}
	classes = unique(slices.DeleteFunc(classes, b.c.excluded))
	return len(classes) <= mostLeft && b.take(NotExcluded, classes)
}
