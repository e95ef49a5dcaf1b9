package explore_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/exp/teatest/v2"
	"github.com/google/go-cmp/cmp"

	"github.com/desynctool/desynctool/archive"
	"github.com/desynctool/desynctool/internal/prose"
	"github.com/desynctool/desynctool/internal/testkit/effort"
	"github.com/desynctool/desynctool/report/bundle"
	"github.com/desynctool/desynctool/report/compare"
	"github.com/desynctool/desynctool/report/document"
	"github.com/desynctool/desynctool/report/explore"
	"github.com/desynctool/desynctool/report/formats"
)

// update reports whether screens are to be written again: teatest has the flag -update.
func update() bool { return flag.Lookup("update").Value.String() == "true" }

// triage returns the reports of a folder of testdata, one a match.
func triage(t testing.TB, folder string) []*document.Report {
	t.Helper()
	path := filepath.Join("..", "..", "testdata", filepath.FromSlash(folder))
	tree, err := archive.Open([]string{path}, archive.Options{Known: formats.Pasted()})
	if err != nil {
		t.Fatal(err)
	}
	defer tree.Close()
	matches, err := bundle.OpenMatches(tree, []string{path})
	if err != nil {
		t.Fatal(err)
	}
	var out []*document.Report
	for _, x := range matches.List {
		s, err := x.Open()
		if err != nil {
			t.Fatal(err)
		}
		r, err := compare.Triage(s, compare.Builds{}, nil)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, r)
	}
	return out
}

// saved returns the saved report of the tests of report.
func saved(t testing.TB) []*document.Report {
	t.Helper()
	f, err := os.Open(filepath.Join("..", "document", "testdata", "triage.json"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	r, err := document.ReadReport(f, "triage.json")
	if err != nil {
		t.Fatal(err)
	}
	return []*document.Report{r}
}

func loadOf(reports []*document.Report) explore.Load {
	return func(func(string, int64, int64)) ([]*document.Report, error) { return reports, nil }
}

// named are keys that have no character.
var named = map[string]rune{"up": tea.KeyUp, "down": tea.KeyDown, "left": tea.KeyLeft, "right": tea.KeyRight, "enter": tea.KeyEnter, "esc": tea.KeyEscape, "tab": tea.KeyTab,
	"pgup": tea.KeyPgUp, "pgdown": tea.KeyPgDown, "home": tea.KeyHome, "end": tea.KeyEnd, "backspace": tea.KeyBackspace}

// press sends keys: those that are named, separated by spaces, and /text as it is typed.
func press(tm *teatest.TestModel, keys string) {
	for _, key := range strings.Fields(keys) {
		switch code, ok := named[key]; {
		case ok:
			tm.Send(tea.KeyPressMsg{Code: code})
		case key == "space":
			tm.Send(tea.KeyPressMsg{Code: ' ', Text: " "})
		default:
			tm.Type(key)
		}
	}
}

// run shows reports in a terminal of that size, lets act send what it likes, and returns the last screen.
func run(t *testing.T, reports []*document.Report, options explore.Options, width, height int, act func(tm *teatest.TestModel)) string {
	t.Helper()
	tm := teatest.NewTestModel(t, explore.New(loadOf(reports), options), teatest.WithInitialTermSize(width, height))
	teatest.WaitFor(t, tm.Output(), func(b []byte) bool {
		return bytes.Contains(b, []byte("[tree]")) || bytes.Contains(b, []byte("explore needs"))
	}, teatest.WithDuration(time.Minute))
	act(tm)
	if err := tm.Quit(); err != nil {
		t.Fatal(err)
	}
	m := tm.FinalModel(t, teatest.WithFinalTimeout(time.Minute))
	var out strings.Builder
	for line := range strings.Lines(m.View().Content + "\n") {
		out.WriteString(strings.TrimRight(line, " \n") + "\n")
	}
	return out.String()
}

// TestScreens pins screens of real files and of a saved report.
func TestScreens(t *testing.T) {
	openttd := explore.Options{Given: explore.Given{Paths: []string{"testdata/openttd/rng_poke"}}}
	for _, c := range []struct {
		name    string
		reports []*document.Report
		options explore.Options
		width   int
		height  int
		keys    string
	}{
		{"openttd-80x24", triage(t, "openttd/rng_poke"), openttd, 80, 24, ""},
		{"openttd-120x40-narrowing", triage(t, "openttd/rng_poke"), openttd, 120, 40, "down down right down down down down"},
		{"openttd-80x24-ascii", triage(t, "openttd/rng_poke"), explore.Options{ASCII: true}, 80, 24, "down down down right"},
		{"spring-80x24-value", triage(t, "spring/pos_1ulp"), explore.Options{}, 80, 24, "/pos.z enter n"},
		{"spring-120x40-value", triage(t, "spring/pos_1ulp"), explore.Options{}, 120, 40, "/pos.z enter n"},
		{"0ad-120x40-unfolded", triage(t, "0ad/mp_late_damage"), explore.Options{}, 120, 40, "home *"},
		{"saved-80x24", saved(t), explore.Options{}, 80, 24, ""},
		{"saved-120x40-cause", saved(t), explore.Options{}, 120, 40, "down down down down down down down down right down"},
		{"saved-60x20", saved(t), explore.Options{}, 60, 20, "down tab pgdown"},
		{"help-80x24", saved(t), explore.Options{}, 80, 24, "?"},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := run(t, c.reports, c.options, c.width, c.height, func(tm *teatest.TestModel) { press(tm, c.keys) })
			file := filepath.Join("testdata", c.name+".txt")
			if update() {
				if err := os.WriteFile(file, []byte(got), 0o666); err != nil {
					t.Fatal(err)
				}
				return
			}
			want, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(strings.ReplaceAll(string(want), "\r\n", "\n"), got); d != "" {
				t.Errorf("the screen is another one (-update writes it):\n%s", d)
			}
		})
	}
}

