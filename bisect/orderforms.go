package bisect

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/desynctool/desynctool/orderlog"
)

// OrderTeller is a Simulator that knows which orders its session takes, so that a caller can make some up.
type OrderTeller interface {
	Simulator
	// OrderForms must not change the state. The result is valid for the whole session; its kinds and parameters are the
	// same in every session.
	OrderForms() (*OrderForms, error)
}

// OrderForms describes the orders that a session takes: the players, the frequency, and the content.
type OrderForms struct {
	// Players are the players who give orders, at least one.
	Players []uint32
	// Every is about how many ticks lie between two orders of one player, at least 1.
	Every uint32
	// Owner is the column, as "Component.field", that has the player who owns an entity. Empty if no field needs it.
	Owner string
	// Forms are the kinds of orders. A kind may occur several times, with other fields.
	Forms []OrderForm
	// Params are the parameters of a session: each session takes one value of each.
	Params []ParamForm
}

// OrderForm is one form of orders of a kind.
type OrderForm struct {
	Kind string
	// Local marks orders that other peers do not get.
	Local bool
	// Packed reports whether the payload is the values of the fields one after the other, little-endian. Otherwise it
	// is a MessagePack array of the values.
	Packed bool
	Fields []FieldForm
}

// ParamForm is a parameter of sessions, and the values that it may have.
type ParamForm struct {
	Key    string
	Values []string
}

// FieldForm describes the possible values of a field in a payload: one of Values or Texts, an entity, or between Min
// and Max, both included. If both are 0 it is any value of the type.
type FieldForm struct {
	Name     string
	Type     FieldType
	Min, Max int64
	Values   []int64
	Texts    []string // of the type Str, which has nothing else
	// Entity, if set, means that the field is the key of an entity, see EntityForm. Where the state is not known the
	// value is between Min and Max, and there are no such orders if both are 0.
	Entity *EntityForm
}

// EntityForm is an entity that a field names by the first part of its key.
type EntityForm struct {
	// Archetypes are the labels of the archetypes that it may belong to, empty for all.
	Archetypes []string
	Of         Whose
}

// Whose limits the owner of the entities that a player can name.
type Whose string

// The owners of entities.
const (
	Anyone Whose = ""
	Own    Whose = "own"
	Others Whose = "other"
)

// FieldType is how a value is encoded in a packed payload. MessagePack has one encoding for all whole numbers.
type FieldType string

// Types of fields. Int is only for MessagePack. Str is UTF-8; in a packed payload it is the last field, and has no
// length.
const (
	Int  FieldType = "int"
	Bool FieldType = "bool"
	U8   FieldType = "u8"
	U16  FieldType = "u16"
	U32  FieldType = "u32"
	U64  FieldType = "u64"
	I8   FieldType = "i8"
	I16  FieldType = "i16"
	I32  FieldType = "i32"
	I64  FieldType = "i64"
	F32  FieldType = "f32"
	F64  FieldType = "f64"
	Str  FieldType = "str"
)

// fieldTypes is the only table of types: bytes in a packed payload, and the possible values.
var fieldTypes = map[FieldType]struct {
	size     int
	min, max int64
}{
	Int: {0, math.MinInt64, math.MaxInt64}, Bool: {1, 0, 1},
	U8: {1, 0, math.MaxUint8}, U16: {2, 0, math.MaxUint16}, U32: {4, 0, math.MaxUint32}, U64: {8, 0, math.MaxInt64},
	I8: {1, math.MinInt8, math.MaxInt8}, I16: {2, math.MinInt16, math.MaxInt16}, I32: {4, math.MinInt32, math.MaxInt32}, I64: {8, math.MinInt64, math.MaxInt64},
	F32: {4, -1 << 24, 1 << 24}, F64: {8, -1 << 53, 1 << 53}, Str: {},
}

// Limits on the order forms of a simulator.
const (
	maxForms       = 1024
	maxFormFields  = 64
	maxFormPlayers = 256
	maxFormParams  = 64
)

