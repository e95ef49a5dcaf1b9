package survey_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/desynctool/desynctool/bisect"
	"github.com/desynctool/desynctool/internal/file/files"
	"github.com/desynctool/desynctool/report/formats"
	"github.com/desynctool/desynctool/report/survey"
	"github.com/desynctool/desynctool/snapshot"
)

// write writes files into a folder.
func write(t *testing.T, texts map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range texts {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// found lists the states below a folder: their peer, their time, and their file.
func found(t *testing.T, dir string) (list []string) {
	t.Helper()
	all, err := survey.For(files.Disk, []string{dir})
	if err != nil {
		t.Fatal(err)
	}
	sets, err := snapshot.Find(files.Disk, dir, formats.SnapshotsOf(all.Formats()))
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range sets {
		for _, e := range s.Entries {
			path, _ := filepath.Rel(dir, e.Path())
			list = append(list, fmt.Sprintf("%s %s %s", e.Peer, e.Point, filepath.ToSlash(path)))
		}
	}
	slices.Sort(list)
	return list
}

const state = `{"tick": %d, "units": [{"id": 1, "hp": %d}, {"id": 2, "hp": 7}]}`

func TestNames(t *testing.T) {
	const banner = "==== OUT OF SYNC ====\nLocal player : %d\nFrame : 237\nPing : %d ms\n-- UNITS (2) --\n[00] TANK id=0040 hp=3 x=4\n[01] TANK id=0043 hp=%d x=5\n-- END --\n"
	log := ""
	for tick := uint32(1); tick < 40; tick++ {
		log += fmt.Sprintf("Takt %d Prüfsummen: felder=%08x markt=%08x\n", 20*tick, tick*2654435761, tick*tick*2654435761)
	}
	untimed := `{"units": [{"id": 1, "hp": 3}, {"id": 2, "hp": 7}]}`
	for _, c := range []struct {
		name  string
		texts map[string]string
		want  string
	}{
		{"the number is the tick", map[string]string{"a/s_100.json": fmt.Sprintf(state, 100, 3), "a/s_200.json": fmt.Sprintf(state, 200, 3)},
			" 100 a/s_100.json\n 200 a/s_200.json"},
		{"a number is the tick though the files have none", map[string]string{"a/s7_100.json": untimed, "a/s7_200.json": untimed},
			" 100 a/s7_100.json\n 200 a/s7_200.json"},
		{"the number is not the tick", map[string]string{"a/s_1.json": fmt.Sprintf(state, 100, 3), "a/s_2.json": fmt.Sprintf(state, 200, 3)},
			" 100 a/s_1.json\n 200 a/s_2.json"},
		{"peers in one folder", map[string]string{"host-100.json": fmt.Sprintf(state, 100, 3), "guest-100.json": fmt.Sprintf(state, 100, 4), "host-200.json": fmt.Sprintf(state, 200, 3), "guest-200.json": fmt.Sprintf(state, 200, 4)},
			"guest 100 guest-100.json\nguest 200 guest-200.json\nhost 100 host-100.json\nhost 200 host-200.json"},
		{"peers with numbers", map[string]string{"p1_100.json": untimed, "p2_100.json": untimed, "p1_200.json": untimed, "p2_200.json": untimed},
			"p1 100 p1_100.json\np1 200 p1_200.json\np2 100 p2_100.json\np2 200 p2_200.json"},
		{"dumps by number, peers by word", map[string]string{
			"dump1-host.json": fmt.Sprintf(state, 10, 3), "dump1-guest.json": fmt.Sprintf(state, 10, 4), "dump2-host.json": fmt.Sprintf(state, 20, 3), "dump2-guest.json": fmt.Sprintf(state, 20, 4)},
			"guest 10 dump1-guest.json\nguest 20 dump2-guest.json\nhost 10 dump1-host.json\nhost 20 dump2-host.json"},
		{"one file a table", map[string]string{"units_100.csv": "id,hp\n1,3\n2,7\n", "towns_100.csv": "id,name\n1,Ayr\n", "units_200.csv": "id,hp\n1,3\n2,6\n", "towns_200.csv": "id,name\n1,Ayr\n"},
			" 100 towns_100.csv\n 200 towns_200.csv"},
		{"one file a table, of peers in one folder", map[string]string{
			"host.5_units.csv": "id,hp\n1,3\n2,7\n", "host.5_game.csv": "wave,wind,seed\n1,2,3\n", "guest.5_units.csv": "id,hp\n1,3\n2,7\n", "guest.5_game.csv": "wave,wind,seed\n1,2,3\n"},
			"guest 5 guest.5_game.csv\nhost 5 host.5_game.csv"},
		{"one file a table, with the same columns", map[string]string{
			"a/orcs_5.csv": "id,hp\n1,3\n2,7\n", "a/elves_5.csv": "id,hp\n1,3\n2,7\n", "b/orcs_5.csv": "id,hp\n1,3\n2,7\n", "b/elves_5.csv": "id,hp\n1,3\n2,7\n"},
			" 5 a/elves_5.csv\n 5 b/elves_5.csv"},
		{"one file a table, with ticks", map[string]string{
			"a/units.csv": "tick,uid,hp\n1,17,3\n1,18,7\n2,17,3\n2,18,6\n", "a/game.csv": "tick,next_id,wave,seed\n1,5,3,99123456\n2,6,3,19123456\n", "a/rng.csv": "tick,state\n1,99123456\n2,19123456\n"},
			" 1 a/game.csv@1\n 2 a/game.csv@2"},
		{"settings beside states", map[string]string{"about.json": `{"build": "x", "version": {"a": 1}}`, "s_1.json": fmt.Sprintf(state, 1, 3), "s_2.json": fmt.Sprintf(state, 2, 3)},
			" 1 s_1.json\n 2 s_2.json"},
		{"one table, and words for what the files are", map[string]string{"a/state_karnes_frame5.csv": "id,hp\n1,3\n2,7\n", "b/state_karnes_frame5.csv": "id,hp\n1,3\n2,7\n"},
			" 5 a/state_karnes_frame5.csv\n 5 b/state_karnes_frame5.csv"},
		{"a line a field", map[string]string{"a/s.csv": "tick,kind,id,field,value\n1,unit,7,hp,3\n1,unit,7,x,4\n2,unit,7,hp,3\n", "b/s.csv": "tick,kind,id,field,value\n1,unit,7,hp,3\n1,unit,7,x,4\n2,unit,7,hp,2\n"},
			" 1 a/s.csv@1\n 1 b/s.csv@1\n 2 a/s.csv@2\n 2 b/s.csv@2"},
		{"peers with one and two words", map[string]string{"Big_Dave.json": fmt.Sprintf(state, 5, 3), "Tor.json": fmt.Sprintf(state, 5, 4), "hiro_s.json": fmt.Sprintf(state, 5, 3)},
			"Big_Dave 5 Big_Dave.json\nTor 5 Tor.json\nhiro_s 5 hiro_s.json"},
		{"a word before the tick, after peers of one and two words", map[string]string{"ann_t5.json": untimed, "max-theo_t5.json": untimed, "ann_t6.json": untimed, "max-theo_t6.json": untimed},
			"ann 5 ann_t5.json\nann 6 ann_t6.json\nmax-theo 5 max-theo_t5.json\nmax-theo 6 max-theo_t6.json"},
		{"peers with a letter after a word", map[string]string{"seller-a_5.json": untimed, "seller-b_5.json": untimed, "seller-a_6.json": untimed, "seller-b_6.json": untimed},
			"seller-a 5 seller-a_5.json\nseller-a 6 seller-a_6.json\nseller-b 5 seller-b_5.json\nseller-b 6 seller-b_6.json"},
		{"peers with a letter after a word for states", map[string]string{"dump-a_5.json": untimed, "dump-b_5.json": untimed, "dump-a_6.json": untimed, "dump-b_6.json": untimed},
			"a 5 dump-a_5.json\na 6 dump-a_6.json\nb 5 dump-b_5.json\nb 6 dump-b_6.json"},
		{"peers with the same first word", map[string]string{"Big_Dave.json": fmt.Sprintf(state, 5, 3), "Tor.json": fmt.Sprintf(state, 5, 4), "Big_Tim.json": fmt.Sprintf(state, 5, 3)},
			"Big_Dave 5 Big_Dave.json\nBig_Tim 5 Big_Tim.json\nTor 5 Tor.json"},
		{"a word that is only in some names", map[string]string{"state.json": fmt.Sprintf(state, 5, 3), "state-5.json": fmt.Sprintf(state, 5, 4), "state-ann.json": fmt.Sprintf(state, 5, 3)},
			" 5 state-5.json\nann 5 state-ann.json\njson 5 state.json"},
		{"one tick below a banner", map[string]string{"desync_Ann_O.txt": fmt.Sprintf(banner, 1, 99, 3), "desync_ben.txt": fmt.Sprintf(banner, 0, 32, 4)},
			"Ann_O 237 desync_Ann_O.txt\nben 237 desync_ben.txt"},
		{"the tick is deep in a file", map[string]string{"a/save.json": `{"game": {"clock": {"ticksGame": 7}, "units": [{"id": 1}]}, "v": 1}`, "b/save.json": `{"game": {"clock": {"ticksGame": 7}, "units": [{"id": 1}]}, "v": 1}`},
			" 7 a/save.json\n 7 b/save.json"},
		{"several states in a file", map[string]string{"all.json": "[" + fmt.Sprintf(state, 1, 3) + "," + fmt.Sprintf(state, 2, 3) + "]"},
			" 1 all.json@1\n 2 all.json@2"},
		{"the first file is damaged", map[string]string{
			"a/s_1.json": "\x00\x00\x00", "a/s_2.json": fmt.Sprintf(state, 2, 3), "a/s_3.json": fmt.Sprintf(state, 3, 3),
			"b/s_1.json": "?", "b/s_2.json": fmt.Sprintf(state, 2, 3), "b/s_3.json": fmt.Sprintf(state, 3, 3)},
			" 1 a/s_1.json\n 1 b/s_1.json\n 2 a/s_2.json\n 2 b/s_2.json\n 3 a/s_3.json\n 3 b/s_3.json"},
		{"a known format beside them", map[string]string{"s_1.json": fmt.Sprintf(state, 1, 3), "s_2.json": fmt.Sprintf(state, 2, 3), "order-log.bin": "\x89DOL\r\n\x1a\nnothing"}, ""},
		{"settings above logs", map[string]string{"a/wahl.properties": "breite=1920\nton=7\n", "a/logs/x.log": log, "b/wahl.properties": "breite=800\nton=9\n", "b/logs/x.log": log}, ""},
		{"settings of one program", map[string]string{"package.json": `{"name": "x", "version": "1.0.0"}`, "notes.txt": "nothing\n", "list.csv": "a,b\n1,2\n3,4\n"}, ""},
	} {
		if got := strings.Join(found(t, write(t, c.texts)), "\n"); got != c.want {
			t.Errorf("%s:\n%s\nwant\n%s", c.name, got, c.want)
		}
	}
}

// TestOnlyTable: a table has the name in the names of files if no file contains its name.
func TestOnlyTable(t *testing.T) {
	for names, want := range map[string]string{
		"a/karnes_frame5.csv b/karnes_frame5.csv": "karnes", "state_karnes_host_5.csv state_karnes_guest_5.csv": "karnes", "a/state_5.csv b/state_5.csv": "rows",
		"host/alice_5.csv host/alice_6.csv guest/bob_5.csv guest/bob_6.csv": "rows", "a/unit_positions-5.csv b/unit_positions-5.csv": "unit_positions",
	} {
		texts := map[string]string{}
		for name := range strings.FieldsSeq(names) {
			texts[name] = "id,hp\n1,3\n2,7\n"
		}
		dir := write(t, texts)
		all, err := survey.For(files.Disk, []string{dir})
		if err != nil {
			t.Fatal(err)
		}
		sets, err := snapshot.Find(files.Disk, dir, formats.SnapshotsOf(all.Formats()))
		if err != nil || len(sets) == 0 || len(sets[0].Entries) == 0 {
			t.Fatalf("%s: %v, %v", names, sets, err)
		}
		state, err := sets[0].Entries[0].Open()
		if err != nil {
			t.Fatal(err)
		}
		if got := state.Info().Tables[0].Label; got != want {
			t.Errorf("%s: %s, want %s", names, got, want)
		}
		state.Close()
	}
}

// TestTables: a state of several files has the tables of all, and is not equal to another one because one file is.
func TestTables(t *testing.T) {
	texts := map[string]string{}
	for i, peer := range []string{"a", "b"} {
		texts[peer+"/game_5.csv"] = "wave,wind,seed\n1,2,3\n"
		texts[peer+"/units_5.csv"] = fmt.Sprintf("id,hp\n1,%d\n2,7\n", i)
		texts[peer+"/spells_5.csv"] = "id,cost,name\n4,5,x\n"
	}
	dir := write(t, texts)
	all, err := survey.For(files.Disk, []string{dir})
	if err != nil {
		t.Fatal(err)
	}
	sets, err := snapshot.Find(files.Disk, dir, formats.SnapshotsOf(all.Formats()))
	if err != nil || len(sets) != 2 || len(sets[0].Entries) != 1 || len(sets[1].Entries) != 1 {
		t.Fatal(sets, err)
	}
	if snapshot.SameBytes(sets[0].Entries[0], sets[1].Entries[0]) {
		t.Error("states are equal by one of their files")
	}
	s, err := sets[1].Entries[0].Open()
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	w, err := snapshot.Load(s)
	if err != nil {
		t.Fatal(err)
	}
	var labels []string
	for _, table := range w.Tables {
		labels = append(labels, table.Label)
	}
	if got := strings.Join(labels, " "); got != "spells state units" || w.RNG == nil {
		t.Errorf("%s, RNG %q", got, w.RNG)
	}
	for name := range texts {
		if f := formats.Among(all.Formats(), filepath.Join(dir, name), []byte(texts[name])); f == nil || f.Name == "text-trace" {
			t.Errorf("%s: %v", name, f)
		}
	}
}

// TestNoise: a column that differs in every dump is noise where something else differs later, and is left where nothing
// does.
func TestNoise(t *testing.T) {
	texts := map[string]string{}
	for _, peer := range []string{"host", "guest"} {
		for tick := range 4 {
			clock, hp := 10*tick, 9
			if peer == "guest" {
				clock += 3
				hp -= tick / 3
			}
			texts[fmt.Sprintf("%s/s_%d.json", peer, tick)] = fmt.Sprintf(`{"tick": %d, "saved_at": %d, "lobby": "%s", "units": [{"id": 1, "hp": %d}]}`, tick, clock, peer, hp)
		}
	}
	dir := write(t, texts)
	all, err := survey.For(files.Disk, []string{dir})
	if err != nil {
		t.Fatal(err)
	}
	notes := all.Notes()
	if len(notes) != 1 || !strings.Contains(notes[0], "state.lobby; state.saved_at differ between peers in every dump: taken for noise") {
		t.Errorf("%q", notes)
	}
	if w := load(t, all, filepath.Join(dir, "host", "s_1.json")); w.Table(snapshot.Noise, "state") == nil || w.Table(snapshot.Archetype, "state") == nil || w.Table(snapshot.Archetype, "units") == nil {
		t.Errorf("%+v", w.Tables)
	}
	for name := range texts {
		if strings.HasSuffix(name, "_3.json") {
			if err := os.Remove(filepath.Join(dir, name)); err != nil {
				t.Fatal(err)
			}
		}
	}
	if all, err = survey.For(files.Disk, []string{dir}); err != nil {
		t.Fatal(err)
	}
	notes = all.Notes()
	if len(notes) != 1 || !strings.Contains(notes[0], "taken for noise") {
		t.Errorf("%q", notes)
	}
	for dumps, lost := range map[int]int{1: 1, 2: 0} { // only a clock or the memory of the process differs
		name, texts := []string{"saved_at", "WorkingSet"}[dumps%2], map[string]string{}
		for i, peer := range []string{"host", "guest"} {
			for tick := range dumps {
				texts[fmt.Sprintf("%s/s_%d.json", peer, tick)] = fmt.Sprintf(`{"tick": %d, %q: %d, "units": [{"id": 1, "hp": 9}]}`, tick, name, 10*tick+i)
			}
		}
		if all, err = survey.For(files.Disk, []string{write(t, texts)}); err != nil {
			t.Fatal(err)
		}
		if list, is := all.Noise(); len(list) != 1 || is || len(all.Lost()) != lost {
			t.Errorf("%d dumps: %v, compared %t, %q", dumps, list, is, all.Lost())
		}
	}
}

// TestNoiseBesideRNG: a counter of the machine differs in every dump, and then the random numbers do.
func TestNoiseBesideRNG(t *testing.T) {
	texts := map[string]string{}
	for i, peer := range []string{"host", "guest"} {
		for tick := range 3 {
			texts[fmt.Sprintf("%s/s_%d.json", peer, tick)] = fmt.Sprintf(`{"tick": %d, "mallocs": %d, "rng": %d, "units": [{"id": 1, "hp": 9}]}`, tick, 77*tick+13*i, 41+tick/2*i)
		}
	}
	all, err := survey.For(files.Disk, []string{write(t, texts)})
	if err != nil {
		t.Fatal(err)
	}
	if list, compared := all.Noise(); len(list) != 1 || compared || list[0].Field != "mallocs" || list[0].OfEntity() {
		t.Errorf("%v, compared %t", list, compared)
	}
}

// TestPeersInside: only the files of a folder show whose they are, one file a tick and peer.
func TestPeersInside(t *testing.T) {
	for _, form := range []string{"oos_%[1]s_f%06[2]d.json", "dump_%[2]d_%[3]d.json"} {
		texts := map[string]string{}
		for i, peer := range []string{"ann", "ben"} {
			for tick := range 3 {
				texts[fmt.Sprintf(form, []string{"x", "y"}[i], tick+5, 100*i+tick)] = fmt.Sprintf(`{"tick": %d, "peer": %q, "units": [{"id": 1, "hp": 9}]}`, tick+5, peer)
			}
		}
		list := found(t, write(t, texts))
		for i, line := range list {
			if peer := []string{"ann", "ben"}[i/3]; len(list) != 6 || !strings.HasPrefix(line, fmt.Sprint(peer, " ", 5+i%3)) {
				t.Errorf("%s: %q", form, list)
				break
			}
		}
	}
}

// TestLoggedStates: the lines of logs end with states. They are inputs if the log has checksums of the same ticks.
func TestLoggedStates(t *testing.T) {
	for _, c := range []struct {
		line, sum string
		states    int
	}{
		{"tick %[1]d: {'rng': %[2]d, 'units': [{'id': 1, 'at': (1, 2)}, {'id': 2, 'at': (%[1]d, 3)}], 'foes': [{'id': 9, 'hp': 40, 'name': 'fox'}, {'id': 7, 'hp': 40}]}", "", 40},
		{`STATE %[1]d: { "Fox": { "at": (1, %[1]d), "mood": &"IDLE", "home": ^"a/b" }, "Owl": { "at": (3, 4), "hp": 9 }, "Owl2": { "at": (3, 4), "hp": 8, "note": "of the northern woods" } }`, "", 40},
		{`STATE %[1]d: { "Player_1": { "pos": (1, %[1]d), "keys": "left" }, "Player_2": { "pos": (3, 4), "keys": "up" }, "Player_3": { "pos": (3, 4), "keys": "a" } }`, "", 0},
		{`FRAME %[1]d: { "ann": { "left": true, "fire": %[1]d, "held": "none of the keys" }, "ben": { "left": false, "fire": 4 }, "cid": { "left": false, "fire": 8, "held": "none of the keys" } }`, "", 0},
		{"#%[1]d Unit { Id = 1, Hp = %[1]d }\n#%[1]d Unit { Id = 2, Hp = 3 }", "", 40},
		{"#%[1]d Input { Id = 1, Keys = %[1]d }\n#%[1]d Input { Id = 2, Keys = 3 }", "", 0},
		{"tick %[1]d: {'inputs': [{'id': 1, 'keys': 'left up'}, {'id': 2, 'keys': 'down'}], 'acks': [{'id': 1, 'of': %[1]d, 'ms': 12}, {'id': 2, 'of': 1, 'ms': 12}]}",
			"tick %[1]d checksum=%08[2]x", 0},
	} {
		texts := map[string]string{}
		for _, peer := range []string{"ann", "ben"} {
			var log strings.Builder
			for i := range 20 {
				fmt.Fprintf(&log, c.line+"\nping of %[3]d ms\n", i+1, 2654435761*(i+1)&0xffffffff, i*7%20)
				if c.sum != "" {
					fmt.Fprintf(&log, c.sum+"\n", i+1, 2654435761*(i+1)&0xffffffff)
				}
			}
			texts[peer+".log"] = "started\n" + log.String()
		}
		dir := write(t, texts)
		all, err := survey.For(files.Disk, []string{dir})
		if err != nil {
			t.Fatal(err)
		}
		n := 0
		for _, peer := range []string{"ann.log", "ben.log"} {
			for _, f := range all.Formats() {
				if f.Paths == nil || !f.Paths(filepath.Join(dir, peer)) || f.Snapshot == nil {
					continue
				}
				n += len(found(t, dir)) / 2
			}
		}
		if n != c.states {
			t.Errorf("%q: %d states, expected %d", c.line, n, c.states)
		}
	}
}

// TestPings: pings may be equal in the first dumps. What is called otherwise and differs only later is compared.
func TestPings(t *testing.T) {
	for name, noisy := range map[string]bool{"ping_ms": true, "net.rtt": true, "shopping": false, "clock": false} {
		texts := map[string]string{}
		for i, peer := range []string{"host", "guest"} {
			for tick := range 5 {
				texts[fmt.Sprintf("%s/s_%d.json", peer, tick)] = fmt.Sprintf(`{"tick": %d, "%s": %d, "units": [{"id": 1, "hp": 9}]}`, tick, name, 30+7*tick%5+i*tick)
			}
		}
		all, err := survey.For(files.Disk, []string{write(t, texts)})
		if err != nil {
			t.Fatal(err)
		}
		if list, compared := all.Noise(); compared || len(list) == 1 != noisy {
			t.Errorf("%s: %v, compared %t", name, list, compared)
		}
	}
}

// TestLacking: a column or a list that no dump of a peer has and all of the other's have is not compared, and reported. A
// list without elements, a member that only some have, and dumps of one tick are compared.
func TestLacking(t *testing.T) {
	for name, c := range map[string]struct {
		dumps       int
		host, guest func(tick int) string // members of the state
		lost        string
		noise       bool // in the state of the guest
	}{
		"member of all rows": {4, func(int) string { return `"units": [{"id": 1, "hp": 9}]` },
			func(int) string { return `"units": [{"id": 1, "hp": 9, "name": "u1"}]` }, "the states of host lack units.name", true},
		"of some rows": {4, func(int) string { return `"units": [{"id": 1, "hp": 9}, {"id": 2, "hp": 9}]` },
			func(int) string { return `"units": [{"id": 1, "hp": 9, "stunned": true}, {"id": 2, "hp": 9}]` }, "", false},
		"of later rows": {4, func(int) string { return `"units": [{"id": 1, "hp": 9}]` }, func(tick int) string {
			return fmt.Sprintf(`"units": [{"id": 1, "hp": 9%s}]`, strings.Repeat(`, "dead": true`, tick/3))
		}, "", false},
		"of one dump": {1, func(int) string { return `"units": [{"id": 1, "hp": 9}]` },
			func(int) string { return `"units": [{"id": 1, "hp": 9, "name": "u1"}]` }, "", false},
		"list": {4, func(int) string { return `"units": [{"id": 1, "hp": 9}]` },
			func(int) string { return `"units": [{"id": 1, "hp": 9}], "sparks": [{"id": 5, "z": 1}]` }, "the states of host lack table sparks", true},
		"empty list": {4, func(int) string { return `"units": [{"id": 1, "hp": 9}], "sparks": []` },
			func(int) string { return `"units": [{"id": 1, "hp": 9}], "sparks": [{"id": 5, "z": 1}]` }, "", false},
	} {
		texts := map[string]string{}
		for tick := range c.dumps {
			texts[fmt.Sprintf("host/s_%d.json", tick)] = fmt.Sprintf(`{"tick": %d, %s}`, tick, c.host(tick))
			texts[fmt.Sprintf("guest/s_%d.json", tick)] = fmt.Sprintf(`{"tick": %d, %s}`, tick, c.guest(tick))
		}
		dir := write(t, texts)
		all, err := survey.For(files.Disk, []string{dir})
		if err != nil {
			t.Fatal(err)
		}
		lost := strings.Join(all.Lost(), "; ")
		if !strings.Contains(lost, c.lost) || c.lost == "" && lost != "" {
			t.Errorf("%s: %q, want %q", name, lost, c.lost)
		}
		w := load(t, all, filepath.Join(dir, "guest", "s_0.json"))
		if is := w.Table(snapshot.Noise, "units") != nil || w.Table(snapshot.Noise, "sparks") != nil; is != c.noise {
			t.Errorf("%s: %+v", name, w.Tables)
		}
	}
}

// load loads a state as the survey reads it.
func load(t *testing.T, all *survey.Survey, path string) *snapshot.World {
	t.Helper()
	s, err := snapshot.OpenAny(files.Disk, path, formats.SnapshotsOf(all.Formats()))
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	w, err := snapshot.Load(s)
	if err != nil {
		t.Fatal(err)
	}
	return w
}

// TestFewAreRead: of two folders with many dumps at most a tenth of the bytes is read until it is known where they
// diverged.
func TestFewAreRead(t *testing.T) {
	texts, written := map[string]string{}, int64(0)
	for tick := range 700 {
		for _, peer := range []string{"host", "guest"} {
			hp := 3
			if peer == "guest" && tick >= 477 {
				hp = 4
			}
			text := fmt.Sprintf(state, tick, hp) + strings.Repeat(" ", 1000)
			texts[fmt.Sprintf("%s/s_%d.json", peer, tick)] = text
			written += int64(len(text))
		}
	}
	dir := write(t, texts)
	tree := &counting{Tree: files.Disk}
	all, err := survey.For(tree, []string{dir})
	if err != nil {
		t.Fatal(err)
	}
	sets, err := snapshot.Find(tree, dir, formats.SnapshotsOf(all.Formats()))
	if err != nil || len(sets) != 2 {
		t.Fatal(len(sets), err)
	}
	found, err := bisect.Run([]*bisect.Peer{{Name: "guest", Snapshots: sets[0]}, {Name: "host", Snapshots: sets[1]}}, bisect.Options{})
	if err != nil || len(found.Splits) != 1 || found.Splits[0].Bad.Tick != 477 {
		t.Fatalf("%+v, %v", found, err)
	}
	if tree.read > written/10 {
		t.Errorf("%d of %d bytes were read, of %d files", tree.read, written, tree.opened)
	}
}

// TestLarge: the states of a file are known though its beginning, by which it is recognised, has only part of the first.
func TestLarge(t *testing.T) {
	var text strings.Builder
	for id := range 110_000 {
		fmt.Fprintf(&text, "{\"tick\": 1, \"id\": %d, \"hp\": 100000000}\n", id)
	}
	text.WriteString("{\"tick\": 2, \"id\": 5, \"hp\": 1}\n")
	got := strings.Join(found(t, write(t, map[string]string{"a/all.jsonl": text.String()})), "\n")
	if want := " 1 a/all.jsonl@1\n 2 a/all.jsonl@2"; got != want {
		t.Errorf("%d bytes: %q", text.Len(), got)
	}
}

// TestKinds: files that were not looked at are noted.
func TestKinds(t *testing.T) {
	texts := map[string]string{}
	for i := range 1100 {
		name := strings.NewReplacer("0", "a", "1", "b", "2", "c", "3", "d", "4", "e", "5", "f", "6", "g", "7", "h", "8", "i", "9", "j").Replace(fmt.Sprint(i))
		texts["x/"+name+".txt"] = "nothing\n"
	}
	all, err := survey.For(files.Disk, []string{write(t, texts)})
	if err != nil {
		t.Fatal(err)
	}
	if want := "files with more than 1024 kinds of names: 76 were not looked at"; len(all.Notes()) != 1 || all.Notes()[0] != want {
		t.Errorf("%q", all.Notes())
	}
}

// counting is a tree that counts what is opened and read.
type counting struct {
	files.Tree
	opened int
	read   int64
}

func (c *counting) Open(path string) (files.File, error) {
	c.opened++
	f, err := c.Tree.Open(path)
	if err != nil {
		return nil, err
	}
	return counted{f, c}, nil
}

type counted struct {
	files.File
	in *counting
}

func (c counted) Read(p []byte) (int, error) {
	n, err := c.File.Read(p)
	c.in.read += int64(n)
	return n, err
}

func (c counted) ReadAt(p []byte, at int64) (int, error) {
	n, err := c.File.ReadAt(p, at)
	c.in.read += int64(n)
	return n, err
}

// TestLongLines: each line is a state that is longer than the sample of other files. The lines are several states, and
// their ticks may be at their ends.
func TestLongLines(t *testing.T) {
	texts := map[string]string{}
	for _, peer := range []string{"a", "b"} {
		var out strings.Builder
		for tick := range 2 {
			fmt.Fprintf(&out, `{"map": [%s0], "units": [{"id": 1, "hp": %d}, {"id": 2, "hp": 7}], "tick": %d}`+"\n", strings.Repeat("1, ", 2<<20), 5-tick, tick+1)
		}
		texts[peer+"/s.jsonl"] = out.String()
	}
	want := " 1 a/s.jsonl@1\n 1 b/s.jsonl@1\n 2 a/s.jsonl@2\n 2 b/s.jsonl@2"
	if got := strings.Join(found(t, write(t, texts)), "\n"); got != want {
		t.Errorf("%s\nwant\n%s", got, want)
	}
}

// TestSupposedTicks: where only the names of two given files show ticks, and different ones, a note shows why the files are
// not compared.
func TestSupposedTicks(t *testing.T) {
	timed, untimed := fmt.Sprintf(state, 100, 3), `{"units": [{"id": 1, "hp": 3}, {"id": 2, "hp": 7}]}`
	for _, test := range []struct {
		names [2]string
		text  string
		want  bool
	}{
		{[2]string{"report_part_1.json", "report_part_2.json"}, untimed, true},
		{[2]string{"report_part_1.json", "report_part_2.json"}, timed, false},
		{[2]string{"host/s_100.json", "client/s_100.json"}, untimed, false},
		{[2]string{"alice.json", "bob.json"}, untimed, false},
	} {
		dir := write(t, map[string]string{test.names[0]: test.text, test.names[1]: test.text})
		all, err := survey.For(files.Disk, []string{filepath.Join(dir, test.names[0]), filepath.Join(dir, test.names[1])})
		if err != nil {
			t.Fatal(err)
		}
		if got := slices.ContainsFunc(all.Notes(), func(n string) bool { return strings.Contains(n, "report_part_1.json is tick 1,") }); got != test.want {
			t.Errorf("%v: notes %q", test.names, all.Notes())
		}
	}
}

// TestNamesInManyFolders: the cost of a name does not grow with the folders that have it.
func TestNamesInManyFolders(t *testing.T) {
	cost := func(folders int) float64 {
		texts := map[string]string{}
		for i := range folders {
			for tick := range 2 {
				texts[fmt.Sprintf("p%d/s%d.json", i, tick)] = fmt.Sprintf(state, tick, i)
			}
		}
		dir := write(t, texts)
		all, err := survey.For(files.Disk, []string{dir})
		if err != nil {
			t.Fatal(err)
		}
		list := formats.SnapshotsOf(all.Formats())
		i := slices.IndexFunc(list, func(f snapshot.Format) bool { return f.Name == "json-state" })
		if i < 0 {
			t.Fatal("no states found")
		}
		return testing.AllocsPerRun(10, func() {
			if n, ok := list[i].ParseName("s1.json"); !ok || n.Point.Tick != 1 {
				t.Errorf("%v, %v", n, ok)
			}
			if n, ok := list[i].ParseName("s99999999999999999999.json"); ok {
				t.Errorf("%v", n)
			}
		})
	}
	if few, many := cost(2), cost(60); many > few {
		t.Errorf("%v allocations with 2 folders, %v with 60", few, many)
	}
}

// countedTree counts the bytes that are read of files.
type countedTree struct {
	files.Tree
	bytes *int64
}

func (c countedTree) Open(path string) (files.File, error) {
	f, err := c.Tree.Open(path)
	if err != nil {
		return nil, err
	}
	return &files.Counted{File: f, Count: func(n int) { *c.bytes += int64(n) }}, nil
}

// TestManyStatesInAFile: a file with many states is not read again for each of them.
func TestManyStatesInAFile(t *testing.T) {
	const states = 300
	texts := map[string]string{}
	for _, peer := range []string{"host", "client"} {
		var text strings.Builder
		for tick := range states {
			fmt.Fprintf(&text, state+"\n", tick, tick)
		}
		texts[peer+"/states.jsonl"] = text.String()
	}
	dir, read := write(t, texts), int64(0)
	tree := countedTree{files.Disk, &read}
	all, err := survey.For(tree, []string{dir})
	if err != nil {
		t.Fatal(err)
	}
	var peers []*bisect.Peer
	for _, peer := range []string{"host", "client"} {
		sets, err := snapshot.Find(tree, filepath.Join(dir, peer), formats.SnapshotsOf(all.Formats()))
		if err != nil || len(sets) != 1 || len(sets[0].Entries) != states {
			t.Fatalf("%v, %v", sets, err)
		}
		peers = append(peers, &bisect.Peer{Name: peer, Snapshots: sets[0]})
	}
	result, err := bisect.Run(peers, bisect.Options{})
	if err != nil || result.Probes < states/2 {
		t.Fatalf("%d probes, %v", result.Probes, err)
	}
	if given := int64(2 * len(texts["host/states.jsonl"])); read > 20*given {
		t.Errorf("%d bytes are read of %d", read, given)
	}
}

// TestKnownFilesCostLittle: a file of a known format is not tried as every notation.
func TestKnownFilesCostLittle(t *testing.T) {
	dir := filepath.Join("..", "..", "testdata", "0ad", "control_mp_orders")
	cost := testing.AllocsPerRun(3, func() {
		if _, err := survey.For(files.Disk, []string{dir}); err != nil {
			t.Fatal(err)
		}
	})
	if cost > 1000 {
		t.Errorf("%v allocations, expected at most 1000", cost)
	}
}