// selected returns the row under the cursor, without the detail next to it.
func selected(t *testing.T, screen string) string {
	t.Helper()
	for line := range strings.Lines(screen) {
		if rest, ok := strings.CutPrefix(line, ">"); ok {
			rest, _, _ = strings.Cut(rest, "│")
			return strings.Join(strings.Fields(rest), " ")
		}
	}
	t.Fatalf("no row is selected:\n%s", screen)
	return ""
}

// TestKeys walks the tree of a report with a known order of rows.
func TestKeys(t *testing.T) {
	reports := triage(t, "openttd/rng_poke")
	for _, c := range []struct{ keys, want string }{
		{"", "▸ verdict diverged"},
		{"up", "▾ session OpenTTD"},
		{"up up up", "▾ session OpenTTD"},
		{"down down", "▸ narrowing 5 open"},
		{"j j k", "▸ peers 2"},
		{"down right", "▾ peers 2"},
		{"down right right", "client group 1"},
		{"down right right down", "▸ server group 2"},
		{"down right right left", "▾ peers 2"},
		{"down right right left left", "▸ peers 2"},
		{"down right right left left left", "▾ session OpenTTD"},
		{"down enter", "▾ peers 2"},
		{"down space space", "▸ peers 2"},
		{"end", "▸ next 1"},
		{"end home", "▾ session OpenTTD"},
		{"G g", "▾ session OpenTTD"},
		{"home left", "▸ session OpenTTD"},
		{"home left down", "▸ session OpenTTD"},
		{"home left right right", "▸ verdict diverged"},
		{"home pgdown", "▸ next 1"},
		{"/server", "▸ server group 2"},
		{"/server enter n", "? peers client ≠ server"},
		{"/server enter n N", "▸ server group 2"},
		{"/server esc", "▸ server group 2"},
		{"/serverx backspace", "▸ server group 2"},
		{"/CITY enter", "? archetype RNG, CITY.sup…"},
		{"? x", "▸ verdict diverged"},
		{"tab down tab", "▸ verdict diverged"},
	} {
		got := selected(t, run(t, reports, explore.Options{}, 80, 24, func(tm *teatest.TestModel) { press(tm, c.keys) }))
		if got != c.want {
			t.Errorf("%q: %q is selected, expected %q", c.keys, got, c.want)
		}
	}
}

