package golden_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"

	"github.com/desynctool/desynctool/bisect/golden"
	"github.com/desynctool/desynctool/internal/file/files"
	"github.com/desynctool/desynctool/snapshot/merkle"
	"github.com/desynctool/desynctool/tracediff"
)

// game is a Play of logs that are texts: the hash of a tick covers all letters up to it, after two systems. A letter
// "!" ends the game.
type game struct {
	from  byte // tick from which on the hashes are others, 0 for never
	shaky int  // if not 0, every second replay has other hashes than the one before
	plays *int
}

var systems = []string{"Movement", "Combat"}

func (g game) play(ctx context.Context, job golden.Job, out golden.Sink) (*golden.Played, error) {
	f, err := job.Tree.Open(job.Log)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	text, err := io.ReadAll(f)
	if err != nil {
		return nil, err
	}
	if g.plays != nil {
		*g.plays++
	}
	start := merkle.Short{1}
	if err := out.Begin(tracediff.Header{Seed: 7, HasSeed: true}, 0, &start); err != nil {
		return nil, err
	}
	n := len(text)
	if job.Until != nil {
		n = int(*job.Until)
	}
	for tick := range n {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if text[tick] == '!' {
			return nil, errors.New("the game crashed")
		}
		sum := sha256.Sum256(text[:tick+1])
		hash := merkle.Short(sum[:8])
		if g.from > 0 && tick >= int(g.from) || g.shaky > 0 && tick >= g.shaky && *g.plays%2 == 0 {
			hash[0]++
		}
		before := hash
		before[7]++
		if g.from > 0 && tick == int(g.from) {
			before[0]-- // only the second system is another
		}
		for i, system := range append(slices.Clone(systems), "") {
			if system != "" && !job.Systems {
				continue
			}
			h := hash
			if i == 0 {
				h = before
			}
			if err := out.Checkpoint(&tracediff.Checkpoint{Tick: uint64(tick), System: system, Sums: []tracediff.Sum{tracediff.BytesSum("", h[:])}}); err != nil {
				return nil, err
			}
		}
	}
	p := &golden.Played{To: uint64(n), Build: golden.Build{Game: "letters", Build: "1.0", Facts: map[string]string{"compiler": "none 1"}}}
	if strings.HasSuffix(string(text), "?") {
		p.Lost = []string{"the log breaks off"}
	}
	return p, nil
}

// recorded returns a folder with replays of these logs, by name.
func recorded(t *testing.T, logs map[string]string, opts golden.RecordOptions) (dir string) {
	t.Helper()
	dir = filepath.Join(t.TempDir(), "golden")
	r := record(t, dir, write(t, logs), opts)
	for _, one := range r.Replays {
		if one.Result != golden.Recorded {
			t.Fatalf("%+v", one)
		}
	}
	return dir
}

// write writes logs to files NAME.log.
func write(t *testing.T, logs map[string]string) (sources []golden.Source) {
	t.Helper()
	dir := t.TempDir()
	for name, text := range logs {
		path := filepath.Join(dir, name+".log")
		if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
		sources = append(sources, golden.Source{Tree: files.Disk, Path: path})
	}
	return sources
}

