package survey_test

import (
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/desynctool/desynctool/bisect"
	"github.com/desynctool/desynctool/internal/file/files"
	"github.com/desynctool/desynctool/report/formats"
	"github.com/desynctool/desynctool/report/survey"
	"github.com/desynctool/desynctool/snapshot"
)

// memory returns the bytes of structs with a counter each. Some counters differ.
func memory(seed, differ int) string {
	var out []byte
	for i := range 300 {
		value := uint32(seed * 7919 * (i + 1))
		if i < differ {
			value++
		}
		out = binary.LittleEndian.AppendUint32(append(out, "unit\x00\x00\x00\x00"...), value)
	}
	return string(out)
}

// TestRaw: folders of raw memory are bisected by their bytes, and few bytes are read.
func TestRaw(t *testing.T) {
	const dumps, from, size = 200, 123, 512 << 10
	texts := map[string]string{}
	for i := range dumps {
		for _, peer := range []string{"a", "b"} {
			text := memory(i+1, 0)
			if peer == "b" && i >= from {
				text = memory(i+1, 3)
			}
			texts[fmt.Sprintf("%s/state_%06d.bin", peer, 100*i)] = text
		}
	}
	dir, tree := write(t, texts), &counting{Tree: files.Disk}
	for name := range texts {
		if err := os.Truncate(filepath.Join(dir, name), size); err != nil { // zeros follow
			t.Fatal(err)
		}
	}
	all, err := survey.For(tree, []string{dir})
	if err != nil {
		t.Fatal(err)
	}
	var peers []*bisect.Peer
	for _, name := range []string{"a", "b"} {
		sets, err := snapshot.Find(tree, filepath.Join(dir, name), formats.SnapshotsOf(all.Formats()))
		if err != nil || len(sets) != 1 || len(sets[0].Entries) != dumps {
			t.Fatal(sets, err)
		}
		peers = append(peers, &bisect.Peer{Name: name, Path: name, Snapshots: sets[0]})
	}
	paths, _, _, err := bisect.FirstDifferent(peers[0], peers[1])
	if want := fmt.Sprintf("state_%06d.bin", 100*from); err != nil || filepath.Base(paths[0]) != want || filepath.Base(paths[1]) != want {
		t.Fatal(paths, err)
	}
	if all := int64(2 * dumps * size); 5*tree.read > all {
		t.Errorf("%d of %d bytes were read, more than a fifth", tree.read, all)
	}
}

// TestRawOnly: pictures, and binary files next to states in a notation, are no states, and neither are files without a tick.
func TestRawOnly(t *testing.T) {
	png := "\x89PNG\r\n\x1a\n" + memory(1, 0)
	for name, texts := range map[string]map[string]string{
		"pictures":      {"a/state_1.bin": png, "a/state_2.bin": png, "b/state_1.bin": png, "b/state_2.bin": png},
		"other names":   {"a/chunk_1.xyz": memory(1, 0), "a/chunk_2.xyz": memory(2, 0), "b/chunk_1.xyz": memory(1, 0), "b/chunk_2.xyz": memory(2, 0)},
		"one folder":    {"a/state_1.bin": memory(1, 0), "a/state_2.bin": memory(2, 0)},
		"no ticks":      {"a/state_x.bin": memory(1, 0), "a/state_y.bin": memory(1, 0), "b/state_x.bin": memory(1, 0), "b/state_y.bin": memory(1, 0)},
		"beside states": {"a/d_1.bin": memory(1, 0), "a/d_2.bin": memory(2, 0), "b/d_1.bin": memory(1, 1), "b/d_2.bin": memory(2, 1), "a/s_1.json": fmt.Sprintf(state, 1, 3), "b/s_1.json": fmt.Sprintf(state, 1, 3)},
	} {
		for _, line := range found(t, write(t, texts)) {
			if filepath.Ext(line) != ".json" {
				t.Errorf("%s: %s", name, line)
			}
		}
	}
}

// TestRawCut: raw memory that is cut does not differ.
func TestRawCut(t *testing.T) {
	texts := map[string]string{}
	for i := range 3 {
		for _, peer := range []string{"a", "b"} {
			texts[fmt.Sprintf("%s/mem%d.dump", peer, 10*(i+1))] = memory(i, 0)
		}
	}
	for cut, want := range map[int]string{0: "equal", 1: "unknown", 2: "unknown", 400: "unknown"} {
		texts["b/mem20.dump"] = texts["a/mem20.dump"][:len(texts["a/mem20.dump"])-cut]
		if got := compare(t, texts); got != want {
			t.Errorf("without %d bytes: %s, expected %s", cut, got, want)
		}
	}
	texts["b/mem20.dump"] = memory(1, 1)
	if got := compare(t, texts); got != "differ" {
		t.Errorf("another value: %s", got)
	}
}

