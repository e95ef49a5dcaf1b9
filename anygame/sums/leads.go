package sums

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/desynctool/desynctool/engines/engine/messages"
	"github.com/desynctool/desynctool/internal/lists"
	"github.com/desynctool/desynctool/tracediff"
)

// fewestCorrected is how often a checksum must differ from the confirmed one and a later one be equal to it.
const fewestCorrected = 3

// mostLeads is how many texts before the values of one form of lines are kept.
const mostLeads = 8

// leads are the words before the values of each line of one form: "sim: tick 12 hash …" and "net: ack tick 12 hash …" have one
// form, and the second may have the checksum of another peer.
type leads struct {
	names []string
	of    []int // of each row, -1 for those that are too many
}

// add adds the words before the values of another line.
func (l *leads) add(p *parsed) {
	var words []string
	for i := range p.first {
		if p.tokens[i].kind == word {
			words = append(words, p.text(i))
		}
	}
	name := strings.Join(words, " ")
	at := slices.Index(l.names, name)
	if at < 0 && len(l.names) < mostLeads {
		at = len(l.names)
		l.names = append(l.names, name)
	}
	l.of = append(l.of, at)
}

// apart describes from which tick on the lines of one form have two different checksums for a tick, by the words before them: equal
// for long, and then different to the end. Guesses that a rollback corrects are equal again. It is empty if there are none.
func (g *group) apart(t *template) string {
	const fewest = 8 // equal ticks, and different ones
	if len(g.leads.names) < 2 || t.roles.peer >= 0 || t.roles.scope >= 0 {
		return ""
	}
	values := make([]map[uint64]string, len(g.leads.names))
	for row, lead := range g.leads.of {
		if tick, ok := t.roles.tickOf(g.columns[t.roles.tick].values[row]); ok && lead >= 0 {
			if values[lead] == nil {
				values[lead] = map[uint64]string{}
			}
			values[lead][tick] = g.sumsOf(row, t)
		}
	}
	for b := range values {
		for a := range b {
			final := passIn([]byte(g.leads.names[a])) == tracediff.Confirmed && passIn([]byte(g.leads.names[b])) == tracediff.Confirmed
			if t.passes && !final || arePasses(g.leads.names[a], g.leads.names[b]) {
				continue
			}
			equal, differ, since := 0, 0, uint64(0)
			for _, tick := range slices.Sorted(maps.Keys(values[a])) {
				other, ok := values[b][tick]
				switch {
				case !ok:
				case other == values[a][tick]:
					equal, differ = equal+1, 0
				default:
					if differ++; differ == 1 {
						since = tick
					}
				}
			}
			if equal >= fewest && differ >= fewest {
				return fmt.Sprintf("lines with %q and %q have different checksums from %s on, perhaps of two peers, and only the later ones are compared",
					g.leads.names[a], g.leads.names[b], messages.TickName("tick")(since))
			}
		}
	}
	return ""
}

// arePasses reports whether the words that two leads do not have in common are of passes over a tick. Next to a word for a tick that
// is simulated again, any other word names the first pass.
func arePasses(a, b string) bool {
	own := func(lead, other string) []byte {
		not := strings.Fields(other)
		words := slices.DeleteFunc(strings.Fields(lead), func(w string) bool { return slices.Contains(not, w) })
		return []byte(strings.Join(words, " "))
	}
	x, y := own(a, b), own(b, a)
	again := func(words []byte) bool { return phaseIn(words) == unknown && passIn(words) == tracediff.Predicted }
	return again(x) || again(y) || passIn(x) != unknown && passIn(y) != unknown
}

// passes reports whether the words before the lines of one form are of passes over a tick: most ticks have a confirmed one, and
// others before it have another checksum now and then.
func (g *group) passes(t *template) bool {
	final := lists.Map(g.leads.names, func(name string) bool { return passIn([]byte(name)) == tracediff.Confirmed })
	if !slices.Contains(final, true) {
		return false
	}
	before, confirmed := map[string]string{}, map[string]bool{}
	corrected, last := 0, false
	for row, lead := range g.leads.of {
		tick := string(g.columns[t.roles.tick].values[row])
		if lead < 0 || !final[lead] {
			if _, is := before[tick]; !is {
				before[tick] = g.sumsOf(row, t)
			}
			continue
		}
		if sum, is := before[tick]; is && !confirmed[tick] {
			differs := sum != g.sumsOf(row, t)
			if last && !differs {
				corrected++
			}
			last = differs
		}
		confirmed[tick] = true
	}
	all := len(before)
	for tick := range confirmed {
		if _, is := before[tick]; !is {
			all++
		}
	}
	return (corrected >= fewestCorrected || g.leads.guesses()) && 4*len(confirmed) >= 3*all
}

// guesses reports whether some words are of a pass that is no last one.
func (l *leads) guesses() bool {
	return slices.ContainsFunc(l.names, func(name string) bool { return passIn([]byte(name)) == tracediff.Predicted })
}

// Apart returns what lines of one form in the log have different checksums for one tick, and since when; empty if none have.
func (p *Pattern) Apart() string {
	for i := range p.templates {
		if text := p.templates[i].apart; text != "" {
			return text
		}
	}
	return ""
}