func record(t *testing.T, dir string, sources []golden.Source, opts golden.RecordOptions) *golden.Recordings {
	t.Helper()
	if opts.Play == nil {
		opts.Play = game{}.play
	}
	opts.Platform = "plan9/mips"
	f := &golden.Folder{Path: dir}
	if _, err := os.Stat(dir); err == nil {
		f = open(t, dir)
	}
	r, err := f.Record(context.Background(), sources, opts)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func open(t *testing.T, dir string) *golden.Folder {
	t.Helper()
	f, err := golden.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func check(t *testing.T, dir string, play golden.Play) *golden.Run {
	t.Helper()
	r, err := open(t, dir).Check(context.Background(), golden.Options{Play: play})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// content returns all bytes below a folder.
func content(t *testing.T, dir string) map[string]string {
	t.Helper()
	all := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		b, err := os.ReadFile(path)
		rel, _ := filepath.Rel(dir, path)
		all[filepath.ToSlash(rel)] = string(b)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

var logs = map[string]string{"short": "abcdefgh", "long": strings.Repeat("xyz", 40)}

// TestFiles compares the files with docs/golden.md, read by other means.
func TestFiles(t *testing.T) {
	dir := recorded(t, logs, golden.RecordOptions{})
	all := content(t, dir)
	trace, err := zstd.NewReader(nil)
	if err != nil {
		t.Fatal(err)
	}
	defer trace.Close()
	unpacked, err := trace.DecodeAll([]byte(all["short/golden.trace.zst"]), nil)
	if err != nil {
		t.Fatal(err)
	}
	want := "desynctool golden 1\nlog \"short.log\"\nlog-sha256 " + golden.Digest(sha256.Sum256([]byte("abcdefgh"))).String() +
		"\ntrace-sha256 " + golden.Digest(sha256.Sum256(unpacked)).String() +
		"\npoints 0 8\nevery 1\nsystems no\nstart 0100000000000000\nplatform \"plan9/mips\"\ngame \"letters\"\nbuild \"1.0\"\nfact \"compiler\" \"none 1\"\n"
	if all["short/golden.txt"] != want {
		t.Errorf("got\n%swant\n%s", all["short/golden.txt"], want)
	}
	if all["short/short.log"] != "abcdefgh" || all[".gitattributes"] != "* -text\n" || len(all) != 7 {
		t.Errorf("%d files: %q", len(all), all[".gitattributes"])
	}
	r, err := tracediff.NewReader(bytes.NewReader(unpacked), "trace", tracediff.ReadOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	for tick := range 8 {
		rec, err := r.Next()
		if err != nil {
			t.Fatal(err)
		}
		sum := sha256.Sum256([]byte("abcdefgh")[:tick+1])
		if got, _ := rec.Checkpoint.Sums[0].Bytes(nil); !bytes.Equal(got, sum[:8]) || rec.Checkpoint.Tick != uint64(tick) {
			t.Errorf("tick %d: %x in %d", tick, got, rec.Checkpoint.Tick)
		}
	}
	if _, err := r.Next(); err != io.EOF {
		t.Error(err)
	}
}

// TestAgain: recording again changes nothing where the result is the same, and nothing without Update where it
// is not.
func TestAgain(t *testing.T) {
	dir := recorded(t, logs, golden.RecordOptions{})
	before := content(t, dir)
	results := func(opts golden.RecordOptions, sources []golden.Source) (list []golden.RecordResult) {
		t.Helper()
		for _, one := range record(t, dir, sources, opts).Replays {
			list = append(list, one.Result)
		}
		return list
	}
	for _, update := range []bool{false, true} {
		if got := results(golden.RecordOptions{Update: update}, write(t, logs)); !slices.Equal(got, []golden.RecordResult{golden.Unchanged, golden.Unchanged}) {
			t.Errorf("again: %v", got)
		}
	}
	// The same logs under other names are the same replays, also those in the folder itself.
	for _, sources := range [][]golden.Source{
		write(t, map[string]string{"other": logs["short"], "name": logs["long"]}),
		{{Tree: files.Disk, Path: filepath.Join(dir, "short", "short.log")}, {Tree: files.Disk, Path: filepath.Join(dir, "long", "long.log")}},
	} {
		if got := results(golden.RecordOptions{}, sources); !slices.Equal(got, []golden.RecordResult{golden.Unchanged, golden.Unchanged}) {
			t.Errorf("other names: %v", got)
		}
	}
	broken := golden.RecordOptions{Play: game{from: 5}.play}
	r := record(t, dir, write(t, logs), broken)
	for _, one := range r.Replays {
		if one.Result != golden.Differs || *one.First.Tick != 5 || *one.First.Equal != 4 {
			t.Errorf("%+v", one)
		}
	}
	if !r.Diverged() || !reflect.DeepEqual(before, content(t, dir)) {
		t.Error("what is kept changed without --update")
	}
	if got := results(golden.RecordOptions{Every: 3}, write(t, logs)); !slices.Equal(got, []golden.RecordResult{golden.Differs, golden.Differs}) {
		t.Errorf("every 3: %v", got)
	}
	if got := results(golden.RecordOptions{}, write(t, map[string]string{"short": "another"})); !slices.Equal(got, []golden.RecordResult{golden.Differs}) {
		t.Errorf("another log: %v", got)
	}
	if !reflect.DeepEqual(before, content(t, dir)) {
		t.Error("what is kept changed without --update")
	}
	broken.Update = true
	if got := results(broken, write(t, logs)); !slices.Equal(got, []golden.RecordResult{golden.Updated, golden.Updated}) {
		t.Errorf("update: %v", got)
	}
	if run := check(t, dir, game{from: 5}.play); run.Replays[0].Result != golden.Same || run.Replays[1].Result != golden.Same {
		t.Errorf("after --update: %+v", run.Replays)
	}
	// And back: byte for byte what it was.
	if got := results(golden.RecordOptions{Update: true}, write(t, logs)); !slices.Equal(got, []golden.RecordResult{golden.Updated, golden.Updated}) {
		t.Errorf("back: %v", got)
	}
	if !reflect.DeepEqual(before, content(t, dir)) {
		t.Error("the same result gives other bytes")
	}
}

// TestWhere: the first difference is the one that the game has.
func TestWhere(t *testing.T) {
	for _, c := range []struct {
		every          uint64
		systems        bool
		from           byte
		tick           uint64 // 0 if no tick is known
		equal, differs uint64
		system         string
	}{
		{every: 1, from: 5, tick: 5, equal: 4, differs: 5},
		{every: 1, from: 7, tick: 7, equal: 6, differs: 7},
		{every: 1, systems: true, from: 5, tick: 5, equal: 4, differs: 5, system: "Combat"},
		{every: 4, from: 5, equal: 3, differs: 7},
		{every: 4, systems: true, from: 5, equal: 3, differs: 7},
		{every: 100, from: 119, equal: 99, differs: 119},
	} {
		dir := recorded(t, map[string]string{"log": strings.Repeat("xyz", 40)}, golden.RecordOptions{Every: c.every, Systems: &c.systems})
		o := check(t, dir, game{from: c.from}.play).Replays[0]
		f := o.First
		if o.Result != golden.Diverged || f == nil || (f.Tick != nil) != (c.tick > 0) || f.Tick != nil && *f.Tick != c.tick || *f.Equal != c.equal || *f.Differs != c.differs || f.System != c.system || o.Again != golden.AgainSame {
			t.Errorf("%+v: %+v %+v", c, o, f)
		}
	}
	plays := 0
	dir := recorded(t, logs, golden.RecordOptions{})
	run, err := open(t, dir).Check(context.Background(), golden.Options{Play: game{shaky: 3, plays: &plays}.play, Workers: 1, Only: []string{"sh*"}})
	if err != nil || len(run.Replays) != 1 || run.Replays[0].Result != golden.Same {
		t.Fatalf("%v %+v", err, run)
	}
	run, err = open(t, dir).Check(context.Background(), golden.Options{Play: game{shaky: 3, plays: &plays}.play, Workers: 1, Only: []string{"sh*"}})
	if err != nil || run.Replays[0].Result != golden.Diverged || run.Replays[0].Again != golden.AgainOther {
		t.Fatalf("%v %+v", err, run)
	}
}

// TestDamage: a damaged replay is unusable or not played, never diverged, and hinders no other.
func TestDamage(t *testing.T) {
	edit := func(file string, change func(b []byte) []byte) func(t *testing.T, dir string) {
		return func(t *testing.T, dir string) {
			path := filepath.Join(dir, filepath.FromSlash(file))
			b, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(path, change(b), 0o666); err != nil {
				t.Fatal(err)
			}
		}
	}
	remove := func(file string) func(t *testing.T, dir string) {
		return func(t *testing.T, dir string) {
			if err := os.Remove(filepath.Join(dir, filepath.FromSlash(file))); err != nil {
				t.Fatal(err)
			}
		}
	}
	swap := func(file string) func(t *testing.T, dir string) {
		return func(t *testing.T, dir string) {
			a, b := filepath.Join(dir, "a", file), filepath.Join(dir, "b", file)
			for _, pair := range [][2]string{{a, a + "~"}, {b, a}, {a + "~", b}} {
				if err := os.Rename(pair[0], pair[1]); err != nil {
					t.Fatal(err)
				}
			}
		}
	}
	cut := func(b []byte) []byte { return b[:len(b)/2] }
	flip := func(b []byte) []byte { b[len(b)/2] ^= 4; return b }
	good, bad := game{}.play, game{from: 3}.play
	for _, c := range []struct {
		name   string
		damage func(t *testing.T, dir string)
		play   golden.Play
		want   golden.Result
		why    string
	}{
		{"trace cut", edit("a/golden.trace.zst", cut), bad, golden.Unusable, "golden.trace.zst: "},
		{"trace flipped", edit("a/golden.trace.zst", flip), bad, golden.Unusable, "golden.trace.zst"},
		{"trace empty", edit("a/golden.trace.zst", func([]byte) []byte { return nil }), bad, golden.Unusable, "golden.trace.zst: "},
		{"trace missing", remove("a/golden.trace.zst"), good, golden.Unusable, "golden.trace.zst"},
		{"traces swapped", swap("golden.trace.zst"), bad, golden.Unusable, "it is damaged, or of another replay"},
		{"log missing", remove("a/log"), good, golden.Unusable, "a"},
		{"log of another", edit("a/log", func([]byte) []byte { return []byte("zzz") }), good, golden.Unusable, "log is not the log that was recorded"},
		{"log torn", edit("a/log", func(b []byte) []byte { return append(cut(b), '?') }), good, golden.NotPlayed, "the log breaks off"},
		{"logs swapped", swap("log"), good, golden.Unusable, "log is not the log that was recorded"},
		{"manifest cut", edit("a/golden.txt", cut), good, golden.Unusable, "breaks off"},
		{"manifest missing", remove("a/golden.txt"), good, golden.Unusable, "golden.txt is missing next to golden.trace.zst"},
		{"manifest of another trace", edit("a/golden.txt", func(b []byte) []byte {
			return bytes.Replace(b, []byte("\npoints"), nil, 1)
		}), good, golden.Unusable, "golden.txt: line 4"},
		{"manifests swapped", swap("golden.txt"), good, golden.Unusable, "log is not the log that was recorded"},
		{"other points", edit("a/golden.txt", func(b []byte) []byte { return bytes.Replace(b, []byte("0 8\n"), []byte("0 9\n"), 1) }), good, golden.NotPlayed, "it goes from state point 0 to 8, the golden trace from 0 to 9"},
		{"crash", func(t *testing.T, dir string) {}, func(ctx context.Context, job golden.Job, out golden.Sink) (*golden.Played, error) {
			if filepath.Base(filepath.Dir(job.Log)) == "a" {
				return nil, errors.New(filepath.Join(filepath.Dir(job.Log), "x") + " crashed")
			}
			return bad(ctx, job, out)
		}, golden.NotPlayed, filepath.Join("a", "x") + " crashed"},
	} {
		// Both logs have the same name, since they are swapped.
		dir := filepath.Join(t.TempDir(), "golden")
		for name, text := range map[string]string{"a": "abcdefgh", "b": "ABCDEFGHI"} {
			if err := os.MkdirAll(filepath.Join(dir, name), 0o777); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(filepath.Join(dir, name, "log"), []byte(text), 0o666); err != nil {
				t.Fatal(err)
			}
		}
		record(t, dir, []golden.Source{{Tree: files.Disk, Path: filepath.Join(dir, "a", "log")}, {Tree: files.Disk, Path: filepath.Join(dir, "b", "log")}}, golden.RecordOptions{})
		c.damage(t, dir)
		run := check(t, dir, c.play)
		a, b := run.Replays[0], run.Replays[1]
		if a.Result != c.want || !strings.Contains(a.Why, c.why) || a.First != nil || strings.Contains(a.Why, dir) {
			t.Errorf("%s: %+v", c.name, a)
		}
		other := golden.Diverged
		if _, err := c.play(context.Background(), golden.Job{Tree: files.Disk, Log: filepath.Join(dir, "b", "log")}, probe{}); err == nil {
			other = golden.Same
		}
		if b.Result != other && !strings.Contains(c.name, "swapped") {
			t.Errorf("%s: the other is %+v", c.name, b)
		}
		table := golden.Merge(open(t, dir).Entries, []golden.Run{*run})
		if table.Diverged() != (b.Result == golden.Diverged) || table.Failed() != (c.want == golden.Unusable) {
			t.Errorf("%s: diverged %v, failed %v", c.name, table.Diverged(), table.Failed())
		}
	}
}

// probe is a Sink that refuses hashes that differ from the logs in TestDamage.
type probe struct{}

func (probe) Begin(tracediff.Header, uint64, *merkle.Short) error { return nil }

func (probe) Checkpoint(c *tracediff.Checkpoint) error {
	sum := sha256.Sum256([]byte("ABCDEFGHI")[:c.Tick+1])
	if got, _ := c.Sums[0].Bytes(nil); !bytes.Equal(got, sum[:8]) {
		return errors.New("another hash")
	}
	return nil
}

// TestInterrupted: a replay that was not played is reported as such.
func TestInterrupted(t *testing.T) {
	dir := recorded(t, logs, golden.RecordOptions{})
	ctx, cancel := context.WithCancel(context.Background())
	play := func(_ context.Context, job golden.Job, out golden.Sink) (*golden.Played, error) {
		defer cancel()
		return game{}.play(context.Background(), job, out)
	}
	r, err := open(t, dir).Check(ctx, golden.Options{Play: play, Workers: 1})
	if err != nil || !r.Interrupted || r.Replays[0].Result != golden.Same || r.Replays[1].Result != golden.NotPlayed || r.Replays[1].Why != golden.Interrupted {
		t.Errorf("%v %+v", err, r)
	}
}

// TestUnfinished: a replay is recorded again if its recording was killed before the manifest was written.
func TestUnfinished(t *testing.T) {
	dir := recorded(t, logs, golden.RecordOptions{})
	before := content(t, dir)
	if err := os.Remove(filepath.Join(dir, "short", golden.ManifestName)); err != nil {
		t.Fatal(err)
	}
	if run := check(t, dir, game{}.play); run.Replays[1].Result != golden.Unusable {
		t.Errorf("%+v", run.Replays[1])
	}
	if r := record(t, dir, write(t, logs), golden.RecordOptions{}); r.Replays[0].Result != golden.Unchanged || r.Replays[1].Result != golden.Recorded || !reflect.DeepEqual(before, content(t, dir)) {
		t.Errorf("%+v", r)
	}
}

// TestNames: logs are called as apart from each other as they are.
func TestNames(t *testing.T) {
	dir, in := filepath.Join(t.TempDir(), "golden"), t.TempDir()
	var sources []golden.Source
	for i, path := range []string{"one/host/order-log.bin", "two/host/order-log.bin", "two/client/order-log.bin", "match 7.dem.gz", "NUL.rep"} {
		file := filepath.Join(in, filepath.FromSlash(path))
		if err := os.MkdirAll(filepath.Dir(file), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, bytes.Repeat([]byte("a"), i+1), 0o666); err != nil {
			t.Fatal(err)
		}
		sources = append(sources, golden.Source{Tree: files.Disk, Path: file, Usual: filepath.Base(path) == "order-log.bin"})
	}
	var names []string
	for _, one := range record(t, dir, sources, golden.RecordOptions{}).Replays {
		names = append(names, one.Replay+" "+string(one.Result))
	}
	slices.Sort(names)
	if want := []string{"_NUL recorded", "client recorded", "match-7 recorded", "one-host recorded", "two-host recorded"}; !slices.Equal(names, want) {
		t.Errorf("%q", names)
	}
	twice := filepath.Join(t.TempDir(), "g")
	for range 2 { // also when it is kept already
		r := record(t, twice, slices.Concat(write(t, map[string]string{"a": "x"}), write(t, map[string]string{"b": "x"})), golden.RecordOptions{})
		if r.Incomplete() || r.Diverged() || len(open(t, twice).Entries) != 1 || !slices.ContainsFunc(r.Replays, func(one golden.Recording) bool { return one.Result == golden.Duplicate }) {
			t.Errorf("the same log twice: %+v", r)
		}
	}
	same := record(t, filepath.Join(t.TempDir(), "g"), write(t, map[string]string{"a": "x", "A-": "y"}), golden.RecordOptions{Name: ""})
	if same.Incomplete() || len(same.Replays) != 2 {
		t.Errorf("%+v", same)
	}
	if r := record(t, filepath.Join(t.TempDir(), "g"), append(write(t, map[string]string{"a": "x"}), write(t, map[string]string{"b": "x!"})...), golden.RecordOptions{}); !r.Incomplete() || r.Replays[0].Result != golden.Recorded || r.Replays[1].Why != "the game crashed" {
		t.Errorf("%+v", r)
	}
}
