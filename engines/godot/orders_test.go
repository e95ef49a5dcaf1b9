package godot_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/desynctool/desynctool/engines/godot"
	"github.com/desynctool/desynctool/internal/file/compression"
	"github.com/desynctool/desynctool/internal/file/frame"
	"github.com/desynctool/desynctool/internal/file/limits"
	"github.com/desynctool/desynctool/orderlog"
)

// one returns a value that is in a log of that version.
func one(t *testing.T, version int, v any) (*godot.Value, error) {
	t.Helper()
	log, err := godot.NewLog(bytes.NewReader(logContent(version, logHeader(1, dict{"v", v}))), "x")
	if err != nil {
		return nil, err
	}
	return log.MatchInfo().Get("v"), nil
}

// TestValues pins how the engine stores each type, byte by byte, as its source has it.
func TestValues(t *testing.T) {
	f := func(f float32) uint32 { return math.Float32bits(f) }
	d := func(header uint32, list ...float64) rawValue {
		b := numbersValue(header)
		for _, x := range list {
			b = binary.LittleEndian.AppendUint64(b, math.Float64bits(x))
		}
		return b
	}
	raw := func(parts ...[]byte) rawValue { return bytes.Join(parts, nil) }
	text := func(s string) []byte { return textValue(0, s)[4:] }
	for _, test := range []struct {
		version int
		v       any
		want    string // the type and the value as JSON
	}{
		{3, nil, "Nil null"},
		{3, true, "bool true"},
		{3, -5, "int -5"},
		{3, 1 << 40, "int 1099511627776"},
		{3, 0.5, "float 0.5"},
		{3, 0.1, "float 0.1"},
		{3, 3.0, "float 3.0"},
		{3, math.NaN(), `float "NaN"`},
		{3, math.Inf(-1), `float "-Inf"`},
		{3, "späß", `String "späß"`},
		{3, numbersValue(5, f(1), f(-2)), `Vector2 {"x":1.0,"y":-2.0}`},
		{3, numbersValue(6, f(1), f(2), f(3), f(4)), `Rect2 {"position.x":1.0,"position.y":2.0,"size.x":3.0,"size.y":4.0}`},
		{3, numbersValue(7, f(1), f(2), f(3)), `Vector3 {"x":1.0,"y":2.0,"z":3.0}`},
		{3, numbersValue(8, f(1), f(0), f(0), f(1), f(5), f(6)), `Transform2D {"origin.x":5.0,"origin.y":6.0,"x.x":1.0,"x.y":0.0,"y.x":0.0,"y.y":1.0}`},
		{3, numbersValue(9, f(0), f(1), f(0), f(7)), `Plane {"d":7.0,"normal.x":0.0,"normal.y":1.0,"normal.z":0.0}`},
		{3, numbersValue(10, f(0), f(0), f(0), f(1)), `Quat {"w":1.0,"x":0.0,"y":0.0,"z":0.0}`},
		{3, numbersValue(11, f(1), f(2), f(3), f(4), f(5), f(6)), `AABB {"position.x":1.0,"position.y":2.0,"position.z":3.0,"size.x":4.0,"size.y":5.0,"size.z":6.0}`},
		{3, numbersValue(12, make([]uint32, 9)...), `Basis {"[0][0]":0.0,"[0][1]":0.0,"[0][2]":0.0,"[1][0]":0.0,"[1][1]":0.0,"[1][2]":0.0,"[2][0]":0.0,"[2][1]":0.0,"[2][2]":0.0}`},
		{3, numbersValue(13, append(make([]uint32, 9), f(1), f(2), f(3))...), `Transform {"[0][0]":0.0,"[0][1]":0.0,"[0][2]":0.0,"[1][0]":0.0,"[1][1]":0.0,"[1][2]":0.0,"[2][0]":0.0,"[2][1]":0.0,"[2][2]":0.0,"origin.x":1.0,"origin.y":2.0,"origin.z":3.0}`},
		{3, numbersValue(14, f(1), f(0.5), f(0), f(1)), `Color {"a":1.0,"b":0.0,"g":0.5,"r":1.0}`},
		{3, raw(numbersValue(15, 2|1<<31, 1, 1), text("root"), text("Main"), text("hp")), `NodePath "/root/Main:hp"`},
		{3, numbersValue(16), "RID null"},
		{3, numbersValue(17|1<<16, 9, 0), `Object "Object#9"`},
		{3, dict{1, "a", "b", dict{}}, `Dictionary {"1":"a","b":{}}`},
		{3, []any{1, []any{}, "x"}, `Array [1,[],"x"]`},
		{3, raw(numbersValue(20, 5), []byte("\x01\x02\x03\x04\xff\x00\x00\x00")), `PoolByteArray "0x01020304ff"`},
		{3, numbersValue(21, 2, 7, 1<<32-1), `PoolIntArray [7,-1]`},
		{3, numbersValue(22, 1, f(1.5)), `PoolRealArray [1.5]`},
		{3, raw(numbersValue(23, 2), text("a\x00"), text("bcd\x00")), `PoolStringArray ["a","bcd"]`},
		{3, numbersValue(24, 1, f(1), f(2)), `PoolVector2Array [{"x":1.0,"y":2.0}]`},
		{3, numbersValue(25, 1, f(1), f(2), f(3)), `PoolVector3Array [{"x":1.0,"y":2.0,"z":3.0}]`},
		{3, numbersValue(26, 1, f(1), f(2), f(3), f(4)), `PoolColorArray [{"a":4.0,"b":3.0,"g":2.0,"r":1.0}]`},

		{4, numbersValue(6, 3, 1<<32-4), `Vector2i {"x":3,"y":-4}`},
		{4, d(5|1<<16, 0.1, 2), `Vector2 {"x":0.1,"y":2.0}`},
		{4, numbersValue(8, 1, 2, 3, 4), `Rect2i {"position.x":1,"position.y":2,"size.x":3,"size.y":4}`},
		{4, numbersValue(10, 1, 2, 3), `Vector3i {"x":1,"y":2,"z":3}`},
		{4, numbersValue(12, f(1), f(2), f(3), f(4)), `Vector4 {"w":4.0,"x":1.0,"y":2.0,"z":3.0}`},
		{4, numbersValue(13, 1, 2, 3, 4), `Vector4i {"w":4,"x":1,"y":2,"z":3}`},
		{4, textValue(21, "name"), `StringName "name"`},
		{4, raw(numbersValue(22, 1|1<<31, 0, 0), text("Main")), `NodePath "Main"`},
		{4, numbersValue(23, 7, 0), `RID "RID#7"`},
		{4, numbersValue(24|1<<16, 9, 1), `Object "Object#4294967305"`},
		{4, numbersValue(25), "Callable null"},
		{4, raw(numbersValue(26), text("hit"), []byte("\x05\x00\x00\x00\x00\x00\x00\x00")), `Signal "Signal#5.hit"`},
		{4, raw(numbersValue(27|1<<16|2<<18, 4), text("Node"), numbersValue(0)), "Dictionary {}"},
		{4, raw(numbersValue(28|3<<16), text("res://a.gd"), numbersValue(1, 0)), "Array [null]"},
		{4, raw(numbersValue(31, 1), []byte("\x00\x00\x00\x00\x01\x00\x00\x00")), "PackedInt64Array [4294967296]"},
		{4, d(33)[:4:4], ""},
		{4, raw(numbersValue(33, 1), d(0, 0.1)[4:]), "PackedFloat64Array [0.1]"},
		{4, raw(numbersValue(35|1<<16, 1), d(0, 0.1, 1)[4:]), `PackedVector2Array [{"x":0.1,"y":1.0}]`},
		{4, numbersValue(38, 1, f(1), f(2), f(3), f(4)), `PackedVector4Array [{"w":4.0,"x":1.0,"y":2.0,"z":3.0}]`},
		{4, numbersValue(39), ""},
		{3, numbersValue(27), ""},
		{3, numbersValue(17, 0), ""},
		{3, numbersValue(15, 4), ""},
		{3, numbersValue(4, 1<<31), ""},
		{3, numbersValue(21, 1<<30), ""},
		{3, numbersValue(18, 1<<30), ""},
	} {
		v, err := one(t, test.version, test.v)
		if test.want == "" {
			if !errors.Is(err, frame.ErrCorrupt) {
				t.Errorf("%x: error %v", test.v, err)
			}
			continue
		}
		if err != nil {
			t.Errorf("%s: %v", test.want, err)
			continue
		}
		if got := v.Type + " " + string(godot.AppendJSON(nil, v)); got != test.want {
			t.Errorf("%s, want %s", got, test.want)
		}
	}
}