// TestMouse selects and folds rows by clicks, and scrolls the pane that the wheel is over.
func TestMouse(t *testing.T) {
	reports := triage(t, "openttd/rng_poke")
	const tree, detail = 5, 60
	click := func(x, row int) tea.Msg { return tea.MouseClickMsg{X: x, Y: 2 + row, Button: tea.MouseLeft} }
	wheel := func(x int, button tea.MouseButton) tea.Msg { return tea.MouseWheelMsg{X: x, Y: 5, Button: button} }
	for _, c := range []struct {
		name, keys, want, shows string
		send                    []tea.Msg
	}{
		{"a row", "", "▸ narrowing 5 open", "", []tea.Msg{click(tree, 3)}},
		{"unfolded", "", "▾ peers 2", "", []tea.Msg{click(tree, 2), click(tree, 2)}},
		{"folded", "", "▸ peers 2", "", []tea.Msg{click(tree, 2), click(tree, 2), click(tree, 2)}},
		{"below the rows", "", "▸ verdict diverged", "", []tea.Msg{click(tree, 13)}},
		{"beside the panes", "", "▸ verdict diverged", "", []tea.Msg{click(tree, -1), click(tree, -2), click(tree, 40)}},
		{"the detail", "", "▸ verdict diverged", "[detail]", []tea.Msg{click(detail, 3)}},
		{"back from the detail", "tab", "▾ session OpenTTD", "[tree]", []tea.Msg{click(tree, 0)}},
		{"the detail scrolled", "", "▸ verdict diverged", " 4-", []tea.Msg{wheel(detail, tea.MouseWheelDown)}},
		{"and back", "", "▸ verdict diverged", " 1-", []tea.Msg{wheel(detail, tea.MouseWheelDown), wheel(detail, tea.MouseWheelUp), wheel(detail, tea.MouseWheelUp)}},
		{"the tree scrolled", "home * home", "▾ peers 2", "", []tea.Msg{wheel(tree, tea.MouseWheelDown)}},
		{"a row after scrolling", "home * home", "client group 1", "", []tea.Msg{wheel(tree, tea.MouseWheelDown), click(tree, 1)}},
		{"up again", "home * end", "▾ session OpenTTD", "", append(slices.Repeat([]tea.Msg{wheel(tree, tea.MouseWheelUp)}, 30), click(tree, 0))},
	} {
		screen := run(t, reports, explore.Options{}, 80, 24, func(tm *teatest.TestModel) {
			press(tm, c.keys)
			for _, msg := range c.send {
				tm.Send(msg)
			}
		})
		if selected(t, screen) != c.want || !strings.Contains(screen, c.shows) {
			t.Errorf("%s: %q is selected, expected %q, and %q on the screen:\n%s", c.name, selected(t, screen), c.want, c.shows, screen)
		}
	}
	run(t, reports, explore.Options{}, 40, 10, func(tm *teatest.TestModel) { // too small for a tree
		tm.Send(click(1, 1))
		tm.Send(wheel(1, tea.MouseWheelDown))
	})
}

// TestFilter shows only what has the text, and all above it.
func TestFilter(t *testing.T) {
	screen := run(t, triage(t, "openttd/rng_poke"), explore.Options{}, 80, 24, func(tm *teatest.TestModel) { press(tm, "/tile") })
	var rows []string
	for line := range strings.Lines(screen) {
		if left, _, ok := strings.Cut(line, "│"); ok {
			if left = strings.Join(strings.Fields(strings.TrimPrefix(left, ">")), " "); left != "" {
				rows = append(rows, left)
			}
		}
	}
	want := []string{"▾ session OpenTTD", "▾ narrowing 5 open", "● entity town 1, tile 1608", "▾ what differs 3 values", "town 1 (tile x 36, y 13) …", "tile 1608 (x 8, y 25) MAP…"}
	if d := cmp.Diff(want, rows); d != "" {
		t.Error(d)
	}
	if !strings.Contains(screen, "/tile_  3 matches") {
		t.Errorf("the filter is not shown:\n%s", screen)
	}
	none := run(t, triage(t, "openttd/rng_poke"), explore.Options{}, 80, 24, func(tm *teatest.TestModel) { press(tm, "/tilexyz") })
	if !strings.Contains(none, "0 matches") || selected(t, none) != "▸ session OpenTTD" {
		t.Errorf("a filter that nothing has:\n%s", none)
	}
}

