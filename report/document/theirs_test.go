package document_test

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/text"
	"golang.org/x/net/html"

	"github.com/desynctool/desynctool/internal/testkit/effort"
	"github.com/desynctool/desynctool/internal/testkit/hostiletest"
	"github.com/desynctool/desynctool/report/ci"
	"github.com/desynctool/desynctool/report/document"
	"github.com/desynctool/desynctool/report/explore"
	"github.com/desynctool/desynctool/report/page"
)

// harmless is a name that no renderer has to do anything with.
const harmless = "harmless"

// rendering is a document of some kind with text from other people's files. Skeleton returns the parts that are not
// text: they may not depend on the files.
type rendering struct {
	name     string
	write    func(w io.Writer, r *document.Report) error
	skeleton func(doc []byte) (string, error)
}

func renderings(t testing.TB) (list []rendering) {
	shown := func(style document.Style, all bool) func(io.Writer, *document.Report) error {
		return func(w io.Writer, r *document.Report) error { return r.Text(w, style, all) }
	}
	for _, all := range []bool{false, true} {
		list = append(list,
			rendering{fmt.Sprint("text, all ", all), shown(document.NewStyle(false), all), hostiletest.Screen},
			rendering{fmt.Sprint("narrow text in colour, all ", all), shown(document.NewStyle(true).Wide(60), all), hostiletest.Screen},
			rendering{fmt.Sprint("wide text in colour, all ", all), shown(document.NewStyle(true).Wide(200), all), hostiletest.Screen})
	}
	summary := filepath.Join(t.TempDir(), "summary.md")
	return append(list,
		rendering{"HTML", page.Write, elements},
		rendering{"Markdown", func(w io.Writer, r *document.Report) error { return r.Markdown(w) }, blocks},
		rendering{"comment", func(w io.Writer, r *document.Report) error { return r.Comment(w) }, blocks},
		rendering{"write-up", func(w io.Writer, r *document.Report) error { return r.WriteUp(w) }, frontMatter},
		rendering{"annotations", ci.GitHub, annotations},
		rendering{"job summary", func(w io.Writer, r *document.Report) error {
			defer os.Remove(summary)
			if err := ci.JobSummary(summary, r.Markdown); err != nil {
				return err
			}
			doc, err := os.ReadFile(summary)
			if err == nil {
				_, err = w.Write(doc)
			}
			return err
		}, blocks},
		rendering{"JUnit", ci.JUnit, xmlElements},
		rendering{"SARIF", func(w io.Writer, r *document.Report) error { return ci.SARIF(w, r, "1") }, objects},
		rendering{"JSON", func(w io.Writer, r *document.Report) error { return document.WriteJSON(w, r) }, keys},
		rendering{"tree of explore", func(w io.Writer, r *document.Report) error {
			return printTree(w, explore.Build([]*document.Report{r}, explore.Given{Paths: []string{"a", "b"}}), "")
		}, commandsOf})
}

// elements returns the elements of an HTML page with the names of their attributes.
func elements(doc []byte) (string, error) {
	root, err := html.Parse(bytes.NewReader(doc))
	if err != nil {
		return "", err
	}
	var out strings.Builder
	for n := range root.Descendants() {
		switch n.Type {
		case html.CommentNode:
			out.WriteString("comment\n")
		case html.ElementNode:
			var names []string
			for _, a := range n.Attr {
				names = append(names, a.Key)
				if a.Key == "href" && !strings.HasPrefix(a.Val, "#") {
					return "", fmt.Errorf("a link to %q", a.Val)
				}
			}
			slices.Sort(names)
			if n.Data == "wbr" || n.Data == "span" && slices.Equal(names, []string{"class"}) {
				continue // where a line may end, and what of a text is kept together
			}
			if n.Namespace == "svg" && (slices.Equal(names, []string{"class", "text-anchor", "x", "y"}) || slices.Equal(names, []string{"class", "x1", "x2", "y1", "y2"})) {
				continue // a label of a picture with its line, which is left out where there is no room
			}
			fmt.Fprintln(&out, n.Data, names)
		}
	}
	return out.String(), hostiletest.Inert(doc)
}

var github = goldmark.New(goldmark.WithExtensions(extension.GFM, extension.Footnote))

