// Package schemas makes JSON Schemas of Go types. The comments of types and fields are their descriptions, so the
// meaning of a key is in one place.
package schemas

import (
	"bytes"
	"encoding"
	"encoding/json"
	"fmt"
	"go/ast"
	"go/constant"
	"go/parser"
	"go/token"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
)

const module = "github.com/desynctool/desynctool/"

var (
	jsonMarshaler = reflect.TypeFor[json.Marshaler]()
	textMarshaler = reflect.TypeFor[encoding.TextMarshaler]()
)

// Defs are the definitions of structs, by name.
type Defs struct {
	JSON  map[string]any
	names map[reflect.Type]string
	root  string // folder of the module
	read  map[string]*source
}

// source has the comments and constants of the types of a package.
type source struct {
	types  map[string]string            // comments
	fields map[string]map[string]string // comments, by type and field
	values map[string][]string          // constants, by type

	computed map[string]bool // types with other constants
}

// New returns no definitions. The root is the folder of the module.
func New(root string) *Defs {
	return &Defs{map[string]any{}, map[reflect.Type]string{}, root, map[string]*source{}}
}

// Of returns the schema of a type, as encoding/json writes it.
func (d *Defs) Of(t reflect.Type) map[string]any {
	switch {
	case t.Kind() == reflect.Pointer:
		return map[string]any{"anyOf": []any{d.Of(t.Elem()), map[string]any{"type": "null"}}}
	case t.Implements(jsonMarshaler), t.Kind() == reflect.Interface:
		return map[string]any{}
	case t.Implements(textMarshaler):
		return map[string]any{"type": "string"}
	}
	switch t.Kind() {
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
		return map[string]any{"type": "array", "items": d.Of(t.Elem()), "minItems": t.Len(), "maxItems": t.Len()}
	case reflect.Slice:
		return map[string]any{"type": "array", "items": d.Of(t.Elem())}
	case reflect.Map:
		return map[string]any{"type": "object", "additionalProperties": d.Of(t.Elem())}
	case reflect.Struct:
		return map[string]any{"$ref": "#/$defs/" + d.define(t)}
	}
	panic(fmt.Sprintf("%s has no schema", t))
}

// define returns the name of the definition of a struct.
func (d *Defs) define(t reflect.Type) string {
	if name, ok := d.names[t]; ok {
		return name
	}
	name := strings.ToUpper(t.Name()[:1]) + t.Name()[1:]
	if _, taken := d.JSON[name]; taken {
		base := filepath.Base(t.PkgPath())
		name = strings.ToUpper(base[:1]) + base[1:] + name
	}
	d.names[t], d.JSON[name] = name, nil // it may hold itself
	properties, required := map[string]any{}, []string{}
	d.fields(t, properties, &required)
	def := map[string]any{"type": "object", "properties": properties, "required": required}
	if about := d.source(t).types[t.Name()]; about != "" {
		def["description"] = about
	}
	d.JSON[name] = def
	return name
}

func (d *Defs) fields(t reflect.Type, properties map[string]any, required *[]string) {
	keys := map[string]string{}
	for i := range t.NumField() {
		keys[t.Field(i).Name], _, _ = strings.Cut(t.Field(i).Tag.Get("json"), ",")
	}
	comments := d.source(t).fields[t.Name()]
	for i := range t.NumField() {
		f := t.Field(i)
		name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		if name == "-" || !f.IsExported() && !f.Anonymous {
			continue
		}
		if f.Anonymous && name == "" {
			of := f.Type
			if of.Kind() == reflect.Pointer {
				of = of.Elem()
			}
			d.fields(of, properties, required)
			continue
		}
		property := d.Of(f.Type)
		if f.Tag.Get("nil") == "null" {
			property = map[string]any{"anyOf": []any{property, map[string]any{"type": "null"}}}
		}
		about := word.ReplaceAllStringFunc(comments[f.Name], func(w string) string {
			if keys[w] != "" && keys[w] != "-" {
				return keys[w]
			}
			return w
		})
		if s := d.source(f.Type); len(s.values[f.Type.Name()]) > 0 && !s.computed[f.Type.Name()] {
			about = strings.TrimSpace(about + " Values: " + strings.Join(s.values[f.Type.Name()], "; "))
		}
		if about != "" {
			property["description"] = about
		}
		properties[name] = property
		if !strings.Contains(options, "omit") {
			*required = append(*required, name)
		}
	}
}

