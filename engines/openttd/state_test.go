package openttd

import (
	"bytes"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/ulikunitz/xz"

	"github.com/desynctool/desynctool/internal/file/limits"
	"github.com/desynctool/desynctool/internal/testkit/effort"
	"github.com/desynctool/desynctool/snapshot"
)

const stateCorpus = "../../testdata/openttd"

func unpack(r io.ReaderAt, size int64, name string) (version uint16, body []byte, err error) {
	return new(scratch).unpack(r, size, name)
}

func readBody(version uint16, body []byte, name string) (*snapshot.World, error) {
	return new(scratch).readBody(version, body, name)
}

func readFile(t testing.TB, name string) *snapshot.World {
	t.Helper()
	content, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	w, err := Read(bytes.NewReader(content), int64(len(content)), name)
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Validate(); err != nil {
		t.Fatal(err)
	}
	return w
}

// format is the value of a row, "" if it is absent.
func format(c *snapshot.Column, row int) string {
	switch {
	case !c.Has(row):
		return ""
	case c.Type == snapshot.String:
		return strconv.Quote(string(c.Raw(row)))
	case c.Type == snapshot.Bytes:
		return hex.EncodeToString(c.Raw(row))
	case c.Type.Signed():
		return strconv.FormatInt(c.Int(row), 10)
	}
	return strconv.FormatUint(c.Uint(row), 10)
}

func dump(w *snapshot.World) string {
	var b strings.Builder
	if w.RNG != nil {
		fmt.Fprintf(&b, "RNG %x\n", w.RNG)
	}
	for i := range w.Tables {
		t := &w.Tables[i]
		fmt.Fprintf(&b, "%s %s\n", t.Class, t.Label)
		for row := range t.Rows() {
			if len(t.Columns) == 0 {
				fmt.Fprintf(&b, "  %s\n", t.Keys.At(row))
			}
			for j := range t.Columns {
				if c := &t.Columns[j]; c.Has(row) {
					fmt.Fprintf(&b, "  %s %s %s %s\n", t.Keys.At(row), c.Name(), c.Type, format(c, row))
				}
			}
		}
	}
	return b.String()
}

// flatten returns each value of a class by a path as the TRUTH.md files write
// it, such as "CITY 1 supplied[2].new_max".
func flatten(w *snapshot.World, class snapshot.Class) map[string]string {
	values := make(map[string]string)
	if class == snapshot.Archetype {
		for i := range len(w.RNG) / 4 {
			v, _ := strconv.ParseUint(hex.EncodeToString(w.RNG[4*i:4*i+4]), 16, 32)
			values[fmt.Sprintf("DATE 0 random_state[%d]", i)] = strconv.FormatUint(v, 10)
		}
	}
	for i := range w.Tables {
		t := &w.Tables[i]
		if t.Class != class {
			continue
		}
		chunk, list, _ := strings.Cut(t.Label, ".")
		for row := range t.Rows() {
			key := t.Keys.At(row)
			path := chunk + " " + strconv.FormatUint(key.A, 10) + " "
			if key.Two {
				path += list + "[" + strconv.FormatUint(key.B, 10) + "]."
			}
			for j := range t.Columns {
				c := &t.Columns[j]
				values[path+c.Field] = format(c, row)
			}
		}
	}
	return values
}

func different(a, b map[string]string) []string {
	all := maps.Clone(a)
	maps.Copy(all, b)
	shown := func(m map[string]string, path string) string {
		if v, ok := m[path]; ok {
			return v
		}
		return "None"
	}
	var lines []string
	for path := range all {
		if va, vb := shown(a, path), shown(b, path); va != vb {
			lines = append(lines, fmt.Sprintf("%s: server %s client %s", path, va, vb))
		}
	}
	slices.Sort(lines)
	return lines
}

var truthLine = regexp.MustCompile(`^(\S+\.sav): (\d+) differ, (\d+) ignored$`)

// truth is the description of two saves in TRUTH.md. It lists at most ten differences.
type truth struct {
	count  int
	listed []string
}

// readTruth returns the truth for each save that both peers have.
func readTruth(t *testing.T, name string) map[string]*truth {
	t.Helper()
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	all := make(map[string]*truth)
	var current *truth
	for line := range strings.Lines(string(text)) {
		line = strings.TrimRight(line, "\n")
		if m := truthLine.FindStringSubmatch(line); m != nil {
			current = new(truth)
			all[m[1]] = current
			current.count, _ = strconv.Atoi(m[2])
		} else if strings.HasPrefix(line, "    ") && current != nil {
			current.listed = append(current.listed, strings.TrimSpace(line))
		}
	}
	for file, c := range all {
		if len(c.listed) != min(c.count, 10) {
			t.Fatalf("%s: %d differences of %s are listed, announced are %d", name, len(c.listed), file, c.count)
		}
		slices.Sort(c.listed)
	}
	return all
}