var mentions = regexp.MustCompile(`(^|[^\w&])[@#]\w|\bGH-\d`)

// blocks returns the blocks and their contents of a document in GitHub's Markdown, texts left out.
func blocks(doc []byte) (string, error) {
	var out strings.Builder
	var bad error
	err := ast.Walk(github.Parser().Parse(text.NewReader(doc)), func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if !entering {
			return ast.WalkContinue, nil
		}
		switch n := n.(type) {
		case *ast.Text:
			if s := string(n.Segment.Value(doc)); mentions.MatchString(s) && n.Parent().Kind() != ast.KindCodeSpan {
				bad = fmt.Errorf("mentions in %q", s)
			}
			return ast.WalkContinue, nil
		case *ast.RawHTML: // code with signs that Markdown's own marks of code cannot hold
			switch tag := string(n.Segments.Value(doc)); tag {
			case "<code>":
				fmt.Fprintln(&out, ast.KindCodeSpan)
			case "</code>":
			default:
				fmt.Fprintln(&out, tag)
			}
			return ast.WalkContinue, nil
		case *ast.HTMLBlock:
			lines := n.Lines()
			fmt.Fprintf(&out, "html block %s\n", regexp.MustCompile(`<[^>]*>`).FindAllString(string(lines.Value(doc)), -1))
		}
		fmt.Fprintln(&out, n.Kind())
		return ast.WalkContinue, nil
	})
	if err == nil {
		err = bad
	}
	if err == nil {
		err = hostiletest.Inert(bytes.ReplaceAll(doc, []byte("\u200b"), nil)) // which keeps words apart that GitHub would take for a mention
	}
	return out.String(), err
}

// frontMatter returns the names in the header of a write-up, and the blocks after it.
func frontMatter(doc []byte) (string, error) {
	lines := strings.Split(string(doc), "\n")
	end := slices.Index(lines[1:], "---") + 1
	if lines[0] != "---" || end == 0 {
		return "", fmt.Errorf("it begins with %q", lines[:min(len(lines), 4)])
	}
	var out strings.Builder
	for _, line := range lines[1:end] {
		name, value, _ := strings.Cut(line, ": ")
		if json.Unmarshal([]byte(value), new(string)) != nil && strings.Trim(value, "0123456789abcdefghijklmnopqrstuvwxyz") != "" {
			return "", fmt.Errorf("the line %q", line)
		}
		fmt.Fprintln(&out, name)
	}
	rest, err := blocks([]byte(strings.Join(lines[end+1:], "\n")))
	return out.String() + rest, err
}

// annotations returns the workflow commands of a text, which are all of its lines.
func annotations(doc []byte) (string, error) {
	var out strings.Builder
	for line := range strings.Lines(string(doc)) {
		parts := strings.SplitN(strings.TrimSuffix(line, "\n"), "::", 3)
		if len(parts) != 3 || parts[0] != "" || strings.ContainsAny(parts[2], "\r\n") {
			return "", fmt.Errorf("the line %q", line)
		}
		kind, title, _ := strings.Cut(parts[1], " title=")
		if strings.ContainsAny(title, ":,") || !slices.Contains([]string{"error", "warning", "notice"}, kind) {
			return "", fmt.Errorf("the command %q", parts[1])
		}
		fmt.Fprintln(&out, kind)
	}
	return out.String(), hostiletest.Inert(doc)
}

// xmlElements returns the elements of an XML document with the names of their attributes.
func xmlElements(doc []byte) (string, error) {
	var out strings.Builder
	for d := xml.NewDecoder(bytes.NewReader(doc)); ; {
		token, err := d.Token()
		if err == io.EOF {
			return out.String(), hostiletest.Inert(doc)
		}
		if err != nil {
			return "", err
		}
		if start, ok := token.(xml.StartElement); ok {
			fmt.Fprint(&out, start.Name.Local)
			for _, a := range start.Attr {
				fmt.Fprint(&out, " ", a.Name.Local)
			}
			fmt.Fprintln(&out)
		}
	}
}

