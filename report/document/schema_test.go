package document

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"os"
	"reflect"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/desynctool/desynctool/internal/testkit/pinned"
)

const (
	schemaFile        = "../../docs/triage.schema.json"
	matchesSchemaFile = "../../docs/triage-matches.schema.json"
)

// schemaOfType returns the JSON Schema of a Go type, as encoding/json writes it. Each struct appears once, under $defs.
func schemaOfType(t reflect.Type, defs map[string]any) map[string]any {
	switch t.Kind() {
	case reflect.Pointer:
		inner := schemaOfType(t.Elem(), defs)
		return map[string]any{"anyOf": []any{inner, map[string]any{"type": "null"}}}
	case reflect.Bool:
		return map[string]any{"type": "boolean"}
	case reflect.String:
		return map[string]any{"type": "string"}
	case reflect.Float64:
		return map[string]any{"type": "number"}
	case reflect.Int, reflect.Int64, reflect.Int32:
		return map[string]any{"type": "integer"}
	case reflect.Uint64, reflect.Uint32:
		return map[string]any{"type": "integer", "minimum": 0}
	case reflect.Array:
		return map[string]any{"type": "array", "items": schemaOfType(t.Elem(), defs), "minItems": t.Len(), "maxItems": t.Len()}
	case reflect.Slice:
		if t.Implements(reflect.TypeFor[interface{ MarshalText() ([]byte, error) }]()) {
			return map[string]any{"type": "string"}
		}
		return map[string]any{"type": "array", "items": schemaOfType(t.Elem(), defs)}
	case reflect.Map:
		return map[string]any{"type": "object", "additionalProperties": schemaOfType(t.Elem(), defs)}
	case reflect.Struct:
		name := strings.ToUpper(t.Name()[:1]) + t.Name()[1:]
		if _, seen := defs[name]; !seen {
			defs[name] = nil // it may hold itself
			properties, required := map[string]any{}, []string{}
			fieldsOf(t, defs, properties, &required)
			defs[name] = map[string]any{"type": "object", "properties": properties, "required": required}
		}
		return map[string]any{"$ref": "#/$defs/" + name}
	}
	panic(fmt.Sprintf("%s has no schema", t))
}

func fieldsOf(t reflect.Type, defs, properties map[string]any, required *[]string) {
	for i := range t.NumField() {
		f := t.Field(i)
		name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		if name == "-" {
			continue
		}
		if f.Anonymous && name == "" {
			fieldsOf(f.Type, defs, properties, required)
			continue
		}
		properties[name] = schemaOfType(f.Type, defs)
		if !strings.Contains(options, "omit") {
			*required = append(*required, name)
		}
	}
}

// TestSchema holds docs/triage.schema.json against the type.
func TestSchema(t *testing.T) {
	defs := map[string]any{}
	root := schemaOfType(reflect.TypeFor[Report](), defs)
	schema := map[string]any{
		"$schema": "https://json-schema.org/draft/2020-12/schema", "title": ReportSchema,
		"description": "What desynctool triage --format json writes. More keys may come; these keep their names and types.",
		"$ref":        root["$ref"], "$defs": defs,
	}
	var want bytes.Buffer
	if err := WriteJSON(&want, schema); err != nil {
		t.Fatal(err)
	}
	pinned.File(t, schemaFile, want.Bytes())
	read, err := jsonschema.UnmarshalJSON(&want)
	if err != nil {
		t.Fatal(err)
	}
	for _, def := range read.(map[string]any)["$defs"].(map[string]any) {
		def.(map[string]any)["additionalProperties"] = false // what is written has no key that the page lacks
	}
	compiler := jsonschema.NewCompiler()
	if err := compiler.AddResource(schemaFile, read); err != nil {
		t.Fatal(err)
	}
	compiled, err := compiler.Compile(schemaFile)
	if err != nil {
		t.Fatal(err)
	}
	f, err := os.Open("testdata/triage.json")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	value, err := jsonschema.UnmarshalJSON(f)
	if err != nil {
		t.Fatal(err)
	}
	if err := compiled.Validate(value); err != nil {
		t.Error(err)
	}
	for key, wrong := range map[string]any{"peers": "nobody", "verdict": nil, "unknown": true} {
		document := maps.Clone(value.(map[string]any))
		if document[key] = wrong; compiled.Validate(document) == nil {
			t.Errorf("%s may be %v", key, wrong)
		}
	}
}

// TestMatchesSchema holds docs/triage-matches.schema.json against what is written of several
// matches.
func TestMatchesSchema(t *testing.T) {
	var want bytes.Buffer
	if err := WriteJSON(&want, map[string]any{
		"$schema": "https://json-schema.org/draft/2020-12/schema", "title": ReportSchema + " of several matches",
		"description": "What desynctool triage --format json writes of several matches: the document of each.",
		"type":        "array", "minItems": 2,
		"items": map[string]any{"$ref": "triage.schema.json", "required": []string{"match"}},
	}); err != nil {
		t.Fatal(err)
	}
	pinned.File(t, matchesSchemaFile, want.Bytes())
	compiled, err := jsonschema.NewCompiler().Compile(matchesSchemaFile)
	if err != nil {
		t.Fatal(err)
	}
	first, second := filled(t), NoReport(Failed, "x.log: unreadable")
	first.Match, second.Match = &MatchDocument{Number: 1, Game: "a game", Name: "seed 1"}, &MatchDocument{Number: 2, Name: "x.log", Doubts: []string{"it may be of match 1"}}
	for _, test := range []struct {
		list  []*Report
		valid bool
	}{{[]*Report{first, second}, true}, {[]*Report{first, filled(t)}, false}, {[]*Report{first}, false}} {
		var out bytes.Buffer
		if err := MatchesJSON(&out, eachOf(test.list)); err != nil {
			t.Fatal(err)
		}
		value, err := jsonschema.UnmarshalJSON(bytes.NewReader(out.Bytes()))
		if err != nil {
			t.Fatal(err)
		}
		if err := compiled.Validate(value); (err == nil) != test.valid {
			t.Errorf("%d reports: %v", len(test.list), err)
		}
		if !test.valid {
			continue
		}
		again, err := ReadReports(&out, "x")
		if err != nil {
			t.Fatal(err)
		}
		for i, r := range again {
			var a, b bytes.Buffer
			if err := errors.Join(WriteJSON(&a, r), WriteJSON(&b, test.list[i])); err != nil || !bytes.Equal(a.Bytes(), b.Bytes()) {
				t.Errorf("report %d is another one once it was read: %v", i, err)
			}
		}
	}
}

func eachOf(list []*Report) Each {
	return func(yield func(*Report, error) bool) {
		for _, r := range list {
			if !yield(r, nil) {
				return
			}
		}
	}
}
