package report

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"reflect"
	"strings"
	"testing"
)

var writeSchema = flag.Bool("write-schema", false, "write docs/triage.schema.json anew")

const schemaFile = "../docs/triage.schema.json"

// schemaOfType returns the JSON Schema of a Go type, as encoding/json writes it. Structs stand
// once, under $defs.
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
	if *writeSchema {
		if err := os.WriteFile(schemaFile, want.Bytes(), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	have, err := os.ReadFile(schemaFile)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(have, want.Bytes()) {
		t.Error("docs/triage.schema.json is not that of the type; go test ./report -run TestSchema -write-schema writes it anew")
	}
	for _, file := range []string{"testdata/triage.json"} {
		raw, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		var value any
		if err := json.Unmarshal(raw, &value); err != nil {
			t.Fatal(err)
		}
		var read map[string]any
		if err := json.Unmarshal(have, &read); err != nil {
			t.Fatal(err)
		}
		if err := fits(value, read, read["$defs"].(map[string]any), "report"); err != nil {
			t.Errorf("%s: %v", file, err)
		}
		value.(map[string]any)["peers"] = "nobody"
		if fits(value, read, read["$defs"].(map[string]any), "report") == nil {
			t.Error("peers that are a string fit the schema")
		}
	}
}

// fits checks a value against a schema with the few words that schemaOfType uses. A list may be
// null: Go writes an empty one so where nobody made it.
func fits(value any, schema, defs map[string]any, path string) error {
	if ref, ok := schema["$ref"].(string); ok {
		return fits(value, defs[strings.TrimPrefix(ref, "#/$defs/")].(map[string]any), defs, path)
	}
	if choices, ok := schema["anyOf"].([]any); ok {
		var err error
		for _, s := range choices {
			if err = fits(value, s.(map[string]any), defs, path); err == nil {
				return nil
			}
		}
		return err
	}
	ok := false
	switch v := value.(type) {
	case nil:
		ok = schema["type"] == "null" || schema["type"] == "array"
	case bool:
		ok = schema["type"] == "boolean"
	case string:
		ok = schema["type"] == "string"
	case float64:
		ok = schema["type"] == "number" || schema["type"] == "integer" && v == float64(int64(v))
	case []any:
		ok = schema["type"] == "array"
		for i := 0; ok && i < len(v); i++ {
			if err := fits(v[i], schema["items"].(map[string]any), defs, fmt.Sprintf("%s[%d]", path, i)); err != nil {
				return err
			}
		}
	case map[string]any:
		if ok = schema["type"] == "object"; !ok {
			break
		}
		properties, _ := schema["properties"].(map[string]any)
		required, _ := schema["required"].([]any)
		for _, name := range required {
			if _, there := v[name.(string)]; !there {
				return fmt.Errorf("%s lacks %s", path, name)
			}
		}
		for name, inner := range v {
			s, known := properties[name].(map[string]any)
			if !known {
				if s, known = schema["additionalProperties"].(map[string]any); !known {
					return fmt.Errorf("%s has %s, which no type has", path, name)
				}
			}
			if err := fits(inner, s, defs, path+"."+name); err != nil {
				return err
			}
		}
	}
	if !ok {
		return fmt.Errorf("%s is %T, expected %v", path, value, schema["type"])
	}
	return nil
}