// keys returns the keys of a JSON document except the keys of maps by names, and how long its lists are.
func keys(doc []byte) (string, error) {
	var v any
	if err := json.Unmarshal(doc, &v); err != nil {
		return "", err
	}
	var out strings.Builder
	var walk func(v any)
	walk = func(v any) {
		switch v := v.(type) {
		case []any:
			fmt.Fprintln(&out, "list of", len(v))
			for _, e := range v {
				walk(e)
			}
		case map[string]any:
			fmt.Fprintln(&out, "object of", len(v))
			for _, key := range slices.Sorted(maps.Keys(v)) {
				if len(v) > 1 {
					walk(v[key])
				}
			}
		}
	}
	walk(v)
	return out.String(), hostiletest.Inert(doc)
}

// objects returns the keys of each object in a JSON document.
func objects(doc []byte) (string, error) {
	var v any
	if err := json.Unmarshal(doc, &v); err != nil {
		return "", err
	}
	var out strings.Builder
	var walk func(v any)
	walk = func(v any) {
		switch v := v.(type) {
		case []any:
			for _, e := range v {
				walk(e)
			}
		case map[string]any:
			fmt.Fprintln(&out, slices.Sorted(maps.Keys(v)))
			for key, e := range v {
				if key != "partialFingerprints" { // by levels; a saved report has their names
					walk(e)
				}
			}
		}
	}
	walk(v)
	return out.String(), hostiletest.Inert(doc)
}

func printTree(w io.Writer, n *explore.Node, indent string) error {
	_, err := fmt.Fprintf(w, "%s%s\x01", indent, n.Command)
	for _, c := range n.Children {
		if err == nil {
			err = printTree(w, c, indent+" ")
		}
	}
	return err
}

// commandsOf checks the commands of a tree.
func commandsOf(doc []byte) (string, error) {
	n := 0
	for command := range strings.SplitSeq(string(doc), "\x01") {
		if command = strings.TrimLeft(command, " "); command != "" {
			n++
			if err := hostiletest.OneCommand(command); err != nil {
				return "", err
			}
		}
	}
	return fmt.Sprint(n, " commands"), nil
}

// place is a string in a report that may be put there.
type place struct {
	path string
	put  func(s string) (undo func())
}

// placesOf returns every string in a value, the names of maps included, after filling what is empty. For long lists it
// returns the places of the first entries.
func placesOf(path string, v reflect.Value) (list []place) {
	const most = 3
	switch v.Kind() {
	case reflect.Pointer:
		if v.IsNil() {
			v.Set(reflect.New(v.Type().Elem()))
		}
		return placesOf(path, v.Elem())
	case reflect.Struct:
		for i := range v.NumField() {
			if name := v.Type().Field(i).Name; v.Field(i).CanSet() && path+"."+name != ".Head.Schema" {
				list = append(list, placesOf(path+"."+name, v.Field(i))...)
			}
		}
	case reflect.Slice:
		if v.Type().Elem().Kind() == reflect.Uint8 {
			return nil
		}
		if v.Len() == 0 {
			v.Set(reflect.MakeSlice(v.Type(), 1, 1))
		}
		for i := range min(v.Len(), most) {
			list = append(list, placesOf(fmt.Sprintf("%s[%d]", path, i), v.Index(i))...)
		}
	case reflect.Array:
		for i := range v.Len() {
			list = append(list, placesOf(fmt.Sprintf("%s[%d]", path, i), v.Index(i))...)
		}
	case reflect.Map:
		if v.IsNil() || v.Len() == 0 {
			v.Set(reflect.MakeMap(v.Type()))
			v.SetMapIndex(reflect.ValueOf(harmless).Convert(v.Type().Key()), reflect.Zero(v.Type().Elem()))
		}
		for _, key := range v.MapKeys() {
			list = append(list, place{fmt.Sprintf("the name of %s[%s]", path, key), func(s string) func() {
				old := v.MapIndex(key)
				name := reflect.ValueOf(s).Convert(key.Type())
				if v.MapIndex(name).IsValid() {
					return func() {}
				}
				v.SetMapIndex(key, reflect.Value{})
				v.SetMapIndex(name, old)
				return func() { v.SetMapIndex(name, reflect.Value{}); v.SetMapIndex(key, old) }
			}})
			if v.Type().Elem().Kind() == reflect.String {
				list = append(list, place{fmt.Sprintf("%s[%s]", path, key), func(s string) func() {
					old := v.MapIndex(key)
					if !old.IsValid() {
						return func() {}
					}
					v.SetMapIndex(key, reflect.ValueOf(s).Convert(v.Type().Elem()))
					return func() { v.SetMapIndex(key, old) }
				}})
			}
		}
	case reflect.String:
		if v.Len() == 0 {
			v.SetString(harmless)
		}
		list = append(list, place{path, func(s string) func() {
			old := v.String()
			v.SetString(s)
			return func() { v.SetString(old) }
		}})
	}
	return list
}