// TestTruth compares the saves of both peers value by value. The differences
// must be exactly those that another program found.
func TestTruth(t *testing.T) {
	for name, firstDifferent := range map[string]string{
		"insync":       "",
		"rng_poke":     "dmp_cmds_00000309_000adee0.sav",
		"money_poke":   "dmp_cmds_00000309_000adee0.sav",
		"town_poke":    "dmp_cmds_000010e1_000adec0.sav",
		"dropped_sign": "dmp_cmds_00000309_000adf00.sav",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			truths := readTruth(t, filepath.Join(stateCorpus, name, "TRUTH.md"))
			first := ""
			shared := 0
			clientSaves, err := filepath.Glob(filepath.Join(stateCorpus, name, "client", "*.sav"))
			if err != nil {
				t.Fatal(err)
			}
			for _, clientSave := range clientSaves {
				base := filepath.Base(clientSave)
				if _, err := os.Stat(filepath.Join(stateCorpus, name, "server", base)); err != nil {
					continue
				}
				shared++
				want, ok := truths[base]
				if !ok {
					t.Fatalf("%s is not in TRUTH.md", base)
				}
				if base != firstDifferent && shared%effort.Of(9, 1) != 0 {
					continue
				}
				server := readFile(t, filepath.Join(stateCorpus, name, "server", base))
				client := readFile(t, clientSave)
				got := different(flatten(server, snapshot.Archetype), flatten(client, snapshot.Archetype))
				if len(got) != want.count {
					t.Errorf("%s: %d differences, want %d", base, len(got), want.count)
				}
				if len(got) == len(want.listed) {
					if diff := cmp.Diff(want.listed, got); diff != "" {
						t.Errorf("%s (-truth +read):\n%s", base, diff)
					}
				}
				for _, line := range want.listed {
					if !slices.Contains(got, line) {
						t.Errorf("%s: not found: %s", base, line)
					}
				}
				if len(got) > 0 && first == "" {
					first = base
				}
				if diff := cmp.Diff(labels(server), labels(client)); diff != "" {
					t.Errorf("%s: labels differ:\n%s", base, diff)
				}
				for _, line := range different(flatten(server, snapshot.Noise), flatten(client, snapshot.Noise)) {
					if !strings.HasPrefix(line, "AIPL ") && !strings.HasPrefix(line, "DATE 0 next_competitor_start:") {
						t.Errorf("%s: noise differs: %s", base, line)
					}
				}
			}
			if shared != len(truths) {
				t.Errorf("%d shared saves, TRUTH.md has %d", shared, len(truths))
			}
			if first != firstDifferent {
				t.Errorf("first different save is %q, want %q", first, firstDifferent)
			}
		})
	}
}

func labels(w *snapshot.World) []string {
	var all []string
	for i := range w.Tables {
		all = append(all, w.Tables[i].Class.String()+" "+w.Tables[i].Label)
	}
	return all
}

