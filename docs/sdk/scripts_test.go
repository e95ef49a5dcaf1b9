package sdk_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/vmihailenco/msgpack/v5"

	"github.com/desynctool/desynctool/internal/testkit/effort"
	"github.com/desynctool/desynctool/orderlog"
	"github.com/desynctool/desynctool/report/peers"
)

// A scripted game is a skirmish in a language that runs from source, with the rules of
// c/skirmish.c.
type scripted struct {
	command []string                                // the game, without what it should do
	vectors []string                                // the program that writes vectors and reads snapshots
	dir     string                                  // of the sources
	game    string                                  // the example's source in it
	run     func(t *testing.T, dir string) []string // the command of a copy of the sources
}

// sim is the game as a simulator.
func sim(command []string, args ...string) string {
	return "exec:" + strings.Join(append(append(slices.Clone(command), "serve"), args...), " ")
}

// playScript lets a game play a session, and returns its folder and what it said.
func playScript(t *testing.T, command []string, args ...string) (dir, said string) {
	t.Helper()
	dir = filepath.Join(t.TempDir(), "session")
	all := append(append(slices.Clone(command[1:]), "record", dir), args...)
	said, stderr, exit := execute(t, nil, command[0], all...)
	if exit != 0 {
		t.Fatalf("record: exit status %d: %s", exit, stderr)
	}
	return dir, said
}

// plays checks a game: its sessions equal the sessions of the game in C, byte by byte, and desynctool finds its fault,
// and nothing else. Without DESYNCTOOL_FULL_TESTS it is replayed in one way and the fault is found in one: the game in
// C goes all ways.
func (s *scripted) plays(t *testing.T) {
	all := everything()
	long := effort.Long(220, 600)
	ticks := effort.Of(60, long)
	short := []string{"--ticks", strconv.Itoa(ticks)}
	clean, said := playScript(t, s.command, short...)
	if said != "" {
		t.Errorf("the clean session says %q", said)
	}
	withFault := []string{"--ticks", strconv.Itoa(effort.Of(130, long)), "--fault", faultTick} // which shows in tick 127
	faulty, said := playScript(t, s.command, withFault...)
	tick, system := parted(t, said)
	another := []string{"--seed", "2", "--ticks", effort.Of("20", "200"), "--sign", "5"}
	other, _ := playScript(t, s.command, another...)
	host, client := filepath.Join(faulty, "host"), filepath.Join(faulty, "client")
	served := sim(s.command)

	t.Run("bytes", func(t *testing.T) {
		if runtime.GOOS == "windows" {
			t.Skip("the game in C is built with cc")
		}
		program := skirmish(t)
		for dir, args := range map[string][]string{clean: short, faulty: withFault, other: another} {
			want, wantSaid := play(t, program, args...)
			compareFolders(t, dir, want)
			if dir == faulty && wantSaid != said {
				t.Errorf("it says %q, the game in C %q", said, wantSaid)
			}
		}
	})

	t.Run("in sync", func(t *testing.T) {
		host, client := filepath.Join(clean, "host"), filepath.Join(clean, "client")
		wants(t, run(t, 0, "bisect", host, client), "IN SYNC", fmt.Sprint(ticks+1, " recorded hashes"))
		out := run(t, 0, "replay", client, "--sim", served)
		wants(t, out, "IN SYNC", fmt.Sprint(ticks+1, " compared"))
		if strings.Contains(out, "ignores") {
			t.Errorf("orders are ignored:\n%s", out)
		}
		if !all {
			return
		}
		out = run(t, 0, "replay", host, "--sim", served, "--serialize", "--rollback", "3", "--check-caches", "--check-purity", "--drill")
		if n := strings.Count(out, "IN SYNC"); n != 4 {
			t.Errorf("%d ways of replaying are in sync, expected 4:\n%s", n, out)
		}
	})

	t.Run("diverged", func(t *testing.T) {
		wants(t, run(t, 1, "bisect", host, client, "--sim", served, "--drill"),
			"DIVERGED  in tick "+tick+"\n", "host agrees at every point compared", "drill    client, tick "+tick+"\n", "system   "+system+"\n",
			"Infantry/Position.x", "cache Grid")
		if !all {
			return
		}
		wants(t, run(t, 1, "triage", faulty, "--sim", served), "tick "+tick, system, "client")
		wants(t, run(t, 1, "replay", client, "--sim", served, "--drill"), "plain: departs in tick "+tick+"\n", "system   "+system+"\n")
		wants(t, run(t, 1, "replay", client, "--sim", sim(s.command, "--fault", faultTick), "--check-caches"), "stale Grid")
	})

	// What the game in C gave, as a module, this one gives up to the tick in which its fault shows.
	t.Run("golden", func(t *testing.T) {
		if !all {
			t.Skip("what follows plays the session many times: it needs DESYNCTOOL_FULL_TESTS")
		}
		golden, module := filepath.Join(t.TempDir(), "golden"), "wasm:"+filepath.Join("..", "..", "testdata", "wasm", "skirmish.wasm")
		run(t, 0, "golden", "record", golden, filepath.Join(clean, "host"), "--sim", module, "--systems")
		out := run(t, 1, "golden", "check", golden, "--sim", sim(s.command, "--fault", faultTick))
		wants(t, out, "host  differs in tick "+tick+", after "+system+": ", "a second replay came to the same")
	})

	t.Run("protocol", func(t *testing.T) {
		if !all {
			t.Skip("needs DESYNCTOOL_FULL_TESTS")
		}
		serve := append(slices.Clone(s.command), "serve")
		conforms(t, nil, append([]string{"--log", filepath.Join(clean, "host"), "--ticks", effort.Long("60", "600"), "--"}, serve...)...)
		for _, transport := range []string{"unix", "tcp"} {
			if transport != "unix" || runtime.GOOS != "windows" {
				conforms(t, nil, append([]string{"--transport", transport, "--ticks", "40", "--"}, serve...)...)
			}
		}
	})

	t.Run("load", func(t *testing.T) {
		if !all {
			t.Skip("needs DESYNCTOOL_FULL_TESTS")
		}
		loads(t, served, clean, other, faulty, tick)
		damagedLoads(t, effort.Of(8, effort.Long(50, 600)), clean, s.command[0], append(slices.Clone(s.command[1:]), "serve")...)
	})
}

