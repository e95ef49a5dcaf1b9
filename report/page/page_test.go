package page_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"math/rand/v2"
	"os"
	"reflect"
	"regexp"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/desynctool/desynctool/bisect"
	"github.com/desynctool/desynctool/orderlog"
	"github.com/desynctool/desynctool/report/document"
	"github.com/desynctool/desynctool/report/page"
	"github.com/desynctool/desynctool/snapshot"
	"github.com/desynctool/desynctool/snapshot/merkle"
)

// sections are the sections of a report that has everything, in order.
var sections = []string{
	"verdict", "ladder", "locus", "timeline", "heat", "cascade", "tree", "map", "causes", "inputs", "peers", "evidence", "next", "fingerprint",
}

// pictures are the ids of all pictures.
var pictures = []string{"timeline-picture", "tree-picture", "map-picture"}

func saved(t testing.TB) *document.Report {
	t.Helper()
	const path = "../document/testdata/triage.json"
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

func render(t testing.TB, r *document.Report) string {
	t.Helper()
	var out bytes.Buffer
	if err := page.Write(&out, r); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

func TestSections(t *testing.T) {
	html := render(t, saved(t))
	at := 0
	for _, id := range sections {
		i := strings.Index(html[at:], `<section id="`+id+`"`)
		if i < 0 {
			t.Fatalf("section %s is not there, or not where it belongs", id)
		}
		at += i
		if !strings.Contains(html, `<a href="#`+id+`">`) {
			t.Errorf("nothing leads to section %s", id)
		}
	}
	for _, id := range pictures {
		if strings.Count(html, `id="`+id+`"`) != 1 {
			t.Errorf("picture %s is not there once", id)
		}
	}
	for _, text := range []string{
		"diverged in tick 1234", "3 entities: 4711, 4743, 4775", "exponent -2; mantissa 0x3333333333334 | 0x3333333333333",
		"3 changed bits of 64: 2, 1, 0", "iteration-order", ">--runs</span> 10", "Seen before",
		"5a1f00c2d3e4b596", "9b2233aa00ff1122", "Please send the order-log.bin of client2.", "client2: no order log",
	} {
		if !strings.Contains(html, text) {
			t.Errorf("%q is not in the page", text)
		}
	}
}

func TestSameBytes(t *testing.T) {
	first := render(t, saved(t))
	for range 5 {
		if render(t, saved(t)) != first {
			t.Fatal("the same report gave another page")
		}
	}
}

// TestPolicy: the policy allows the page's own style and script, and nothing in the page needs more.
func TestPolicy(t *testing.T) {
	html := render(t, saved(t))
	for _, kind := range []string{"style", "script"} {
		inner := regexp.MustCompile(`(?s)<`+kind+`>(.*?)</`+kind+`>`).FindAllStringSubmatch(html, -1)
		if len(inner) != 1 {
			t.Fatalf("%d elements %s, expected 1", len(inner), kind)
		}
		sum := sha256.Sum256([]byte(inner[0][1]))
		if want := kind + "-src 'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"; !strings.Contains(strings.ReplaceAll(html, "&#43;", "+"), strings.ReplaceAll(want, "'", "&#39;")) {
			t.Errorf("the policy has no %s", want)
		}
		html = strings.Replace(html, inner[0][0], "", 1)
	}
	if bad := regexp.MustCompile(`(?i)<[^>]*\s(style|on[a-z]+|src|srcset|action)=|unsafe-inline|https?:|<(link|img|iframe|object|embed|base|form)\b`).FindString(html); bad != "" {
		t.Errorf("the page has %q", bad)
	}
}

// hostile is text that a page must not take for anything but text.
const hostile = "<script>alert(1)</script>\"'`--><img src=x onerror=alert(1)>\x1b[31m\u202e\u2066\u200f\x00\r\u0085{{.}}"

// spoil makes every text of v hostile and fills what is empty.
func spoil(v reflect.Value, depth int) {
	if depth > 12 {
		return
	}
	switch v.Kind() {
	case reflect.Pointer:
		if v.IsNil() {
			v.Set(reflect.New(v.Type().Elem()))
		}
		spoil(v.Elem(), depth+1)
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Field(i).CanSet() {
				spoil(v.Field(i), depth+1)
			}
		}
	case reflect.Slice:
		if v.Type().Elem().Kind() == reflect.Uint8 {
			v.SetBytes([]byte(hostile))
			return
		}
		if v.Len() == 0 {
			v.Set(reflect.MakeSlice(v.Type(), 2, 2))
		}
		for i := range v.Len() {
			spoil(v.Index(i), depth+1)
		}
	case reflect.Array:
		for i := range v.Len() {
			spoil(v.Index(i), depth+1)
		}
	case reflect.Map:
		out := reflect.MakeMap(v.Type())
		for _, name := range []string{hostile, hostile + "2"} {
			value := reflect.New(v.Type().Elem()).Elem()
			spoil(value, depth+1)
			out.SetMapIndex(reflect.ValueOf(name).Convert(v.Type().Key()), value)
		}
		v.Set(out)
	case reflect.String:
		v.SetString(hostile)
	}
}

// hostileReport returns the sample with hostile text in every field, and with all of its
// pictures.
func hostileReport(t testing.TB) *document.Report {
	full := saved(t)
	spoil(reflect.ValueOf(full).Elem(), 0)
	full.Status, full.Locus[0].Raw = document.Diverged, map[string]string{hostile: "00ff", hostile + "2": "01ff"}
	full.Timeline.To, full.Timeline.From, full.Timeline.Bin = 100, 0, 10
	for i := range full.Heat.Rows {
		full.Heat.Rows[i].Differs = strings.Repeat("1", len(full.Heat.Points))
	}
	for i := range full.Tree.Leaves {
		full.Tree.Leaves[i] = document.TreeLeaf{Label: fmt.Sprintf("%s%03d", hostile, i), Hashes: [2]string{leafHash(i), leafHash(i + i/31)}}
	}
	return full
}

// TestHostile puts hostile text into every field of a report, once by itself and once among the sample's text, and
// looks for any of it in the page as it was.
func TestHostile(t *testing.T) {
	empty := new(document.Report)
	spoil(reflect.ValueOf(empty).Elem(), 0)
	for _, r := range []*document.Report{empty, hostileReport(t)} {
		html := render(t, r)
		for i, c := range html {
			if c != '\n' && !unicode.IsPrint(c) || c == utf8.RuneError {
				t.Fatalf("%q at byte %d: %q", c, i, html[max(0, i-200):i])
			}
		}
		for _, bad := range []string{"<script>alert", "<img", "</script>\""} {
			if i := strings.Index(html, bad); i >= 0 {
				t.Errorf("%q is in the page: %q", bad, html[max(0, i-200):i+50])
			}
		}
		if shown := strings.Count(html, `\x1b[31m\u202e`); shown < 60 {
			t.Errorf("hostile text is shown %d times only", shown)
		}
	}
}

func leafHash(i int) string { return merkle.RNGLeaf(fmt.Append(nil, i)).String() }

// oneHour returns the report of the largest session that the page is made for: 54,000 ticks, 180 snapshots, 31
// archetypes and the RNG, 200 columns of heat, 2,000 entities and 200 values.
func oneHour(peers int) *document.Report {
	random := rand.New(rand.NewPCG(1, 2))
	tick, detected := uint64(31234), uint64(31250)
	good := tick
	r := &document.Report{
		Head: document.NewHead("triage", document.Diverged, nil), Kind: bisect.StateDiffers,
		Verdict: []string{"host and client diverged in tick 31234, in Movement: Infantry, Position.x of 200 entities."},
		Session: document.Session{Game: "refsim", Seed: "00000000deadbeef", TickRate: 15, Last: 54000},
		FirstDivergence: &document.FirstDivergence{
			Tick: &tick, Exact: true, Bracket: &document.BracketDocument{Good: &good, Bad: tick + 1, By: "recorded hashes"},
			System: "Movement", Archetypes: []string{"Archetype07"}, Root: true, Component: "Position", Detected: &detected,
		},
		Compared: &document.Compared{Peers: [2]string{"peer0", "peer1"}, Point: tick + 1, Values: 200},
		Timeline: &document.Timeline{To: 54000, Bin: 100, Detected: &detected},
		Heat:     &document.Heat{By: "snapshots", Peers: [2]string{"peer0", "peer1"}},
		Tree:     &document.HashTree{Peers: [2]string{"peer0", "peer1"}, Point: tick + 1},
		Map:      &document.PositionsMap{Peers: [2]string{"peer0", "peer1"}, Point: tick + 1, X: "Position.x", Y: "Position.y"},
	}
	for p := range peers {
		name := fmt.Sprintf("peer%d", p)
		r.Peers = append(r.Peers, document.TriagedPeer{Name: name, Group: 1 + p%2, Snapshots: 181, OrderLog: true, Trace: true})
		line := document.TimelinePeer{Name: name, Hashes: &document.TimelineSpan{Last: 54000, Count: 54001}, Trace: &document.TimelineSpan{Last: 53999, Count: 54000}}
		for s := uint64(0); s <= 54000; s += 300 {
			line.Snapshots = append(line.Snapshots, s)
		}
		for range 540 {
			line.Orders = append(line.Orders, random.Uint64N(90))
		}
		r.Timeline.Peers = append(r.Timeline.Peers, line)
	}
	for i := range uint64(200) {
		r.Heat.Points = append(r.Heat.Points, i*270)
	}
	leaves := [2][]merkle.Leaf{}
	for i := range 32 {
		label := ""
		if i > 0 {
			label = fmt.Sprintf("Archetype%02d", i)
		}
		cells := make([]byte, 200) // the worst: no two neighbours are the same
		for c := range cells {
			cells[c] = "01-"[random.IntN(3)]
		}
		r.Heat.Rows = append(r.Heat.Rows, document.HeatRow{Label: label, Differs: string(cells)})
		leaf := document.TreeLeaf{Label: label, Hashes: [2]string{leafHash(i), leafHash(i)}, Rows: [2]uint64{160, 160}}
		if i == 7 {
			leaf.Hashes[1] = leafHash(1000)
		}
		for side := range leaves {
			h, _ := merkle.ParseHash(leaf.Hashes[side])
			leaves[side] = append(leaves[side], merkle.Leaf{Label: label, Hash: h})
		}
		r.Tree.Leaves = append(r.Tree.Leaves, leaf)
		r.Cascade = append(r.Cascade, document.CascadeDocument{Scope: "Archetype" + fmt.Sprint(i), Tick: tick + uint64(i)*40, System: "Movement", Count: 900, Last: 53999})
	}
	for side := range leaves {
		r.Tree.Roots[side] = merkle.Root(leaves[side]).String()
	}
	for i := range 2000 {
		a := [2]float64{random.Float64() * 4096, random.Float64() * 4096}
		b := [2]float64{a[0] + random.NormFloat64(), a[1] + random.NormFloat64()}
		r.Map.Entities = append(r.Map.Entities, document.MapEntity{Archetype: "Archetype07", Key: fmt.Sprint(4000 + i), At: [2]*[2]float64{&a, &b}, Differs: true})
	}
	for i := range 200 {
		ulp := uint64(3)
		r.Locus = append(r.Locus, document.LocusField{Archetype: "Archetype07", FieldDocument: document.FieldDocument{
			Key: fmt.Sprint(4000 + i), Component: "Position", Field: "x", Kind: snapshot.KindFloat, Bits: 30, ULP: &ulp,
			Values: map[string]string{"peer0": "0.30000000000000004", "peer1": "0.3"},
		}, Raw: map[string]string{"peer0": fmt.Sprintf("%016x", random.Uint64()), "peer1": fmt.Sprintf("%016x", random.Uint64())}})
	}
	for i := range 60 {
		r.Orders = append(r.Orders, document.TriagedOrder{ReportedOrder: document.ReportedOrder{Tick: tick, Sequence: uint32(i), Kind: "move", Payload: strings.Repeat("ab", 64)}, Peers: []string{"peer0", "peer1"}})
	}
	return r
}

func TestSize(t *testing.T) {
	for _, peers := range []int{2, 8} {
		html := render(t, oneHour(peers))
		t.Logf("%d peers: %d bytes", peers, len(html))
		if len(html) > 1_000_000 {
			t.Errorf("%d peers: %d bytes", peers, len(html))
		}
	}
}

// TestLittle renders reports that have little to show.
func TestLittle(t *testing.T) {
	sync := &document.Report{Head: document.NewHead("triage", document.InSync, nil), Verdict: []string{"All peers agree."}}
	html := render(t, sync)
	if !strings.Contains(html, "All peers agree.") || strings.Contains(html, "Not in this report") {
		t.Error("a report of peers in sync says the wrong things")
	}
	for _, id := range sections[1:] {
		if strings.Contains(html, `<section id="`+id+`"`) {
			t.Errorf("there is an empty section %s", id)
		}
	}
	full := saved(t)
	full.Status, full.FirstDivergence, full.Locus, full.Compared, full.Heat, full.Tree, full.Map = document.InSync, nil, nil, nil, nil, nil, nil
	full.Causes, full.Experiments, full.Cascade = nil, nil, nil
	if html := render(t, full); !strings.Contains(html, `id="timeline"`) || strings.Contains(html, `id="causes"`) {
		t.Error("a report of peers in sync has a timeline and no causes")
	}
	lacking := &document.Report{Head: document.NewHead("triage", document.Inconclusive, nil)}
	if html := render(t, lacking); !strings.Contains(html, "a heat map: it needs") {
		t.Error("an inconclusive report does not say what its pictures need")
	}
	// Numbers that leave nothing to divide by.
	max := ^uint64(0)
	odd := saved(t)
	odd.Timeline.From, odd.Timeline.To, odd.Timeline.Bin = max, max, max
	odd.Cascade = []document.CascadeDocument{{Scope: "A", Tick: max, Last: 0}}
	odd.Heat.Points, odd.Heat.Rows[0].Differs = odd.Heat.Points[:1], "1"
	odd.Map.Entities = []document.MapEntity{{At: [2]*[2]float64{{1e308, -1e308}, {-1e308, 1e308}}}, {At: [2]*[2]float64{{5, 5}, nil}, Differs: true}, {}}
	odd.Inputs.Differences = []orderlog.Difference{{Kind: orderlog.Altered}}
	if html := render(t, odd); strings.Contains(html, "NaN") || strings.Contains(html, "Inf,") || strings.Contains(html, "+Inf") {
		t.Error("a place is not a number")
	}
}

// TestTree: hundreds of leaves stay a picture of some dozen lines, and the leaf that diverged first is among them.
func TestTree(t *testing.T) {
	for _, n := range []int{1, 2, 3, 5, 31, 500} {
		for _, every := range []int{1, 2, 7, 1000} {
			r := saved(t)
			r.Tree.Leaves = nil
			var leaves [2][]merkle.Leaf
			for i := range n {
				leaf := document.TreeLeaf{Label: fmt.Sprintf("leaf%03d", i), Hashes: [2]string{leafHash(i), leafHash(i)}}
				if i%every == 0 {
					leaf.Hashes[1] = leafHash(i + 1000)
				}
				r.Tree.Leaves = append(r.Tree.Leaves, leaf)
				for side := range leaves {
					h, _ := merkle.ParseHash(leaf.Hashes[side])
					leaves[side] = append(leaves[side], merkle.Leaf{Label: leaf.Label, Hash: h})
				}
			}
			r.Tree.Roots = [2]string{merkle.Root(leaves[0]).String(), merkle.Root(leaves[1]).String()}
			r.FirstDivergence.Archetypes = []string{"leaf000"}
			html := render(t, r)
			picture := html[strings.Index(html, `id="tree-picture"`):strings.Index(html, "Hash tree as a table")]
			if lines := strings.Count(picture, "<text"); lines > 90 || lines == 0 {
				t.Errorf("%d leaves, every %dth differs: %d lines", n, every, lines)
			}
			if !strings.Contains(picture, ">leaf000 ") {
				t.Errorf("%d leaves, every %dth differs: the first is not shown", n, every)
			}
			if strings.Contains(html, "does not follow from these leaves") {
				t.Errorf("%d leaves: the root does not follow", n)
			}
		}
	}
}

func BenchmarkWrite(b *testing.B) {
	r := oneHour(2)
	for b.Loop() {
		if err := page.Write(new(bytes.Buffer), r); err != nil {
			b.Fatal(err)
		}
	}
}
