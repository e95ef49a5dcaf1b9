package tracediff

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/desynctool/desynctool/internal/file/files"
	"github.com/desynctool/desynctool/internal/testkit/effort"
)

// tiny makes every path of the windows run on small traces.
var tiny = sizes{window: files.MapUnit + 64<<10 + 16<<10, margin: 4 << 10, line: 2 << 10, head: 8 << 10, skip: 64, far: 16 << 10}

// row is a checkpoint of the oracle.
type row struct {
	tick          int
	system, scope string
	sum           string
}

func (r row) String() string {
	s := fmt.Sprintf("tick=%d system=%s", r.tick, r.system)
	if r.scope != "" {
		s += " scope=" + r.scope
	}
	return s + " sum=" + r.sum
}

func textOf(rows []row) []byte {
	var b bytes.Buffer
	for _, r := range rows {
		fmt.Fprintln(&b, r)
	}
	b.WriteString(textEnd + "\n")
	return b.Bytes()
}

type oracleKey struct {
	tick          int
	system, scope string
	n             int
}

func (k oracleKey) String() string { return fmt.Sprintf("%d %s %s %d", k.tick, k.system, k.scope, k.n) }

// oracle compares two traces as maps, in the order of ticks only.
func oracle(a, b []row) (changed, missing []string) {
	index := func(rows []row) (map[oracleKey]string, []oracleKey) {
		m, n := map[oracleKey]string{}, map[oracleKey]int{}
		var keys []oracleKey
		for _, r := range rows {
			k := oracleKey{r.tick, r.system, r.scope, 0}
			k.n = n[k]
			n[oracleKey{r.tick, r.system, r.scope, 0}]++
			m[k] = r.sum
			keys = append(keys, k)
		}
		return m, keys
	}
	ma, ka := index(a)
	mb, kb := index(b)
	for _, k := range ka {
		if sum, ok := mb[k]; !ok {
			missing = append(missing, k.String())
		} else if sum != ma[k] {
			changed = append(changed, k.String())
		}
	}
	for _, k := range kb {
		if _, ok := ma[k]; !ok {
			missing = append(missing, k.String())
		}
	}
	slices.Sort(changed)
	slices.Sort(missing)
	return changed, missing
}

var systems = []string{"Orders", "Economy", "Movement", "Combat", "Fog", "Cleanup"}

func sumOf(tick, i int) string { return fmt.Sprintf("%016x", uint64(tick*1000+i)*0x9e3779b97f4a7c15) }

func session(ticks int) []row {
	var rows []row
	for tick := range ticks {
		for i, s := range systems {
			scope := ""
			if i%2 == 1 {
				scope = "Infantry"
			}
			rows = append(rows, row{tick, s, scope, sumOf(tick, i)})
			if s == "Combat" { // runs twice
				rows = append(rows, row{tick, s, scope, sumOf(tick, i+100)})
			}
		}
	}
	return rows
}

func open(t testing.TB, name string, content []byte) []*Trace {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, content, 0o666); err != nil {
		t.Fatal(err)
	}
	list, err := Open(files.Disk, path, ReadOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for _, tr := range list {
		tr.File = name
		tr.Name = strings.TrimSuffix(name, filepath.Ext(name))
	}
	return list
}

// found lists the differences of a result like oracle does.
func found(res *Result) (changed, missing []string) {
	for _, d := range res.Differences {
		k := oracleKey{int(d.Tick.Number), d.System, d.Scope, int(d.Occurrence)}
		if d.Kind == Changed {
			changed = append(changed, k.String())
		} else {
			missing = append(missing, k.String())
		}
	}
	slices.Sort(changed)
	slices.Sort(missing)
	return changed, missing
}

