package refsim

import "github.com/desynctool/desynctool/bisect"

// OrderForms describes the orders that the game takes, as its script gives them: about one in five ticks a player. A
// train order names an archetype that the building makes.
func (s *Sim) OrderForms() (*bisect.OrderForms, error) {
	n := s.names
	f := &bisect.OrderForms{
		Every: 5,
		Owner: n.components["Owner"] + "." + n.fields["player"],
		Params: []bisect.ParamForm{
			{Key: "sim", Values: []string{SimName}}, {Key: "entities", Values: []string{"100", "200", "400"}}, {Key: "players", Values: []string{"2", "3", "4"}},
		},
	}
	for p := range s.config.Players {
		f.Players = append(f.Players, uint32(p))
	}
	labels := func(suits func(t *table) bool) (list []string) {
		for _, t := range s.tables {
			if suits(t) {
				list = append(list, t.label)
			}
		}
		return list
	}
	entity := func(name string, of bisect.Whose, suits func(t *table) bool) bisect.FieldForm {
		return bisect.FieldForm{Name: name, Type: bisect.Int, Entity: &bisect.EntityForm{Archetypes: labels(suits), Of: of}}
	}
	place := func(name string) bisect.FieldForm {
		return bisect.FieldForm{Name: name, Type: bisect.Int, Max: int64(s.width) * cellSize}
	}
	add := func(kind uint32, fields ...bisect.FieldForm) {
		f.Forms = append(f.Forms, bisect.OrderForm{Kind: n.orders[kind], Local: orderKinds[kind].local, Fields: fields})
	}
	add(OrderMove, entity("unit", bisect.Own, units), place("x"), place("y"))
	add(OrderAttack, entity("unit", bisect.Own, fighters), entity("target", bisect.Others, units))
	add(OrderStop, entity("unit", bisect.Own, units))
	for _, maker := range s.tables {
		if !factories(maker) {
			continue
		}
		var made []int64
		for a := range archetype(archetypes) {
			if maker.archetype.trains(a) {
				made = append(made, int64(a))
			}
		}
		add(OrderTrain, entity("building", bisect.Own, func(t *table) bool { return t == maker }), bisect.FieldForm{Name: "what", Type: bisect.Int, Values: made})
	}
	add(OrderRally, entity("building", bisect.Own, factories), place("x"), place("y"))
	add(OrderRegroup, bisect.FieldForm{Name: "squad", Type: bisect.Int, Max: int64(s.squads() - 1)}, place("x"), place("y"))
	add(OrderChat, bisect.FieldForm{Name: "text", Type: bisect.Str, Texts: chatLines[:]})
	return f, nil
}