// TestBounds: values that are deep, or more than there is room for, are errors.
func TestBounds(t *testing.T) {
	var deep any = 1
	for range 200 {
		deep = []any{deep}
	}
	many := make([]uint32, 1<<20)
	many[0] = uint32(len(many) - 1)
	for _, v := range []any{deep, numbersValue(21, many...)} {
		if _, err := one(t, 3, v); !errors.Is(err, frame.ErrCorrupt) && !errors.As(err, new(*limits.Error)) {
			t.Errorf("error %v", err)
		}
	}
	huge := binary.LittleEndian.AppendUint32(nil, godot.MaxEntry+1)
	if _, err := godot.NewLog(bytes.NewReader(huge), "x"); !errors.Is(err, frame.ErrCorrupt) {
		t.Errorf("error %v", err)
	}
}

// orders lists the records of a log, and the error at its end.
func orders(t testing.TB, content []byte) (string, error) {
	t.Helper()
	r, err := godot.NewReader(bytes.NewReader(content), "x")
	if err != nil {
		return "", err
	}
	var out strings.Builder
	for {
		rec, err := r.Next()
		if err != nil {
			if _, again := r.Next(); again != err {
				t.Fatalf("%v, then %v", err, again)
			}
			return out.String(), err
		}
		fmt.Fprintf(&out, "%d:", rec.Tick.Number)
		for _, o := range rec.Tick.Orders {
			fmt.Fprintf(&out, " %d %d %s", o.Player, o.Sequence, o.Payload)
		}
		out.WriteByte('\n')
	}
}

