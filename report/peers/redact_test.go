package peers

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/desynctool/desynctool/report/document"
)

const (
	markedText   = "MARKER"
	markedNumber = 987654321
)

// fill puts a marker into every string and number that a value can reach, and two elements
// into every list.
func fill(v reflect.Value) {
	switch v.Kind() {
	case reflect.String:
		v.SetString(markedText)
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		v.SetInt(markedNumber & (1<<(v.Type().Bits()-1) - 1))
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		v.SetUint(markedNumber & (1<<(v.Type().Bits()-1) - 1))
	case reflect.Float32, reflect.Float64:
		v.SetFloat(markedNumber)
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		fill(v.Elem())
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 2, 2))
		fill(v.Index(0))
		fill(v.Index(1))
	case reflect.Array:
		for i := range v.Len() {
			fill(v.Index(i))
		}
	case reflect.Map:
		v.Set(reflect.MakeMap(v.Type()))
		key, value := reflect.New(v.Type().Key()).Elem(), reflect.New(v.Type().Elem()).Elem()
		fill(key)
		fill(value)
		v.SetMapIndex(key, value)
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Field(i).CanSet() {
				fill(v.Field(i))
			}
		}
	default:
		panic(fmt.Sprintf("%s cannot be filled", v.Type()))
	}
}

// values returns the paths in a document that are neither empty nor false, with one value of
// each.
func values(t *testing.T, document any) map[string]string {
	t.Helper()
	b, err := json.Marshal(document)
	if err != nil {
		t.Fatal(err)
	}
	var root any
	if err := json.Unmarshal(b, &root); err != nil {
		t.Fatal(err)
	}
	out := map[string]string{}
	var walk func(path string, v any)
	walk = func(path string, v any) {
		switch v := v.(type) {
		case map[string]any:
			for k, e := range v {
				walk(path+"."+k, e)
			}
		case []any:
			for _, e := range v {
				walk(path+"[]", e)
			}
		case nil:
		default:
			if text := fmt.Sprint(v); text != "" && text != "false" && text != "0" {
				out[strings.TrimPrefix(path, ".")] = text
			}
		}
	}
	walk("", root)
	return out
}

// allowed is everything that redacted documents may contain. Text matches the pattern: words of the tool, never of a
// file.
var allowed = map[string]map[string]string{
	"triage": {
		"schema": `desynctool\.triage/1`, "status": `in-sync|diverged|inconclusive|error`, "kind": `|state|blind-checksum|checksum-only`,
		"verdict[]": `[A-Z][a-z0-9 ,]*\.`, "peers[].name": `player [0-9]+`, "peers[].group": number,
		"session.tick_rate": number, "session.first": number, "session.last": number,
		"first_divergence.tick": number, "first_divergence.exact": "true", "first_divergence.initial_state": "true", "first_divergence.loaded": `player [0-9]+`,
		"first_divergence.bracket.good": number, "first_divergence.bracket.bad": number,
		"first_divergence.healed_at": number, "first_divergence.detected_at": number, "first_divergence.majority": number,
		"splits[].good": number, "splits[].bad": number, "splits[].healed": number,
	},
	"report": {
		"schema": `desynctool\.report/1`, "status": `in-sync|diverged|inconclusive|error`, "redacted": "true",
		"peers[].name": `player [0-9]+`, "peers[].player": "-1", "peers[].point": number, "peers[].group": number,
		"points[].point": number, "points[].groups[][]": `player [0-9]+`, "points[].majority": number, "order_count": number,
	},
	"peer-report": {
		"schema": `desynctool\.peer-report/1`, "status": `in-sync|diverged|inconclusive|error`, "redacted": "true", "player": "-1", "tick": number,
	},
}

const number = `[0-9.e+]+`

// TestRedacted: of documents in which everything is set, only what is allowed is left, and
// no text that was in them.
func TestRedacted(t *testing.T) {
	var triage document.Report
	var merged Merged
	var peer Report
	for _, v := range []any{&triage, &merged, &peer} {
		fill(reflect.ValueOf(v).Elem())
	}
	noTick := triage
	first := *triage.FirstDivergence
	first.Tick, first.InitialState = nil, false
	noTick.FirstDivergence, noTick.Status, noTick.Kind = &first, document.Diverged, "state"
	for _, d := range []struct {
		what    string
		in, out any
		all     bool // everything that is allowed is there
	}{
		{"triage", &triage, triage.Redact(), false},
		{"triage", &noTick, noTick.Redact(), false},
		{"report", &merged, merged.Redact(), true},
		{"peer-report", &peer, peer.Redact(), true},
	} {
		left := values(t, d.out)
		for _, path := range slices.Sorted(maps.Keys(left)) {
			pattern, ok := allowed[d.what][path]
			if !ok || !regexp.MustCompile("^("+pattern+")$").MatchString(left[path]) {
				t.Errorf("%s: %s is %q", d.what, path, left[path])
			}
			if strings.Contains(left[path], markedText) {
				t.Errorf("%s: %s holds text of the original", d.what, path)
			}
		}
		for path := range allowed[d.what] {
			if _, ok := left[path]; d.all && !ok {
				t.Errorf("%s: %s is left out", d.what, path)
			}
		}
		if len(values(t, d.in)) < 10 {
			t.Errorf("%s: next to nothing was there to leave out", d.what)
		}
	}
}

// TestRedactedSession redacts what record writes: no name, hash, seed or label is left in
// any rendering.
func TestRedactedSession(t *testing.T) {
	reports, names, _ := recordedReports(t)
	m, err := Merge(reports, names)
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	redacted := m.Redact()
	if err := document.WriteJSON(&out, redacted); err != nil {
		t.Fatal(err)
	}
	if err := redacted.Text(&out, document.NewStyle(false), true); err != nil {
		t.Fatal(err)
	}
	if err := reports[0].Redact().Text(&out, document.NewStyle(false)); err != nil {
		t.Fatal(err)
	}
	secrets := []string{"host", "client", "0000000000000003"}
	for _, r := range reports {
		secrets = append(secrets, r.StateHash[:8], r.RNGState[:8])
	}
	for _, a := range m.Points[0].Archetypes {
		secrets = append(secrets, a.Label)
	}
	for _, secret := range secrets {
		if secret != "" && strings.Contains(out.String(), secret) {
			t.Errorf("%q is left in\n%s", secret, &out)
		}
	}
	if !strings.Contains(out.String(), " = player ") {
		t.Errorf("no groups in\n%s", &out)
	}
}
