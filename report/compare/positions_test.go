package compare_test

import (
	"cmp"
	"compress/gzip"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/desynctool/desynctool/report/bundle"
	"github.com/desynctool/desynctool/report/compare"
	"github.com/desynctool/desynctool/report/document"
	"github.com/desynctool/desynctool/snapshot"
)

func triagedPaths(t *testing.T, paths ...string) *document.Report {
	t.Helper()
	s, err := bundle.OpenPaths(paths...)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	r, err := compare.Triage(s, compare.Builds{}, nil)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// unpacked returns the text of a file that gzip compressed.
func unpacked(t *testing.T, path string) string {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	b, err := io.ReadAll(z)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// differing returns what differs on a map: kind and key.
func differing(m *document.PositionsMap) (list []string) {
	for _, e := range m.Entities {
		if e.Differs {
			list = append(list, e.Kind+" "+e.Key)
		}
	}
	slices.Sort(list)
	return list
}

// TestMapOfGames: the map of a game's own states has the kinds of entities that differ, on the axes
// of its ground. What differs, and where, is from the provenance of the files and from their
// text.
func TestMapOfGames(t *testing.T) {
	for _, c := range []struct {
		session string
		x, y    string
		differ  string
		many    int // entities in all
	}{
		{"spring/pos_1ulp", "x", "z", "unit 17206", 24},
		{"spring/silent_health", "x", "z", "unit 15920", 24},
		{"0ad/mp_orders_walkspeed", "x", "z", "unit 151, unit 152", 0},
		{"0ad/mp_late_damage", "x", "z", "unit 148, unit 35", 0},
		{"openttd/dropped_sign", "tile x", "tile y", "sign 1", 2},
		{"openttd/town_poke", "tile x", "tile y", "town 0", 0},
	} {
		r := triagedPaths(t, "../../testdata/"+c.session)
		m := r.Map
		if m == nil {
			t.Errorf("%s: no map", c.session)
			continue
		}
		if m.Axes != document.AxesDeclared || m.X != c.x || m.Y != c.y {
			t.Errorf("%s: axes %s: %s and %s", c.session, m.Axes, m.X, m.Y)
		}
		if got := strings.Join(differing(m), ", "); got != c.differ {
			t.Errorf("%s: %s differ, expected %s", c.session, got, c.differ)
		}
		if c.many > 0 && len(m.Entities) != c.many {
			t.Errorf("%s: %d entities, expected %d", c.session, len(m.Entities), c.many)
		}
		kinds := map[string]bool{}
		for i := range r.Compared.Entities {
			kinds[r.Compared.Entities[i].Kind] = true
		}
		for _, e := range m.Entities {
			if !kinds[e.Kind] {
				t.Errorf("%s: %s %s is of a kind that does not differ", c.session, e.Kind, e.Key)
				break
			}
		}
	}
}

// TestMapSpring: every unit is where the dumps have it.
func TestMapSpring(t *testing.T) {
	const session = "../../testdata/spring/pos_1ulp/"
	m := triagedPaths(t, session).Map
	for side, peer := range m.Peers {
		text := unpacked(t, session+peer+"/GameState.txt.gz")
		from := strings.Index(text, fmt.Sprintf("frame: %d, ", m.Point))
		if from < 0 {
			t.Fatalf("no frame %d", m.Point)
		}
		text = text[from:]
		if next := strings.Index(text[1:], "\nframe: "); next >= 0 {
			text = text[:next]
		}
		units := regexp.MustCompile(`unitID: (\d+) .*\n\s*pos: <([^,]*), [^,]*, ([^>]*)>`).FindAllStringSubmatch(text, -1)
		if len(units) != 24 {
			t.Fatalf("%d units in the text", len(units))
		}
		for _, u := range units {
			x, _ := strconv.ParseFloat(u[2], 64)
			z, _ := strconv.ParseFloat(u[3], 64)
			i := slices.IndexFunc(m.Entities, func(e document.MapEntity) bool { return e.Key == u[1] })
			if i < 0 || m.Entities[i].At[side] == nil {
				t.Errorf("unit %s is not on the map of %s", u[1], peer)
				continue
			}
			if at := m.Entities[i].At[side]; near(at[0], x) != nil || near(at[1], z) != nil {
				t.Errorf("unit %s of %s is at %v, expected %v, %v", u[1], peer, *at, x, z)
			}
		}
	}
}

func near(a, b float64) error {
	if a-b > 1e-5 || b-a > 1e-5 {
		return fmt.Errorf("%v is not %v", a, b)
	}
	return nil
}

// TestMapOpenTTD: the sign that only the server has is on the tile of the command that was dropped, 0x612 of a map that
// is 64 tiles wide.
func TestMapOpenTTD(t *testing.T) {
	m := triagedPaths(t, "../../testdata/openttd/dropped_sign").Map
	for side, at := range m.Entities[0].At {
		switch {
		case m.Peers[side] == "client" && at != nil:
			t.Errorf("the client has it at %v", *at)
		case m.Peers[side] == "server" && (at == nil || *at != [2]float64{0x612 % 64, 0x612 / 64}):
			t.Errorf("the server has it at %v", at)
		}
	}
}

// TestMapByNames: where no format declares the ground, the height is y or z, the one with values that lie closer
// together; and a table without a position has no map.
func TestMapByNames(t *testing.T) {
	column := func(component, field string, values ...float64) snapshot.Column {
		c := snapshot.NewColumn(component, field, snapshot.F64, 0)
		for _, v := range values {
			c.AppendFloat(v)
		}
		return c
	}
	many := []float64{0, 100, 200, 300}
	few := []float64{5, 6, 7, 5}
	hp := []float64{40, 40, 40, 40}
	for _, c := range []struct {
		name    string
		columns []snapshot.Column
		x, y    string
		axes    document.MapAxes
	}{
		{"y is the height", []snapshot.Column{column("Position", "x", many...), column("Position", "y", few...), column("Position", "z", many...)}, "x", "z", document.AxesSpread},
		{"z is the height", []snapshot.Column{column("Unit", "pos.x", many...), column("Unit", "pos.y", many...), column("Unit", "pos.z", few...)}, "x", "y", document.AxesSpread},
		{"two axes", []snapshot.Column{column("Body", "x_pos", many...), column("Body", "y_pos", many...)}, "x", "y", document.AxesNamed},
		{"no height", []snapshot.Column{column("transform", "position.x", many...), column("transform", "position.z", few...)}, "x", "z", document.AxesNamed},
		{"where they go", []snapshot.Column{column("Target", "x", many...), column("Target", "y", many...)}, "", "", ""},
		{"one axis", []snapshot.Column{column("Position", "x", many...)}, "", "", ""},
	} {
		dir := t.TempDir()
		for peer, changed := range map[string]float64{"host": 40, "client": 41} {
			if err := os.MkdirAll(filepath.Join(dir, peer), 0o777); err != nil {
				t.Fatal(err)
			}
			for point := range uint64(2) {
				health := slices.Clone(hp)
				if point == 1 {
					health[2] = changed
				}
				w := &snapshot.World{
					Head: snapshot.Head{Seed: 5, Peer: peer, Point: snapshot.Point{Tick: point}},
					Tables: []snapshot.Table{
						{Label: "Infantry", Keys: snapshot.Keys{A: []uint64{1, 2, 3, 4}}, Columns: sortedColumns(append(slices.Clone(c.columns), column("Health", "hp", health...)))},
						{Label: "Projectile", Keys: snapshot.Keys{A: []uint64{9}}, Columns: []snapshot.Column{column("Position", "x", 1), column("Position", "y", 1)}},
					},
				}
				if err := snapshot.WriteFile(filepath.Join(dir, peer, snapshot.Name(5, point)), w, snapshot.WriteOptions{Plain: true}); err != nil {
					t.Fatal(err)
				}
			}
		}
		m := triagedPaths(t, dir).Map
		if c.axes == "" {
			if m != nil {
				t.Errorf("%s: a map of %s and %s", c.name, m.X, m.Y)
			}
			continue
		}
		if m == nil || m.X != c.x || m.Y != c.y || m.Axes != c.axes || len(m.Entities) != 4 {
			t.Errorf("%s: %+v", c.name, m)
			continue
		}
		if e := m.Entities[0]; !e.Differs || e.Kind != "Infantry" || e.Key != "3" || e.At[0] == nil || e.At[0][0] != 200 {
			t.Errorf("%s: the first is %+v", c.name, e)
		}
	}
}

// TestMapOfAnyGame: positions in ordinary notations are found by their names, and where a page has them.
func TestMapOfAnyGame(t *testing.T) {
	for _, c := range []struct{ name, page, state, x, y string }{
		{"by names", "", `"pos": {"x": %d, "y": 4}`, "x", "y"},
		{"two paths", `["at.east", "at.north"]`, `"at": {"east": %d, "north": 4, "up": 9}, "pos": {"x": 1, "y": 1}`, "east", "north"},
		{"elements of a list", `["at.0", "at.2"]`, `"at": [%d, 9, 4]`, "at.0", "at.2"},
		{"a text with both", `["at"]`, `"at": "(%d, 4.0, 9)"`, "x", "y"},
		{"no such member", `["at.x", "at.y"]`, `"pos": {"x": %d, "y": 4}`, "x", "y"},
	} {
		dir := t.TempDir()
		texts := map[string]string{}
		for peer, x := range map[string]int{"host": 3, "client": 5} {
			texts[peer+"/s_1.json"] = fmt.Sprintf(`{"tick": 1, "units": [{"id": 7, `+c.state+`}]}`, 3)
			texts[peer+"/s_2.json"] = fmt.Sprintf(`{"tick": 2, "units": [{"id": 7, `+c.state+`}]}`, x)
		}
		if c.page != "" {
			texts["desynctool.toml"] = "game = \"x\"\n[[table]]\npath = \"units\"\nposition = " + c.page + "\n"
		}
		for name, text := range texts {
			path := filepath.Join(dir, filepath.FromSlash(name))
			if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
				t.Fatal(err)
			}
		}
		m := triagedPaths(t, dir).Map
		if m == nil || m.X != c.x || m.Y != c.y || len(m.Entities) != 1 {
			t.Errorf("%s: %+v", c.name, m)
			continue
		}
		if e := m.Entities[0]; e.At[0] == nil || e.At[1] == nil || e.At[0][0]+e.At[1][0] != 8 || c.page != "" && e.At[0][1] != 4 {
			t.Errorf("%s: %v %v", c.name, e.At[0], e.At[1])
		}
	}
}

func sortedColumns(list []snapshot.Column) []snapshot.Column {
	slices.SortFunc(list, func(a, b snapshot.Column) int {
		return cmp.Or(cmp.Compare(a.Component, b.Component), cmp.Compare(a.Field, b.Field))
	})
	return list
}
