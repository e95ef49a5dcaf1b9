package rimworld

import (
	"archive/zip"
	"bytes"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/desynctool/desynctool/internal/testkit/pinned"
)

const folder = "../../testdata/rimworld"

// played is one trace as the mod keeps it, and side the traces of one peer. Writing is by the mod's own steps
// (ClientSyncOpinion.GetFormattedStackTracesForRange), reading knows nothing of it.
type played struct {
	tick, hash, gameTick int
	thing                string
	rng                  uint64
	frames               []string
	info                 *string // of an item without a stack
}

type peerTraces struct {
	list    []played
	radius  int
	newline string // that the machine ends lines with
}

// The stack under most draws, and what begins it.
var (
	postfix = "at Multiplayer.Client.Desyncs.DeferredStackTracing.Postfix () [0x00046] in <08a14d9a274c43cbafdecbd8fa838a5b>:0"
	draw    = "at (wrapper dynamic-method) MonoMod.Utils.DynamicMethodDefinition.Verse.Rand.get_Value_Patch1 () [0x00025] in <%s>:0"
	calls   = []string{
		"at Verse.Rand.Range (single,single) [0x00000] in <cb53cd4422904947932d33f561ad8d15>:0",
		"at Verse.AI.JobDriver_Wander.MakeNewToils () [0x00012] in <cb53cd4422904947932d33f561ad8d15>:0",
		"at Verse.AI.JobDriver.ReadyForNextToil () [0x00000] in <cb53cd4422904947932d33f561ad8d15>:0",
		"at Verse.Pawn.Tick () [0x0001c] in <cb53cd4422904947932d33f561ad8d15>:0",
		"Null",
	}
	other = "at Example.Mod.Settings.Chance () [0x00003] in <5d7a30f0d9b44c1f8f3f0b1f5c2e7a11>:0"
)

// combine is the mod's HashCombineInt.
func combine(seed, value int32) int32 {
	return int32(int64(seed) ^ (int64(value) + 2654435769 + (int64(seed) << 6) + (int64(seed) >> 2)))
}

func (p *played) seal() {
	hash := int32(0)
	for i, f := range p.frames {
		if i == 6 {
			break
		}
		name, _, _ := strings.Cut(f, " [")
		sum := int32(23)
		for _, c := range name {
			sum = sum*31 + int32(c)
		}
		hash = combine(hash, sum)
	}
	for _, v := range []int32{int32(len(p.frames)), int32(p.rng >> 32), int32(p.rng)} {
		hash = combine(hash, v)
	}
	p.hash = int(hash)
}

// session is what two peers keep: from trace 63 on the client draws from a mod's settings,
// which the host's build does not.
func session(count, parts int) (local, host peerTraces) {
	make := func(module string, own bool) (list []played) {
		rng := uint64(0x123456789abcdef)
		for i := range count {
			tick := 94980 + i/16
			frames := slices.Concat([]string{postfix, fmt.Sprintf(draw, module)}, calls)
			if own && i == parts {
				frames[4] = other
			}
			if own && i > parts {
				rng++
			}
			p := played{tick: tick, gameTick: 77000 + i/16, thing: fmt.Sprintf("Muffalo%d", 1000+i%16), rng: rng, frames: frames}
			if i%16 == 15 {
				p.thing = "0" // nothing is ticked
			}
			p.seal()
			list = append(list, p)
			rng = rng*6364136223846793005 + 1442695040888963407
		}
		return list
	}
	local = peerTraces{make("7d173b5c15724e3091f1e8ddff8e2abc", true), 6, "\n"}
	host = peerTraces{make("0c0ffee0c0ffee0c0ffee0c0ffee0c0f", false), 8, "\r\n"}
	host.list = host.list[:count-3]
	return local, host
}

func (s *peerTraces) item(i int) string {
	if i < 0 || i >= len(s.list) {
		return ""
	}
	p := &s.list[i]
	info := fmt.Sprintf("%d %s New Arrivals %d %d ", p.gameTick, p.thing, len(p.frames), p.rng)
	if p.info != nil {
		info = *p.info
	}
	text := fmt.Sprintf("Tick:%d Hash:%d '%s'\n", p.tick, p.hash, info)
	for _, f := range p.frames {
		text += f + s.newline
	}
	return text
}

