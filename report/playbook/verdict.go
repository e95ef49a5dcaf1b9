package playbook

import (
	"fmt"
	"slices"
	"strings"

	"github.com/desynctool/desynctool/bisect"
	"github.com/desynctool/desynctool/orderlog"
	"github.com/desynctool/desynctool/report"
)

// verdict says what happened in at most three sentences.
func verdict(e Evidence, v *Verdict, r *report.Report) []string {
	switch {
	case v.Bracket == nil && r.Status == report.Diverged:
		return []string{withoutBracket(e)}
	case v.Bracket == nil:
		text := "No difference was found"
		if c := (&climber{e: e, v: v, r: r}).compared(); c != "" {
			text += ": " + c
		}
		if e.Orders != nil {
			text += "; " + e.Orders.Line()
		}
		out := []string{text + "."}
		if n := len(r.Missing); n > 0 {
			out = append(out, fmt.Sprintf("%s of evidence lost or lacking, which may hide one.", count(n, "piece is", "pieces are")))
		}
		return out
	}
	out := []string{place1(e, v, r)}
	if s := why(v, r); s != "" {
		out = append(out, s)
	}
	return append(out, who(v, r))
}

// withoutBracket tells of a divergence that is not one of states.
func withoutBracket(e Evidence) string {
	if e.Bisect.Sums != nil {
		return fmt.Sprintf("The checksums part at state point %d while every state is equal.", e.Bisect.Sums.Bad)
	}
	for _, t := range slices.Concat(e.Bisect.Traces, e.Traces) {
		if t.Bracket != nil && e.Bisect.Kind == bisect.ChecksumOnly {
			return fmt.Sprintf("The checksums part at tick %s while every state is equal.", t.TickName(t.Bracket.Bad))
		}
	}
	if e.Orders != nil && e.Orders.Diverged() {
		if e.Orders.Verdict == orderlog.NetworkLayer || e.Orders.ClaimCount == 0 {
			return fmt.Sprintf("The order logs differ: %s.", e.Orders.Line())
		}
		return fmt.Sprintf("The game itself found it wrong: %s.", e.Orders.Line())
	}
	return "The checksums of the peers differ."
}

// place1 says where the peers parted.
func place1(e Evidence, v *Verdict, r *report.Report) string {
	b := v.Bracket
	var text strings.Builder
	who := "The peers"
	if b.A != "" {
		who = b.A + " and " + b.B
	}
	switch {
	case v.InitialState:
		fmt.Fprintf(&text, "%s differ from the start, before any tick", who)
	case v.Tick != nil && b.Good != nil && b.Good.Native != "":
		fmt.Fprintf(&text, "%s parted in tick %d (%s is equal, %s differs)", who, *v.Tick, b.Good, b.Bad)
	case v.Tick != nil:
		fmt.Fprintf(&text, "%s parted in tick %d", who, *v.Tick)
	case b.Good != nil:
		fmt.Fprintf(&text, "%s parted between state points %s and %s", who, b.Good, b.Bad)
	default:
		fmt.Fprintf(&text, "%s differ at state point %s, and nothing before is known to be equal", who, b.Bad)
	}
	if v.System != "" {
		fmt.Fprintf(&text, ", in %s", v.System)
	}
	if what := where(v, r); what != "" {
		text.WriteString(": " + what)
	}
	switch v.Kind {
	case bisect.BlindChecksum:
		text.WriteString("; the game's checksum does not cover it")
	case bisect.ChecksumOnly:
		text.WriteString("; only checksums differ, the states are equal")
	}
	return text.String() + "."
}

// where names what differs.
func where(v *Verdict, r *report.Report) string {
	root, known := v.Root()
	if !known {
		if n := len(v.Archetypes); n > 1 {
			return fmt.Sprintf("%d archetypes differ", n)
		}
		return ""
	}
	if root == "" {
		return "the RNG"
	}
	text := root
	if v.Component != "" {
		text += ", " + v.Component
	}
	var fields, keys []string
	for i := range r.Locus {
		f := &r.Locus[i]
		if f.Archetype != root || f.Cache || v.Component != "" && f.Component != v.Component {
			continue
		}
		if !slices.Contains(fields, f.Field) {
			fields = append(fields, f.Field)
		}
		if !slices.Contains(keys, f.Key) {
			keys = append(keys, f.Key)
		}
	}
	if len(fields) == 1 && v.Component != "" {
		text += "." + fields[0]
	}
	switch {
	case len(keys) == 1:
		text += " of " + keys[0]
	case len(keys) > 1:
		text += fmt.Sprintf(" of %d entities", len(keys))
	}
	return text
}