// writesVectors has a program write what vectors.c writes, and compares them: the peer's own
// reports by their content, all else by bytes.
func (s *scripted) writesVectors(t *testing.T) {
	got := t.TempDir()
	if out, stderr, exit := execute(t, nil, s.vectors[0], append(slices.Clone(s.vectors[1:]), got)...); exit != 0 || out+stderr != "" {
		t.Fatalf("exit status %d: %s%s", exit, out, stderr)
	}
	whole, err := os.ReadFile(filepath.Join(got, "whole.trace"))
	if err != nil {
		t.Fatal(err)
	}
	if want := bytesIn(t, "../trace.md", "```trace-hex\n"); !bytes.Equal(whole, want) {
		t.Errorf("trace:\n%x, expected\n%x", whole, want)
	}
	if runtime.GOOS == "windows" {
		t.Skip("the vectors in C are built with cc")
	}
	want := t.TempDir()
	if _, stderr, exit := execute(t, nil, compile(t, "testdata/vectors.c", "-O2"), want); exit != 0 {
		t.Fatalf("exit status %d: %s", exit, stderr)
	}
	compared, reports := 0, 0
	err = filepath.WalkDir(want, func(path string, entry os.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		name, _ := filepath.Rel(want, path)
		b, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		a, err := os.ReadFile(filepath.Join(got, name))
		if err != nil {
			return err
		}
		compared++
		if filepath.Ext(name) != ".json" {
			if !bytes.Equal(a, b) {
				t.Errorf("%s is not that of vectors.c", name)
			}
			return nil
		}
		reports++
		r, err := peers.Read(bytes.NewReader(a), name)
		if err != nil {
			return err
		}
		if list := r.Contradictions(); len(list) > 0 {
			t.Errorf("%s contradicts itself: %q", name, list)
		}
		var have, expected any
		if err := json.Unmarshal(a, &have); err != nil {
			return err
		}
		if err := json.Unmarshal(b, &expected); err != nil {
			return err
		}
		if fmt.Sprint(have) != fmt.Sprint(expected) {
			t.Errorf("%s:\n%v, expected\n%v", name, have, expected)
		}
		return nil
	})
	if err != nil || compared < 9 || reports != 2 {
		t.Errorf("%d files compared, %d of them reports: %v", compared, reports, err)
	}
}

