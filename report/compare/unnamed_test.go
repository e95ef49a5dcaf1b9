package compare_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// unnamedPeers are the peers of the sessions in these tests. Eve is the one that departs.
var unnamedPeers = []string{"ann", "bob", "eve"}

// unit is a unit of a made-up game at a tick: eve's second one has another hp at ticks 31 to 33, and again from 40 on.
func unit(peer string, tick, id int, wrong bool) (hp, x int) {
	hp, x = 90+id-tick/7, 5*id+tick*id%13
	if wrong && peer == "eve" && id == 8 && (tick > 30 && tick < 34 || tick >= 40) {
		hp++
	}
	return hp, x
}

// lines returns what a game writes at 60 ticks.
func lines(each int, line func(tick int) string) string {
	var out strings.Builder
	for i := 1; i <= 60; i++ {
		out.WriteString(line(i * each))
	}
	return out.String()
}

// units writes all units of a tick.
func units(peer string, tick int, wrong bool, sep string, one func(id, hp, x int) string) string {
	var list []string
	for id := 7; id < 10; id++ {
		hp, x := unit(peer, tick, id, wrong)
		list = append(list, one(id, hp, x))
	}
	return strings.Join(list, sep)
}

// TestUnnamedTicks: states of many ticks in a file whose names and numbers show what they are, and no word of English.
func TestUnnamedTicks(t *testing.T) {
	object := func(id, hp, x int) string { return fmt.Sprintf(`{"id":%d,"hp":%d,"x":%d}`, id, hp, x) }
	clock := func(peer string, tick int) int { return tick*16 + len(peer)*tick%5 + int(peer[0]) }
	for _, c := range []struct {
		name  string
		write func(dir, peer string, wrong bool) map[string]string
		want  string
	}{
		{"a header with the player, and checksums with a clock beside", func(_, peer string, wrong bool) map[string]string {
			return map[string]string{
				peer + "/rec.jsonl": fmt.Sprintf("{\"me\":%q,\"map\":\"dunes\"}\n", peer) + lines(1, func(tick int) string {
					return fmt.Sprintf("{\"fx\":%d,\"us\":%d,\"u\":[%s]}\n", tick, clock(peer, tick), units(peer, tick, wrong, ",", object))
				}),
				peer + "/crc.csv": "frame,statecrc,ms\n" + lines(10, func(tick int) string {
					hp, _ := unit(peer, tick, 8, wrong)
					return fmt.Sprintf("%d,%08x,%d\n", tick, uint32(tick*hp*2654435761), clock(peer, tick))
				}),
			}
		}, "between 30 and 31"},
		{"a list in a file named after the player", func(_, peer string, wrong bool) map[string]string {
			return map[string]string{"log-" + peer + "4.json": "[" + strings.TrimSuffix(lines(2, func(tick int) string {
				return fmt.Sprintf(`{"k":%d,"at":%d,"u":[%s]},`, tick, 1700000000000+clock(peer, tick), units(peer, tick, wrong, ",", object))
			}), ",") + "]"}
		}, "between 30 and 32"},
		{"elements of XML in UTF-16", func(_, peer string, wrong bool) map[string]string {
			text := "<?xml version=\"1.0\" encoding=\"UTF-16\"?>\n<log who=\"" + peer + "\">\n" + lines(1, func(tick int) string {
				return fmt.Sprintf("<zug n=\"%d\" took=\"%dns\">%s</zug>\n", tick, clock(peer, tick), units(peer, tick, wrong, "", func(id, hp, x int) string {
					return fmt.Sprintf(`<einheit id="e%d"><hp>%d</hp><x>%d</x></einheit>`, id, hp, x)
				}))
			}) + "</log>\n"
			out := "\xff\xfe"
			for _, r := range text {
				out += string([]byte{byte(r), 0})
			}
			return map[string]string{"log-" + peer + ".xml": out}
		}, "between 30 and 31"},
		{"rows with a tick and a number", func(_, peer string, wrong bool) map[string]string {
			return map[string]string{"Liste_" + peer + "1.csv": "Takt;Art;Nr;Leben;Ort\r\n" + lines(5, func(tick int) string {
				return units(peer, tick, wrong, "", func(id, hp, x int) string {
					return fmt.Sprintf("%d;J\xe4ger;%d;%d;%d,25\r\n", tick, id, hp, x)
				})
			})}
		}, "between 35 and 40"},
		{"tables of a database, one of them without ticks", func(_, peer string, wrong bool) map[string]string {
			return map[string]string{"dumps/" + peer + ".sql": "CREATE TABLE info(k text, v text);\nINSERT INTO info VALUES('os','" + peer + "'),('map','dunes');\n" +
				"CREATE TABLE units(turn int, wid int, hp int, x int, saved_at text);\n" + lines(5, func(tick int) string {
				return units(peer, tick, wrong, "", func(id, hp, x int) string {
					return fmt.Sprintf("INSERT INTO units VALUES(%d,%d,%d,%d,'2024-06-01 10:%02d:%02d');\n", tick, id, hp, x, peer[0]%60, tick%60)
				})
			})}
		}, "between 35 and 40"},
		{"hex dumps", func(_, peer string, wrong bool) map[string]string {
			out := map[string]string{}
			for tick := 1; tick <= 60; tick++ {
				word := func(_, hp, _ int) string { return fmt.Sprintf("%02x 00 00 00", hp) }
				out[fmt.Sprintf("%s/d_%04d.hex", peer, tick)] = "00000000  47 41 4d 45 " + units(peer, tick, wrong, " ", word) + "  |GAME....|\n*\n00000020\n"
			}
			return out
		}, "between 39 and 40"},
		{"settings next to logs", func(_, peer string, wrong bool) map[string]string {
			return map[string]string{
				peer + "/video.ini": fmt.Sprintf("[video]\nwidth=%d\n", 100*int(peer[0])),
				peer + "/sim.txt": lines(1, func(tick int) string {
					hp, x := unit(peer, tick, 8, wrong)
					return fmt.Sprintf("tick %d crc %08x\n", tick, uint32((tick+hp*7+x)*2654435761))
				}),
			}
		}, "between 30 and 31"},
	} {
		for _, wrong := range []bool{false, true} {
			dir := t.TempDir()
			for _, peer := range unnamedPeers {
				for name, text := range c.write(dir, peer, wrong) {
					path := filepath.Join(dir, filepath.FromSlash(name))
					_ = os.MkdirAll(filepath.Dir(path), 0o777)
					if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
						t.Fatal(err)
					}
				}
			}
			r := triagedPaths(t, dir)
			got := ""
			if d := r.FirstDivergence; d != nil && d.Bracket != nil && d.Bracket.Good != nil {
				got = fmt.Sprintf("between %d and %d", *d.Bracket.Good, d.Bracket.Bad)
			}
			switch {
			case wrong && (got != c.want || r.Compared != nil && (len(r.Locus) == 0 || !strings.Contains(r.Locus[0].Key, "8"))):
				t.Errorf("%s: %q, want %q\n%s\n%v", c.name, got, c.want, r.Verdict, r.Locus)
			case !wrong && !strings.HasPrefix(r.Verdict[0], "No difference was found"):
				t.Errorf("%s: in sync, and %s", c.name, r.Verdict)
			}
		}
	}
}
