package bundle

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/desynctool/desynctool/internal/prose"
)

// maxNeeds is how many things to ask one player for.
const maxNeeds = 40

// need is something to ask a player for.
type need struct{ peer, text string }

func (d *doctor) ask(peer, format string, args ...any) {
	d.needs = append(d.needs, need{peer, fmt.Sprintf(format, args...)})
}

// askForStates asks for states where only one peer has some, or where no two peers have
// the same state point.
func (d *doctor) askForStates(common bool) {
	have, lack := d.with("states")
	if len(have) == 0 || len(have) > 1 && common {
		return
	}
	who, c := have[0].Name, coverage(have[0], "states")
	if len(have) == 1 {
		for _, peer := range lack {
			d.lose("%s: no states, which %s has", prose.Name(peer), prose.Name(who))
			d.ask(peer, "the saved states (snapshots, savegames or desync dumps) of that match, ticks %d to %d if there are many", c.First, c.Last)
		}
		return
	}
	for _, p := range have[1:] {
		d.ask(p.Name, "the states that your game saved at the same moments as %s's: ticks %d to %d", prose.Name(who), c.First, c.Last)
	}
}

// askForThoseOfOne asks all others for evidence of a kind that only one peer has.
func (d *doctor) askForThoseOfOne(what, name, files string) {
	have, lack := d.with(what)
	if len(have) != 1 {
		return
	}
	for _, peer := range lack {
		d.lose("%s: no %s, which %s has", prose.Name(peer), name, prose.Name(have[0].Name))
		d.ask(peer, "the %s of that match", files)
	}
}

// match names the match by its seed, as far as it is known.
func (d *doctor) match() string {
	for _, f := range d.checkup.Facts {
		if f.Name == "seed" && !f.Differs() {
			for _, v := range f.Values {
				return " (seed " + prose.Name(v) + ")"
			}
		}
	}
	return ""
}

// playersKnow are the facts that a player knows if no file states them.
var playersKnow = []struct{ fact, text string }{
	{"build", "the version of the game"}, {"mods", "your mods"}, {"os", "your operating system"},
	{"locale", "the language that it is set to"}, {"cpu", "your processor"},
}

// text returns what to send to the players.
func (d *doctor) text() string {
	if len(d.needs) == 0 {
		return ""
	}
	var out strings.Builder
	fmt.Fprintf(&out, "Hello! Your game went out of sync%s, and we are looking for the reason.\nThank you for what you sent. This is still missing:\n", d.match())
	byPeer, seen := map[string][]string{}, map[need]bool{}
	for _, n := range d.needs {
		if !seen[n] {
			seen[n] = true
			byPeer[n.peer] = append(byPeer[n.peer], n.text)
		}
	}
	for _, peer := range slices.Sorted(maps.Keys(byPeer)) {
		if peer == "" {
			out.WriteString("\nFrom any of you:\n")
		} else {
			fmt.Fprintf(&out, "\nFrom %s:\n", prose.Name(peer))
		}
		list := byPeer[peer]
		for _, text := range list[:min(len(list), maxNeeds)] {
			fmt.Fprintf(&out, "  - %s.\n", text)
		}
		if n := len(list) - maxNeeds; n > 0 {
			fmt.Fprintf(&out, "  - and %d more.\n", n)
		}
	}
	out.WriteString("\nPlease do not open or rename the files. Put the files of one computer into one folder or\nzip archive without a password, and call it by the player's name.\n")
	var tell []string
	for _, q := range playersKnow {
		if slices.Contains(d.checkup.Unknown, q.fact) {
			tell = append(tell, q.text)
		}
	}
	if n := len(tell); n > 1 {
		tell = []string{strings.Join(tell[:n-1], ", ") + " and " + tell[n-1]}
	}
	if len(tell) > 0 {
		fmt.Fprintf(&out, "Please also tell us %s.\n", tell[0])
	}
	return out.String()
}
