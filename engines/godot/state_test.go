package godot_test

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/desynctool/desynctool/engines/godot"
	"github.com/desynctool/desynctool/internal/file/files"
	"github.com/desynctool/desynctool/internal/file/frame"
	"github.com/desynctool/desynctool/snapshot"
)

const stateCorpus = "../../testdata/godot-rollback"

// TestTruth: of all states of both peers exactly those differ that were made to, in exactly what was
// planted, as the README of the fixtures has it.
func TestTruth(t *testing.T) {
	var sets []*snapshot.Set
	for _, peer := range []string{"1", "2"} {
		list, err := snapshot.FindFile(files.Disk, filepath.Join(stateCorpus, "tank", "20240115-180402-peer-"+peer+".log"), []snapshot.Format{godot.StateFormat()})
		if err != nil {
			t.Fatal(err)
		}
		if len(list) != 1 || list[0].Peer != "peer "+peer || len(list[0].Entries) != 14 {
			t.Fatalf("%d peers, %q, %d states", len(list), list[0].Peer, len(list[0].Entries))
		}
		sets = append(sets, list[0])
	}
	for i, e := range sets[0].Entries {
		name := fmt.Sprintf("after tick %d", i-1)
		if i == 0 {
			name = "0"
		}
		if got := e.Point.String(); got != name || e.Point.Tick != uint64(i) {
			t.Errorf("state %d is of %s, want %s", i, got, name)
		}
		a, err := e.Open()
		if err != nil {
			t.Fatal(err)
		}
		b, err := sets[1].Entries[i].Open()
		if err != nil {
			t.Fatal(err)
		}
		d, err := snapshot.Compare(a, b, snapshot.DiffOptions{})
		if err != nil {
			t.Fatal(err)
		}
		got := ""
		for _, table := range d.Tables {
			for _, c := range table.Changes {
				got += fmt.Sprintln(table.Label, c.Key, c.Component+"."+c.Field, c.A, c.B)
			}
		}
		want := ""
		if tick := i - 1; tick >= 8 {
			y := 480.25 - 0.5*float64(tick)
			want = fmt.Sprintln("/root/Main/ClientPlayer 0 node.position.y", y, y+math.Pow(2, -15))
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("after tick %d (-want +got):\n%s", i-1, diff)
		}
	}
}

// text returns a state as text, without its head.
func text(t testing.TB, state dict) (string, error) {
	t.Helper()
	content := logContent(3, logState(3, state))
	w, err := godot.Read(bytes.NewReader(content), int64(len(content)), "x")
	if err != nil {
		return "", err
	}
	s, err := snapshot.Hold(w)
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	if err := snapshot.WriteText(&b, s); err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	for line := range strings.Lines(b.String()) {
		if line[0] != '%' && line[0] != '#' {
			out.WriteString(line)
		}
	}
	return out.String(), nil
}

