package verdict

import "slices"

// Likeness is a rule that fits: a sign, and the classes that a divergence with that sign looks like.
type Likeness struct {
	Sign    Sign
	Classes []string
}

// looks takes the classes that the divergence looks like, by the first rule that fits and that was right often enough
// where it was measured. Nothing of some time after the tick counts; if no rule fits the cause is not known.
func (c *Conclusion) looks(t *traits) {
	for _, l := range c.Likenesses {
		rate, ok := rates[l.Sign.Kind]
		if !ok || !rate.enough() {
			continue
		}
		if signs := append([]Sign{l.Sign}, t.data...); c.caused(Looks, &rate, signs, l.Classes...) {
			return
		}
	}
}

// likenesses returns the rules that fit, the most specific first. They do not know the names of archetypes, fields and
// systems.
func likenesses(t *traits) (list []Likeness) {
	add := func(s Sign, classes ...string) { list = append(list, Likeness{s, classes}) }
	if t.loaded != nil {
		add(*t.loaded, SaveForgets, TimerOff)
	}
	defer func() {
		if len(t.data) > 0 { // whenever the states were saved
			add(t.data[0], DifferentData)
		}
	}()
	if !t.exact {
		if t.system != "" && slices.Equal(t.scopes, []string{rngScope}) {
			add(sign(RNGFirst), RNGLeak)
		}
		return list
	}
	s := t.shape
	switch {
	case t.rngAlone():
		add(sign(RNGFirst), RNGLeak)
	case s.floats && s.near && !s.flipped:
		add(sign(OnlyFloats, uint64(s.rows)), Float)
	}
	if t.healed && s.rows > 1 && s.fields <= 2 && s.archetypes == 1 {
		add(sign(EqualAgain), SelfHealed)
	}
	if s.blank >= 8 {
		add(sign(ZeroOnOneSide, uint64(s.blank)), SaveForgets)
	}
	if s.traded > 0 {
		add(sign(ValuesInOtherRows, uint64(s.traded)), t.ordering()...)
	}
	if s.only[0] > 0 && s.only[0] == s.only[1] && s.archetypes > 1 {
		add(sign(EachOthersKeys, s.only[:]...), t.ordering()...)
	}
	if t.named != "" {
		if t.uncompared {
			add(signOf(NamedByUncompared, t.named), InputDropped, ImpureValidation, PredictionLeak)
		} else {
			add(signOf(NamedByOrder, t.named), ImpureValidation, PredictionLeak)
		}
	}
	if s.single != nil && s.single.BitsChanged == 1 && t.named == "" {
		add(sign(OneBit), BitFlip, ForeignWrite)
	}
	return list
}

// ordering are the classes of mistakes in which the order of work matters; one session does not separate them.
func (t *traits) ordering() []string { return []string{IterationOrder, UnstableSort, Locale} }
