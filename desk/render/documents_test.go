package render

import (
	"os"
	"reflect"
	"strings"
	"testing"
)

// TestDocumented: docs/desk-json.md has every field of the documents that have no schema, and no other.
func TestDocumented(t *testing.T) {
	text, err := os.ReadFile("../../docs/desk-json.md")
	if err != nil {
		t.Fatal(err)
	}
	sections := map[string]string{}
	for part := range strings.SplitSeq(string(text), "\n## `desynctool.") {
		name, rest, _ := strings.Cut(part, "`")
		sections[name] = rest
	}
	for name, document := range map[string]any{
		"desk-tokens/1": Tokens{}, "desk-shares/1": Shares{}, "desk-webhooks/1": Webhooks{}, "desk-audit/1": Audit{}, "desk-uploads/1": Uploads{},
		"desk-add/1": Adding{}, "desk-again/1": Again{}, "desk-work/1": Work{}, "desk-doctor/1": Doctor{},
	} {
		want := map[string]string{}
		fields(reflect.TypeOf(document), "", want)
		for line := range strings.Lines(sections[name]) {
			cells := strings.Split(line, "|")
			if len(cells) != 5 || !strings.HasPrefix(cells[1], " `") {
				continue
			}
			field := strings.Trim(cells[1], " `")
			if got := strings.TrimSpace(cells[2]); want[field] != got || strings.TrimSpace(cells[3]) == "" {
				t.Errorf("%s: %s: %q, expected %q, and what it is", name, field, got, want[field])
			}
			delete(want, field)
		}
		for field := range want {
			t.Errorf("%s: %s is not in docs/desk-json.md", name, field)
		}
		delete(sections, name)
	}
	for name := range sections {
		if strings.HasPrefix(name, "desk-") {
			t.Errorf("there is no document %s", name)
		}
	}
}

// fields notes the fields of a type as a document has them, tokens[].name, and what they hold.
func fields(of reflect.Type, at string, out map[string]string) {
	kinds := map[reflect.Kind]string{reflect.String: "text", reflect.Int: "number", reflect.Int64: "number", reflect.Bool: "yes or no", reflect.Map: "numbers by field"}
	for i := range of.NumField() {
		f := of.Field(i)
		name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		switch {
		case f.Anonymous || name == "-": // what all documents begin with
			continue
		case f.Type.Kind() == reflect.Slice && f.Type.Elem().Kind() == reflect.Struct:
			fields(f.Type.Elem(), at+name+"[].", out)
		case f.Type.Kind() == reflect.Slice:
			out[at+name+"[]"] = kinds[f.Type.Elem().Kind()]
		case options == "omitempty":
			out[at+name] = kinds[f.Type.Kind()] + " or absent"
		default:
			out[at+name] = kinds[f.Type.Kind()]
		}
	}
}
