package notation

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
)

// sectioned are logs of games: the head of a tick, a line of a thing, and a line of another kind that is no part of the state.
var sectioned = []struct{ head, line, noise, want string }{
	{"T%05d crc=%08x n=3", "  U%03d ogre hp= %d pos=( %d, 4) cd=0", "[mem] pool 0x0c0d17ea8ac7 %d KB used", "U.%d.hp"},
	{"[00:00:01] step %d fps_real=30.5 rand=%08x", "[00:00:01]   obj_slime#%d hp=%d x=%d.50 state=0", "[00:00:01] autosave took %d ms", "obj_slime.%d.hp"},
	{"turn %d  hash %08x", "   ship %d fuel=%d heat=%d cargo=ore", "player chats %d", "ship.%d.fuel"},
	{"2024-05-01 12:00:01.250 INFO === Kolo %d === suma: %08x", "2024-05-01 12:00:02.000 INFO rycerz %d: zycie %d, zloto %d", "2024-05-01 12:00:01.251 WARN siec ping %d", "rycerz.%d.zycie"},
	{"--- sim_step %d --- check %08x", "boat %d\n  sail: %d\n  keel: %d", "fps: %d", "boat.%d.sail"},
	{"[00:00:01] === beat %d === %08x", "[00:00:01] hut %d:\n[00:00:01]     corn = %d\n[00:00:02]     rats = %d", "[00:00:01] saved in %d ms", "hut.%d.corn"},
	{"SIM %05d  ents 3  check %08x", "  heli_%d   890.4   -7.5  HP: %d  AI:FLEE   WP#%d", "fps  59.0 | gpu  %d.6ms | draw 994", "heli.heli_%d.HP"},
	{"<frame #%d> (check %08x)", "+ Tank[%d] {hp: %d, x: %d}", "loaded %d textures", "Tank.%d.hp"},
}

// logOf writes a log of 30 ticks with three things, and the value that one has.
func logOf(random *rand.Rand, head, line, noise string) string {
	var out strings.Builder
	out.WriteString("Game 1.4 started, seed 99\n")
	for tick := 1; tick <= 30; tick++ {
		fmt.Fprintf(&out, head+"\n", tick, uint32(tick)*2654435761)
		for id := 1; id <= 3; id++ {
			if random.IntN(8) == 0 {
				fmt.Fprintf(&out, noise+"\n", random.IntN(1000))
			}
			fmt.Fprintf(&out, line+"\n", id, 100*tick+id, 7*tick)
		}
	}
	return out.String()
}

// TestSections reads the values of each tick, without the lines between them.
func TestSections(t *testing.T) {
	for _, c := range sectioned {
		random := rand.New(rand.NewPCG(1, 2))
		a, b := logOf(random, c.head, c.line, c.noise), logOf(random, c.head, c.line, c.noise)
		n := Sections([]byte(a), []byte(b))
		if n == nil {
			t.Errorf("not read:\n%.300s", a)
			continue
		}
		one, other := scalarsOf(t, n, a), scalarsOf(t, n, b)
		if one != other {
			t.Errorf("two logs of the same states differ:\n%.400s\n%.400s", one, other)
		}
		for id := 1; id <= 3; id++ {
			if want := fmt.Sprintf(c.want+"=%d\n", id, 100*30+id); !strings.Contains(one, want) {
				t.Errorf("without %q in:\n%s", want, one[max(0, len(one)-400):])
			}
		}
		if strings.Count(one, "document\n") != 30 || strings.Contains(one, "ping") || strings.Contains(one, "seed") {
			t.Errorf("%d documents:\n%.600s", strings.Count(one, "document\n"), one)
		}
		// a log that ends within a tick has no state of it
		lines := strings.SplitAfter(strings.TrimSuffix(a, "\n"), "\n")
		if cut := scalarsOf(t, n, strings.Join(lines[:len(lines)-2], "")); strings.Count(cut, "document\n") != 29 {
			t.Errorf("%d documents of a cut log", strings.Count(cut, "document\n"))
		}
	}
}

