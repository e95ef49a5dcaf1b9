package words

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/desynctool/desynctool/internal/prose"
	"github.com/desynctool/desynctool/report/document"
	"github.com/desynctool/desynctool/report/verdict"
	"github.com/desynctool/desynctool/snapshot"
)

// look is where to look for a mistake that leaves a sign; PLACE is a system, or the tick. The first sentence of a verdict
// names the signs in plain.
var (
	look = map[verdict.SignKind]string{
		verdict.LoadedThere:       "look at what that load restores",
		verdict.RNGFirst:          "look for a draw in PLACE that only one peer makes",
		verdict.EqualAgain:        "look at what PLACE computes from scratch later",
		verdict.ValuesInOtherRows: "look at the order in which PLACE takes its entities (a map, a sort, threads)",
		verdict.EachOthersKeys:    "look at the order in which PLACE creates entities (a map, a sort, threads)",
		verdict.NamedByOrder:      "look at the code that tests and predicts that order",
		verdict.NamedByUncompared: "compare the orders first",
	}
	plain = map[verdict.SignKind]string{
		verdict.OnlyFloats: "compare compilers, their flags (fused multiply-add, fast math) and math libraries",
		verdict.OneBit:     "if the peer's own build comes to the other value, it is memory and not code",
	}
)

// fewest is how many values of a field show a pattern that is worth following.
const fewest = 5

// lead names where to look if the cause is not known, with the facts that lead there; "" if nothing does, if the states
// that were compared belong to another moment, or if experiments have excluded causes: a lead may be one of them.
func lead(c *verdict.Conclusion) string {
	if text := leadAt(c); text != "" && len(c.Excluded) == 0 {
		return " Lead: " + strings.ReplaceAll(text, "PLACE", cmp.Or(c.System, "the tick")) + "."
	}
	return ""
}

func leadAt(c *verdict.Conclusion) string {
	for i := range c.Likenesses {
		s := c.Likenesses[i].Sign
		if text := look[s.Kind]; text != "" {
			return Sign(s) + ": " + text
		} else if text = plain[s.Kind]; text != "" {
			return text
		}
	}
	fields := c.Fields(c.MayBeFirst())
	if c.Later != 0 || c.Compared == nil {
		return ""
	}
	few := len(fields) == 0 || fields[0].Pattern == nil || fields[0].Values < fewest
	if d := c.Compared.Drawn; d != nil && few {
		return draws(c)
	} else if few {
		return ""
	}
	name := fields[0].Name()
	if constant(&fields[0]) {
		return "look at the place that sets " + name + ", and at what a save or restore leaves out"
	}
	switch fields[0].Pattern.Kind {
	case snapshot.PatternHigher, snapshot.PatternLower, snapshot.PatternOffset, snapshot.PatternFactor:
		return "look for a constant, setting or clock in PLACE"
	case snapshot.PatternTotal:
		return "look at the order in which PLACE shares " + name + " out (a map, a sort, threads)"
	}
	switch d := c.Compared.Drawn; {
	case d != nil:
		return draws(c)
	case c.RNGEqual:
		return "both drew the same numbers from the RNG, so look at the order in which PLACE takes its entities (a map, a sort, threads), and at its data"
	}
	return ""
}

// constant reports whether a field has one value, or none, on one side, in enough rows to begin with.
func constant(f *document.FieldSummary) bool {
	return f.Values >= fewest && f.Pattern != nil &&
		slices.Contains([]snapshot.PatternKind{snapshot.PatternZero, snapshot.PatternSame, snapshot.PatternAbsent}, f.Pattern.Kind)
}

// draws is where to look for the draws that only one peer makes: the states are compared at the end of the tick.
func draws(c *verdict.Conclusion) string {
	place := "in PLACE"
	if c.System != "" {
		place += " or later in the tick"
	}
	return "look for a draw that only " + c.Compared.Drawn.Peer + " makes " + place + ", or for a value that makes it draw more"
}

// drawn names the peer that drew more numbers from the RNG.
func drawn(d *document.Drawn) string {
	return fmt.Sprintf("%s drew %s from the RNG", d.Peer, prose.Count(d.More, "more number", "more numbers"))
}

// alike lists what the evidence shows to be equal, which excludes causes.
func alike(c *verdict.Conclusion) (list []string) {
	for _, a := range c.Answers {
		switch {
		case a.State != document.RungEqual:
		case a.Step == verdict.StepInputs:
			list = append(list, "the orders")
		case a.Step == verdict.StepInitial:
			list = append(list, "the state before")
		}
	}
	if c.RNGEqual {
		list = append(list, "the RNG")
	}
	return list
}
