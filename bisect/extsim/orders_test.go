package extsim

import (
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/desynctool/desynctool/bisect"
	"github.com/desynctool/desynctool/bisect/refsim"
	"github.com/desynctool/desynctool/internal/mutate"
	"github.com/desynctool/desynctool/orderlog"
	"github.com/desynctool/desynctool/snapshot"
)

// allForms has a field of each type, with what each may have.
func allForms() *bisect.OrderForms {
	fields := []bisect.FieldForm{
		{Name: "a", Type: bisect.Int, Min: math.MinInt64, Max: math.MaxInt64}, {Name: "b", Type: bisect.U8, Max: 9}, {Name: "c", Type: bisect.I16, Min: -40_000 / 2, Max: 3},
		{Name: "d", Type: bisect.F32, Min: -1, Max: 1}, {Name: "e", Type: bisect.Bool}, {Name: "f", Type: bisect.U64, Values: []int64{0, 1, math.MaxInt64}},
		{Name: "g", Type: bisect.U32, Entity: &bisect.EntityForm{Archetypes: []string{"Tank"}, Of: bisect.Others}, Max: 7},
		{Name: "h", Type: bisect.Str, Texts: []string{"", "grüß"}},
	}
	return &bisect.OrderForms{
		Players: []uint32{0, math.MaxUint32}, Every: 3, Owner: "Owner.player",
		Forms:  []bisect.OrderForm{{Kind: "all", Fields: fields}, {Kind: "packed", Packed: true, Local: true, Fields: fields[1:]}, {Kind: "none"}},
		Params: []bisect.ParamForm{{Key: "map", Values: []string{"plain", "islands"}}},
	}
}

// telling is a Simulator that tells other orders than its own.
type telling struct {
	bisect.Simulator
	forms *bisect.OrderForms
}

func (s telling) OrderForms() (*bisect.OrderForms, error) { return s.forms, nil }

// tells returns the reference sim that tells other orders, in this process by function calls.
func tells(forms *bisect.OrderForms) *bisect.Sim {
	sim := refsim.Simulator()
	start := sim.Start
	sim.Start = func(h *orderlog.Header) (bisect.Simulator, error) {
		s, err := start(h)
		return telling{s, forms}, err
	}
	sim.Can = []bisect.Capability{bisect.CanOrders}
	return sim
}

// calls starts targets that serve a simulator by function calls.
func calls(sim *bisect.Sim) func() (*Call, error) {
	return func() (*Call, error) {
		server := NewServer(sim, "test")
		do := func(request []byte, _ time.Duration) ([]byte, error) { return server.Answer(request) }
		return &Call{Do: do, Release: server.Close}, nil
	}
}

func formsOf(t *testing.T, sim *bisect.Sim) (*bisect.OrderForms, error) {
	t.Helper()
	s, err := sim.Start(&orderlog.Header{Seed: 3})
	if err != nil {
		t.Fatal(err)
	}
	teller, ok := bisect.As[bisect.OrderTeller](s, bisect.CanOrders)
	if !ok {
		t.Fatal("it does not tell its orders")
	}
	return teller.OrderForms()
}

// TestOrdersOverTheWire: the orders that a target reports arrive as they are, and nonsense is refused.
func TestOrdersOverTheWire(t *testing.T) {
	want := allForms()
	got, err := formsOf(t, Over("target", Options{}, calls(tells(want))))
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("arrived as\n%+v, %v\nexpected\n%+v", got, err, want)
	}
	for what, breaks := range map[string]func(f *bisect.OrderForms){
		"0 players":                     func(f *bisect.OrderForms) { f.Players = nil },
		"0 ticks between":               func(f *bisect.OrderForms) { f.Every = 0 },
		"0 forms":                       func(f *bisect.OrderForms) { f.Forms = nil },
		`unknown type "u7"`:             func(f *bisect.OrderForms) { f.Forms[0].Fields[1].Type = "u7" },
		"a value that u8 does not have": func(f *bisect.OrderForms) { f.Forms[0].Fields[1].Max = 256 },
		"int has no size":               func(f *bisect.OrderForms) { f.Forms[0].Packed = true },
		"no column of owners":           func(f *bisect.OrderForms) { f.Owner = "" },
		"expected Component.field":      func(f *bisect.OrderForms) { f.Owner = "player" },
		"texts go with the type str":    func(f *bisect.OrderForms) { f.Forms[0].Fields[7].Texts = nil },
		"expected own, other":           func(f *bisect.OrderForms) { f.Forms[0].Fields[6].Entity.Of = "mine" },
		"local in one form":             func(f *bisect.OrderForms) { f.Forms[2] = bisect.OrderForm{Kind: "packed"} },
	} {
		f := allForms()
		breaks(f)
		if _, err := formsOf(t, Over("target", Options{}, calls(tells(f)))); err == nil || !strings.Contains(err.Error(), what) {
			t.Errorf("error is %v, expected %s", err, what)
		}
	}
}

