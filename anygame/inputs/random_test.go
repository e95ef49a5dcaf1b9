package inputs_test

import (
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/desynctool/desynctool/anygame/inputs"
)

// TestRandomNames: whatever names and notation a game uses, all orders are read.
func TestRandomNames(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		pick := func(label string, list ...string) string { return rapid.SampledFrom(list).Draw(t, label) }
		tick := pick("tick", "tick", "frame", "Turn", "simFrame", "game_tick", "step")
		player := pick("player", "player", "player_id", "peer", "client", "slot")
		kind := pick("kind", "cmd", "command", "type", "action", "kind")
		form := pick("form", "lines", "list", "member", "table", "log")
		var rows, want strings.Builder
		now := rapid.Uint64Range(0, 1<<40).Draw(t, "first")
		n := rapid.IntRange(3, 30).Draw(t, "orders")
		for i := range n {
			now += rapid.Uint64Range(0, 100).Draw(t, "ticks")
			who := rapid.IntRange(0, 3).Draw(t, "who")
			what := pick("what", "move", "stop", "build-mill", "attack_all")
			x := rapid.Int32().Draw(t, "x")
			members := []string{fmt.Sprintf(`"%s":%d`, tick, now), fmt.Sprintf(`"%s":%d`, player, who), fmt.Sprintf(`"%s":%q`, kind, what), fmt.Sprintf(`"x":%d`, x)}
			switch form {
			case "table":
				fmt.Fprintf(&rows, "%d,%d,%s,%d\n", now, who, what, x)
			case "log":
				fmt.Fprintf(&rows, "[12:00] net: %s %d %s %d order %s x=%d\nnoise %d\n", tick, now, player, who, what, x, i)
			default:
				members = rapid.Permutation(members).Draw(t, "members")
				separator := "\n"
				if form != "lines" && i < n-1 {
					separator = ",\n"
				}
				rows.WriteString("{" + strings.Join(members, ",") + "}" + separator)
			}
			fmt.Fprintf(&want, "tick %d player %d %s {\"x\":%d}\n", now, who, what, x)
		}
		text := map[string]string{
			"lines": rows.String(), "list": "[" + rows.String() + "]\n", "member": `{"seed":4,"orders":[` + rows.String() + "]}\n",
			"table": fmt.Sprintf("%s,%s,%s,x\n%s", tick, player, kind, rows.String()), "log": rows.String(),
		}[form]
		orders, err := orders(text)
		if err != nil || orders != want.String() {
			t.Fatalf("%v\ngot\n%s\nwant\n%s\nof\n%s", err, orders, want.String(), text)
		}
	})
}

// orders returns the orders of a text without lines and sequences.
func orders(text string) (string, error) {
	p := inputs.Learn([]byte(text), "x")
	if p == nil {
		return "", fmt.Errorf("not learned")
	}
	got, err := readWith(p, "x", text)
	var out strings.Builder
	for line := range strings.Lines(got) {
		_, line, _ = strings.Cut(line, ": ")
		begin, rest, _ := strings.Cut(line, " #")
		_, rest, _ = strings.Cut(rest, " ")
		out.WriteString(begin + " " + rest)
	}
	return out.String(), err
}