var word = regexp.MustCompile(`\b[A-Z]\w*`)

// source reads the package of a type, once.
func (d *Defs) source(t reflect.Type) *source {
	path, ok := strings.CutPrefix(t.PkgPath(), module)
	if !ok {
		return &source{}
	}
	if s := d.read[path]; s != nil {
		return s
	}
	s := &source{map[string]string{}, map[string]map[string]string{}, map[string][]string{}, map[string]bool{}}
	d.read[path] = s
	files, _ := filepath.Glob(filepath.Join(d.root, filepath.FromSlash(path), "*.go"))
	for _, name := range files {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.ParseComments)
		if err != nil {
			panic(err)
		}
		for _, decl := range file.Decls {
			if general, ok := decl.(*ast.GenDecl); ok {
				s.add(general)
			}
		}
	}
	return s
}

func (s *source) add(decl *ast.GenDecl) {
	for _, spec := range decl.Specs {
		switch spec := spec.(type) {
		case *ast.TypeSpec:
			s.types[spec.Name.Name] = comment(decl.Doc)
			of, ok := spec.Type.(*ast.StructType)
			if !ok {
				continue
			}
			fields := map[string]string{}
			for _, f := range of.Fields.List {
				for _, name := range f.Names {
					fields[name.Name] = strings.TrimSpace(comment(f.Doc) + " " + comment(f.Comment))
				}
			}
			s.fields[spec.Name.Name] = fields
		case *ast.ValueSpec:
			of, ok := spec.Type.(*ast.Ident)
			if !ok || len(spec.Values) == 0 {
				continue
			}
			literal, ok := spec.Values[0].(*ast.BasicLit)
			if !ok || literal.Kind != token.STRING {
				s.computed[of.Name] = true
				continue
			}
			value := constant.StringVal(constant.MakeFromLiteral(literal.Value, token.STRING, 0))
			if value == "" {
				continue
			}
			if about := strings.TrimSpace(comment(spec.Doc) + " " + comment(spec.Comment)); about != "" {
				value += ": " + about
			}
			s.values[of.Name] = append(s.values[of.Name], value)
		}
	}
}

// comment returns a comment as one line.
func comment(c *ast.CommentGroup) string { return strings.Join(strings.Fields(c.Text()), " ") }

// Write returns a schema as JSON: a line for each property.
func Write(schema map[string]any) []byte {
	var out bytes.Buffer
	write(&out, schema, 0)
	out.WriteByte('\n')
	return out.Bytes()
}

// depth is how deep objects have a line for each member: the schema, $defs, a definition, its properties.
const depth = 4

func write(out *bytes.Buffer, value any, level int) {
	object, ok := value.(map[string]any)
	if !ok || level == depth {
		var line bytes.Buffer
		e := json.NewEncoder(&line)
		e.SetEscapeHTML(false)
		if err := e.Encode(value); err != nil {
			panic(err)
		}
		out.Write(bytes.TrimSpace(line.Bytes()))
		return
	}
	indent := strings.Repeat("  ", level)
	out.WriteString("{")
	for i, key := range slices.Sorted(maps.Keys(object)) {
		if i > 0 {
			out.WriteString(",")
		}
		fmt.Fprintf(out, "\n%s  %q: ", indent, key)
		write(out, object[key], level+1)
	}
	if len(object) > 0 {
		out.WriteString("\n" + indent)
	}
	out.WriteString("}")
}

// Root returns the folder of the module that contains the working directory.
func Root() string {
	dir, err := os.Getwd()
	if err != nil {
		panic(err)
	}
	for ; ; dir = filepath.Dir(dir) {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return dir
		}
		if dir == filepath.Dir(dir) {
			panic("no go.mod above")
		}
	}
}

// Documents returns the schema of several kinds of documents, by their names: "bisect/1". A document with the member
// "error" has no result, and not the members of its kind.
func Documents(title, description string, kinds map[string]reflect.Type) map[string]any {
	defs := New(Root())
	var all []any
	for _, name := range slices.Sorted(maps.Keys(kinds)) {
		all = append(all, map[string]any{
			"if":   map[string]any{"properties": map[string]any{"schema": map[string]any{"const": "desynctool." + name}}, "not": map[string]any{"required": []string{"error"}}},
			"then": defs.Of(kinds[name]),
		})
	}
	return map[string]any{
		"$schema": "https://json-schema.org/draft/2020-12/schema", "title": title, "description": description, "allOf": all, "$defs": defs.JSON,
	}
}
