package render

import (
	"cmp"
	"os"
	"reflect"
	"regexp"
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
		for _, m := range regexp.MustCompile("(?m)^- `(.+?)`( \\(.+?\\))?: .").FindAllStringSubmatch(sections[name], -1) {
			got := cmp.Or(strings.Trim(m[2], " ()"), "text")
			if got == "or absent" {
				got = "text or absent"
			}
			if want[m[1]] != got {
				t.Errorf("%s: %s: %q, expected %q", name, m[1], got, want[m[1]])
			}
			delete(want, m[1])
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
