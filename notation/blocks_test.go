package notation

import (
	"fmt"
	"strings"
	"testing"
)

// blockLog is a log with a document of several lines after each head, and lines between them.
func blockLog(head, document string, ticks ...int) string {
	var log strings.Builder
	log.WriteString("# game 1.4 (linux)\n")
	for i, tick := range ticks {
		fmt.Fprintf(&log, "chat <bo> hm :( [%d\n\n%s", i, strings.ReplaceAll(head, "TICK", fmt.Sprint(tick)))
		log.WriteString(strings.NewReplacer("TICK", fmt.Sprint(tick), "HP", fmt.Sprint(100*i+tick)).Replace(document))
		log.WriteString("\n[net] ping {30} ms\n")
	}
	return log.String()
}

// TestBlocks: documents of several lines have the tick of the line before, or their own.
func TestBlocks(t *testing.T) {
	python := "{'note': \"it's (\",\n 'units': {'a': Unit(hp=HP, at=(1, 2)),\n           'b': Unit(hp=4, at=(3, 4), view=<View object at 0x7f31c2aa>, name='Moss Giant of the long river')}}\n"
	rust := "World {\n    frame: TICK,\n    units: [\n        Unit {\n            hp: HP,\n            name: \"Moss Giant of the long and winding river } in a text\",\n            to: None,\n        },\n    ],\n}\n"
	json := "{\n  \"units\": [\n    {\"id\": 7, \"hp\": HP, \"name\": \"Moss Giant of the long and winding river\"},\n    {\"id\": 8, \"hp\": 1, \"name\": \"Moss Giant\"}\n  ]\n}\n"
	for _, c := range []struct{ head, document, want string }{
		{"==== tick TICK ====\n", python, "units.a.hp=%d\n"},
		{"12:00:01 DEBUG state of frame TICK: ", python, "units.a.hp=%d\n"},
		{"[ 2.75s INFO trace] step=TICK phase=3\n", json, ".hp=%d\n"},
		{"== Kolo TICK ==\n", json, ".hp=%d\n"},
		{"[ 2.75s INFO trace]\n", rust, ".hp=%d\n"},
	} {
		log := blockLog(c.head, c.document, 10, 20, 30)
		n := Embedded([]byte(log))
		if n == nil {
			t.Errorf("not read:\n%s", log)
			continue
		}
		got := scalarsOf(t, n, log)
		for i, tick := range []int{10, 20, 30} {
			if want := fmt.Sprintf(c.want, 100*i+tick); !strings.Contains(got, want) || strings.Count(got, fmt.Sprintf("=%d\n", tick)) < 1 {
				t.Errorf("without %q and tick %d:\n%s%s", want, tick, log[:min(300, len(log))], got)
			}
		}
		cut := scalarsOf(t, n, log[:strings.LastIndex(log, "}\n")])
		if strings.Count(got, ".hp=")%3 != 0 || 3*strings.Count(cut, ".hp=") != 2*strings.Count(got, ".hp=") {
			t.Errorf("a document that does not end, or another number of them:\n%s\n%s", log, cut)
		}
	}
}

// TestBlockStages: of a tick that is written again the last state counts, and only what is confirmed.
func TestBlockStages(t *testing.T) {
	document := "World {\n    units: [\n        Unit {\n            hp: HP,\n            name: \"Moss Giant of the long and winding river, and of the hills\",\n        },\n    ],\n    at: (1, 2),\n}\n"
	for name, c := range map[string]struct {
		heads string // a line for each document
		want  string // ticks and values
	}{
		"again":      {"frame 1\nframe 2\nframe 2\nframe 3", "1=101 2=302 3=403"},
		"stages":     {"frame 1 predicted\nframe 1 confirmed\nframe 2 predicted\nframe 2 confirmed\nframe 3 predicted", "1=201 2=402"},
		"guesses":    {"frame=1\nframe=2 (speculative)\nframe=2\nframe=3 (speculative)", "1=101 2=302"},
		"many":       {"frame=100\nframe=110\nframe=100\nframe=110\nframe=120\nframe=130\nframe=140", "100=400 110=510"},
		"both words": {"frame 1 confirmed 0 predicted 1\nframe 2 confirmed 1 predicted 2\nframe 3 confirmed 2 predicted 3", "1=101 2=202 3=303"},
	} {
		var log strings.Builder
		for i, head := range strings.Split(c.heads, "\n") {
			tick := 0
			fmt.Sscanf(strings.NewReplacer("frame=", "", "frame ", "").Replace(head), "%d", &tick)
			log.WriteString(head + "\n" + strings.ReplaceAll(document, "HP", fmt.Sprint(100*(i+1)+tick)))
		}
		n := Embedded([]byte(log.String()))
		if n == nil {
			t.Errorf("%s: not read", name)
			continue
		}
		var got []string
		tick := ""
		for line := range strings.Lines(scalarsOf(t, n, log.String())) {
			if name, value, _ := strings.Cut(strings.TrimSpace(line), "="); name == "tick" {
				tick = value
			} else if strings.HasSuffix(name, "hp") {
				got = append(got, tick+"="+value)
			}
		}
		if strings.Join(got, " ") != c.want {
			t.Errorf("%s: %s, expected %s", name, got, c.want)
		}
	}
}

// TestNoBlocks: other things with brackets over several lines are no states.
func TestNoBlocks(t *testing.T) {
	for _, log := range []string{
		strings.Repeat("void f(int a) {\n  return g(a, 1);\n}\n"+strings.Repeat("// more\n", 20), 3),
		strings.Repeat("(a text that\n"+strings.Repeat("goes on and on ", 12)+"\nends)\n", 4),
		strings.Repeat("{\n", 2000),
		blockLog("tick TICK\n", "{\"hp\": HP,\n \"x\": 2}\n", 1, 2, 3), // short ones are many things
	} {
		if n := Embedded([]byte(log)); n != nil {
			t.Errorf("%s in %.80s", n.Name, log)
		}
	}
}

// FuzzBlocks: no log makes it fail otherwise than with an error.
func FuzzBlocks(f *testing.F) {
	f.Add(blockLog("==== tick TICK ====\n", "{'a': \"it's (\",\n 'b': ["+strings.Repeat("Unit(hp=HP, at=(1, 2)),\n", 8)+"]}\n", 1, 2, 3))
	f.Add(blockLog("frame=TICK predicted\n", "World {\n    units: [\n"+strings.Repeat("Unit { hp: HP },\n", 8)+"    ],\n}\n", 1, 2, 2, 3))
	f.Fuzz(func(_ *testing.T, log string) {
		if n := Embedded([]byte(log)); n != nil {
			_ = n.Check([]byte(log))
		}
	})
}