// TestTables pins what a state becomes.
func TestTables(t *testing.T) {
	got, err := text(t, dict{
		"/root/A2", dict{"x", 1, "y", 0.5, "on", true, "name", "a", "none", nil, "empty", dict{}, "list", []any{1, dict{"_k", "v"}}},
		"/root/A10", dict{"x", 2, "_seen", dict{"q", 1}, -3, 9, 3, 4},
		"/root/B07", dict{},
		"/root/C", 5,
		"/root/D", dict{"c", numbersValue(5, math.Float32bits(1), math.Float32bits(2)), 1, "int", "1", "text", "raw", rawValue("\x14\x00\x00\x00\x02\x00\x00\x00\xab\xcd\x00\x00")},
	})
	if err != nil {
		t.Fatal(err)
	}
	const want = `/root/A[2].node.3 = absent
/root/A[2].node.empty = "{}"
/root/A[2].node.list.size = 2
/root/A[2].node.list[0] = 1
/root/A[2].node.list[1]._k = "v"
/root/A[2].node.name = "a"
/root/A[2].node.none = "null"
/root/A[2].node.on = true
/root/A[2].node.x = 1
/root/A[2].node.y = 0.5
/root/A[2].order.after = absent
/root/A[2].order.keys = "{x, y, on, name, none, empty, list{_k}}"
/root/A[10].node.3 = 4
/root/A[10].node.empty = absent
/root/A[10].node.list.size = absent
/root/A[10].node.list[0] = absent
/root/A[10].node.list[1]._k = absent
/root/A[10].node.name = absent
/root/A[10].node.none = absent
/root/A[10].node.on = absent
/root/A[10].node.x = 2
/root/A[10].node.y = absent
/root/A[10].order.after = "/root/A2"
/root/A[10].order.keys = "{x, 3}"
/root/B07[0].order.after = "/root/A10"
/root/B07[0].order.keys = "{}"
/root/C[0].node.value = 5
/root/C[0].order.after = "/root/B07"
/root/D[0].node.1 = "int"
/root/D[0].node.1#2 = "text"
/root/D[0].node.c.x = 1
/root/D[0].node.c.y = 2
/root/D[0].node.raw = 0xabcd
/root/D[0].order.after = "/root/C"
/root/D[0].order.keys = "{c, 1, 1, raw}"
noise "/root/A (not hashed)"[10].node.-3 = 9
noise "/root/A (not hashed)"[10].node._seen.q = 1
`
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestOrder: two states with the same nodes and keys in another order differ, since their hashes do.
func TestOrder(t *testing.T) {
	a, errA := text(t, dict{"/a", dict{"x", 1, "y", dict{"p", 1, "q", 2}}, "/b", dict{}})
	b, errB := text(t, dict{"/a", dict{"x", 1, "y", dict{"q", 2, "p", 1}}, "/b", dict{}})
	c, errC := text(t, dict{"/b", dict{}, "/a", dict{"x", 1, "y", dict{"p", 1, "q", 2}}})
	if err := errors.Join(errA, errB, errC); err != nil {
		t.Fatal(err)
	}
	if a == b || a == c {
		t.Errorf("equal:\n%s\n%s\n%s", a, b, c)
	}
}

func TestBad(t *testing.T) {
	for name, state := range map[string]dict{
		"twice":     {"/a", dict{}, "/a", dict{}},
		"no path":   {"", dict{}},
		"long path": {strings.Repeat("x", 600), dict{}},
		"long key":  {"/a", dict{strings.Repeat("x", 600), 1}},
	} {
		if got, err := text(t, state); err == nil {
			t.Errorf("%s: %s", name, got)
		}
	}
	content := logContent(3, logFrame(1))
	if _, err := godot.Read(bytes.NewReader(content), int64(len(content)), "x"); !errors.Is(err, frame.ErrCorrupt) {
		t.Errorf("a frame for a state: %v", err)
	}
	if _, err := godot.Read(bytes.NewReader(nil), 1<<40, "x"); err == nil {
		t.Error("no error for a state that is too large")
	}
}

// TestParts: states before the first tick, and those before damage.
func TestParts(t *testing.T) {
	content := logContent(4, logHeader(9, dict{}),
		logState(0, dict{"/a", dict{"x", 1}}), logState(0, dict{"/a", dict{"x", 2}}), logState(1, dict{}), logState(2, dict{}))
	ticks := func(content []byte) (out string, parts []snapshot.Part) {
		parts, err := godot.Parts(bytes.NewReader(content), int64(len(content)), "x")
		if err != nil {
			return err.Error(), nil
		}
		for _, p := range parts {
			out += p.Point.String() + ","
		}
		return out, parts
	}
	whole, parts := ticks(content)
	if whole != "0,after tick 0,after tick 1,after tick 2," || parts[0].Peer != "peer 9" || parts[0].Offset != parts[1].Offset {
		t.Errorf("%s of %+v", whole, parts)
	}
	first := content[parts[0].Offset : parts[0].Offset+parts[0].Size]
	if w, err := godot.Read(bytes.NewReader(first), int64(len(first)), "x"); err != nil || w.Tables[0].Column("node", "x").Int(0) != 2 {
		t.Errorf("%v: not the state before the first tick", err)
	}
	if cut, _ := ticks(content[:len(content)-3]); cut != "0,after tick 0,after tick 1," {
		t.Errorf("cut off: %s", cut)
	}
	if none, parts := ticks(content[:60]); parts != nil || !strings.Contains(none, "x: torn at offset 0") {
		t.Errorf("without a state: %s", none)
	}
}

func FuzzStateRead(f *testing.F) {
	f.Add(logContent(3, logState(3, dict{"/root/A2", dict{"x", 1, "list", []any{0.5, dict{"_k", "v"}}}, "/root/C", 5})))
	f.Add(logContent(4, logState(0, dict{"/root/A", dict{"v", numbersValue(6, 1, 2)}})))
	f.Fuzz(func(t *testing.T, content []byte) {
		w, err := godot.Read(bytes.NewReader(content), int64(len(content)), "x")
		if err != nil {
			return
		}
		if err := w.Validate(); err != nil {
			t.Fatal(err)
		}
	})
}