// reads has a program read snapshots that are damaged, and the snapshots of testdata/snapshot.
func (s *scripted) reads(t *testing.T) {
	args := func(mode string) []string { return append(slices.Clone(s.vectors[1:]), mode) }
	for _, file := range readable(t) {
		judges(t, mutants(t, file), s.vectors[0], args("--read")...)
	}
	judges(t, forgeries(t), s.vectors[0], args("--read")...)
	readsVectors(t, s.vectors[0], args("--hash")...)
}

// A mistake is one that is made in an example, and what finds it.
type mistake struct {
	name, old, new string
	part           string   // of sim check
	replay         []string // that finds it as well
	says           string
}

// findsMistakes makes mistakes in the example, one at a time, and sees whether they are found.
func (s *scripted) findsMistakes(t *testing.T, list []mistake) {
	recorded, _ := playScript(t, s.command, "--ticks", "200")
	host := filepath.Join(recorded, "host")
	source, err := os.ReadFile(filepath.Join(s.dir, s.game))
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range list[:min(len(list), effort.Long(2, 100))] {
		t.Run(m.name, func(t *testing.T) {
			t.Parallel()
			if n := strings.Count(string(source), m.old); n != 1 {
				t.Fatalf("%q stands in the example %d times", m.old, n)
			}
			dir := t.TempDir()
			if err := os.CopyFS(dir, os.DirFS(s.dir)); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(filepath.Join(dir, s.game), []byte(strings.Replace(string(source), m.old, m.new, 1)), 0o666); err != nil {
				t.Fatal(err)
			}
			command := s.run(t, dir)
			args := append([]string{"sim", "check", "--ticks", effort.Long("100", "200"), "--log", host, "--"}, append(slices.Clone(command), "serve")...)
			wants(t, run(t, 1, args...), m.part)
			if m.replay != nil {
				wants(t, run(t, 1, append([]string{"replay", host, "--sim", sim(command)}, m.replay...)...), m.says)
			}
		})
	}
}

