package ci

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"math"
	"net/url"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/desynctool/desynctool/internal/testkit/effort"
	"github.com/desynctool/desynctool/internal/testkit/pinned"
	"github.com/desynctool/desynctool/report/document"
)

var formats = []struct {
	name  string
	write func(io.Writer, *document.Report) error
	check func(t *testing.T, out []byte)
}{
	{"junit", JUnit, checkJUnit},
	{"sarif", func(w io.Writer, r *document.Report) error { return SARIF(w, r, "v1.2.3") }, checkSARIF},
	{"github", GitHub, checkGitHub},
	{"markdown", func(w io.Writer, r *document.Report) error { return r.Markdown(w) }, checkMarkdown},
}

// saved reads the sample of a report again.
func saved(t *testing.T) *document.Report {
	t.Helper()
	path := filepath.Join("..", "document", "testdata", "triage.json")
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	r, err := document.ReadReport(f, path)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// reports are one of each kind, by name.
func reports(t *testing.T) map[string]*document.Report {
	lacking := saved(t)
	lacking.Status, lacking.Kind = document.Inconclusive, ""
	lacking.Verdict = []string{"Only host left evidence."}
	lacking.FirstDivergence, lacking.Locus, lacking.Compared, lacking.Causes, lacking.Cascade = nil, nil, nil, nil, nil
	lacking.Ladder = []document.Rung{
		{Step: "preflight", State: document.RungTrouble, Found: "1 file is corrupt", Evidence: "client/order-log.bin: CRC"},
		{Step: "inputs", State: document.RungOpen, Found: "one log", Evidence: "the order log of another peer"},
	}
	lacking.Contradictions = []string{"client/desync.snap: its hash is another than that of its content"}
	lacking.Fingerprint, lacking.Fingerprints, lacking.Seen = "", nil, nil

	same := saved(t)
	same.Status, same.Kind, same.Warnings = document.InSync, "", nil
	same.Verdict = []string{"host and client are in sync up to state point 3000."}
	same.FirstDivergence, same.Locus, same.Compared, same.Causes, same.Cascade, same.Missing, same.Seen = nil, nil, nil, nil, nil, nil, nil
	same.Ladder = same.Ladder[:3]
	same.Fingerprint, same.Fingerprints = "", nil

	files := saved(t)
	if err := json.Unmarshal([]byte(`{"files": {
		"good": ["report.zip/host/a b.snap", "report.zip/client/a b.snap"],
		"bad": ["host/desync:1.snap", "../outside.snap", "/etc/passwd", "C:\\games\\x.snap", "client/100%.snap"]
	}}`), files.FirstDivergence.Bracket); err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal([]byte(`{"values": {
		"client": {"file": "client/trace.txt", "line": 4711, "sum": "1"}, "host": {"file": "host/trace.txt", "line": 4710, "sum": "2"}
	}}`), &files.FirstDivergence.Checkpoint); err != nil {
		t.Fatal(err)
	}
	files.Claims = []document.ClaimDocument{{Text: "desync at 1234", Files: []string{"client/infolog.txt"}, Line: 17}}
	files.GameLogs = &document.GameLogs{Total: 1, Lines: []document.GameLogLine{{
		Severity: "error", Text: "no such unit", Have: []document.GameLogPlace{{Peer: "client", File: "client/game.log", Count: 2, First: 3, Last: 9}}, Lack: []string{"host"},
	}}}

	// An engine's late claim contradicts nothing of the verdict, and is not an error next to it.
	late := saved(t)
	late.Session.Game, late.Session.Seed = "", ""
	late.Ladder = append(late.Ladder, document.Rung{Step: "claims", State: document.RungTrouble, Found: "1 claim came 200 ticks after the divergence", Evidence: "client/infolog.txt"})

	start := saved(t)
	start.FirstDivergence = &document.FirstDivergence{InitialState: true, Bracket: &document.BracketDocument{Bad: 0}, Archetypes: []string{"", "Infantry"}}
	start.Locus, start.Causes = nil, nil

	return map[string]*document.Report{
		"diverged": saved(t), "inconclusive": lacking, "in-sync": same, "files": files, "late-claim": late, "initial-state": start,
		"empty": {Head: document.NewHead("triage", document.Inconclusive, nil)},
		"error": {Head: document.NewHead("triage", document.Failed, []string{"x"})},
	}
}

// TestGolden pins the output for each kind of report, and checks it against the rules of its format.
func TestGolden(t *testing.T) {
	for name, r := range reports(t) {
		for _, f := range formats {
			var got, again bytes.Buffer
			if err := errors.Join(f.write(&got, r), f.write(&again, r)); err != nil {
				t.Fatal(err)
			}
			if !bytes.Equal(got.Bytes(), again.Bytes()) {
				t.Errorf("%s of %s: other bytes the second time", f.name, name)
			}
			f.check(t, got.Bytes())
			if f.name == "markdown" {
				continue // pinned where it is written, in report
			}
			pinned.File(t, filepath.Join("testdata", name+"."+f.name+".golden"), got.Bytes())
		}
	}
}

// TestOneFailure: a desync is one failure of one test, whatever else is wrong.
func TestOneFailure(t *testing.T) {
	for name, want := range map[string]string{
		"diverged": `name="refsim, seed 0000000000000007"`, "late-claim": `name="host and client and “&lt;script`, "files": `failures="1"`,
	} {
		var out bytes.Buffer
		if err := JUnit(&out, reports(t)[name]); err != nil {
			t.Fatal(err)
		}
		for _, has := range []string{`<testsuites name="desynctool triage" tests="1" failures="1" errors="0">`, want} {
			if !strings.Contains(out.String(), has) {
				t.Errorf("%s: no %s in\n%s", name, has, &out)
			}
		}
	}
}

// TestGitHubFailed: whatever the error is, it is one annotation.
func TestGitHubFailed(t *testing.T) {
	for _, why := range append([]string{"s.log: offset 12: expected a frame"}, hostile...) {
		var out bytes.Buffer
		if err := GitHubFailed(&out, why); err != nil {
			t.Fatal(err)
		}
		checkGitHub(t, out.Bytes())
		if strings.Count(out.String(), "\n") != 1 || !strings.HasPrefix(out.String(), "::error title=desynctool%3A no result::") {
			t.Errorf("%q gives %q", why, &out)
		}
	}
}

// hostile are names as someone would choose them who knows the formats.
var hostile = []string{
	"::set-output name=x::y", "a\n::error::b", "a\r\n::stop-commands::x", "##[error]x", "%0A::error::x", "a:b,c=d",
	"]]>", "<script>alert(1)</script>", `"><img src=x onerror=alert(1)>`, "&lt;&#60;", "<!-- ", "</pre></code></details>", "<?xml?>",
	"\x1b[31mred\x1b]0;title\x07", "\x00\x01\x08\x0b\x0c\x7f\u0080\u009b31m", "\ufffe\uffff\ufffd\xff\xfe", "\u202egnp.exe\u2066\u200b\u2028\u2029",
	"a|b", "a\\|b", "`a` ``b``", "[a](http://x.example)", "![a](http://x.example/a.png)", "www.x.example https://x.example", "@octocat", "#123 GH-123 a/b#1", "!1 $1 ~1 %1 &1", "/close", "- a", "1. a", "# a", "***a***", "---", "===", "> a", "{0} {{1}}",
	"\n\n| a | b |\n| --- | --- |\n", "    code", "```\n", "~~~", "$`a`$", "", " ", "\t", strings.Repeat("長い", 5_000), strings.Repeat("\x1b|<", 5_000),
}

// fill puts a text into every string of a report, lists and maps of it included.
func fill(v reflect.Value, text string, n int) {
	switch v.Kind() {
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		fill(v.Elem(), text, n)
	case reflect.Struct:
		for i := range v.NumField() {
			fill(v.Field(i), text, n)
		}
	case reflect.Array:
		for i := range v.Len() {
			fill(v.Index(i), text, n)
		}
	case reflect.Slice:
		if v.Type().Elem().Kind() == reflect.Uint8 {
			v.SetBytes([]byte(text))
			return
		}
		v.Set(reflect.MakeSlice(v.Type(), n, n))
		for i := range n {
			fill(v.Index(i), text, n)
		}
	case reflect.Map:
		v.Set(reflect.MakeMap(v.Type()))
		key, value := reflect.New(v.Type().Key()).Elem(), reflect.New(v.Type().Elem()).Elem()
		fill(key, text, n)
		fill(value, text, n)
		v.SetMapIndex(key, value)
	case reflect.String:
		v.SetString(text)
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Int, reflect.Int64:
		v.SetInt(7)
	case reflect.Uint32, reflect.Uint64:
		v.SetUint(math.MaxUint32)
	case reflect.Float64:
		v.SetFloat(math.Inf(1))
	default:
		panic(v.Kind())
	}
}

// TestHostile writes reports with hostile text everywhere.
func TestHostile(t *testing.T) {
	for i, text := range hostile {
		for k, status := range []document.Status{document.Diverged, document.Inconclusive, document.InSync, document.Failed, document.Status(text)} {
			if effort.Of(i%5 != k, false) {
				continue // each text with one status
			}
			for _, n := range effort.Of([]int{3}, []int{1, 3}) {
				checkHostile(t, text, status, n)
			}
		}
	}
}

// FuzzHostile looks for texts that TestHostile does not know.
func FuzzHostile(f *testing.F) {
	for _, text := range hostile {
		f.Add(text[:min(len(text), 100)])
	}
	f.Fuzz(func(t *testing.T, text string) { checkHostile(t, text, document.Diverged, 1) })
}

func checkHostile(t *testing.T, text string, status document.Status, n int) {
	t.Helper()
	var r document.Report
	fill(reflect.ValueOf(&r).Elem(), text, n)
	r.Status = status
	r.Heat, r.Tree, r.Map, r.Timeline = nil, nil, nil, nil
	for _, f := range formats {
		var out bytes.Buffer
		if err := f.write(&out, &r); err != nil {
			t.Fatalf("%s of %.40q: %v", f.name, text, err)
		}
		f.check(t, out.Bytes())
		if t.Failed() {
			t.Fatalf("%s of %.40q, %.20q: see above", f.name, text, status)
		}
	}
}

// TestMany holds long reports within the limits.
func TestMany(t *testing.T) {
	var r document.Report
	fill(reflect.ValueOf(&r).Elem(), "a|<b>@c", 200)
	r.Heat, r.Tree, r.Map, r.Timeline = nil, nil, nil, nil
	for _, status := range []document.Status{document.Diverged, document.Inconclusive} {
		r.Status = status
		for _, f := range formats {
			var out bytes.Buffer
			if err := f.write(&out, &r); err != nil {
				t.Fatal(err)
			}
			f.check(t, out.Bytes())
			if out.Len() > 1<<20 {
				t.Errorf("%s of a long report has %d bytes", f.name, out.Len())
			}
		}
	}
}

// printable checks that no byte of a document can command a terminal.
func printable(t *testing.T, out []byte) {
	t.Helper()
	if !utf8.Valid(out) {
		t.Error("not UTF-8")
	}
	for _, r := range string(out) {
		if r != '\n' && !unicode.IsPrint(r) {
			t.Errorf("%U is written as it is", r)
			return
		}
	}
}

// element is what is checked of an XML element.
type element struct {
	XMLName xml.Name
	Attrs   []xml.Attr `xml:",any,attr"`
	Text    string     `xml:",chardata"`
	Kids    []element  `xml:",any"`
}

func (e *element) attr(name string) (string, bool) {
	for _, a := range e.Attrs {
		if a.Name.Local == name {
			return a.Value, true
		}
	}
	return "", false
}

func (e *element) named(name string) (kids []element) {
	for _, k := range e.Kids {
		if k.XMLName.Local == name {
			kids = append(kids, k)
		}
	}
	return kids
}

// junitRules are the attributes that an element must and may have, and its content, as
// Jenkins' junit-10.xsd and Ant's JUnit.xsd both have it.
var junitRules = map[string]struct {
	must, may, kids []string
	text            bool
}{
	"testsuites": {nil, []string{"name", "tests", "failures", "errors"}, []string{"testsuite"}, false},
	"testsuite": {
		[]string{"name", "tests", "failures", "errors", "package", "id", "hostname", "time"}, nil,
		[]string{"properties", "testcase", "system-out", "system-err"}, false,
	},
	"properties": {nil, nil, []string{"property"}, false},
	"property":   {[]string{"name", "value"}, nil, nil, false},
	"testcase":   {[]string{"name", "classname", "time"}, nil, []string{"failure", "error"}, false},
	"failure":    {[]string{"type", "message"}, nil, nil, true},
	"error":      {[]string{"type", "message"}, nil, nil, true},
	"system-out": {nil, nil, nil, true},
	"system-err": {nil, nil, nil, true},
}

func checkJUnit(t *testing.T, out []byte) {
	t.Helper()
	root := checkSuites(t, out)
	if len(root.Kids) != 1 {
		t.Fatalf("%d suites", len(root.Kids))
	}
	suite := &root.Kids[0]
	if name, _ := suite.attr("name"); name != "desynctool triage" && !strings.HasPrefix(name, "desynctool triage match ") {
		t.Errorf("the suite is %q", name)
	}
	if n := len(suite.named("testcase")); n != 1 {
		t.Fatalf("%d tests of one session", n)
	}
}

// checkSuites checks suites of any number of tests, and their counts.
func checkSuites(t *testing.T, out []byte) *element {
	t.Helper()
	printable(t, out)
	if !bytes.HasPrefix(out, []byte(`<?xml version="1.0" encoding="UTF-8"?>`)) || bytes.Contains(out, []byte("<![CDATA[")) || bytes.Contains(out, []byte("]]>")) {
		t.Error("not as it should begin, or with CDATA")
	}
	var root element
	d := xml.NewDecoder(bytes.NewReader(out))
	if err := d.Decode(&root); err != nil {
		t.Fatalf("not XML: %v", err)
	}
	if root.XMLName.Local != "testsuites" {
		t.Fatalf("the root is %s", root.XMLName.Local)
	}
	var walk func(e *element)
	walk = func(e *element) {
		rule, ok := junitRules[e.XMLName.Local]
		if !ok {
			t.Errorf("an element %s", e.XMLName.Local)
			return
		}
		for _, name := range rule.must {
			if _, ok := e.attr(name); !ok {
				t.Errorf("%s lacks %s", e.XMLName.Local, name)
			}
		}
		for _, a := range e.Attrs {
			if !slices.Contains(rule.must, a.Name.Local) && !slices.Contains(rule.may, a.Name.Local) {
				t.Errorf("%s has %s", e.XMLName.Local, a.Name.Local)
			}
		}
		if !rule.text && strings.TrimSpace(e.Text) != "" {
			t.Errorf("%s holds %.40q", e.XMLName.Local, e.Text)
		}
		order := 0
		for i := range e.Kids {
			at := slices.Index(rule.kids, e.Kids[i].XMLName.Local)
			if at < order {
				t.Errorf("%s in %s, or too late", e.Kids[i].XMLName.Local, e.XMLName.Local)
			}
			order = max(at, 0)
			walk(&e.Kids[i])
		}
		if e.XMLName.Local == "testcase" && len(e.Kids) > 1 {
			t.Error("a test case with two outcomes")
		}
	}
	walk(&root)
	for k := range root.Kids {
		suite := &root.Kids[k]
		cases := suite.named("testcase")
		counts := map[string]int{"tests": len(cases), "failures": 0, "errors": 0}
		for i := range cases {
			counts["failures"] += len(cases[i].named("failure"))
			counts["errors"] += len(cases[i].named("error"))
			if name, _ := cases[i].attr("name"); strings.TrimSpace(name) == "" {
				t.Error("a test without a name")
			}
		}
		for name, n := range counts {
			if got, _ := suite.attr(name); got != fmt.Sprint(n) {
				t.Errorf("%s is %s, counted %d", name, got, n)
			}
		}
	}
	return &root
}

// checkSARIF checks what the schema of SARIF 2.1.0 asks of the objects that are written, and
// what its text asks beyond: indices that fit, levels only of failures.
func checkSARIF(t *testing.T, out []byte) {
	t.Helper()
	printable(t, out)
	var log map[string]any
	if err := json.Unmarshal(out, &log); err != nil {
		t.Fatalf("not JSON: %v", err)
	}
	s := sarifChecker{t}
	s.object("log", log, "version runs", "$schema")
	if log["version"] != "2.1.0" {
		t.Errorf("version %v", log["version"])
	}
	runs := log["runs"].([]any)
	if len(runs) != 1 {
		t.Fatalf("%d runs", len(runs))
	}
	run := s.object("run", runs[0], "tool", "automationDetails invocations artifacts logicalLocations results")
	s.object("automationDetails", run["automationDetails"], "", "id")
	driver := s.object("driver", s.object("tool", run["tool"], "driver", "")["driver"], "name version", "informationUri rules")
	rules := driver["rules"].([]any)
	ids := map[any]bool{}
	for _, each := range rules {
		rule := s.object("rule", each, "id", "name shortDescription helpUri help defaultConfiguration")
		s.object("shortDescription", rule["shortDescription"], "text", "")
		if rule["help"] != nil {
			s.object("help", rule["help"], "text", "")
		}
		s.level(s.object("defaultConfiguration", rule["defaultConfiguration"], "", "level")["level"])
		if ids[rule["id"]] || !regexp.MustCompile(`^[-_a-zA-Z0-9]+$`).MatchString(rule["id"].(string)) {
			t.Errorf("the rule %v is there twice, or no name", rule["id"])
		}
		ids[rule["id"]] = true
	}
	for _, each := range run["invocations"].([]any) {
		invocation := s.object("invocation", each, "executionSuccessful", "toolExecutionNotifications")
		notifications, _ := invocation["toolExecutionNotifications"].([]any)
		for _, each := range notifications {
			n := s.object("notification", each, "message", "level")
			s.level(n["level"])
			s.message(n["message"])
		}
	}
	artifacts := run["artifacts"].([]any)
	for _, each := range artifacts {
		artifact := s.object("artifact", each, "", "location roles")
		s.file(artifact["location"], artifacts)
	}
	logical := run["logicalLocations"].([]any)
	for i, each := range logical {
		l := s.object("logicalLocation", each, "", "name fullyQualifiedName kind parentIndex")
		if parent, ok := l["parentIndex"].(float64); ok {
			full := logical[int(parent)].(map[string]any)["fullyQualifiedName"].(string)
			if int(parent) >= i || !strings.HasPrefix(l["fullyQualifiedName"].(string), full+"/") {
				t.Errorf("%v is not in %s", l["fullyQualifiedName"], full)
			}
		}
	}
	for _, each := range run["results"].([]any) {
		result := s.object("result", each, "message", "ruleId ruleIndex kind level locations relatedLocations partialFingerprints rank")
		s.message(result["message"])
		s.level(result["level"])
		if result["kind"] != "fail" {
			t.Errorf("a level of a result that is %v", result["kind"])
		}
		if rule := rules[int(result["ruleIndex"].(float64))].(map[string]any); rule["id"] != result["ruleId"] {
			t.Errorf("the rule %v at the index of %v", rule["id"], result["ruleId"])
		}
		if rank, ok := result["rank"].(float64); ok && (rank < 0 || rank > 100) {
			t.Errorf("rank %v", rank)
		}
		locations := result["locations"].([]any)
		related, _ := result["relatedLocations"].([]any)
		for _, each := range append(slices.Clone(locations), related...) {
			location := s.object("location", each, "", "id physicalLocation logicalLocations message")
			if location["physicalLocation"] != nil {
				physical := s.object("physicalLocation", location["physicalLocation"], "artifactLocation", "region")
				s.file(physical["artifactLocation"], artifacts)
				if physical["region"] != nil && s.object("region", physical["region"], "", "startLine")["startLine"].(float64) < 1 {
					t.Error("a line before the first")
				}
			}
			places, _ := location["logicalLocations"].([]any)
			for _, each := range places {
				l := s.object("logicalLocation", each, "", "name fullyQualifiedName kind index")
				if at := logical[int(l["index"].(float64))].(map[string]any); at["fullyQualifiedName"] != l["fullyQualifiedName"] {
					t.Errorf("%v at the index of %v", at["fullyQualifiedName"], l["fullyQualifiedName"])
				}
			}
		}
		fingerprints, _ := result["partialFingerprints"].(map[string]any)
		for name, value := range fingerprints {
			if _, ok := value.(string); !ok {
				t.Errorf("%s is %v", name, value)
			}
		}
	}
}

type sarifChecker struct{ t *testing.T }

// object returns a JSON object that has all of the properties must, and others of may only.
func (s sarifChecker) object(what string, v any, must, may string) map[string]any {
	s.t.Helper()
	o, ok := v.(map[string]any)
	if !ok {
		s.t.Fatalf("%s is %T", what, v)
	}
	for _, name := range strings.Fields(must) {
		if _, ok := o[name]; !ok {
			s.t.Errorf("%s lacks %s", what, name)
		}
	}
	for name := range o {
		if !slices.Contains(strings.Fields(must+" "+may), name) {
			s.t.Errorf("%s has %s", what, name)
		}
	}
	return o
}

func (s sarifChecker) level(v any) {
	s.t.Helper()
	if !slices.Contains([]any{"error", "warning", "note"}, v) {
		s.t.Errorf("level %v", v)
	}
}

// message checks that a message has a text without links and placeholders.
func (s sarifChecker) message(v any) {
	s.t.Helper()
	text, _ := s.object("message", v, "text", "")["text"].(string)
	plain := strings.NewReplacer(`\\`, "", `\[`, "", `\]`, "", "{{", "", "}}", "").Replace(text)
	if text == "" || strings.ContainsAny(plain, `[]{}\`) {
		s.t.Errorf("message %.80q", text)
	}
}

func (s sarifChecker) file(v any, artifacts []any) {
	s.t.Helper()
	file := s.object("artifactLocation", v, "", "uri index")
	uri, err := url.Parse(file["uri"].(string))
	if err != nil || uri.IsAbs() || uri.Host != "" || strings.HasPrefix(uri.Path, "/") || slices.Contains(strings.Split(uri.Path, "/"), "..") {
		s.t.Errorf("the file %v: %v", file["uri"], err)
	}
	at := artifacts[int(file["index"].(float64))].(map[string]any)["location"].(map[string]any)
	if at["uri"] != file["uri"] {
		s.t.Errorf("the artifact %v at the index of %v", at["uri"], file["uri"])
	}
}

// command is a workflow command as GitHub's runner reads it.
type command struct{ name, title, message string }

// parseCommand reads a line as the runner does (ActionCommand.TryParseV2).
func parseCommand(line string) (command, bool) {
	line = strings.TrimLeftFunc(line, unicode.IsSpace)
	rest, ok := strings.CutPrefix(line, "::")
	info, data, ok2 := strings.Cut(rest, "::")
	if !ok || !ok2 {
		return command{}, false
	}
	name, properties, _ := strings.Cut(info, " ")
	c := command{name: name, message: strings.NewReplacer("%0D", "\r", "%0A", "\n", "%25", "%").Replace(data)}
	for _, property := range strings.Split(properties, ",") {
		key, value, _ := strings.Cut(property, "=")
		if c.title == "" && (key == "file" && value != "" || key == "line" && strings.Trim(value, "0123456789") == "") {
			continue
		}
		if key != "title" || c.title != "" {
			return command{name: "property " + key}, true
		}
		c.title = strings.NewReplacer("%0D", "\r", "%0A", "\n", "%3A", ":", "%2C", ",", "%25", "%").Replace(value)
	}
	return c, true
}

func checkGitHub(t *testing.T, out []byte) {
	t.Helper()
	printable(t, out)
	counts := map[string]int{}
	for line := range strings.Lines(string(out)) {
		c, ok := parseCommand(strings.TrimSuffix(line, "\n"))
		if !ok || c.name != "error" && c.name != "warning" && c.name != "notice" {
			t.Errorf("the line %.80q is %q", line, c.name)
			continue
		}
		counts[c.name]++
		if !strings.HasPrefix(c.title, "desynctool: ") || strings.Contains(c.title, "\n") || utf8.RuneCountInString(c.title) > 255 {
			t.Errorf("title %.80q", c.title)
		}
		if c.message == "" || utf8.RuneCountInString(c.message) > 4096 || len(c.message) > 64<<10 {
			t.Errorf("a message of %d bytes", len(c.message))
		}
	}
	if len(counts) == 0 || counts["error"] > 10 || counts["warning"] > 10 || counts["notice"] > 10 {
		t.Errorf("annotations: %v", counts)
	}
}

var (
	markdownTags = regexp.MustCompile(`</?(code|pre)>`)
	codeSpan     = regexp.MustCompile("`[^`\n]+`|<(code|pre)>[^<]*</(code|pre)>")
	entity       = regexp.MustCompile(`&#\d+;`)
	reference    = regexp.MustCompile(`[@#!$~]\w|\b(?i:GH)-\w|://|\b(?i:www)\.\w|[\[\]\\]`)
)

// checkMarkdown checks that a document has no other HTML than ours, rows as wide as their
// heading, and neither mentions nor references outside of code.
func checkMarkdown(t *testing.T, out []byte) {
	t.Helper()
	if len(out) > 60_000 {
		t.Errorf("%d bytes", len(out))
	}
	printable(t, out)
	if strings.Contains(markdownTags.ReplaceAllString(string(out), ""), "<") {
		t.Error("HTML that is not ours")
	}
	plain := codeSpan.ReplaceAllString(string(out), "x")
	plain = entity.ReplaceAllString(plain, "\x00")
	if found := reference.FindString(plain); found != "" || strings.Contains(plain, "&") || strings.Contains(plain, "`") {
		t.Errorf("%q outside of code", found)
	}
	columns := 0
	for line := range strings.Lines(plain) {
		line = strings.TrimSuffix(line, "\n")
		switch n := strings.Count(line, "|"); {
		case !strings.HasPrefix(line, "|"):
			if n > 0 {
				t.Errorf("a bar in %.80q", line)
			}
			columns = 0
			if line != "" && strings.ContainsAny(line[:1], "/:=+>") || strings.HasPrefix(line, "    ") || line == "****" {
				t.Errorf("the line %.80q", line)
			}
		case columns == 0:
			columns = n
		case n != columns:
			t.Errorf("%d bars instead of %d in %.80q", n, columns, line)
		}
	}
}

// TestJobSummary appends, and keeps to what GitHub takes.
func TestJobSummary(t *testing.T) {
	path := filepath.Join(t.TempDir(), "summary.md")
	if err := os.WriteFile(path, []byte("before\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	r := saved(t)
	var want bytes.Buffer
	if err := r.Markdown(&want); err != nil {
		t.Fatal(err)
	}
	if err := JobSummary(path, r.Markdown); err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile(path)
	if err != nil || string(got) != "before\n\n"+want.String() {
		t.Errorf("the summary is\n%s (%v)", got, err)
	}
	if err := os.Truncate(path, 1<<20-100); err != nil {
		t.Fatal(err)
	}
	if err := JobSummary(path, r.Markdown); err == nil {
		t.Error("more than 1 MiB and no error")
	}
	if stat, _ := os.Stat(path); stat.Size() != 1<<20-100 {
		t.Errorf("the summary has %d bytes", stat.Size())
	}
	if err := JobSummary(filepath.Join(path, "none"), r.Markdown); err == nil {
		t.Error("no error where nothing can be written")
	}
}
