package document

import (
	"math"
	"testing"

	"github.com/desynctool/desynctool/snapshot"
)

// TestApartText describes pairs of values as a person would.
func TestApartText(t *testing.T) {
	peers := [2]string{"host", "client"}
	f32 := func(a, b float32) FieldDocument {
		return changed(t, snapshot.F32, 0, func(c *snapshot.Column, v float64) { c.AppendFloat(v) }, float64(a), float64(b), peers)
	}
	f64 := func(a, b float64) FieldDocument {
		return changed(t, snapshot.F64, 0, func(c *snapshot.Column, v float64) { c.AppendFloat(v) }, a, b, peers)
	}
	whole := func(typ snapshot.Type, scale uint32, a, b int64) FieldDocument {
		return changed(t, typ, scale, func(c *snapshot.Column, v float64) { c.AppendInt(int64(v)) }, float64(a), float64(b), peers)
	}
	for _, c := range []struct {
		f    FieldDocument
		want string
	}{
		{f32(100, math.Nextafter32(100, 101)), "1 ulp"},
		{f32(100, 101.02), "1.02 % more on client"},
		{f32(100, 99), "1 % less on client"},
		{f32(-100, -102), "2 % further from zero on client"},
		{f32(-100, -50), "50 % nearer to zero on client"},
		{f32(1, 1250), "1.25e+03 times as much on client"},
		{f32(1, 12.5), "12.5 times as much on client"},
		{f32(0, 3), "zero on host"},
		{f32(3, 0), "zero on client"},
		{f32(-1, 1), "of opposite sign"},
		{f32(0, float32(math.Copysign(0, -1))), "zero of the other sign"},
		{f64(math.NaN(), 1), "not a number on host"},
		{f64(1, math.Inf(-1)), "infinite on client"},
		{f64(1, 1+200*0x1p-52), "200 ulp"},
		{f64(476.0, float64(math.Nextafter32(476, 477))), "3.05e-05 more on client"}, // a float of 4 bytes in one of 8
		{f64(-476.0, -float64(math.Nextafter32(476, 0))), "3.05e-05 nearer to zero on client"},
		{f64(1e6, 1e6+10.5), "0.00105 % more on client"},
		{f64(1e6, 1e6+9.5), "9.5 more on client"},
		{f64(1e6, 1e6-9.5), "9.5 less on client"},
		{f64(1, 1.5), "50 % more on client"},
		{f64(5e-324, math.MaxFloat64), "float"},
		{whole(snapshot.I32, 0, 7, 10), "+3"},
		{whole(snapshot.U8, 0, 10, 7), "-3"},
		{whole(snapshot.Fixed, 65536, 65536, 65537), "1 unit of the last place"},
		{whole(snapshot.Fixed, 65536, 65536, 65536*2), "100 % more on client"},
		{whole(snapshot.Fixed, 100, 0, 4000), "zero on host"},
		{whole(snapshot.Fixed, 100, -4000, 4000), "of opposite sign"},
	} {
		if got := c.f.Apart(peers); got != c.want {
			t.Errorf("%s and %s: %q, expected %q", c.f.Values["host"], c.f.Values["client"], got, c.want)
		}
	}
}

// changed returns the document of a value that differs, as a comparison of states has it.
func changed(t *testing.T, typ snapshot.Type, scale uint32, add func(*snapshot.Column, float64), a, b float64, peers [2]string) FieldDocument {
	t.Helper()
	var states [2]snapshot.State
	for i, v := range []float64{a, b} {
		c := snapshot.NewColumn("C", "f", typ, scale)
		add(&c, v)
		s, err := snapshot.Hold(&snapshot.World{Tables: []snapshot.Table{{Label: "T", Keys: snapshot.Keys{A: []uint64{1}}, Columns: []snapshot.Column{c}}}})
		if err != nil {
			t.Fatal(err)
		}
		states[i] = s
	}
	d, err := snapshot.Compare(states[0], states[1], snapshot.DiffOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return Field(&d.Tables[0].Changes[0], "1", peers)
}

// TestGatheredTitles: rows that one peer alone has are one line for each kind of things.
func TestGatheredTitles(t *testing.T) {
	r := &Report{Compared: &Compared{Peers: [2]string{"host", "client"}}}
	for i, key := range []string{"151", "152", "183", "184"} {
		e := Entity{Kind: "unit", Key: key, OnlyOn: "host"}
		for _, archetype := range []string{"Position", "Health", "UnitAI", "UnitAI.orderQueue"} {
			e.Rows = append(e.Rows, EntityRows{archetype, "host", uint64(1 + i)})
		}
		r.Compared.Entities = append(r.Compared.Entities, e)
	}
	r.Compared.Entities = append(r.Compared.Entities, Entity{Kind: "company", Key: "1", OnlyOn: "client", Rows: []EntityRows{{"PLYR", "client", 1}}}, Entity{Kind: "company", Key: "2", OnlyOn: "client", Rows: []EntityRows{{"PLYR", "client", 1}}})
	g := r.Gather()
	if len(g.Absent) != 2 || len(g.Entities) != 0 {
		t.Fatalf("%d kinds, %d entities", len(g.Absent), len(g.Entities))
	}
	for i, want := range [][2]string{{"units 151, 152, 183, 184", "40 rows in 4 archetypes"}, {"companies 1, 2", ""}} {
		if a := &g.Absent[i]; a.Title(12) != want[0] || a.Rest() != want[1] {
			t.Errorf("%q; %q", a.Title(12), a.Rest())
		}
	}
	if got := g.Absent[0].Title(2); got != "units 151, 152 and 2 more" {
		t.Error(got)
	}
}