// TestTellsWrong: a target with other orders than it reports.
func TestTellsWrong(t *testing.T) {
	session := Session{Header: orderlog.Header{Seed: 3}, Ticks: 4}
	finding := func(sim *bisect.Sim) Finding {
		c, err := CheckOver("target", Options{}, calls(sim), session)
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range c.Findings {
			if f.Name == "orders" {
				return f
			}
		}
		t.Fatal("orders are not tested")
		return Finding{}
	}
	if f := finding(refsim.Simulator()); f.Outcome != Passed || !strings.Contains(f.Detail, "of 7 kinds") {
		t.Errorf("the reference sim: %+v", f)
	}
	told := func(change func(f *bisect.OrderForms)) *bisect.Sim {
		f, err := formsOf(t, refsim.Simulator())
		if err != nil {
			t.Fatal(err)
		}
		change(f)
		return tells(f)
	}
	f := finding(told(func(f *bisect.OrderForms) { f.Forms[0].Kind = "march" }))
	if f.Outcome != Wrong || !strings.Contains(f.Detail, `orders of kind "march"`) {
		t.Errorf("a kind that is not there: %+v", f)
	}
}

// TestMade: orders are within the reported ranges, and every value of a small range comes.
func TestMade(t *testing.T) {
	f := allForms()
	r := rand.New(rand.NewPCG(1, 2))
	seen := map[byte]bool{}
	for range 2000 {
		payload, ok := f.Make(r, 1, 0, nil)
		if !ok {
			t.Fatal("no order")
		}
		const size = 1 + 2 + 4 + 1 + 8 + 4
		text := string(payload[size:])
		c := int16(uint16(payload[1]) | uint16(payload[2])<<8)
		if payload[0] > 9 || c < -20_000 || c > 3 || payload[7] > 1 || payload[16] > 7 || text != "" && text != "grüß" {
			t.Fatalf("payload % x", payload)
		}
		seen[payload[0]] = true
	}
	if len(seen) != 10 {
		t.Errorf("%d of 10 values", len(seen))
	}
}

// TestMadeStays: the bytes of orders for a seed are a promise: sessions are named by seeds.
func TestMadeStays(t *testing.T) {
	f := allForms()
	r := rand.New(rand.NewPCG(1, 2))
	payload, _ := f.Make(r, 0, 0, nil)
	const want = "98d3800000000000000007d1b1e0cabea5b3b3c20103a66772c3bcc39f"
	if got := hex.EncodeToString(payload); got != want {
		t.Errorf("made %s, expected %s", got, want)
	}
}

// TestMadeOfEntities: an entity belongs to the archetypes and the owner that a field asks for.
func TestMadeOfEntities(t *testing.T) {
	sim, err := refsim.New(refsim.Config{Seed: 1, Entities: 200})
	if err != nil {
		t.Fatal(err)
	}
	w := sim.World()
	e := bisect.EntitiesOf(w, "Owner.player")
	tanks := w.Table(snapshot.Archetype, "Tank")
	owner := map[uint64]uint64{}
	for i, key := range tanks.Keys.A {
		owner[key] = tanks.Column("Owner", "player").Uint(i)
	}
	f := &bisect.OrderForms{Players: []uint32{0, 1, 2, 3}, Owner: "Owner.player"}
	for _, of := range []bisect.Whose{bisect.Anyone, bisect.Own, bisect.Others} {
		f.Forms = append(f.Forms, bisect.OrderForm{Kind: "k", Packed: true, Fields: []bisect.FieldForm{{Type: bisect.U64, Entity: &bisect.EntityForm{Archetypes: []string{"Tank"}, Of: of}}}})
	}
	r := rand.New(rand.NewPCG(1, 2))
	var others int
	for range 300 {
		for form := range f.Forms {
			b, ok := f.Make(r, form, 2, e)
			if !ok {
				t.Fatal("no order")
			}
			of, tank := owner[binary.LittleEndian.Uint64(b)]
			if !tank || form == 1 && of != 2 || form == 2 && of == 2 {
				t.Fatalf("form %d names entity %x of player %d", form, b, of)
			}
			if form == 0 && of != 2 {
				others++
			}
		}
	}
	if others == 0 {
		t.Error("anyone's entities were only the player's own")
	}
}

// FuzzOrderForms: whatever a target tells of its orders, it is refused or orders are made.
func FuzzOrderForms(f *testing.F) {
	var m message
	m.begin()
	m.forms(allForms())
	f.Add(m.body(), []byte{})
	f.Add(m.body(), []byte{5, 0, 0, 5, 9, 0, 1, 1})
	f.Fuzz(func(t *testing.T, told, script []byte) {
		told = mutate.Change(told, script[:min(len(script), 16)])
		var v values
		if v.read(told) != nil {
			return
		}
		forms := v.forms()
		if v.err != nil || forms.Check() != nil {
			return
		}
		r := rand.New(rand.NewPCG(1, 2))
		for i := range forms.Forms {
			forms.Make(r, i, forms.Players[0], nil)
		}
		m.begin()
		m.forms(forms)
		if err := v.read(m.body()); err != nil {
			t.Fatal(err)
		}
		if again := v.forms(); v.err != nil || fmt.Sprintf("%+v", again.Kinds()) != fmt.Sprintf("%+v", forms.Kinds()) {
			t.Errorf("%+v is written as %+v, %v", forms, again, v.err)
		}
	})
}
