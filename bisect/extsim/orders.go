package extsim

import (
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"

	"github.com/desynctool/desynctool/bisect"
	"github.com/desynctool/desynctool/internal/prose"
	"github.com/desynctool/desynctool/orderlog"
)

// OrderForms implements bisect.OrderTeller.
func (s *simulator) OrderForms() (f *bisect.OrderForms, err error) {
	if err := s.exchange(ordersMethod, maxReply, 0, nil, func() { f = s.reply.forms() }); err != nil {
		return nil, err
	}
	defer s.named(&err)
	if err := f.Check(); err != nil {
		return nil, s.link.broken("its description of its orders: " + err.Error())
	}
	return f, nil
}

// formsEntries is the result of orders.
func formsEntries(f *bisect.OrderForms) []entry {
	return []entry{
		several("players", &f.Players, (*message).uint32, (*values).uint32),
		one("every", &f.Every, (*message).uint32, (*values).uint32),
		one("owner", &f.Owner, (*message).str, (*values).str),
		several("kinds", &f.Forms, (*message).form, (*values).form),
		several("params", &f.Params, (*message).param, (*values).param),
	}
}

func (m *message) forms(f *bisect.OrderForms) { m.entries(formsEntries(f)) }

func (v *values) forms() *bisect.OrderForms {
	f := &bisect.OrderForms{}
	v.entries("orders", formsEntries(f))
	return f
}

func (m *message) param(p bisect.ParamForm) {
	m.array(2)
	m.str(p.Key)
	m.strs(p.Values)
}

func (v *values) param(what string) bisect.ParamForm {
	v.tuple(2, what)
	return bisect.ParamForm{Key: v.str("name of a parameter"), Values: v.strs("values of a parameter")}
}

// formEntries is a kind of orders.
func formEntries(o *bisect.OrderForm) []entry {
	return []entry{
		one("kind", &o.Kind, (*message).str, (*values).str),
		one("local", &o.Local, (*message).bool, (*values).bool),
		one("packed", &o.Packed, (*message).bool, (*values).bool),
		several("fields", &o.Fields, (*message).field, (*values).field),
	}
}

func (m *message) form(o bisect.OrderForm) { m.entries(formEntries(&o)) }

func (v *values) form(string) (o bisect.OrderForm) {
	v.entries("kind of order", formEntries(&o))
	return o
}

// fieldEntries describes a field of an order, and the owner of the entities that it names.
func fieldEntries(f *bisect.FieldForm, of *bisect.Whose) []entry {
	return []entry{
		one("name", &f.Name, (*message).str, (*values).str),
		one("type", &f.Type, putName, takeName),
		one("min", &f.Min, (*message).int, (*values).int).leftOutIf(f.Min == 0),
		one("max", &f.Max, (*message).int, (*values).int).leftOutIf(f.Max == 0),
		several("values", &f.Values, (*message).int, (*values).int).leftOutIf(len(f.Values) == 0),
		one("texts", &f.Texts, (*message).strs, (*values).strs).leftOutIf(len(f.Texts) == 0),
		one("entity", &f.Entity, (*message).entity, (*values).entity).leftOutIf(f.Entity == nil),
		one("of", of, putName, takeName).leftOutIf(*of == ""),
	}
}

func (m *message) field(f bisect.FieldForm) {
	var of bisect.Whose
	if f.Entity != nil {
		of = f.Entity.Of
	}
	m.entries(fieldEntries(&f, &of))
}

func (v *values) field(string) (f bisect.FieldForm) {
	var of bisect.Whose
	v.entries("field", fieldEntries(&f, &of))
	if f.Entity != nil {
		f.Entity.Of = of
	}
	return f
}

func (m *message) entity(e *bisect.EntityForm) { m.strs(e.Archetypes) }

func (v *values) entity(what string) *bisect.EntityForm {
	return &bisect.EntityForm{Archetypes: v.strs(what)}
}

// forms answers orders.
func (s *Server) forms(teller bisect.OrderTeller) {
	f := must(teller.OrderForms())
	s.reply.forms(f)
}

// triedOrders is how many orders of each form a conformance test makes.
const triedOrders = 8

// orders tests the order forms that the target reports: it must take orders that are made from them.
func (c *checker) orders(s *simulator) string {
	f := must(s.OrderForms())
	c.play(s, c.middle(), "having told its orders")
	h := c.session.Header
	h.Kinds, h.Params = f.Kinds(), maps.Clone(h.Params)
	for _, p := range f.Params {
		if _, given := h.Params[p.Key]; !given {
			if h.Params == nil {
				h.Params = map[string]string{}
			}
			h.Params[p.Key] = p.Values[0]
		}
	}
	other := c.instance()
	other.origin.header = &h
	if err := other.connect(); err != nil {
		wrongf("it does not begin a session with the kinds of orders that it tells: %v", err)
	}
	c.started = append(c.started, other)
	f = must(other.OrderForms())
	var e *bisect.Entities
	if other.Can(bisect.CanState) {
		e = bisect.EntitiesOf(must(other.World()), f.Owner)
	}
	r := rand.New(rand.NewPCG(h.Seed, 0))
	var made []orderlog.Order
	for i := range f.Forms {
		kind := slices.IndexFunc(h.Kinds, func(k orderlog.OrderKind) bool { return k.Name == f.Forms[i].Kind })
		for range triedOrders {
			player := f.Players[r.IntN(len(f.Players))]
			if payload, ok := f.Make(r, i, player, e); ok {
				made = append(made, orderlog.Order{Tick: other.point, Player: player, Sequence: uint32(len(made)), Kind: uint32(kind), Payload: payload})
			}
		}
	}
	if other.Can(bisect.CanValidate) {
		why := must(other.Validate(made))
		for i := range why {
			if why[i] != "" {
				wrongf("it ignores an order of kind %q that is made as it tells: %s", h.Kinds[made[i].Kind].Name, why[i])
			}
		}
	}
	orderlog.SortOrders(made)
	if err := other.Step(made); errors.As(err, new(*RefusedError)) {
		wrongf("it does not play orders that are made as it tells: %v", err)
	} else {
		ensure(err)
	}
	return fmt.Sprintf("%s of %s, of %s", prose.Count(len(made), "order", "orders"), prose.Count(len(h.Kinds), "kind", "kinds"), prose.Count(len(f.Players), "player", "players"))
}