// TestSectionsTable reads tables with the names of their columns above.
func TestSectionsTable(t *testing.T) {
	var log strings.Builder
	for tick := 1; tick <= 9; tick++ {
		fmt.Fprintf(&log, "--- Tour %4d ---  somme: %d\n No  Esp\xe8ce  Vie  X\n", tick, 4000+tick)
		for id := 1; id <= 3; id++ {
			fmt.Fprintf(&log, " %2d  Archer  %d  %d\n", id, 40+tick, id*tick)
		}
		log.WriteString(strings.Repeat("* Memoire libre: 2 octets\n", tick%3/2) + "\n")
	}
	n := Sections([]byte(log.String()))
	if n == nil {
		t.Fatal("not read")
	}
	if got := scalarsOf(t, n, log.String()); !strings.Contains(got, "tick=9\nsomme=4009\nrow.No=1\n") || !strings.Contains(got, "row.Vie=49\nrow.X=27\n") || strings.Contains(got, "octets") {
		t.Error(got[max(0, len(got)-300):])
	}
}

// TestSectionEvents passes over lines between two heads that have their own ticks, as orders do, and over sentences of as
// many words as a table has columns. A count in a line below each head is a part of the state, as is a line with a digest.
func TestSectionEvents(t *testing.T) {
	write := func(event string, orders, next int) string {
		var log strings.Builder
		for tick := 0; tick < 120; tick += 10 {
			fmt.Fprintf(&log, "--- state tick %4d ---\nWood: %5d  Food: %3d\n No Name  X  Y Job\n", tick, 100+tick, 7*tick)
			for id := 1; id <= 3; id++ {
				fmt.Fprintf(&log, " %2d Anton %2d %2d rest\n", id, tick, id)
			}
			log.WriteString("\n")
			for i := range orders {
				fmt.Fprintf(&log, event+"\n", tick+2*i+2, i)
			}
			orders, next = next, orders
		}
		return log.String()
	}
	for _, event := range []string{"Order T%d: No %d -> walk", "[%d] player 1 sends unit %d home", "At %d unit %d walks"} {
		two, three := write(event, 2, 3), write(event, 3, 2)
		n := Sections([]byte(two), []byte(three))
		if n == nil {
			t.Fatalf("not read:\n%.400s", two)
		}
		one, other := scalarsOf(t, n, two), scalarsOf(t, n, three)
		if one != other || !strings.Contains(one, "Wood.Wood=210\n") || !strings.Contains(one, "Wood.Food=770\n") || !strings.Contains(one, "row.X=110\n") {
			t.Errorf("%s: two logs of the same states with other orders differ:\n%.600s\n%.600s", event, one, other)
		}
	}
	var log strings.Builder
	for tick := 0; tick < 12; tick++ {
		fmt.Fprintf(&log, "--- turn %d ---\nPlayer: 0  Gold: %d\nPlayer: 1  Gold: %d\nPlayer: 2  Gold: %d\n", tick, 3*tick%7, 5*tick, 2)
	}
	if n := Sections([]byte(log.String())); n == nil || !strings.Contains(scalarsOf(t, n, log.String()), "Player.1.Gold=55") {
		t.Errorf("labelled rows are not read")
	}
	for _, line := range []string{"step %d check 9f3acc0%d", "step %d check 40911%d"} {
		log := []byte(write(line, 1, 1))
		if n := Sections(log); n == nil || !strings.Contains(scalarsOf(t, n, string(log)), "check") {
			t.Errorf("%q is lost:\n%.900s\n%.500s", line, log, scalarsOf(t, n, string(log)))
		}
	}
}

// TestEvents counts lines of heads at 0, 10 and 20, each with the tick of the head above.
func TestEvents(t *testing.T) {
	for _, c := range []struct {
		lines []string
		all   bool
	}{
		{[]string{"0 T0: walk", "0 T7: walk", "0 T10: walk", "10 T10: walk 1033", "10 T12: stay"}, true},
		{[]string{"0 T7: walk", "0 T5: walk"}, false},
		{[]string{"0 T7: walk", "10 T8: walk"}, false},
		{[]string{"0 T12: walk", "10 T13: walk"}, false},
		{[]string{"0 T7: walk", "10 walks"}, false},
		{[]string{"0 7: walk"}, false},
		{[]string{"0 T7: 9f3a"}, false},
		{[]string{"0 T7: 409112"}, false},
	} {
		e := events{all: true}
		for _, line := range c.lines {
			tick, rest, _ := strings.Cut(line, " ")
			e.count([]byte(rest), parsed([]byte(tick)))
		}
		if e.all != c.all {
			t.Errorf("%q: %t", c.lines, e.all)
		}
	}
}