func TestOrders(t *testing.T) {
	got, err := orders(t, input(1))
	want := ""
	for tick := 1; tick <= 6; tick++ {
		pressed := 3
		if tick == 4 {
			pressed = 5
		}
		want += fmt.Sprintf("%d: 1 0 {\"/root/Game\":{\"pressed\":1}} 77 1 {\"/root/Game\":{\"pressed\":%d}}\n", tick, pressed)
	}
	if diff := cmp.Diff(want, got); diff != "" || err != io.EOF {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
	r, err := godot.NewReader(bytes.NewReader(ordersTank(2)), "x")
	if err != nil {
		t.Fatal(err)
	}
	h := r.Header()
	if h.Peer != "peer 2" || h.Params["match_info.map"] != `"plains"` || h.Params["match_info.rounds"] != "3" || r.Dialect().Engine != godot.Title {
		t.Errorf("header %+v", h)
	}
}

// TestDamage: the records before damage are delivered, and the error describes the damage.
func TestDamage(t *testing.T) {
	header, in := logHeader(1, dict{}), func(tick int) dict { return logInput(tick, dict{1, dict{"a", dict{}}}) }
	content := func(list ...dict) []byte { return logContent(3, list...) }
	for name, test := range map[string]struct {
		content []byte
		orders  int
		err     error
	}{
		"empty":             {nil, 0, frame.ErrUnrecognized},
		"no header":         {content(in(1)), 0, frame.ErrUnrecognized},
		"no peer":           {content(dict{"log_type", 0}), 0, frame.ErrUnrecognized},
		"two headers":       {content(header, header), 0, frame.ErrCorrupt},
		"no type":           {content(header, in(1), dict{"tick", 1}), 1, frame.ErrCorrupt},
		"no tick":           {content(header, dict{"log_type", 2}), 0, frame.ErrCorrupt},
		"no state":          {content(header, dict{"log_type", 2, "tick", 1, "state", 5}), 0, frame.ErrCorrupt},
		"tick 0":            {content(header, in(0)), 0, frame.ErrCorrupt},
		"another player":    {content(header, logInput(1, dict{"x", dict{}})), 0, frame.ErrCorrupt},
		"a number as float": {content(header, dict{"log_type", 3.0, "tick", 1.0, "input", dict{}}), 1, io.EOF},
		"another match":     {content(header, in(1), in(2), in(1), in(2)), 2, frame.ErrLacking},
		"no dictionary":     {append(content(header), 4, 0, 0, 0, 0, 0, 0, 0), 0, frame.ErrCorrupt},
		"what is left over": {append(content(header), 12, 0, 0, 0, 18, 0, 0, 0, 0, 0, 0, 0, 9, 9, 9, 9), 0, frame.ErrCorrupt},
	} {
		got, err := orders(t, test.content)
		if n := strings.Count(got, "\n"); n != test.orders || !errors.Is(err, test.err) {
			t.Errorf("%s: %d records, %v", name, n, err)
		}
	}
	whole := ordersTank(1)
	all, _ := orders(t, whole)
	for n := 0; n < len(whole); n += 7 { // which visits every place within a word
		got, err := orders(t, whole[:n])
		if !strings.HasPrefix(all, got) || err != io.EOF && !errors.Is(err, frame.ErrTorn) && n > 0 {
			t.Fatalf("cut at %d: %v", n, err)
		}
	}
}

// TestSniff: logs of both versions are recognised, with keys of either type.
func TestSniff(t *testing.T) {
	names := bytes.ReplaceAll(input(1), []byte("\x04\x00\x00\x00\x08\x00\x00\x00log_type"), []byte("\x15\x00\x00\x00\x08\x00\x00\x00log_type"))
	for _, content := range [][]byte{ordersTank(1), input(1), names} {
		if !godot.IsLog(content[:64]) {
			t.Errorf("%x is not recognised", content[:32])
		}
		if _, err := orders(t, content); err != io.EOF {
			t.Error(err)
		}
	}
	for _, content := range []string{"", "GCPF", "\x00\x00\x00\x00\x12\x00\x00\x00\x01\x00\x00\x00\x04\x00\x00\x00\x08\x00\x00\x00log_typo"} {
		if godot.IsLog([]byte(content)) {
			t.Errorf("%q is recognised", content)
		}
	}
}

// TestCompare: the input that was planted is the one that differs.
func TestOrdersCompare(t *testing.T) {
	var named []orderlog.Named
	for _, peer := range []int{1, 77} {
		content, _, err := compression.Unpack(bytes.NewReader(packLog(input(peer))), 0)
		if err != nil {
			t.Fatal(err)
		}
		r, err := godot.NewReader(content, "x")
		if err != nil {
			t.Fatal(err)
		}
		named = append(named, orderlog.Named{Name: r.Header().Peer, Source: r})
	}
	c, err := orderlog.Compare(named, orderlog.CompareOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if len(c.Differences) != 1 || c.Differences[0].Tick != 4 || c.Differences[0].Player != 77 || c.Differences[0].Kind != orderlog.Altered {
		t.Errorf("%+v", c.Differences)
	}
}

func FuzzLog(f *testing.F) {
	f.Add(ordersTank(1))
	f.Add(input(1))
	f.Fuzz(func(t *testing.T, content []byte) {
		r, err := godot.NewReader(bytes.NewReader(content), "x")
		for err == nil {
			_, err = r.Next()
		}
		if e := (*frame.Error)(nil); err != io.EOF && !errors.As(err, &e) {
			t.Fatal(err)
		}
	})
}
