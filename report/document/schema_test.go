package document

import (
	"bytes"
	"errors"
	"maps"
	"os"
	"reflect"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/desynctool/desynctool/internal/testkit/pinned"
	"github.com/desynctool/desynctool/internal/testkit/schemas"
)

const (
	schemaFile        = "../../docs/triage.schema.json"
	matchesSchemaFile = "../../docs/triage-matches.schema.json"
)

// TestSchema holds docs/triage.schema.json against the type.
func TestSchema(t *testing.T) {
	defs := schemas.New(schemas.Root())
	root := defs.Of(reflect.TypeFor[Report]())
	schema := map[string]any{
		"$schema": "https://json-schema.org/draft/2020-12/schema", "title": ReportSchema,
		"description": "What desynctool triage --format json writes. More keys may come; these keep their names and types.",
		"$ref":        root["$ref"], "$defs": defs.JSON,
	}
	want := schemas.Write(schema)
	pinned.File(t, schemaFile, want)
	read, err := jsonschema.UnmarshalJSON(bytes.NewReader(want))
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

// TestDocumentsSchema holds docs/documents.schema.json against the types of the documents of other commands.
func TestDocumentsSchema(t *testing.T) {
	want := schemas.Write(schemas.Documents("documents of desynctool", "What commands other than triage write with --format json.", map[string]reflect.Type{
		"bisect/1": reflect.TypeFor[bisectDocument](), "bytes/1": reflect.TypeFor[bytesDocument](), "diff/1": reflect.TypeFor[diffDocument](),
		"doctor/1": reflect.TypeFor[doctorDocument](), "doctor-matches/1": reflect.TypeFor[doctorMatchesDocument](), "gitbisect/1": reflect.TypeFor[gitBisectDocument](),
		"golden/1": reflect.TypeFor[goldenDocument](), "golden-record/1": reflect.TypeFor[goldenRecordDocument](), "hunt/1": reflect.TypeFor[huntDocument](),
		"hunt-finding/1": reflect.TypeFor[huntFindingDocument](), "limits/1": reflect.TypeFor[Limits](), "minimize/1": reflect.TypeFor[minimizeDocument](),
		"orders/1": reflect.TypeFor[ordersDocument](), "proof/1": reflect.TypeFor[proofDocument](), "record/1": reflect.TypeFor[recordDocument](),
		"replay/1": reflect.TypeFor[replayedDocument](), "sim-check/1": reflect.TypeFor[conformanceDocument](), "tracediff/1": reflect.TypeFor[traceDocument](),
		"verify/1": reflect.TypeFor[verifyDocument](), "walk/1": reflect.TypeFor[walkDocument](),
	}))
	pinned.File(t, "../../docs/documents.schema.json", want)
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