// refusesNonsense sends what is no request, which ends the target with one line, and requests
// that are wrong, which are refused while the session goes on. Bounded is the command that
// serves with little memory, so that a length that is believed shows.
func (s *scripted) refusesNonsense(t *testing.T, bounded []string) {
	header := orderlog.Header{Seed: 7, Kinds: []orderlog.OrderKind{{Name: "move"}, {Name: "dance"}}}
	encoded := func(h *orderlog.Header) msgpack.RawMessage { return orderlog.AppendHeader(nil, h) }
	elsewhere := header
	elsewhere.Params = map[string]string{"map": "volcano"}
	late := header
	late.FirstPoint = 3
	plain := []any{encoded(&header)}
	start := request(t, 1, "start", plain)
	serve := func(t *testing.T, in []byte) (replies [][]any, stderr string, exit int) {
		t.Helper()
		stop := time.AfterFunc(time.Minute, func() { panic("it hangs") })
		defer stop.Stop()
		stdout, stderr, exit := execute(t, in, bounded[0], append(slices.Clone(bounded[1:]), "serve")...)
		for b := []byte(stdout); len(b) > 0; {
			n := int(b[0]) | int(b[1])<<8 | int(b[2])<<16 | int(b[3])<<24
			var reply []any
			if err := msgpack.Unmarshal(b[4:4+n], &reply); err != nil || len(reply) != 3 {
				t.Fatalf("a reply is %v: %v", reply, err)
			}
			replies = append(replies, reply)
			b = b[4+n:]
		}
		return replies, stderr, exit
	}

	for name, bad := range map[string]struct {
		in   []byte
		said string
	}{
		"a length of 4 GiB":          {[]byte{0xff, 0xff, 0xff, 0xff, 0x93}, "at most"},
		"a length that is a lie":     {[]byte{0x00, 0x00, 0x00, 0x03, 0x93, 0x01}, "inside a request"},
		"half a length":              {[]byte{0x05, 0x00}, "inside the length"},
		"no value":                   {make([]byte, 4), "makes no sense"},
		"half a value":               {frameOf([]byte{0x93, 0x01, 0xa5, 'h'}), "makes no sense"},
		"bytes after the value":      {frameOf([]byte{0xc0, 0xc0}), "makes no sense"},
		"an array of 4 Gi":           {frameOf([]byte{0x93, 0x01, 0xa4, 's', 't', 'e', 'p', 0xdd, 0xff, 0xff, 0xff, 0xff}), "makes no sense"},
		"a map of 4 Gi":              {frameOf([]byte{0x93, 0x01, 0xa1, 'x', 0xdf, 0xff, 0xff, 0xff, 0xff}), "makes no sense"},
		"a string of 4 GiB":          {frameOf([]byte{0x93, 0x01, 0xdb, 0xff, 0xff, 0xff, 0xff, 'x'}), "makes no sense"},
		"an extension":               {frameOf([]byte{0x93, 0x01, 0xa1, 'x', 0x91, 0xd4, 0x01, 0x00}), "makes no sense"},
		"a code that is none":        {frameOf([]byte{0xc1}), "makes no sense"},
		"a deep value":               {frameOf(bytes.Repeat([]byte{0x91}, 3_000_000)), "makes no sense"},
		"a deep value that ends":     {frameOf(append(bytes.Repeat([]byte{0x91}, 3_000_000), 0xc0)), "makes no sense"},
		"no array":                   {frameOf([]byte{0x01}), "makes no sense"},
		"two elements":               {frameOf([]byte{0x92, 0x01, 0xa1, 'x'}), "makes no sense"},
		"a negative number":          {request(t, -1, "hello", []any{1, "x"}), "makes no sense"},
		"a number that is text":      {request(t, "1", "hello", []any{1, "x"}), "makes no sense"},
		"a method that is a number":  {request(t, 1, 2, []any{}), "makes no sense"},
		"parameters that are nil":    {request(t, 1, "hello", nil), "makes no sense"},
		"a half value after a start": {append(bytes.Clone(start), frameOf([]byte{0x93, 0x01})...), "makes no sense"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			replies, stderr, exit := serve(t, bad.in)
			if exit != 2 || strings.Count(stderr, "\n") != 1 || !strings.Contains(stderr, bad.said) {
				t.Errorf("exit status %d, stderr %q, expected 2 and a line with %q", exit, stderr, bad.said)
			}
			if (len(replies) > 0) != bytes.HasPrefix(bad.in, start) {
				t.Errorf("%d replies", len(replies))
			}
		})
	}

	t.Run("refused", func(t *testing.T) {
		whole := make([]byte, 24)
		odd := []any{[]any{0, 0, 0, 1, []byte{}}, []any{0, 9, 0, 0, whole}, []any{0, 0, 0, 77, []byte{1}}, []any{0, 1, 0, 0, whole[1:]}, []any{0, 1, 0, 0, whole}}
		order := func(fields ...any) []any { return []any{uint64(1), []any{[]any{fields}}} }
		list := []struct {
			method string
			params []any
			err    string // "" if it works
		}{
			{"step", []any{0, []any{}}, "no session is running"},
			{"load", []any{[]byte{}, nil}, "not a .snap"},
			{"start", []any{encoded(&elsewhere)}, "there is no such map"},
			{"start", []any{encoded(&late)}, "does not begin at its start"},
			{"start", plain, ""},
			{"nope", []any{}, "no such request"},
			{"__class__", []any{}, "no such request"},
			{"hello", []any{1}, "1 parameters"},
			{"hello", []any{"1", "x"}, "not an unsigned integer"},
			{"start", []any{"header"}, "not an array"},
			{"start", []any{[]any{1, "host"}}, "2 elements"},
			{"start", []any{[]any{1, "", "", []any{1, 1}, []byte{1, 2, 3}, 0, 0, []any{}, []any{}, []any{}}}, "3 bytes"},
			{"start", []any{[]any{1, "", "", []any{1, 1}, whole, 0, uint64(1) << 32, []any{}, []any{}, []any{}}}, "24 bytes"},
			{"start", []any{[]any{1, "", "", []any{1, uint64(1) << 32}, header.Start[:], 0, 0, []any{}, []any{}, []any{}}}, "at most"},
			{"step", []any{3, []any{}}, "the state is at point 0"},
			{"step", []any{0, []any{[]any{}}}, ""},
			{"restore", []any{[]byte("no save")}, "not a save"},
			{"restore", []any{make([]byte, 40)}, "not a save"},
			{"restore", []any{"save"}, "not bytes"},
			{"next", []any{}, "no tick has begun"},
			{"step", []any{"1", []any{}}, "not an unsigned integer"},
			{"step", []any{1, map[string]int{}}, "not an array"},
			{"step", []any{1, []any{nil}}, "not an array"},
			{"step", []any{1, make([]any, 3_000_000)}, "at most"},
			{"step", []any{1, []any{make([]any, 3_000_000)}}, "at most"},
			{"step", order(0, 0, 0, []byte{1, 2, 3, 4, 5}), "4 elements"},
			{"step", order(0, uint64(1)<<32, 0, 0, []byte{}), "at most"},
			{"step", order(0, -3, 0, 0, []byte{}), "not an unsigned integer"},
			{"step", order(0, 0, 0, 0, "payload"), "not bytes"},
			{"step", order(0, 0, 0, 0, make([]byte, 5<<20)), "at most"},
			{"test", []any{1, 7}, "not an array"},
			{"begin", []any{1, odd}, ""},
			{"step", []any{1, []any{}}, "played in parts"},
			{"save", []any{}, "played in parts"},
			{"next", []any{}, ""},
			{"state", []any{}, ""},
			{"start", plain, ""},
			{"next", []any{}, "no tick has begun"},
			{"step", []any{0, []any{odd, []any{}}}, ""},
			{"validate", []any{uint64(1) << 63, odd}, ""},
			{"predict", []any{2, 1, odd}, ""},
			{"start", []any{encoded(&elsewhere)}, "there is no such map"},
			{"step", []any{2, []any{[]any{}}}, ""},
		}
		var in []byte
		for i, r := range list {
			in = append(in, request(t, uint64(1)<<40+uint64(i), r.method, r.params)...)
		}
		replies, stderr, exit := serve(t, in)
		if exit != 0 || stderr != "" || len(replies) != len(list) {
			t.Fatalf("exit status %d, %d replies to %d requests, stderr %q", exit, len(replies), len(list), stderr)
		}
		for i, r := range list {
			got, _ := replies[i][1].(string)
			if id := fmt.Sprint(replies[i][0]); id != fmt.Sprint(uint64(1)<<40+uint64(i)) || (got == "") != (r.err == "") || !strings.Contains(got, r.err) {
				t.Errorf("%d, %s: number %s and error %q, expected %q", i, r.method, id, got, r.err)
			}
			if r.method == "validate" {
				want := []any{"there is no such kind of order", "there is no such player", "there is no such kind of order", "its payload has another size", ""}
				if said := fmt.Sprint(replies[i][2]); said != fmt.Sprint(want) {
					t.Errorf("validate says %s, expected %s", said, want)
				}
			}
		}
	})

	t.Run("random", func(t *testing.T) {
		random := rand.New(rand.NewPCG(1, 2))
		some := []any{0, 1, 0, 0, make([]byte, 24)}
		whole := [][]byte{
			request(t, 1, "hello", []any{1, "x"}), start, request(t, 3, "step", []any{0, []any{[]any{some}, []any{}}}), request(t, 4, "state", []any{}),
			request(t, 5, "save", []any{}), request(t, 6, "begin", []any{2, []any{some}}), request(t, 7, "next", []any{}),
			request(t, 8, "restore", []any{[]byte("abc")}), request(t, 9, "caches", []any{}), request(t, 10, "validate", []any{3, []any{some}}),
			request(t, 11, "test", []any{3, some}), request(t, 12, "predict", []any{3, 1, []any{some}}),
		}
		ended := 0
		for range effort.Long(6, 60) {
			var in []byte
			for range 20 {
				value := bytes.Clone(whole[random.IntN(len(whole))][4:])
				for range random.IntN(3) {
					value[random.IntN(len(value))] ^= byte(1 << random.IntN(8))
				}
				if random.IntN(40) == 0 {
					value = value[:random.IntN(len(value))]
				}
				in = append(in, frameOf(value)...)
			}
			_, stderr, exit := serve(t, in)
			if exit == 2 {
				ended++
			}
			if exit != 0 && exit != 2 || exit == 2 && strings.Count(stderr, "\n") != 1 || exit == 0 && stderr != "" {
				t.Fatalf("exit status %d, stderr %s\nfor %s", exit, stderr, strconv.Quote(string(in)))
			}
		}
		if ended == 0 {
			t.Error("nothing of all that was no request")
		}
	})
}