// TestSectionRollback reads logs of games that predict: the last state of each tick counts, or the one that a word confirms. Where no
// word does, the last ticks do not count. The prediction is wrong in each.
func TestSectionRollback(t *testing.T) {
	const ticks = 60
	for _, c := range []struct {
		guess, sure string // before the heads
		until       int    // the last tick that counts
	}{
		{"[predicted] ", "", ticks},
		{"(predicted) ", "(confirmed) ", ticks},
		{"predicted ", "confirmed ", ticks},
		{"", "", ticks - 16},
	} {
		write := func(depth int) string {
			var log strings.Builder
			one := func(stage string, tick, hp int) {
				fmt.Fprintf(&log, "%sframe %d checksum %08x\n  fighter 1: hp %d\n  fighter 2: hp %d\n", stage, tick, tick*tick*7919+hp, 200-tick, hp)
			}
			for tick := 1; tick <= ticks; {
				if tick%depth == 0 && tick+depth <= ticks {
					for i := range depth {
						one(c.guess, tick+i, 99)
					}
					fmt.Fprintf(&log, "  -- rollback to %d --\n", tick)
					for range depth {
						one(c.sure, tick, 100+tick)
						tick++
					}
				}
				one(c.sure, tick, 100+tick)
				tick++
			}
			return log.String()
		}
		two, three := write(2), write(3)
		n := Sections([]byte(two), []byte(three))
		if n == nil {
			t.Errorf("%q is not read:\n%.300s", c.guess, two)
			continue
		}
		one, other := scalarsOf(t, n, two), scalarsOf(t, n, three)
		if one != other || strings.Contains(one, "hp=99\n") || strings.Count(one, "document\n") != c.until || !strings.Contains(one, fmt.Sprintf("fighter.2.hp=%d\n", 100+c.until)) {
			t.Errorf("%q: %d documents, expected %d:\n%.600s\n%.600s", c.guess, strings.Count(one, "document\n"), c.until, one, other)
		}
	}
	one := "frame 1\n  fighter 1: hp 5\n  fighter 2: hp 6\n"
	for tick := 2; tick < 9; tick++ { // one rollback
		for _, stage := range []string{"[predicted] ", ""}[tick/6:] {
			one += fmt.Sprintf("%sframe %d\n  fighter 1: hp 5\n  fighter 2: hp %d\n", stage, tick, len(stage))
		}
	}
	if n := Sections([]byte(one)); n == nil || strings.Contains(scalarsOf(t, n, one), "hp=12") {
		t.Errorf("not read:\n%s", one)
	}
	var log strings.Builder
	for tick := range 20 {
		for id := 1; id <= 4; id++ {
			fmt.Fprintf(&log, "unit %d\n  hp %d armour %d\n", id, tick, id)
		}
	}
	if Sections([]byte(log.String())) != nil {
		t.Error("the ids of units are ticks")
	}
}

// TestNoSections: lines of orders, of rollbacks, and of things that do not come again are no states.
func TestNoSections(t *testing.T) {
	for name, line := range map[string]func(i int) string{
		"orders":     func(i int) string { return fmt.Sprintf("tick %d\n  move unit=%d x=%d y=%d\n", i, i*7, i%9, i%5) },
		"rollbacks":  func(i int) string { return fmt.Sprintf("frame %d crc=%x\n  unit 1 hp=%d x=2 y=3\n", i-i%5*2, i, i) },
		"no ticks":   func(i int) string { return fmt.Sprintf("sector %d\n  unit 1 hp=%d x=2 y=3\n", i*i%97, i) },
		"checksums":  func(i int) string { return fmt.Sprintf("tick %d crc=%08x\n", i, uint32(i)*2654435761) },
		"few values": func(i int) string { return fmt.Sprintf("tick %d\nloading\nplayer joined\nconnection lost\n", i) },
	} {
		var log strings.Builder
		for i := 1; i <= 40; i++ {
			log.WriteString(line(i))
		}
		if Sections([]byte(log.String())) != nil {
			t.Errorf("%s are read as states", name)
		}
	}
}

// scalarsOf returns the values of a text with their paths, a line for each.
func scalarsOf(t *testing.T, n *Notation, text string) string {
	t.Helper()
	p := &paths{}
	if err := n.Parse([]byte(text), p); err != nil {
		t.Fatal(err)
	}
	return p.out.String()
}

// paths is a Sink that writes the path of each value.
type paths struct {
	out  strings.Builder
	path []string
	name string
}