// TestOracle compares traces with random changes in every way of reading, and
// against maps.
func TestOracle(t *testing.T) {
	effort.Checks(t, 15)
	dir := t.TempDir()
	rapid.Check(t, func(rt *rapid.T) {
		ticks := rapid.IntRange(40, 900).Draw(rt, "ticks")
		a := session(ticks)
		b := slices.Clone(a)
		// The first ticks, from which cadences are learnt, and the last stay.
		first, last := 20*7, len(a)-8
		for range rapid.IntRange(0, 12).Draw(rt, "changes") {
			i := rapid.IntRange(first, min(last, len(b)-8)).Draw(rt, "row")
			switch rapid.IntRange(0, 4).Draw(rt, "kind") {
			case 0, 1:
				b[i].sum = "ff" + b[i].sum[2:]
			case 2:
				b = slices.Delete(b, i, i+1)
			case 3:
				b = slices.Insert(b, i, row{b[i].tick, b[i].system, b[i].scope, "0123456789abcdef"})
			case 4:
				for j := i; j < min(i+40, last, len(b)-8); j++ {
					b[j].sum = "ee" + b[j].sum[2:]
				}
			}
		}
		wantChanged, wantMissing := oracle(a, b)
		var opened []*Trace
		for i, rows := range [][]row{a, b} {
			path := filepath.Join(dir, fmt.Sprintf("%d.txt", i))
			if err := os.WriteFile(path, textOf(rows), 0o666); err != nil {
				rt.Fatal(err)
			}
			list, err := Open(files.Disk, path, ReadOptions{})
			if err != nil {
				rt.Fatal(err)
			}
			opened = append(opened, list...)
		}
		only, err := compare(opened, Options{FirstOnly: true}, tiny, true)
		if err != nil {
			rt.Fatal(err)
		}
		if d := only.First; d != nil {
			checkPositions(rt, *d, a, b)
		}
		var plain string
		for _, mode := range []struct {
			z      sizes
			mapped bool
		}{{usual, true}, {tiny, true}, {tiny, false}} {
			res, err := compare(opened, Options{Limit: -1}, mode.z, mode.mapped)
			if err != nil {
				rt.Fatal(err)
			}
			changed, missing := found(res)
			if !slices.Equal(changed, wantChanged) || !slices.Equal(missing, wantMissing) {
				rt.Fatalf("changed %v, expected %v; missing %v, expected %v", changed, wantChanged, missing, wantMissing)
			}
			for _, d := range res.Differences {
				checkPositions(rt, d, a, b)
			}
			checkPartings(rt, res, ticks, append(wantChanged, wantMissing...))
			got := fmt.Sprintf("%+v %+v %+v %+v %+v %+v", res.First, res.Bracket, res.Cascade, res.Groups, res.Context, res.Partings)
			if plain == "" {
				plain = got
			} else if got != plain {
				rt.Fatalf("sizes %+v give\n%s\nexpected\n%s", mode.z, got, plain)
			}
		}
	})
}

// checkPartings compares the runs of ticks that differ with the ticks that the oracle found: every tick is compared.
func checkPartings(t *rapid.T, res *Result, ticks int, differences []string) {
	differs := make([]bool, ticks+1)
	for _, d := range differences {
		var tick int
		fmt.Sscan(d, &tick)
		differs[tick] = true
	}
	told := make([]bool, ticks+1)
	for i, p := range res.Partings {
		for tick := p.First.Number; tick <= p.Last.Number; tick++ {
			told[tick] = true
		}
		if p.Good.Number+1 != p.First.Number || p.HasAgain && p.Again.Number != p.Last.Number+1 || p.Passing && p.First != p.Last {
			t.Fatalf("%+v", p)
		}
		if i > 0 && !res.Partings[i-1].Passing && p.First.Number <= res.Partings[i-1].Again.Number {
			t.Fatalf("%+v follows %+v", p, res.Partings[i-1])
		}
		if p.HasAgain && differs[p.Again.Number] { // it differs inside that tick still
			told[p.Again.Number] = true
		}
	}
	if res.First != nil && !res.Bracket.Exact() {
		t.Fatalf("%+v is not exact, though every tick was compared", res.Bracket)
	}
	if !slices.Equal(told, differs) {
		t.Fatalf("partings %+v do not tell of the ticks %v", res.Partings, differences)
	}
}

func checkPositions(t *rapid.T, d Difference, a, b []row) {
	for i, rows := range [][]row{a, b} {
		v := d.Values[i]
		if !v.Present {
			continue
		}
		r := rows[v.Pos.Line-1]
		if r.tick != int(d.Tick.Number) || r.system != d.System || r.sum != v.Sum("") {
			t.Fatalf("%s of trace %d is %s, which is %v", v.Pos, i, v.Sum(""), r)
		}
	}
}
