package verdict

import (
	"slices"

	"github.com/desynctool/desynctool/bisect"
	"github.com/desynctool/desynctool/report/document"
)

// Standing is the kind of evidence for a cause, by its name in the JSON document.
type Standing string

// Standings.
const (
	Looks Standing = "looks-like" // the divergence looks like it
	Seen  Standing = "seen"       // the evidence shows it: orders that differ, a checksum of another state
	Shown Standing = "shown"      // an experiment made the same difference
	// NotExcluded is a class that no experiment shows and none excludes. All such classes are listed.
	NotExcluded Standing = "not-excluded"
)

// Rate is how often something was right in measured sessions.
type Rate struct{ Right, Of int }

// Cause is a class of mistakes that may have caused a divergence. The causes of a conclusion are the classes that the
// evidence leaves open, the likeliest first: it does not separate them.
type Cause struct {
	Class    string
	Standing Standing
	Signs    []Sign
	// Rate is how often, in measured sessions with such evidence, it was one of the classes
	// of the conclusion; nil if that was not measured.
	Rate *Rate
	// Together is set if all classes of the conclusion hold: the states are equal again, and this
	// is why they differed.
	Together bool
}

// Confirmed reports whether the cause is more than a likeness.
func (c *Cause) Confirmed() bool { return c.Standing == Seen || c.Standing == Shown }

// Exclusion is a class that something excludes.
type Exclusion struct {
	Class string
	By    Sign
}

// caused sets classes as the ones that the evidence leaves, without those that are excluded. It reports whether any is
// left.
func (c *Conclusion) caused(standing Standing, rate *Rate, signs []Sign, classes ...string) bool {
	c.Causes = nil
	for _, class := range classes {
		if !c.excluded(class) {
			c.Causes = append(c.Causes, Cause{Class: class, Standing: standing, Signs: signs, Rate: rate})
		}
	}
	return len(c.Causes) > 0
}

func (c *Conclusion) excluded(class string) bool {
	for i := range c.Excluded {
		if c.Excluded[i].Class == class {
			return true
		}
	}
	return false
}

func (c *Conclusion) open(class string) bool { return !c.excluded(class) }

func (c *Conclusion) exclude(by Sign, classes ...string) {
	for _, class := range classes {
		if !c.excluded(class) {
			c.Excluded = append(c.Excluded, Exclusion{class, by})
		}
	}
}

// causes decides what may have made the mistake: what the evidence itself shows, else what experiments leave, else what
// the divergence looks like. Evidence that only later states show does not count.
func (c *Conclusion) causes(e Evidence, t *traits) {
	if c.Kind == bisect.StateDiffers && (c.Compared == nil || c.valuesDiffer()) {
		c.Likenesses = likenesses(t)
	}
	switch {
	case c.seen(t):
	case c.Kind != bisect.StateDiffers && c.Kind != bisect.BlindChecksum:
	case c.Compared != nil && !c.valuesDiffer(): // only the columns of the files differ
	case c.experiment(e, t) && (c.Causes[0].Standing != NotExcluded || len(c.Causes) == 1):
	default:
		left := c.Causes
		if c.looks(t); len(c.Causes) == 0 { // a likeness may single out one of the classes that are left
			c.Causes = left
		}
	}
}

// seen takes causes that the evidence itself shows.
func (c *Conclusion) seen(t *traits) bool {
	switch {
	case c.Kind == bisect.StaleCache && c.Cache != nil:
		return c.caused(Seen, nil, []Sign{signOf(CacheRecomputed, c.Cache.Peer, c.Cache.Text)}, StaleCache)
	case c.Kind == bisect.StaleCache:
		return c.caused(Seen, nil, []Sign{sign(CachesUnderEqual)}, StaleCache)
	case c.Kind == bisect.ChecksumOnly && c.MayLack():
		return false
	case c.Kind == bisect.ChecksumOnly:
		return c.caused(Seen, nil, []Sign{sign(OnlySumsDiffer)}, ChecksumDefect)
	case c.Kind == bisect.BlindChecksum:
		return c.caused(Seen, nil, []Sign{sign(SumsAreBlind)}, ChecksumDefect)
	case t.either:
		return c.caused(Seen, nil, []Sign{{Kind: OrdersDiffer, Order: t.inputs}}, InputDropped, InputDuplicated)
	case t.inputs != "":
		return c.caused(Seen, nil, []Sign{{Kind: OrdersDiffer, Order: t.inputs}}, inputClasses[t.inputs])
	case c.Kind != bisect.StateDiffers:
		return false
	case t.initial:
		return c.caused(Seen, nil, append([]Sign{sign(StartDiffers)}, t.data...), InitialState, DifferentData)
	case c.Loaded != nil:
		return c.caused(Seen, nil, []Sign{signOf(PartedByLoading, c.Loaded.Peer)}, t.byLoading(c.Loaded)...)
	case c.Restored != nil:
		return c.caused(Seen, nil, []Sign{signOf(RestoredOther, c.Restored.Peer, c.Restored.Expected, c.Restored.Got)}, SaveForgets, PredictionLeak, ForeignWrite)
	case t.kept != nil:
		return c.caused(Seen, nil, []Sign{*t.kept}, PredictionLeak)
	case t.exact && t.shape.notations:
		return c.caused(Seen, nil, []Sign{sign(DecimalSigns)}, Locale)
	case len(t.caches) > 0:
		return c.caused(Seen, nil, []Sign{signOf(CachesBefore, t.caches...)}, StaleCache)
	}
	return false
}

// MayLack reports whether states may lack a part of the game's state that checksums cover, such as its random numbers: those in
// ordinary notations, of which nothing is known.
func (c *Conclusion) MayLack() bool {
	by := c.Session.KnownBy
	return slices.Contains(by, document.KnownByItself) && !slices.Contains(by, document.KnownByBytes)
}

// byLoading are the classes of mistakes of a peer that came back with another state: the save lacks something, the load
// leaves memory as it is, or a timer is off, if all numbers are, by the ticks that it was away.
func (t *traits) byLoading(l *bisect.Loaded) []string {
	switch {
	case l.After == nil && l.Began == bisect.BeganLoad: // it missed no tick that a timer could be off by
		return []string{SaveForgets, Uninitialized}
	case t.exact && l.After != nil && t.shape.offBy(t.point-*l.After):
		return []string{TimerOff, SaveForgets}
	}
	return []string{SaveForgets, Uninitialized, TimerOff}
}