// TestTheirsInSavedReports puts every trick into every string of a saved report and renders it in
// every way. What is not text in the result is as if the string were harmless.
func TestTheirsInSavedReports(t *testing.T) {
	effort.Whole(t)
	saved, err := os.ReadFile(filepath.Join("testdata", "triage.json"))
	if err != nil {
		t.Fatal(err)
	}
	full, err := document.ReadReport(bytes.NewReader(saved), "triage.json")
	if err != nil {
		t.Fatal(err)
	}
	places := placesOf("", reflect.ValueOf(full).Elem())
	if len(places) < 300 {
		t.Fatalf("only %d strings in a report", len(places))
	}
	all := renderings(t)
	// render puts a text into every so many-th place, and returns the skeletons.
	const apart = 7
	render := func(text string, first int) (skeletons []string, errs []error) {
		var undo []func()
		for i := first; i < len(places); i += apart {
			undo = append(undo, places[i].put(text))
		}
		doc, err := json.Marshal(full)
		for _, back := range slices.Backward(undo) {
			back()
		}
		if err != nil {
			t.Fatal(err)
		}
		r, err := document.ReadReport(bytes.NewReader(doc), "saved")
		if err != nil {
			t.Fatal(err)
		}
		for _, x := range all {
			var out bytes.Buffer
			err := x.write(&out, r)
			skeleton := ""
			if err == nil {
				skeleton, err = x.skeleton(out.Bytes())
			}
			skeletons, errs = append(skeletons, skeleton), append(errs, err)
		}
		return skeletons, errs
	}
	cases, tries := 0, effort.Long(1, apart)
	for n := range apart {
		want, errs := render("harmless too", n)
		for i, err := range errs {
			if err != nil {
				t.Errorf("%s of harmless names: %v", all[i].name, err)
			}
		}
		for k, trick := range hostiletest.Tricks {
			if (k+n)%apart >= tries || k%effort.Of(5, 1) != 0 {
				continue
			}
			got, errs := render(trick, n)
			for i := range got {
				cases += len(places) / apart
				if errs[i] != nil || !alike(all[i].name, trick, want[i], got[i]) {
					t.Errorf("%s, places %d, %.60q: %v\n%s", all[i].name, n, trick, errs[i], firstLine(want[i], got[i]))
				}
			}
		}
	}
	t.Logf("%d strings, %d tricks, %d renderings: %d cases", len(places), len(hostiletest.Tricks), len(all), cases)
}

// alike reports whether a skeleton is as it should be. In a long document other parts of a comment may be left out,
// since its length is bounded, and SARIF names no file that is not within the folder.
func alike(name, trick, want, got string) bool {
	if name == "HTML" { // rows are in the order of their names
		a, b := strings.Split(want, "\n"), strings.Split(got, "\n")
		slices.Sort(a)
		slices.Sort(b)
		return slices.Equal(a, b)
	}
	if name != "SARIF" && (name != "comment" || len(trick) < 500) {
		return want == got
	}
	lines := strings.Split(want, "\n")
	return !slices.ContainsFunc(strings.Split(got, "\n"), func(line string) bool { return !slices.Contains(lines, line) })
}

// firstLine returns where two texts differ.
func firstLine(want, got string) string {
	a, b := strings.Split(want, "\n"), strings.Split(got, "\n")
	for i := range min(len(a), len(b)) {
		if a[i] != b[i] {
			return fmt.Sprintf("line %d: %q, want %q", i, b[max(0, i-2):min(i+3, len(b))], a[max(0, i-2):min(i+3, len(a))])
		}
	}
	return fmt.Sprintf("%d lines, want %d", len(b), len(a))
}