// TestResize draws again when the terminal has another size, and reports when it is too small.
func TestResize(t *testing.T) {
	reports := triage(t, "openttd/rng_poke")
	at := func(sizes ...tea.WindowSizeMsg) string {
		return run(t, reports, explore.Options{}, 80, 24, func(tm *teatest.TestModel) {
			press(tm, "down down right down")
			for _, s := range sizes {
				tm.Send(s)
			}
		})
	}
	if got := at(tea.WindowSizeMsg{Width: 40, Height: 10}); !strings.HasPrefix(got, "explore needs a terminal of 50 by 14.\nThis one is 40 by 10.") {
		t.Errorf("a small one: %s", got)
	}
	if d := cmp.Diff(at(), at(tea.WindowSizeMsg{Width: 0, Height: 0}, tea.WindowSizeMsg{Width: 60, Height: 20}, tea.WindowSizeMsg{Width: 300, Height: 90}, tea.WindowSizeMsg{Width: 80, Height: 24})); d != "" {
		t.Errorf("not the same as at first:\n%s", d)
	}
}

// TestCopy shows the copied text, which a terminal gets as OSC 52.
func TestCopy(t *testing.T) {
	options := explore.Options{Given: explore.Given{Paths: []string{"it's here"}, Flags: []string{"--sim", "exec:a b"}}}
	got := run(t, triage(t, "openttd/rng_poke"), options, 120, 30, func(tm *teatest.TestModel) { press(tm, "y") })
	if want := `copied: desynctool triage 'it'\''s here' --sim 'exec:a b'`; !strings.Contains(got, want) {
		t.Errorf("not %s:\n%s", want, got)
	}
}

// TestOpen calls what opens the page, with the report.
func TestOpen(t *testing.T) {
	reports := saved(t)
	var got *document.Report
	done := make(chan bool)
	options := explore.Options{Open: func(r *document.Report) (string, error) {
		got = r
		defer close(done)
		return "opened it", nil
	}}
	run(t, reports, options, 80, 24, func(tm *teatest.TestModel) {
		press(tm, "o")
		<-done
	})
	if got != reports[0] {
		t.Errorf("%v was opened", got)
	}
}

