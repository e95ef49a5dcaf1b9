package notation

import (
	"fmt"
	"strings"
	"testing"
)

// embeddedLog is a log with a document on every other line.
func embeddedLog(form, document string, ticks int) string {
	var log strings.Builder
	for i := range ticks {
		fmt.Fprintf(&log, "12:00:%02d,%03d DEBUG sim - %s%s\n", i, 997*i%1000, fmt.Sprintf(form, i+7), fmt.Sprintf(document, 41+i))
		fmt.Fprintf(&log, "12:00:%02d,%03d INFO net - ping of peer %d is [%d ms]\n", i, 998*i%1000, i%2, i*7%90)
	}
	return log.String()
}

// TestEmbedded: lines of a log end with a state, after the tick or with it.
func TestEmbedded(t *testing.T) {
	units := strings.Repeat("Unit{id=7, name=Moss Giant}, ", 6) + "Unit{id=8, name=x}"
	log := embeddedLog("state after action %d: ", "World[turn=1, hp=%d, units=["+units+"]]", 3)
	n := Embedded([]byte(log))
	if n == nil {
		t.Fatal("nothing is found")
	}
	parses(t, *n, log[:strings.IndexByte(log, '\n')], `{ "tick": number(7) "#type": text(World) "turn": number(1) "hp": number(41) "units": [ `+
		strings.Repeat(`{ "#type": text(Unit) "id": number(7) "name": text(Moss Giant) end `, 6)+`{ "#type": text(Unit) "id": number(8) "name": text(x) end end end`)
	log = strings.Replace(strings.Replace(log, "World", "World@1f2e", 1), "World[", "World@3d[", 1) // two objects
	if n = Embedded([]byte(log)); n == nil {
		t.Fatal("nothing is found after the identities of objects")
	}
	parses(t, *n, log[:strings.IndexByte(log, '\n')], `{ "tick": number(7) "#type": text(World) "turn": number(1) "hp": number(41) "units": [ `+
		strings.Repeat(`{ "#type": text(Unit) "id": number(7) "name": text(Moss Giant) end `, 6)+`{ "#type": text(Unit) "id": number(8) "name": text(x) end end end`)
	json := `{"frame": %d, "units": [` + strings.Repeat(`{"id": 7, "name": "Moss Giant"}, `, 6) + `{"id": 8}]}`
	log = embeddedLog("snapshot (%d bytes)", "> "+json+" (sim.js, line 214)", 3)
	if n = Embedded([]byte(log)); n == nil {
		t.Fatal("no JSON is found")
	}
	parses(t, *n, log[:strings.IndexByte(log, '\n')], `{ "frame": number(41) "units": [ `+
		strings.Repeat(`{ "id": number(7) "name": text(Moss Giant) end `, 6)+`{ "id": number(8) end end end`)
	log = embeddedLog("\x1b[90m[tick %d]\x1b[0m ", `{'hp': %d, 'units': [`+strings.Repeat(`{'id': 7, 'at': (1, 2)}, `, 6)+`{}]}`, 3)
	if n = Embedded([]byte(log)); n == nil {
		t.Fatal("no literals are found")
	}
	parses(t, *n, log[:strings.IndexByte(log, '\n')], `{ "tick": number(7) "hp": number(41) "units": [ `+strings.Repeat(`{ "id": number(7) "at": [ number(1) number(2) end end `, 6)+`{ end end end`)
	var rows strings.Builder
	rows.WriteString("// recorded by x\n")
	for i := range 6 {
		fmt.Fprintf(&rows, "#%d Head { Seed = %d }\n#%[1]d Unit { Id = 7, At = V { X = 1 } }\n#%[1]d Unit { Id = 8, Up = True }\nnet: ping of %d [ms]\n", i+3, 997*i)
	}
	if n = Embedded([]byte(rows.String())); n == nil {
		t.Fatal("no rows are found")
	}
	parses(t, *n, rows.String()[:strings.Index(rows.String(), "net")], `{ "tick": number(3) "#type": text(Head) "Seed": number(0) end `+
		`{ "tick": number(3) "#type": text(Unit) "Id": number(7) "At": { "#type": text(V) "X": number(1) end end { "tick": number(3) "#type": text(Unit) "Id": number(8) "Up": bool(true) end`)
	for _, log := range []string{
		strings.ReplaceAll(rows.String(), "#8 ", "#2 "), // no ticks
		rows.String()[:strings.Index(rows.String(), "#5")],
		embeddedLog("state %d ", "World[turn=1, hp=%d]", 3), // short ones are many things
		embeddedLog("state %d ", "World[turn=1, hp=%d, units=["+units+"]]", 1),
		embeddedLog("state %d ", "World[turn=1, hp=%d, units=["+units+"]", 3),
	} {
		if n := Embedded([]byte(log)); n != nil {
			t.Errorf("%s in %.80s", n.Name, log)
		}
	}
}

// FuzzEmbedded: no log makes it fail otherwise than with an error.
func FuzzEmbedded(f *testing.F) {
	f.Add(embeddedLog("tick %d: ", "World[turn=1, hp=%d, units=["+strings.Repeat("Unit{id=7, name=Moss Giant}, ", 6)+"]]", 3))
	f.Add(embeddedLog("tick %d: ", `{"a": %d, "b": [`+strings.Repeat(`{"c": "d e"}, `, 16)+`{}]}`, 3))
	f.Fuzz(func(_ *testing.T, log string) {
		if n := Embedded([]byte(log)); n != nil {
			_ = n.Check([]byte(log))
		}
	})
}