// TestRawNoise: addresses in the memory differ in every dump, and are not compared. If nothing else differs, that is no proof that
// the peers are in sync.
func TestRawNoise(t *testing.T) {
	for dumps, lost := range map[int]int{3: 1, 5: 0} {
		texts := map[string]string{}
		for i := range dumps {
			for k, peer := range []string{"a", "b"} {
				text := []byte(memory(i+1, k*(i/3)))
				binary.LittleEndian.PutUint64(text[120:], uint64(0x7f0000001000*(k+1)))
				texts[fmt.Sprintf("%s/state_%d.bin", peer, i)] = string(text)
			}
		}
		dir := write(t, texts)
		all, err := survey.For(files.Disk, []string{dir})
		if err != nil {
			t.Fatal(err)
		}
		if len(all.Lost()) != lost {
			t.Errorf("%d dumps: %q", dumps, all.Lost())
		}
		first, last := "a/state_0.bin", fmt.Sprintf("a/state_%d.bin", dumps-1)
		for _, name := range []string{first, last} {
			a, b := load(t, all, filepath.Join(dir, name)), load(t, all, filepath.Join(dir, "b"+name[1:]))
			x, errA := snapshot.Hold(a)
			y, errB := snapshot.Hold(b)
			if errA != nil || errB != nil {
				t.Fatal(errA, errB)
			}
			if differ := x.Info().Root != y.Info().Root; differ != (name == last && dumps > 3) {
				t.Errorf("%d dumps: %s differs: %t", dumps, name, differ)
			}
		}
	}
}

// TestRawOther: of memory in which most words differ in every dump, nothing is taken for noise.
func TestRawOther(t *testing.T) {
	texts := map[string]string{}
	random := rand.New(rand.NewPCG(1, 2))
	for i := range 3 {
		for _, peer := range []string{"a", "b"} {
			var text []byte
			for range 1000 {
				text = binary.LittleEndian.AppendUint32(text, random.Uint32())
			}
			texts[fmt.Sprintf("%s/state_%d.bin", peer, 10*i)] = string(text)
		}
	}
	if got := compare(t, texts); got != "differ" {
		t.Errorf("random words: %s, expected a difference", got)
	}
}

// TestLayout: a header next to raw memory shows its values, if one struct has the size of all files. Addresses, clocks and bytes that
// belong to no value are noise.
func TestLayout(t *testing.T) {
	const header = "#include <stdint.h>\ntypedef struct { int32_t x; uint8_t on; float hp; } Unit;\ntypedef struct {\n  uint32_t tick; /* of the game */\n  uint32_t wall_ms;\n  Unit units[2];\n  void *window;\n} World;\n"
	for name, c := range map[string]struct {
		header string
		fits   bool
	}{
		"a struct fits":          {header, true},
		"two structs fit":        {header + "struct Other { uint8_t bytes[40]; };\n", false},
		"no struct fits":         {strings.Replace(header, "units[2]", "units[3]", 1), false},
		"a type is not known":    {strings.Replace(header, "void *", "Window ", 1), false},
		"only the name is there": {"struct World;\n", false},
	} {
		texts := map[string]string{"game.h": c.header}
		for i, peer := range []string{"a", "b"} {
			for tick := range uint32(8) {
				b := binary.LittleEndian.AppendUint32(binary.LittleEndian.AppendUint32(nil, tick), 1000*uint32(i)+90*tick)
				for unit := range uint32(2) {
					b = binary.LittleEndian.AppendUint32(b, 7*tick+unit)
					b = binary.LittleEndian.AppendUint32(b, 1|uint32(i)*tick<<17) // three bytes belong to no value
					b = binary.LittleEndian.AppendUint32(b, 0x42480000)
				}
				texts[fmt.Sprintf("%s/mem%d.dump", peer, 10*tick)] = string(binary.LittleEndian.AppendUint64(b, 0x7f0000000000+uint64(i)<<20))
			}
		}
		all, err := survey.For(files.Disk, []string{write(t, texts)})
		if err != nil {
			t.Fatal(err)
		}
		groups := all.Groups()
		if is := len(groups) > 0 && groups[0].Title == "raw memory of a struct"; is != c.fits {
			t.Errorf("%s: the layout is known: %t", name, is)
		}
		if !c.fits {
			continue
		}
		if got := compare(t, texts); got != "equal" {
			t.Errorf("%s: %s, expected equal", name, got)
		}
		other := []byte(texts["b/mem20.dump"])
		other[16]++ // hp
		texts["b/mem20.dump"] = string(other)
		if got := compare(t, texts); got != "differ" {
			t.Errorf("%s: another value: %s", name, got)
		}
	}
}
