package description

import (
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

func document(t *testing.T, name string) []byte {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "..", "..", "docs", name))
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// TestDocument reads the page in docs/anygame.md.
func TestDocument(t *testing.T) {
	example := regexp.MustCompile("(?s)```toml\n(.*?)```").FindSubmatch(document(t, "anygame.md"))
	d := read(t, string(example[1]))
	if len(d.States)+len(d.Logs) != 2 || d.Name == nil || len(d.Noise)+len(d.Cache) != 3 || len(d.Tables) != 1 || len(d.Lines) != 1 {
		t.Errorf("%+v", d)
	}
}

// schema is a part of a JSON Schema.
type schema struct {
	Description string
	Ref         string `json:"$ref"`
	Properties  map[string]*schema
	Items       *schema
	Defs        map[string]*schema `json:"$defs"`
}

// TestSchema compares the keys of the schema with those that are read, and docs/anygame.md with those of the page
// itself. Each key is described.
func TestSchema(t *testing.T) {
	var root schema
	if err := json.Unmarshal(document(t, "desynctool.schema.json"), &root); err != nil {
		t.Fatal(err)
	}
	table := string(document(t, "anygame.md"))
	check := func(header string, s *schema) {
		_, err := Parse([]byte("game = 'x'\n"+header+"zzz = 1\n"), "page")
		_, known, ok := strings.Cut(err.Error(), "expected ")
		want := slices.Sorted(maps.Keys(s.Properties))
		got := strings.Split(known, ", ")
		if slices.Sort(got); !ok || !slices.Equal(got, want) {
			t.Errorf("%s: read %v, expected as in the schema %v", header, got, want)
		}
		for _, name := range want {
			if header == "" && !strings.Contains(table, "`"+name+"`") && !strings.Contains(table, "["+name+"]") {
				t.Errorf("docs/anygame.md does not name %s", name)
			}
			s := s.Properties[name]
			if def := root.Defs[strings.TrimPrefix(s.Ref, "#/$defs/")]; s.Description == "" && s.Items == nil && (def == nil || def.Description == "") {
				t.Errorf("%s %s is not described", header, name)
			}
		}
	}
	check("", &root)
	for name, s := range root.Properties {
		switch {
		case s.Items != nil:
			check("[["+name+"]]\n", s.Items)
		case s.Properties != nil:
			check("["+name+"]\n", s)
		}
	}
}