// hostile returns a report in which every text that it has may harm a terminal.
func hostile(t *testing.T) *document.Report {
	const evil = "\x1b[2J\x1b]0;x\x07\u202e\u009b31m\r\n\x00\u00ad\U000e0041"
	b, err := json.Marshal(saved(t)[0])
	if err != nil {
		t.Fatal(err)
	}
	var doc any
	if err := json.Unmarshal(b, &doc); err != nil {
		t.Fatal(err)
	}
	kept := map[string]bool{"schema": true, "status": true, "state": true, "kind": true, "standing": true, "level": true, "step": true}
	var spoil func(v any) any
	spoil = func(v any) any {
		switch v := v.(type) {
		case string:
			return v + evil
		case []any:
			for i := range v {
				v[i] = spoil(v[i])
			}
		case map[string]any:
			out := map[string]any{}
			for key, one := range v {
				if _, text := one.(string); text && kept[key] {
					out[key] = one
					continue
				}
				switch key {
				case "values", "raw": // the keys are names of peers
					if of, ok := one.(map[string]any); ok {
						names := map[string]any{}
						for name, value := range of {
							names[name+evil] = spoil(value)
						}
						out[key] = names
						continue
					}
				}
				out[key] = spoil(one)
			}
			return out
		}
		return v
	}
	if b, err = json.Marshal(spoil(doc)); err != nil {
		t.Fatal(err)
	}
	r, err := document.ReadReport(bytes.NewReader(b), "hostile")
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// TestEveryScreen walks over all nodes of several reports in terminals of several sizes: each
// screen has its lines, none is wider, and nothing in it is for the terminal to obey.
func TestEveryScreen(t *testing.T) {
	all := map[string][]*document.Report{"saved": saved(t), "hostile": {hostile(t)}, "matches": append(triage(t, "spring/recoil"), triage(t, "openttd/rng_poke")...),
		"rimworld": triage(t, "threads/rimworld-local"), "warzone": triage(t, "warzone2100/player_power_3peer"), "insync": triage(t, "spring/control"), "bare": {{}}}
	for name, reports := range all {
		if !effort.Full() && (name == "rimworld" || name == "warzone") {
			continue
		}
		for i, size := range []tea.WindowSizeMsg{{Width: 50, Height: 14}, {Width: 60, Height: 20}, {Width: 80, Height: 24}, {Width: 200, Height: 60}} {
			for _, ascii := range []bool{false, true} {
				if (i == 0 || i == 3) != ascii && effort.Of(i != 0, false) || i == 1 && !effort.Full() {
					continue // the least screen both ways, of the others one
				}
				m := explore.New(loadOf(reports), explore.Options{ASCII: ascii, Given: explore.Given{Paths: []string{"a\x1b[2Jb"}}})
				loaded := m.Init()().(tea.BatchMsg)[0]()
				m.Update(size)
				m.Update(loaded)
				m.Update(tea.KeyPressMsg{Code: tea.KeyHome})
				m.Update(tea.KeyPressMsg{Code: '*', Text: "*"})
				last, rows := "", 0
				for screen := m.View().Content; screen != last; rows++ {
					last = screen
					for _, key := range []tea.KeyPressMsg{{Code: tea.KeyTab}, {Code: tea.KeyEnd}, {Code: tea.KeyTab}, {Code: 'y', Text: "y"}} {
						m.Update(key)
						checkScreen(t, fmt.Sprintf("%s, %d by %d", name, size.Width, size.Height), m.View().Content, size, ascii)
					}
					if t.Failed() {
						return
					}
					m.Update(tea.KeyPressMsg{Code: tea.KeyDown})
					screen = m.View().Content
				}
				if rows < 2 || rows < 10 && name != "bare" {
					t.Errorf("%s: only %d rows", name, rows)
				}
			}
		}
	}
}

func checkScreen(t *testing.T, name, screen string, size tea.WindowSizeMsg, ascii bool) {
	t.Helper()
	lines := strings.Split(screen, "\n")
	if len(lines) != size.Height {
		t.Errorf("%s: %d lines:\n%s", name, len(lines), screen)
	}
	for _, l := range lines {
		if n := prose.Columns(l); n > size.Width {
			t.Errorf("%s: %d columns: %q", name, n, l)
		}
		for _, r := range l {
			if !unicode.IsPrint(r) || ascii && r > unicode.MaxASCII {
				t.Errorf("%s: %q is in %q", name, r, l)
			}
		}
	}
}

func TestASCII(t *testing.T) {
	for _, c := range []struct {
		goos string
		env  map[string]string
		want bool
	}{
		{"linux", map[string]string{"LANG": "de_DE.UTF-8", "TERM": "xterm-256color"}, false},
		{"linux", map[string]string{"LANG": "de_DE.utf8", "TERM": "screen"}, false},
		{"linux", map[string]string{"LANG": "de_DE.UTF-8", "LC_ALL": "C"}, true},
		{"linux", map[string]string{"LANG": "de_DE.ISO-8859-1", "LC_CTYPE": "en_US.UTF-8"}, false},
		{"linux", nil, true},
		{"linux", map[string]string{"LANG": "C.UTF-8", "TERM": "linux"}, true},
		{"darwin", map[string]string{"LANG": "C.UTF-8", "TERM": "dumb"}, true},
		{"windows", nil, false},
	} {
		if got := explore.ASCII(c.goos, func(name string) string { return c.env[name] }); got != c.want {
			t.Errorf("%s %v: %v", c.goos, c.env, got)
		}
	}
}

// FuzzSaved shows whatever can be read as a saved report.
func FuzzSaved(f *testing.F) {
	seed, err := os.ReadFile(filepath.Join("..", "document", "testdata", "triage.json"))
	if err != nil {
		f.Fatal(err)
	}
	f.Add(seed)
	f.Add([]byte(`{"schema":"desynctool.triage/1","status":"diverged","session":{"last":9},"first_divergence":{"tick":99,"bracket":{"good":7,"bad":3},"checkpoint":{}},
		"timeline":{"from":5,"to":5,"peers":[{"snapshots":[9],"hashes":{"first":9,"last":1},"marks":[{"kind":"join"}]}]},"orders":[{}],"locus":[{"raw":{"a":"zz","b":"1"},"values":{"a":"1"}}]}`))
	f.Fuzz(func(t *testing.T, b []byte) {
		r, err := document.ReadReport(bytes.NewReader(b), "fuzz")
		if err != nil {
			return
		}
		size := tea.WindowSizeMsg{Width: 70, Height: 22}
		m := explore.New(loadOf([]*document.Report{r}), explore.Options{})
		m.Update(size)
		m.Update(m.Init()().(tea.BatchMsg)[0]())
		m.Update(tea.KeyPressMsg{Code: '*', Text: "*"})
		for range 40 {
			checkScreen(t, "fuzz", m.View().Content, size, false)
			m.Update(tea.KeyPressMsg{Code: tea.KeyDown})
			m.Update(tea.KeyPressMsg{Code: tea.KeyRight})
		}
	})
}