// TestHead checks seed, point and RNG of all saves against their names and the
// server's log.
func TestHead(t *testing.T) {
	files, err := filepath.Glob(filepath.Join(stateCorpus, "*", "*", "dmp_cmds_*.sav"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no saves: %v", err)
	}
	// The log has the RNG before the day's first commands are executed, the
	// save that after them.
	syncLine := regexp.MustCompile(`sync: ([0-9a-f]{8}); 00; ([0-9a-f]{8}); ([0-9a-f]{8})\n(?:\[.{19}\] )?save: `)
	inLog := 0
	for _, file := range files {
		w := readFile(t, file)
		if got := w.Meta["save_version"]; got != "302" {
			t.Errorf("%s: save version %q", file, got)
		}
		if got := w.Meta["build"]; got != "13.0" {
			t.Errorf("%s: build %q", file, got)
		}
		if w.Meta["kept_as_bytes"] != "" {
			t.Errorf("%s: kept as bytes: %s", file, w.Meta["kept_as_bytes"])
		}
		if len(w.RNG) != 8 {
			t.Errorf("%s: RNG of %d bytes", file, len(w.RNG))
		}
		name, ok := ParseName(filepath.Base(file))
		if !ok || name.NoEvidence {
			continue
		}
		if w.Seed != name.Seed || w.Point != name.Point {
			t.Errorf("%s: seed %x, point %+v; its name says %x, %+v", file, w.Seed, w.Point, name.Seed, name.Point)
		}
		if filepath.Base(filepath.Dir(file)) != "server" {
			continue
		}
		log, err := os.ReadFile(filepath.Join(filepath.Dir(file), "commands-out.log"))
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range syncLine.FindAllSubmatch(log, -1) {
			if string(m[1]) == w.Point.Native {
				inLog++
				if got, want := hex.EncodeToString(w.RNG), string(m[2])+string(m[3]); got != want {
					t.Errorf("%s: RNG %s, the log says %s", file, got, want)
				}
			}
		}
	}
	if want := 54; inLog != want {
		t.Errorf("%d saves were found in their logs, want %d", inLog, want)
	}
}

func TestMidDay(t *testing.T) {
	w := readFile(t, filepath.Join(stateCorpus, "insync", "client", "netsave0.sav"))
	want := snapshot.Point{Tick: 0xae01e*74 + 0xd, Phase: snapshot.AfterOrders, Native: "000ae01e;0d"}
	if w.Point != want || w.Seed != 0x7e8 {
		t.Errorf("seed %x, point %+v, want 7e8, %+v", w.Seed, w.Point, want)
	}
}

// TestRealTables pins what a real save becomes.
func TestRealTables(t *testing.T) {
	w := readFile(t, filepath.Join(stateCorpus, "money_poke", "server", "dmp_cmds_00000309_000adee0.sav"))
	classes := make(map[snapshot.Class]int)
	columns := 0
	for i := range w.Tables {
		classes[w.Tables[i].Class]++
		columns += len(w.Tables[i].Columns)
	}
	if classes[snapshot.Archetype] != wantArchetypes || classes[snapshot.Noise] != wantNoise || columns != wantColumns {
		t.Errorf("%d archetypes, %d noise, %d columns; want %d, %d, %d",
			classes[snapshot.Archetype], classes[snapshot.Noise], columns, wantArchetypes, wantNoise, wantColumns)
	}
	values := flatten(w, snapshot.Archetype)
	for path, want := range map[string]string{
		"MAPS 0 dim_x":                         "64",
		"MAP5 0 u8":                            "0",
		"DATE 0 date":                          "712416",
		"PLYR 0 money":                         "264123",
		"PLYR 0 is_ai":                         "1",
		"STNN 0 facilities":                    "4",
		"STNN 0 normal[0].train_station.w":     "0",
		"PATS 0 game_creation.generation_seed": "777",
	} {
		if got, ok := values[path]; !ok || got != want {
			t.Errorf("%s is %q, want %q", path, got, want)
		}
	}
	if n := w.Table(snapshot.Archetype, "MAP2").Rows(); n != 64*64 {
		t.Errorf("MAP2 has %d rows, want %d", n, 64*64)
	}
}

const (
	wantArchetypes = 125
	wantNoise      = 22
	wantColumns    = 997
)

func TestEverything(t *testing.T) {
	for _, tag := range tags {
		t.Run(tag, func(t *testing.T) {
			content := pack(t, tag, 302, everything())
			w, err := Read(bytes.NewReader(content), int64(len(content)), "x.sav")
			if err != nil {
				t.Fatal(err)
			}
			if err := w.Validate(); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(everythingDump, dump(w)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			want := snapshot.Head{
				Seed:  0xfeedbeef,
				Point: snapshot.Point{Tick: 0xade1f*74 + 0x2a, Phase: snapshot.AfterOrders, Native: "000ade1f;2a"},
				RNG:   []byte{0x1f, 0x11, 0xc6, 0xea, 0xef, 0xd4, 0x4b, 0xfd},
				Meta:  map[string]string{"save_version": "302"},
			}
			if diff := cmp.Diff(want, w.Head); diff != "" {
				t.Errorf("head (-want +got):\n%s", diff)
			}
			if tag == "OTTN" && bytes.Count(content, []byte("random_state")) != 2 {
				t.Error("the save was changed by reading it")
			}
		})
	}
}

// TestBytes pins the bytes of a small save, so that reader and builder cannot
// be wrong together.
func TestBytes(t *testing.T) {
	content, err := hex.DecodeString(strings.Join(strings.Fields(`
		4f54544e 012e 0000
		53 49 47 4e 03
		  12  1a 04 6e616d65  05 01 78  1b 04 6c697374  00  02 01 76 00`), ""))
	if err != nil {
		t.Fatal(err)
	}
	content[headerSize+5] = byte(len(content) - headerSize - 6 + 1)
	tail, err := hex.DecodeString(strings.Join(strings.Fields(`
		01
		0a  02 6869  fffffffe  01 2a
		00
		00000000`), ""))
	if err != nil {
		t.Fatal(err)
	}
	content = append(content, tail...)
	w, err := Read(bytes.NewReader(content), int64(len(content)), "x.sav")
	if err != nil {
		t.Fatal(err)
	}
	want := "archetype SIGN\n  1 SIGN.name string \"hi\"\n  1 SIGN.x i32 -2\narchetype SIGN.list\n  1:0 list.v u8 42\n"
	if got := dump(w); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

// TestOldSave reads a save from before chunks described themselves.
func TestOldSave(t *testing.T) {
	var s stateSave
	s.riff("DATE", 0, 0x0a, 0xde, 0x40, 0, 0)
	s.riff("MAPT", 1, 2)
	s.records("PLYR", chunkArray, []byte("one"), nil)
	body := s.finish()
	for version, mapT := range map[uint16]string{
		41:  "archetype MAPT\n  0 MAPT.data bytes 0102\n",
		200: "archetype MAPT\n  0 MAPT.u8 u8 1\n  1 MAPT.u8 u8 2\n",
	} {
		content := pack(t, "OTTN", version, body)
		w, err := Read(bytes.NewReader(content), int64(len(content)), "server/dmp_cmds_00000309_000ade40.sav")
		if err != nil {
			t.Fatal(err)
		}
		want := "archetype DATE\n  0 DATE.data bytes 000ade400000\n" + mapT + "archetype PLYR\n  0 PLYR.data bytes 6f6e65\n"
		if diff := cmp.Diff(want, dump(w)); diff != "" {
			t.Errorf("version %d (-want +got):\n%s", version, diff)
		}
		if w.RNG != nil || w.Seed != 0x309 || w.Point.Native != "000ade40" {
			t.Errorf("version %d: RNG %x, seed %x, point %v", version, w.RNG, w.Seed, w.Point)
		}
	}
}

// TestNewSave reads what OpenTTD 14 and later write differently: the date where
// economy and calendar part, and the version as text.
func TestNewSave(t *testing.T) {
	var s stateSave
	s.records("DATE", chunkTable,
		record(func(r *stateSave) {
			r.fields(5, "date", 4, "date_fract", 5, "economy_date", 4, "economy_date_fract", 6, "competitors_interval", 1, "competitors_interval_fired")
		}),
		record(func(r *stateSave) {
			r.u32(100)
			r.u16(1)
			r.u32(200)
			r.u16(2)
			r.u32(5)
			r.u8(1)
		}))
	s.records("GLOG", chunkTable,
		record(func(r *stateSave) {
			r.fields(0x1b, "action")
			r.fields(0x1b, "revision")
			r.fields(0x1a, "revision.text")
		}),
		record(func(r *stateSave) { r.u8(2); r.gamma(1); r.string("14.0"); r.gamma(1); r.string("14.1") }))
	w, err := readBody(350, s.finish(), "x.sav")
	if err != nil {
		t.Fatal(err)
	}
	if w.Point.Tick != 200*74+2 || w.Point.Native != "000000c8;02" {
		t.Errorf("point %+v", w.Point)
	}
	if got := w.Meta["build"]; got != "14.1" {
		t.Errorf("build %q, want 14.1", got)
	}
	if noise := w.Table(snapshot.Noise, "DATE"); noise == nil || len(noise.Columns) != 2 {
		t.Errorf("noise is %+v", noise)
	}
}

// TestKeptAsBytes reads well-formed chunks that do not fit into tables.
func TestKeptAsBytes(t *testing.T) {
	long := strings.Repeat("n", 600)
	for name, test := range map[string]struct {
		header, record func(r *stateSave)
		note           string
	}{
		"inner list too long": {
			header: func(r *stateSave) { r.fields(0x1b, "s"); r.fields(0x12, "l") },
			record: func(r *stateSave) { r.gamma(1); r.gamma(packBase + 1); r.u8(make([]byte, packBase+1)...) },
			note:   "BLOB: BLOB.s.l has 1000001 elements in one list, more than a key can hold",
		},
		"too deep": {
			header: func(r *stateSave) {
				for range 6 {
					r.fields(0x1b, "s")
				}
				r.fields(0x12, "l")
			},
			record: func(r *stateSave) {
				r.gamma(2)
				r.gamma(0)
				for range 5 {
					r.gamma(1)
				}
				r.u8(1, 1)
			},
			note: "BLOB: BLOB.s.s.s.s.s is nested too deep for a key",
		},
		"two fields of a name": {
			header: func(r *stateSave) { r.fields(2, "x", 2, "x") },
			record: func(r *stateSave) { r.u8(1, 2) },
			note:   "BLOB: two fields of BLOB are called x",
		},
		"two lists of a name": {
			header: func(r *stateSave) { r.fields(0x1b, "a", 0x12, "a.b"); r.fields(0x12, "b") },
			record: func(r *stateSave) { r.u8(0, 0) },
			note:   "BLOB: two lists are called BLOB.a.b",
		},
		"label too long": {
			header: func(r *stateSave) { r.fields(0x1b, long); r.fields(0x1b, long); r.fields() },
			record: func(r *stateSave) { r.u8(0) },
			note:   "BLOB: label BLOB." + long[:59] + "… is too long",
		},
		"elements without fields": {
			header: func(r *stateSave) { r.fields(0x1b, "e"); r.fields() },
			record: func(r *stateSave) { r.gamma(1 << 30) },
			note:   "BLOB: BLOB.e has 1073741824 elements without fields",
		},
		"field called rest": {
			header: func(r *stateSave) { r.fields(2, "rest") },
			record: func(r *stateSave) { r.u8(1, 2) },
			note:   `BLOB: a field is called "rest" and bytes follow it`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			var s stateSave
			r := record(test.record)
			s.records("BLOB", chunkTable, record(test.header), nil, r)
			s.riff("NEXT", 1)
			w, err := readBody(302, s.finish(), "x.sav")
			if err != nil {
				t.Fatal(err)
			}
			if err := w.Validate(); err != nil {
				t.Fatal(err)
			}
			if got := w.Meta["kept_as_bytes"]; got != test.note {
				t.Errorf("note %q, want %q", got, test.note)
			}
			if diff := cmp.Diff([]string{"archetype BLOB", "archetype NEXT"}, labels(w)); diff != "" {
				t.Errorf("labels (-want +got):\n%s", diff)
			}
			table := w.Tables[0]
			if table.Rows() != 1 || table.Keys.A[0] != 1 || !bytes.Equal(table.Columns[0].Raw(0), r) {
				t.Errorf("rows with keys %v, want one row 1 with the record's bytes", table.Keys.A)
			}
		})
	}
}

// TestErrors pins what is said of malformed saves.
func TestErrors(t *testing.T) {
	table := func(header, rec func(r *stateSave)) []byte {
		var s stateSave
		s.records("CITY", chunkTable, record(header), nil, record(rec))
		return s.finish()
	}
	manyFields := record(func(r *stateSave) {
		for i := range limits.Columns.Max() {
			r.u8(2)
			r.string(fmt.Sprint(i))
		}
	})
	for _, test := range []struct {
		body []byte
		want string
	}{
		{nil, `decompressed offset 0: expected 4 bytes of a chunk's id, 0 are left: unexpected EOF`},
		{[]byte("\x00\x00\x00\x00x"), `decompressed offset 4: 1 bytes after the last chunk`},
		{[]byte("AB\nD"), `decompressed offset 0: expected a chunk's id of four letters or digits, got "AB\nD"`},
		{[]byte("ABCD\x05"), `decompressed offset 4: chunk ABCD: unknown type 5`},
		{[]byte("ABCD\xf0\xff\xff\xff"), `decompressed offset 8: chunk ABCD: expected 268435455 bytes of data, 0 are left: unexpected EOF`},
		{[]byte("ABCD\x00\x00\x00\x00ABCD"), `decompressed offset 8: second chunk ABCD`},
		{[]byte("ABCD\x01\xf8"), `decompressed offset 5: chunk ABCD: a record's length begins with 0xf8, expected a number of at most 32 bits`},
		{[]byte("ABCD\x01\xf0\xff"), `decompressed offset 5: chunk ABCD: expected 5 bytes of a record's length, 2 are left: unexpected EOF`},
		{[]byte("ABCD\x01\xf0\xff\xff\xff\xff"), `decompressed offset 10: chunk ABCD: expected a record of 4294967294 bytes, 0 are left: unexpected EOF`},
		{[]byte("ABCD\x03\x00"), `decompressed offset 6: chunk ABCD: ends without a description`},
		{[]byte("ABCD\x02\x02\x05\x02\x05"), `decompressed offset 8: chunk ABCD: record 5, expected an index of at least 6`},
		{table(func(r *stateSave) { r.fields(0x0b, "x") }, nothing), `decompressed offset 6: chunk CITY, description: unknown field type 0x0b`},
		{table(func(r *stateSave) { r.fields(0x0c, "x") }, nothing), `decompressed offset 6: chunk CITY, description: unknown field type 0x0c`},
		{table(func(r *stateSave) { r.fields(0x22, "x") }, nothing), `decompressed offset 6: chunk CITY, description: unknown field type 0x22`},
		{table(func(r *stateSave) { r.fields(2, "") }, nothing), `decompressed offset 8: chunk CITY, description: field name of 0 bytes, expected 1 to 1024`},
		{table(func(r *stateSave) { r.fields(2, "\xff") }, nothing), `decompressed offset 8: chunk CITY, description: field name "\xff" is not UTF-8`},
		{table(func(r *stateSave) { r.fields(2, "x"); r.u8(9) }, nothing), `decompressed offset 10: chunk CITY, description: 1 bytes after the description`},
		{table(func(r *stateSave) { r.u8(2); r.gamma(9) }, nothing), `decompressed offset 8: chunk CITY, description: expected 9 bytes of a field's name, 0 are left: unexpected EOF`},
		{table(func(r *stateSave) { r.u8(manyFields...) }, nothing), `decompressed offset 447650: chunk CITY, description: chunks and fields: ` + limits.Columns.Reached("", 0).Error()},
		{table(func(r *stateSave) { r.fields(2, "x", 6, "y") }, func(r *stateSave) { r.u8(1, 2, 3) }),
			`decompressed offset 16: chunk CITY, record 1: expected 4 bytes of CITY.y, 2 are left: unexpected EOF`},
		{table(func(r *stateSave) { r.fields(0x1a, "x") }, func(r *stateSave) { r.u8(3, 'a') }),
			`decompressed offset 13: chunk CITY, record 1: expected 3 bytes of CITY.x, 1 are left: unexpected EOF`},
		{table(func(r *stateSave) { r.fields(0x14, "x") }, func(r *stateSave) { r.u8(3, 0, 0, 0, 0, 0) }),
			`decompressed offset 12: chunk CITY, record 1: list CITY.x of 3 elements, 5 bytes are left: unexpected EOF`},
	} {
		w, err := readBody(302, test.body, "x.sav")
		if err == nil {
			t.Errorf("%q: read as\n%s\nwant an error: %s", test.body, dump(w), test.want)
			continue
		}
		if got := err.Error(); got != "x.sav: "+test.want {
			t.Errorf("got  %s\nwant x.sav: %s", got, test.want)
		}
		if strings.HasSuffix(test.want, "unexpected EOF") != errors.Is(err, io.ErrUnexpectedEOF) {
			t.Errorf("%v: is io.ErrUnexpectedEOF: %v", err, errors.Is(err, io.ErrUnexpectedEOF))
		}
	}
}

func nothing(r *stateSave) {}

// TestOtherShapes reads chunks that are known by name but not of the known
// shape.
func TestOtherShapes(t *testing.T) {
	var s stateSave
	s.records("GLOG", chunkTable,
		record(func(r *stateSave) {
			r.fields(0x1b, "action")
			r.fields(0x1b, "revision")
			r.fields(0x1b, "revision.text")
			r.fields()
		}),
		record(func(r *stateSave) { r.u8(1, 1, 1) }))
	s.records("DATE", chunkTable,
		record(func(r *stateSave) { r.fields(0x1a, "date", 6, "random_state[0]", 8, "random_state[1]") }),
		record(func(r *stateSave) { r.string("now"); r.u32(1); r.u64(2) }))
	s.records("PATS", chunkTable, record(func(r *stateSave) { r.fields(0x1a, "game_creation.generation_seed") }))
	w, err := readBody(302, s.finish(), "netsave0.sav")
	if err != nil {
		t.Fatal(err)
	}
	want := snapshot.Head{Meta: map[string]string{"save_version": "302"}}
	if diff := cmp.Diff(want, w.Head); diff != "" {
		t.Errorf("head (-want +got):\n%s", diff)
	}
	if n := len(w.Table(snapshot.Archetype, "DATE").Columns); n != 3 {
		t.Errorf("DATE has %d columns, want 3", n)
	}
}

func TestTooManyRows(t *testing.T) {
	d := decoder{name: "x.sav", body: everything(), version: 302, rowsLeft: 10, namesLeft: int(limits.Columns.Max()), scratch: new(scratch)}
	d.end = len(d.body)
	if err := d.readChunks(); err == nil || !strings.Contains(err.Error(), "rows") {
		t.Errorf("error %v, want one about rows", err)
	}
}

// TestTruncated cuts a save at every byte. Only the raw container has no
// checksum, but the end is marked there as well.
func TestTruncated(t *testing.T) {
	for _, tag := range tags {
		content := pack(t, tag, 302, everything())
		for n := range content {
			_, err := Read(bytes.NewReader(content[:n]), int64(n), "x.sav")
			if e := (*Error)(nil); !errors.As(err, &e) || !errors.Is(err, io.ErrUnexpectedEOF) {
				t.Fatalf("%s cut at %d of %d: error %v, want an unexpected EOF", tag, n, len(content), err)
			}
		}
		long := append(slices.Clone(content), 0)
		if _, err := Read(bytes.NewReader(long), int64(len(long)), "x.sav"); err == nil {
			t.Errorf("%s: no error from a byte too many", tag)
		}
	}
}

// TestFlipped flips single bits. A container with checksums must notice those
// that change the content.
func TestFlipped(t *testing.T) {
	check := func(content []byte, step int) {
		t.Helper()
		want, err := Read(bytes.NewReader(content), int64(len(content)), "x.sav")
		if err != nil {
			t.Fatal(err)
		}
		for bit := 0; bit < 8*len(content); bit += step {
			content[bit/8] ^= 1 << (bit % 8)
			w, err := Read(bytes.NewReader(content), int64(len(content)), "x.sav")
			if err == nil {
				if err := w.Validate(); err != nil {
					t.Fatalf("bit %d: %v", bit, err)
				}
				if bit >= 8*headerSize && string(content[:4]) != "OTTN" && !reflect.DeepEqual(w.Tables, want.Tables) {
					t.Errorf("%s: bit %d of byte %d changed the save unnoticed", content[:4], bit%8, bit/8)
				}
			} else if e := (*Error)(nil); !errors.As(err, &e) {
				t.Fatalf("bit %d: error %v is not an *Error", bit, err)
			}
			content[bit/8] ^= 1 << (bit % 8)
		}
	}
	for _, tag := range tags {
		check(pack(t, tag, 302, everything()), effort.Of(5, 1))
	}
	for _, name := range []string{
		"rng_poke/server/dmp_cmds_00000309_000adee0.sav",
		"money_poke/server/dmp_cmds_00000309_000adee0.sav",
		"town_poke/server/dmp_cmds_000010e1_000adee0.sav",
	} {
		content, err := os.ReadFile(filepath.Join(stateCorpus, name))
		if err != nil {
			t.Fatal(err)
		}
		check(content, effort.Of(16001, 4001))
		_, body, err := unpack(bytes.NewReader(content), int64(len(content)), name)
		if err != nil {
			t.Fatal(err)
		}
		check(pack(t, "OTTN", 302, body), effort.Of(28001, 7001))
	}
}

// TestMemoryOfLargeSaves: a save that is large once it is unpacked takes the memory of
// its content, however small its file is.
func TestMemoryOfLargeSaves(t *testing.T) {
	body := make([]byte, 2*keptBody)
	packed := pack(t, "OTTZ", 302, body)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	_, got, err := unpack(bytes.NewReader(packed), int64(len(packed)), "test.sav")
	runtime.ReadMemStats(&after)
	if err != nil || len(got) != len(body) {
		t.Fatalf("%d bytes, want %d: %v", len(got), len(body), err)
	}
	// Growing up to keptBody comes on top, which is free again by then.
	most := uint64(len(body) + 3*keptBody)
	if n := after.TotalAlloc - before.TotalAlloc; n > most {
		t.Errorf("%d bytes allocated for a save of %d, at most %d expected", n, len(body), most)
	}
	if cap(got) > len(got) {
		t.Errorf("%d bytes kept of %d that were allocated", len(got), cap(got))
	}
}

// TestXZ reads what another implementation writes with each kind of checksum.
func TestXZ(t *testing.T) {
	body := bytes.Repeat(everything(), 40)
	for _, config := range []xz.WriterConfig{
		{CheckSum: xz.CRC32}, {CheckSum: xz.CRC64}, {CheckSum: xz.SHA256}, {NoCheckSum: true}, {DictCap: lzmaMinDict},
	} {
		var content bytes.Buffer
		z, err := config.NewWriter(&content)
		if err != nil {
			t.Fatal(err)
		}
		z.Write(body)
		if err := z.Close(); err != nil {
			t.Fatal(err)
		}
		out := &limitedBuffer{limit: len(body), keep: len(body)}
		file := bytes.NewReader(content.Bytes())
		if err := unpackXZ(file, out); err != nil || !bytes.Equal(out.data, body) || file.Len() != 0 {
			t.Errorf("%+v: error %v, %d bytes, want %d; %d are left", config, err, len(out.data), len(body), file.Len())
		}
		file.Seek(0, io.SeekStart)
		out = &limitedBuffer{limit: len(body), keep: len(body) - 1}
		if err := unpackXZ(file, out); err != nil || out.size != len(body) || len(out.data) > 0 {
			t.Errorf("%+v, counted: error %v, %d bytes, want %d; %d are kept", config, err, out.size, len(body), len(out.data))
		}
	}
	var content bytes.Buffer
	z, err := xz.WriterConfig{DictCap: 128 << 20}.NewWriter(&content)
	if err != nil {
		t.Fatal(err)
	}
	z.Write(body)
	z.Close()
	err = unpackXZ(bytes.NewReader(content.Bytes()), &limitedBuffer{limit: len(body)})
	if err == nil || !strings.Contains(err.Error(), "dictionary of 134217728 bytes") {
		t.Errorf("error %v, want one about the dictionary", err)
	}
}

const lzmaMinDict = 4096

// TestExpansion unpacks into less room than the data needs.
func TestExpansion(t *testing.T) {
	for _, tag := range tags {
		content := pack(t, tag, 302, make([]byte, 100_000))
		file := bytes.NewReader(content)
		file.Seek(headerSize, io.SeekStart)
		out := &limitedBuffer{limit: 50_000, over: limits.State}
		if err := containers[tag](file, out); err == nil || !errors.As(err, new(*limits.Error)) {
			t.Errorf("%s: error %v", tag, err)
		}
	}
}

func TestParseName(t *testing.T) {
	want := snapshot.FileName{
		Seed:  0x309,
		Point: snapshot.Point{Tick: 0xadee0 * 74, Phase: snapshot.AfterOrders, Native: "000adee0"},
	}
	for _, base := range []string{"dmp_cmds_00000309_000adee0.sav", "dmp_cmds_309_adee0.sav"} {
		if got, ok := ParseName(base); !ok || got != want {
			t.Errorf("ParseName(%q) = %+v, %v", base, got, ok)
		}
	}
	for _, base := range []string{"dmp_cmds_00000000_00000000.sav", "dmp_cmds_0_0.sav"} {
		if got, ok := ParseName(base); !ok || !got.NoEvidence {
			t.Errorf("ParseName(%q) = %+v, %v, want no evidence", base, got, ok)
		}
	}
	for _, base := range []string{
		"netsave0.sav", "dmp_cmds_00000309.sav",
		"dmp_cmds_000000309_000adee0.sav", "dmp_cmds__.sav", "dmp_cmds_-1_000adee0.sav", "dmp_cmds_00000309_000adee0.sav.tmp", "",
	} {
		if got, ok := ParseName(base); ok {
			t.Errorf("ParseName(%q) = %+v, want none", base, got)
		}
	}
}

func TestSniff(t *testing.T) {
	f := Format()
	for _, tag := range tags {
		if !f.Sniff([]byte(tag + "\x01\x2e\x00\x00more")) {
			t.Errorf("%s is not recognised", tag)
		}
	}
	for _, head := range []string{"", "OTTN", "OTTA\x01\x2e\x00\x00", "\x1f\x8b\x08\x00\x00\x00\x00\x00"} {
		if f.Sniff([]byte(head)) {
			t.Errorf("%q is recognised", head)
		}
	}
}

// TestOpen finds the same leaves to differ by hashes as by values.
func TestOpen(t *testing.T) {
	var leaves [2]map[string]string
	for i, peer := range []string{"server", "client"} {
		name := filepath.Join(stateCorpus, "rng_poke", peer, "dmp_cmds_00000309_000adee0.sav")
		content, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		state, err := Format().Open(bytes.NewReader(content), int64(len(content)), name)
		if err != nil {
			t.Fatal(err)
		}
		leaves[i] = make(map[string]string)
		for _, leaf := range state.Info().Leaves() {
			leaves[i][leaf.Label] = hex.EncodeToString(leaf.Hash[:])
		}
	}
	var got []string
	for label, hash := range leaves[0] {
		if leaves[1][label] != hash {
			got = append(got, label)
		}
	}
	slices.Sort(got)
	if want := []string{"", "CITY.supplied", "MAP5"}; !slices.Equal(got, want) {
		t.Errorf("leaves %q differ, want %q", got, want)
	}
}

func FuzzRead(f *testing.F) {
	for _, tag := range tags {
		f.Add(pack(f, tag, 302, everything()))
	}
	files, err := filepath.Glob(filepath.Join(stateCorpus, "*", "client", "dmp_cmds_*_000ade[68]0.sav"))
	if err != nil || len(files) == 0 {
		f.Fatalf("no saves: %v", err)
	}
	for _, file := range files {
		content, err := os.ReadFile(file)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(content)
		_, body, err := unpack(bytes.NewReader(content), int64(len(content)), file)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(pack(f, "OTTN", 302, body))
	}
	f.Fuzz(func(t *testing.T, content []byte) {
		w, err := Read(bytes.NewReader(content), int64(len(content)), "x.sav")
		if err != nil {
			if e := (*Error)(nil); !errors.As(err, &e) {
				t.Fatalf("error %v is not an *Error", err)
			}
			return
		}
		if err := w.Validate(); err != nil {
			t.Fatal(err)
		}
	})
}

func BenchmarkRead(b *testing.B) {
	for _, name := range []string{
		"rng_poke/server/dmp_cmds_00000309_000adee0.sav",
		"town_poke/server/dmp_cmds_000010e1_000adee0.sav",
		"insync/server/dmp_cmds_000007e8_000ae000.sav",
	} {
		content, err := os.ReadFile(filepath.Join(stateCorpus, name))
		if err != nil {
			b.Fatal(err)
		}
		version, body, err := unpack(bytes.NewReader(content), int64(len(content)), name)
		if err != nil {
			b.Fatal(err)
		}
		for _, variant := range [][]byte{content, pack(b, "OTTN", version, body)} {
			b.Run(string(variant[:4])+"/"+strings.SplitN(name, "/", 2)[0], func(b *testing.B) {
				b.SetBytes(int64(len(body)))
				b.ReportAllocs()
				for b.Loop() {
					if _, err := Read(bytes.NewReader(variant), int64(len(variant)), name); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}