func (p *paths) BeginMap(int) {
	if p.name == "" {
		p.out.WriteString("document\n")
	}
	p.path, p.name = append(p.path, p.name), ""
}
func (p *paths) BeginList(at int) { p.BeginMap(at) }
func (p *paths) End(int)          { p.name, p.path = "", p.path[:len(p.path)-1] }
func (p *paths) Name(name []byte) { p.name = string(name) }
func (p *paths) Item(name []byte) { p.name = string(name) }
func (p *paths) Scalar(_ Kind, text []byte) {
	fmt.Fprintf(&p.out, "%s=%s\n", strings.TrimLeft(strings.Join(p.path, ".")+"."+p.name, "."), text)
}

// FuzzSections: no log makes it fail otherwise than with an error.
func FuzzSections(f *testing.F) {
	f.Add([]byte("T1 crc=34\n  U001 ogre hp= 32 pos=( 15,  68)\n[mem] 5 KB\nT2 crc=35\n  U001 ogre hp= 31 pos=( 15,  68)\nT3 crc=36\n  U001 ogre hp= 30 pos=( 15,  68)\n"))
	f.Add([]byte("--- Tour    1 ---\n No  Vie  X\n  1  40  4\n  2  40  27\n\n--- Tour    2 ---\n No  Vie  X\n  1  40  3\n  2  40  26\n--- Tour    3 ---\n No  Vie  X\n  1  40  3\n  2  40  25\n"))
	f.Fuzz(func(_ *testing.T, text []byte) {
		if n := Sections(text); n != nil {
			_ = n.Check(text)
		}
	})
}

// TestSectionBlocks: what follows the block below a head is something else, and a machine may write decimal commas.
func TestSectionBlocks(t *testing.T) {
	log := func(random *rand.Rand, mark string) (out string) {
		for tick := 1; tick <= 20; tick++ {
			out += fmt.Sprintf("[sync] -- tick %d -- hash %d\n  gold=%d lives=20\n", tick*5, tick*7919, tick*3)
			for id := 1; id <= 1+tick%3; id++ {
				out += fmt.Sprintf("  Mob#%d x=%d%s%04d y=-7%s25 hp=%d cell=4,%d\n", id, tick, mark, tick*317%10000, mark, 90-id, tick)
			}
			out += "Some.Engine.Log:Write(String)\nSome.Game.Sync:Dump(World)\n \n(Filename: C:\\build\\log.cpp Line: 45)\n\n"
			if random.IntN(4) == 0 {
				out += fmt.Sprintf("NullError: no object\n  at Some.Game.Hint.Update () [0x%05x] in <%d>:0\n", random.IntN(999), random.IntN(9))
			}
		}
		return out
	}
	random := rand.New(rand.NewPCG(3, 4))
	point, comma := log(random, "."), log(random, ",")
	n := Sections([]byte(comma), []byte(point), []byte(comma))
	if n == nil {
		t.Fatal("not read")
	}
	one, other := scalarsOf(t, n, point), scalarsOf(t, n, comma)
	if one != other {
		t.Errorf("a log with decimal commas differs:\n%.400s\n%.400s", one, other)
	}
	if !strings.Contains(one, "x=20.6340\n") || strings.Contains(one, "Filename") || strings.Contains(one, "Hint") || strings.Contains(one, "4.20") {
		t.Error(one[max(0, len(one)-600):])
	}
}

// TestNumberedRow reads lines of things that have a number in their name.
func TestNumberedRow(t *testing.T) {
	for _, c := range []struct{ line, want string }{
		{"heli_5   12.5  -3  HP: 98  AI:FLEE   WP#0", "heli id=heli_5 value=12.5 value#2=-3 HP=98 AI=FLEE WP=0"},
		{"U017 hp=3 pos=(1, 2)", "U id=17 hp=3 pos=1 pos#2=2"},
		{"__7 4 hp=3", "__ id=7 value=4 hp=3"},
		{"p2 450", "p2 id=450"},
		{"wave:boss hp=3 mood:", "wave hp=3 | boss mood"},
		{"ent 3 sim::ai hp=3 url:http://x", "ent id=3 hp=3 url=http | sim ai x"},
		{":::", "line"},
	} {
		r := row{numbered: true}
		got := string(r.read([]byte(c.line)))
		for _, f := range r.fields {
			got += fmt.Sprintf(" %s=%s", f.name, f.value)
		}
		if len(r.spare) > 0 {
			got += fmt.Sprintf(" | %s", bytes.Join(r.spare, []byte(" ")))
		}
		if got != c.want {
			t.Errorf("%q: %s, expected %s", c.line, got, c.want)
		}
	}
}