func why(v *Verdict, r *report.Report) string {
	if len(r.Causes) == 0 {
		return ""
	}
	var first []string
	for _, c := range r.Causes {
		if c.Group == 1 {
			first = append(first, c.Class)
		}
	}
	if len(first) == 1 {
		return fmt.Sprintf("Likely cause: %s (%s).", lower(r.Causes[0].Title), first[0])
	}
	last := len(first) - 1
	return fmt.Sprintf("Likely cause: %s or %s, which this evidence does not tell apart.", strings.Join(first[:last], ", "), first[last])
}

func lower(s string) string {
	if strings.HasPrefix(s, "The sim's") || !strings.HasPrefix(s, "The ") && !strings.HasPrefix(s, "An ") && !strings.HasPrefix(s, "A ") {
		return strings.ToLower(s[:1]) + s[1:]
	}
	return strings.ToLower(s[:1]) + s[1:]
}

func who(v *Verdict, r *report.Report) string {
	switch {
	case v.Inputs && len(v.Guilty) == 0:
		if r.Inputs != nil && len(r.Inputs.Differences) > 0 {
			return fmt.Sprintf("The network layer is to blame: %s.", r.Inputs.Differences[0].String())
		}
		return "The peers were given different orders."
	case len(v.Guilty) > 0:
		return fmt.Sprintf("Wrong: %s, by a replay of the orders.", strings.Join(v.Guilty, ", "))
	case r.FirstDivergence.Majority > 0 && len(r.Peers) > 2:
		return fmt.Sprintf("Who is wrong is not known: %s.", groupsOf(r))
	}
	return "Who is wrong is not known: a replay would tell (--sim)."
}

// groupsOf names the peers by group.
func groupsOf(r *report.Report) string {
	byGroup := map[int][]string{}
	most := 0
	for _, p := range r.Peers {
		byGroup[p.Group] = append(byGroup[p.Group], p.Name)
		most = max(most, p.Group)
	}
	var list [][]string
	for i := 1; i <= most; i++ {
		list = append(list, byGroup[i])
	}
	return groupsText(list)
}

// next says what to do, the most useful first.
func next(e Evidence, v *Verdict, r *report.Report) []string {
	out := []string{}
	if r.Status != report.Diverged {
		if len(r.Missing) > 0 {
			out = append(out, "ask for what is missing: desynctool doctor PATH writes the text")
		}
		return out
	}
	logs := 0
	for _, p := range r.Peers {
		if p.OrderLog {
			logs++
		}
	}
	native := e.Session.Game == "refsim"
	switch {
	case v.Bracket == nil:
	case v.Inputs:
		out = append(out, "desynctool orders PATH… --all lists every order that differs")
	case e.Bisect.Replay == nil && logs > 0 && native:
		out = append(out, "desynctool triage PATH… --sim builtin replays the orders, and tells who is wrong")
	case e.Bisect.Replay == nil && logs > 0:
		out = append(out, "desynctool triage PATH… --sim exec:GAME replays the orders in the game, and tells who is wrong (docs/extsim.md)")
	}
	for _, c := range r.Causes {
		if c.Group == 1 && c.Separate != "" {
			out = append(out, fmt.Sprintf("%s would show by: %s", c.Class, c.Separate))
		}
	}
	if len(r.Causes) > 0 && r.Causes[0].Separate == "" {
		out = append(out, fmt.Sprintf("confirm %s by: %s", r.Causes[0].Class, classOf(r.Causes[0].Class).confirm))
	}
	if k := r.Compared; k != nil && k.Values > uint64(len(r.Locus)) {
		out = append(out, fmt.Sprintf("desynctool diff A@%d B@%d --all lists all %d values that differ", k.Point, k.Point, k.Values))
	}
	for _, text := range v.Open {
		if !strings.HasPrefix(text, "who is wrong") {
			out = append(out, text)
		}
	}
	return out
}