// Check reports inconsistencies.
func (f *OrderForms) Check() error {
	switch {
	case len(f.Players) == 0 || len(f.Players) > maxFormPlayers:
		return fmt.Errorf("%d players give orders, expected 1 to %d", len(f.Players), maxFormPlayers)
	case len(f.Forms) == 0 || len(f.Forms) > maxForms:
		return fmt.Errorf("%d forms of orders, expected 1 to %d", len(f.Forms), maxForms)
	case len(f.Params) > maxFormParams:
		return fmt.Errorf("%d parameters, expected %d at most", len(f.Params), maxFormParams)
	case f.Every == 0:
		return errors.New("0 ticks between two orders, expected 1 at least")
	}
	local := map[string]bool{}
	for i := range f.Forms {
		form := &f.Forms[i]
		if was, seen := local[form.Kind]; seen && was != form.Local {
			return fmt.Errorf("orders of kind %q are local in one form, and not in another", form.Kind)
		}
		local[form.Kind] = form.Local
		if err := form.check(f.Owner); err != nil {
			return fmt.Errorf("orders of kind %q: %w", form.Kind, err)
		}
	}
	for i, p := range f.Params {
		if p.Key == "" || len(p.Values) == 0 || slices.ContainsFunc(f.Params[:i], func(q ParamForm) bool { return q.Key == p.Key }) {
			return fmt.Errorf("parameter %q: expected a name that no other has, and a value at least", p.Key)
		}
	}
	if component, field, ok := strings.Cut(f.Owner, "."); f.Owner != "" && (!ok || component == "" || field == "") {
		return fmt.Errorf("owner is %q, expected Component.field", f.Owner)
	}
	return nil
}

func (o *OrderForm) check(owner string) error {
	if o.Kind == "" {
		return errors.New("no name")
	}
	if len(o.Fields) > maxFormFields {
		return fmt.Errorf("%d fields, expected %d at most", len(o.Fields), maxFormFields)
	}
	for i := range o.Fields {
		field := &o.Fields[i]
		err := field.check(owner)
		switch {
		case err != nil:
		case o.Packed && field.Type == Int:
			err = errors.New("int has no size in a packed payload")
		case o.Packed && field.Type == Str && i != len(o.Fields)-1:
			err = errors.New("a text in a packed payload is its last field")
		}
		if err != nil {
			return fmt.Errorf("field %q: %w", field.Name, err)
		}
	}
	return nil
}

func (f *FieldForm) check(owner string) error {
	t, ok := fieldTypes[f.Type]
	if !ok {
		return fmt.Errorf("unknown type %q", f.Type)
	}
	outside := func(v int64) bool { return v < t.min || v > t.max }
	switch {
	case (f.Type == Str) != (len(f.Texts) > 0):
		return errors.New("texts go with the type str, and it with them")
	case f.Type == Str && (f.Entity != nil || len(f.Values) > 0):
		return errors.New("a text is none of these values")
	case f.Min > f.Max:
		return fmt.Errorf("from %d to %d", f.Min, f.Max)
	case f.Type != Str && (outside(f.Min) || outside(f.Max) || slices.ContainsFunc(f.Values, outside)):
		return fmt.Errorf("a value that %s does not have", f.Type)
	case f.Entity == nil:
		return nil
	case f.Type == F32 || f.Type == F64 || f.Type == Bool || len(f.Values) > 0:
		return errors.New("an entity is a whole number, and none of a list")
	case f.Entity.Of != Anyone && f.Entity.Of != Own && f.Entity.Of != Others:
		return fmt.Errorf("an entity of %q, expected own, other or nothing", f.Entity.Of)
	case f.Entity.Of != Anyone && owner == "":
		return errors.New("an entity that belongs to a player, and no column of owners")
	}
	return nil
}

// Kinds returns the kinds of orders for the header of a log, each once, in their order.
func (f *OrderForms) Kinds() []orderlog.OrderKind {
	var list []orderlog.OrderKind
	for _, form := range f.Forms {
		if !slices.ContainsFunc(list, func(k orderlog.OrderKind) bool { return k.Name == form.Kind }) {
			list = append(list, orderlog.OrderKind{Name: form.Kind, Local: form.Local})
		}
	}
	return list
}
