package schemas

import (
	"encoding/json"
	"reflect"
	"testing"
)

// colour is a named text.
type colour string

const (
	red  colour = "red" // as a rose
	blue colour = "blue"
)

// base is in another type.
type base struct {
	Schema string `json:"schema"`
}

// thing is a document.
type thing struct {
	base
	Shade colour `json:"shade"`
	// Number counts what Shade colours.
	Number *int         `json:"number"`          // null if unknown
	Parts  []thing      `json:"parts,omitempty"` // inside
	At     [2]uint64    `json:"at"`
	Free   map[string]J `json:"free" nil:"null"`
	Hidden string       `json:"-"`
}

// J writes itself.
type J struct{}

func (J) MarshalJSON() ([]byte, error) { return []byte("1"), nil }

func TestOf(t *testing.T) {
	_ = []colour{red, blue}
	defs := New(Root())
	got, err := json.Marshal([]any{defs.Of(reflect.TypeFor[thing]()), defs.JSON})
	if err != nil {
		t.Fatal(err)
	}
	// The package's tests are no part of the source that descriptions come from.
	want := `[{"$ref":"#/$defs/Thing"},{"Thing":{"properties":{` +
		`"at":{"items":{"minimum":0,"type":"integer"},"maxItems":2,"minItems":2,"type":"array"},` +
		`"free":{"anyOf":[{"additionalProperties":{},"type":"object"},{"type":"null"}]},` +
		`"number":{"anyOf":[{"type":"integer"},{"type":"null"}]},` +
		`"parts":{"items":{"$ref":"#/$defs/Thing"},"type":"array"},` +
		`"schema":{"type":"string"},"shade":{"type":"string"}},` +
		`"required":["schema","shade","number","at","free"],"type":"object"}}]`
	if string(got) != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}