// text is what the mod writes for traces around diffAt, which is -1 if none differs.
func (s *peerTraces) text(diffAt int) string {
	var b strings.Builder
	fmt.Fprintf(&b, "Trace count: %d\nTrace of first desynced map random state:\n%d %s\n\nContext traces:\n", len(s.list), diffAt, s.item(diffAt))
	start, end := max(0, diffAt-s.radius), min(diffAt+s.radius, len(s.list))
	for i := start; i < end; i++ {
		if i > start {
			b.WriteString("\n\n")
		}
		fmt.Fprintf(&b, "%d %s", i, s.item(i))
	}
	return b.String()
}

const info = `###Tick Data###
Arbiter Connected And Playing|||False
Last Valid Tick - Local|||94930
Last Valid Tick - Arbiter|||False

###Version Data###
Multiplayer Mod Version|||0.11.0
Rimworld Version and Rev|||1.6.4518 rev45

###Debug Options###
Multiplayer Debug Build - Client|||False
Multiplayer Debug Mode - Host|||False
Rimworld Developer Mode - Client|||False

###Server Info###
Player Count|||2
Async time active|||False
Multifaction active|||False
Map Count|||1

###CPU Info###
Processor Name|||Example CPU 3000
Processor Speed (MHz)|||3000
Thread Count|||8

###GPU Info###
GPU Family|||Example
GPU Type|||Vulkan
GPU Name|||Example GPU
GPU VRAM|||4096

###RAM Info###
Physical Memory Present|||16384

###OS Info###
OS Type|||Linux
OS Name and Version|||Linux 6.8 Example 24.04 64bit
`

const metadata = `Log generated on Monday, 1 January 2024, 00:00:00
Loaded mods:
Harmony(brrainz.harmony)[mv:2.3.3.0]: 0Harmony(2.3.3)
Core(Ludeon.RimWorld): (no assemblies)
Multiplayer(rwmt.Multiplayer): Multiplayer(0.11.0), MultiplayerCommon(0.11.0)
Example Mod(example.mod): ExampleMod(1.0.0)

Active Harmony patches:
`

const jitted = `In simulation:
0 Verse.Rand.get_Value from Verse.Rand.Range m:[] w:94980 t:94980 i:False


In interface:`

// fixture are the files of Desync-01.zip by their names, in the order of the mod.
func fixture() (names []string, content map[string]string) {
	local, host := session(120, 63)
	names = []string{"desync_info", "local_traces.txt", "host_traces.txt", "local_jitted_methods.txt", "host_jitted_methods.txt", "local_metadata.txt"}
	return names, map[string]string{
		"desync_info": info, "local_traces.txt": local.text(63), "host_traces.txt": host.text(63),
		"local_jitted_methods.txt": jitted, "host_jitted_methods.txt": jitted, "local_metadata.txt": metadata,
	}
}

// TestFixture: the files that are checked in are what the writer here makes.
func TestFixture(t *testing.T) {
	names, content := fixture()
	var packed bytes.Buffer
	z := zip.NewWriter(&packed)
	for _, name := range names {
		w, err := z.Create(name)
		if err == nil {
			_, err = w.Write([]byte(content[name]))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	if pinned.Update() {
		pinned.Write(t, filepath.Join(folder, "Desync-01.zip"), packed.Bytes())
	}
	z2, err := zip.OpenReader(filepath.Join(folder, "Desync-01.zip"))
	if err != nil {
		t.Fatal(err)
	}
	defer z2.Close()
	if len(z2.File) != len(names) {
		t.Fatalf("%d files, want %d", len(z2.File), len(names))
	}
	for i, f := range z2.File {
		in, err := f.Open()
		if err != nil {
			t.Fatal(err)
		}
		var b bytes.Buffer
		if _, err := b.ReadFrom(in); err != nil {
			t.Fatal(err)
		}
		if f.Name != names[i] || b.String() != content[f.Name] {
			t.Errorf("%s is not what is written; go test ./engines/rimworld -run TestFixture -write-fixtures", f.Name)
		}
	}
}
