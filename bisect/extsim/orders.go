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
	"github.com/desynctool/desynctool/snapshot"
)

// OrderForms implements bisect.OrderTeller.
func (s *simulator) OrderForms() (f *bisect.OrderForms, err error) {
	defer s.named(&err)
	s.request(ordersMethod, 0)
	if err := s.ask(ordersMethod, maxReply); err != nil {
		return nil, err
	}
	f = s.reply.forms()
	if err := s.done(); err != nil {
		return nil, err
	}
	if err := f.Check(); err != nil {
		return nil, s.link.broken("what it says of its orders: " + err.Error())
	}
	return f, nil
}

// each reads the entries of a map. Keys that read does not know are skipped by it.
func (v *values) each(what string, read func(key string)) {
	for range v.mapping(what) {
		key := v.str("key of " + what)
		if v.err != nil {
			return
		}
		read(key)
	}
}

// listed reads the elements of an array.
func (v *values) listed(what string, read func()) {
	for range v.array(what) {
		if read(); v.err != nil {
			return
		}
	}
}

// forms reads the result of orders.
func (v *values) forms() *bisect.OrderForms {
	f := &bisect.OrderForms{}
	v.each("orders", func(key string) {
		switch key {
		case "players":
			v.listed(key, func() { f.Players = append(f.Players, v.uint32(key)) })
		case "every":
			f.Every = v.uint32(key)
		case "owner":
			f.Owner = v.str(key)
		case "kinds":
			v.listed(key, func() { f.Forms = append(f.Forms, v.form()) })
		case "params":
			v.listed(key, func() {
				v.tuple(2, key)
				f.Params = append(f.Params, bisect.ParamForm{Key: v.str("name of a parameter"), Values: v.strs("values of a parameter")})
			})
		default:
			v.skip(key)
		}
	})
	return f
}

func (v *values) form() (o bisect.OrderForm) {
	v.each("kind of order", func(key string) {
		switch key {
		case "kind":
			o.Kind = v.str(key)
		case "local":
			o.Local = v.bool(key)
		case "packed":
			o.Packed = v.bool(key)
		case "fields":
			v.listed(key, func() { o.Fields = append(o.Fields, v.field()) })
		default:
			v.skip(key)
		}
	})
	return o
}

func (v *values) field() (f bisect.FieldForm) {
	var entity bisect.EntityForm
	named := false
	v.each("field", func(key string) {
		switch key {
		case "name":
			f.Name = v.str(key)
		case "type":
			f.Type = bisect.FieldType(v.str(key))
		case "min":
			f.Min = v.int(key)
		case "max":
			f.Max = v.int(key)
		case "values":
			v.listed(key, func() { f.Values = append(f.Values, v.int(key)) })
		case "texts":
			f.Texts = v.strs(key)
		case "entity":
			entity.Archetypes, named = v.strs(key), true
		case "of":
			entity.Of = bisect.Whose(v.str(key))
		default:
			v.skip(key)
		}
	})
	if named {
		f.Entity = &entity
	}
	return f
}

// forms writes the result of orders.
func (m *message) forms(f *bisect.OrderForms) {
	m.mapping(5)
	m.str("players")
	m.array(len(f.Players))
	each(f.Players, func(p uint32) { m.uint(uint64(p)) })
	m.str("every")
	m.uint(uint64(f.Every))
	m.str("owner")
	m.str(f.Owner)
	m.str("kinds")
	m.array(len(f.Forms))
	each(f.Forms, m.form)
	m.str("params")
	m.array(len(f.Params))
	each(f.Params, func(p bisect.ParamForm) {
		m.array(2)
		m.str(p.Key)
		m.strs(p.Values)
	})
}

func (m *message) form(o bisect.OrderForm) {
	m.mapping(4)
	m.str("kind")
	m.str(o.Kind)
	m.str("local")
	m.bool(o.Local)
	m.str("packed")
	m.bool(o.Packed)
	m.str("fields")
	m.array(len(o.Fields))
	each(o.Fields, m.field)
}

// field writes what a field has.
func (m *message) field(f bisect.FieldForm) {
	type entry struct {
		key string
		has bool
		put func()
	}
	entries := []entry{
		{"name", true, func() { m.str(f.Name) }},
		{"type", true, func() { m.str(string(f.Type)) }},
		{"min", f.Min != 0, func() { m.int(f.Min) }},
		{"max", f.Max != 0, func() { m.int(f.Max) }},
		{"values", len(f.Values) > 0, func() { m.array(len(f.Values)); each(f.Values, m.int) }},
		{"texts", len(f.Texts) > 0, func() { m.strs(f.Texts) }},
	}
	if e := f.Entity; e != nil {
		entries = append(entries, entry{"entity", true, func() { m.strs(e.Archetypes) }}, entry{"of", e.Of != "", func() { m.str(string(e.Of)) }})
	}
	n := 0
	for _, e := range entries {
		if e.has {
			n++
		}
	}
	m.mapping(n)
	for _, e := range entries {
		if e.has {
			m.str(e.key)
			e.put()
		}
	}
}

// forms answers orders.
func (s *Server) forms() error {
	teller, ok := bisect.As[bisect.OrderTeller](s.at, bisect.CanOrders)
	if !ok {
		return ErrUnsupported
	}
	f, err := teller.OrderForms()
	if err != nil {
		return err
	}
	s.reply.forms(f)
	return nil
}

// triedOrders is how many orders of each form a conformance test makes.
const triedOrders = 8

// orders tests what the target says of its orders: that it takes those that are made so.
func (c *checker) orders() (string, error) {
	s, err := c.fresh()
	if err != nil {
		return "", err
	}
	f, err := s.OrderForms()
	if err != nil {
		return "", err
	}
	if err := c.play(s, c.middle(), "having told its orders"); err != nil {
		return "", err
	}
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
		return "", wrongf("it does not begin a session with the kinds of orders that it tells: %v", err)
	}
	c.started = append(c.started, other)
	if f, err = other.OrderForms(); err != nil {
		return "", err
	}
	var e *bisect.Entities
	if other.Can(bisect.CanState) {
		var w *snapshot.World
		if w, err = other.World(); err != nil {
			return "", err
		}
		e = bisect.EntitiesOf(w, f.Owner)
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
		why, err := other.Validate(made)
		if err != nil {
			return "", err
		}
		for i := range why {
			if why[i] != "" {
				return "", wrongf("it ignores an order of kind %q that is made as it tells: %s", h.Kinds[made[i].Kind].Name, why[i])
			}
		}
	}
	orderlog.SortOrders(made)
	if err := other.Step(made); errors.As(err, new(*RefusedError)) {
		return "", wrongf("it does not play orders that are made as it tells: %v", err)
	} else if err != nil {
		return "", err
	}
	return fmt.Sprintf("%s of %s, of %s", prose.Count(len(made), "order", "orders"), prose.Count(len(h.Kinds), "kind", "kinds"), prose.Count(len(f.Players), "player", "players")), nil
}
