package main

import (
	"archive/tar"
	"archive/zip"
	"compress/gzip"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/desynctool/desynctool/internal/testkit/effort"
	"github.com/desynctool/desynctool/report/document"
)

// triageTruth is what is true of a real match, by the notes that came with it.
type triageTruth struct {
	dir    string
	exit   int
	status document.Status
	kind   string
	// good and bad are the engine's names of the ends of the bracket.
	good, bad  string
	tick       uint64 // 0 if it is not known
	system     string
	archetypes []string // that differ where the peers diverged, or may have first
	fields     []string // archetype key component.field, some of them
	rows       []string // archetype key peer, of entities on one side only
	groups     [][]string
	inputs     string // how the first order differs that does
	// verdict and ladder are in the first lines, and in the steps of the narrowing.
	verdict, ladder []string
}

var triageTruths = []triageTruth{
	{dir: "openttd/insync", status: document.InSync, verdict: []string{"No difference was found", "the orders are equal (92)"}},
	{
		dir: "openttd/rng_poke", exit: 1, status: document.Diverged, kind: "state", good: "000adec0", bad: "000adee0",
		archetypes: []string{"", "CITY.supplied", "MAP5"}, fields: []string{" RNG.state", "CITY.supplied 1:2 supplied.new_max", "MAP5 1608 MAP5.u8"},
		groups:  [][]string{{"client"}, {"server"}},
		verdict: []string{"between state points 000adec0 (52716416) and 000adee0 (52718784): the RNG differs; "}, ladder: []string{"client: sync_err", "000adee0;01 (52718785) is an upper bound"},
	},
	{
		dir: "openttd/money_poke", exit: 1, status: document.Diverged, kind: "state", good: "000adec0", bad: "000adee0",
		archetypes: []string{"PLYR", "PLYR.old_economy"},
		fields:     []string{"PLYR 0 PLYR.money", "PLYR.old_economy 0:0 old_economy.company_value", "PLYR.old_economy 0:0 old_economy.performance_history"},
		groups:     [][]string{{"client"}, {"server"}}, inputs: "failed",
		verdict: []string{"PLYR.money of company 0 is 83 on client and 264123 on server"}, ladder: []string{"equal until the states diverged", "the order 0x1e CMD_PLANT_TREE of player 0 failed on client", "000adef4;32"},
	},
	{
		dir: "openttd/town_poke", exit: 1, status: document.Diverged, kind: "state", good: "000adea0", bad: "000adec0",
		archetypes: []string{"CITY"}, fields: []string{"CITY 0 CITY.grow_counter"}, groups: [][]string{{"client"}, {"server"}},
		verdict: []string{"CITY.grow_counter of town 0 (tile x 17, y 36) is 4039 on client and 5315 on server"}, ladder: []string{"000adef6;3c"},
	},
	{
		dir: "openttd/dropped_sign", exit: 1, status: document.Diverged, kind: "state", good: "000adee0", bad: "000adf00",
		archetypes: []string{"SIGN"}, rows: []string{"SIGN 1 server"}, groups: [][]string{{"client"}, {"server"}}, inputs: "missing",
		verdict: []string{"sign 1 (sign 11) exists only on server", "in tick 000adef0;12 (52719986) the order 0x3b CMD_PLACE_SIGN of player 1 is missing on client", "input-dropped"},
	},
	{
		dir: "openttd/cache_poke", exit: 1, status: document.Diverged, kind: "stale-cache",
		verdict: []string{"“town cache mismatch: town 0” after tick 000adf00;00", "no state was compared", "stale-cache"}, ladder: []string{"no state was compared"},
	},
	{dir: "0ad/control_mp_orders", status: document.InSync, verdict: []string{"463 recorded hashes", "the orders are equal (20)"}},
	{
		dir: "0ad/mp_late_damage", exit: 1, status: document.Diverged, kind: "state", good: "after turn 23", bad: "after turn 24", tick: 24,
		archetypes: []string{"BattleDetection", "BattleDetection.damageRecord", "Health"},
		fields: []string{
			"BattleDetection 3 BattleDetection.damage", "BattleDetection.damageRecord 4:0 BattleDetection.damageRecord[]", "Health 35 Health.hitpoints", "Health 148 Health.hitpoints",
		},
		groups:  [][]string{{"client"}, {"host"}},
		verdict: []string{"diverged in tick 24 (equal after turn 23, different after turn 24)"}, ladder: []string{"hashes in the order logs differ from state point 40 on"},
	},
	{
		dir: "0ad/replay_walkspeed", exit: 1, status: document.Diverged, kind: "state", good: "after turn 16", bad: "after turn 17", tick: 17,
		fields: []string{"Position 153 Position.x", "UnitMotion 153 UnitMotion.current speed"}, groups: [][]string{{"modded"}, {"stock"}}, verdict: []string{"in tick 17 "},
	},
	{
		dir: "0ad/mp_orders_walkspeed", exit: 1, status: document.Diverged, kind: "state", good: "after turn 16", bad: "after turn 17", tick: 17,
		fields: []string{"Position 151 Position.x", "Position 152 Position.x"}, groups: [][]string{{"client"}, {"host"}}, verdict: []string{"in tick 17 "},
	},
	{dir: "spring/control", status: document.InSync, verdict: []string{"No difference was found", "checksums of 3 peers"}},
	{
		dir: "spring/silent_health", exit: 1, status: document.Diverged, kind: "blind-checksum", good: "frame 600", bad: "frame 630",
		archetypes: []string{"Unit"}, fields: []string{"Unit 15920 Unit.health"}, groups: [][]string{{"Alice", "Carol"}, {"Bob"}},
		verdict: []string{"Unit.health of unit 15920 (tank) is 1163.2745 on Alice and 962.3624 on Bob", "every checksum agrees, so none of them covers that", "Alice = Carol ≠ Bob"},
		ladder:  []string{"agree, though the states differ", "the majority may be wrong"},
	},
	{
		dir: "spring/pos_1ulp", exit: 1, status: document.Diverged, kind: "state", good: "frame 600", bad: "frame 630",
		archetypes: []string{"Unit", "UnitWeapon"}, fields: []string{"Unit 17206 Unit.pos.z"}, groups: [][]string{{"Alice", "Bob"}, {"Carol"}},
		verdict: []string{"Unit.pos.z of unit 17206 is ", "; checksums differ from tick 601 on", "Alice = Bob ≠ Carol"},
		ladder:  []string{"differ from tick 601 on", "the engine noticed later", "in frame 712", "tick 712 is an upper bound"},
	},
	{
		dir: "spring/checksum_only", exit: 1, status: document.Diverged, kind: "checksum-only",
		verdict: []string{"Only checksums differ, the states are equal at all 151", "from tick 3500 to 4096 and agree again from 4097 on: Alice ≠ Bob ≠ Carol", "checksum-defect"},
		ladder:  []string{"no state differs", "the engine reports the same"},
	},
	{dir: "warzone2100/insync_3peer", status: document.InSync, verdict: []string{"2 of 2 pairs of states"}},
	{
		dir: "warzone2100/player_power_3peer", exit: 1, status: document.Diverged, kind: "state", good: "25602", bad: "25702", tick: 256, system: "syncDebugEconomy",
		archetypes: []string{"Economy"}, fields: []string{"Economy 1 economy.power"}, groups: [][]string{{"slot 0", "slot 2"}, {"slot 1"}},
		verdict: []string{"in tick 25602 to 25702 (256), in syncDebugEconomy, economy1", "slot 0 = slot 2 ≠ slot 1"}, ladder: []string{"5583457484800 on slot 0, 5587752452096 on slot 1"},
	},
	{
		dir: "widelands/cmdact_serial", exit: 1, status: document.Diverged, kind: "state", good: "after tick 161380 ms", bad: "after tick 161431 ms", tick: 161431, system: "Act",
		groups:  [][]string{{"client 1"}, {"host"}},
		verdict: []string{"in tick 161431 ms, in Act, CmdAct: serial 305 on client 1, serial 304 on host"},
		ladder:  []string{"differ from 161600 ms on", "tick 162175 ms is an upper bound"},
	},
}

// TestTriageTruth: the report of each real match states its truth, from a folder, from a
// folder of each peer, and from archives.
func TestTriageTruth(t *testing.T) {
	for i, tr := range triageTruths {
		bundles := []string{"bundle.zip", "bundle.tar.gz"}
		switch {
		case effort.Full():
		case i%3 == 0:
			bundles = bundles[i%2:][:1]
		default:
			bundles = nil
		}
		t.Run(tr.dir, func(t *testing.T) {
			t.Parallel()
			dir := filepath.Join("..", "..", "testdata", filepath.FromSlash(tr.dir))
			var r document.Report
			desynctool(t, tr.exit, &r, "triage", dir, "--format", "json")
			tr.check(t, &r)
			for _, name := range bundles {
				path := filepath.Join(t.TempDir(), name)
				writeBundle(t, path, dir)
				var packed document.Report
				desynctool(t, tr.exit, &packed, "triage", path, "--format", "json")
				if !slices.Equal(packed.Verdict, r.Verdict) || packed.Fingerprint != r.Fingerprint {
					t.Errorf("%s says %q, the folder %q", name, packed.Verdict, r.Verdict)
				}
			}
			if entries, _ := filepath.Glob(filepath.Join(dir, "*", "*")); len(entries) > 0 && tr.kind != "checksum-only" && tr.dir != "spring/pos_1ulp" {
				// Those two have their traces next to the folders.
				var apart document.Report
				args := []string{"triage", "--format", "json"}
				for _, path := range entries {
					if folder := filepath.Dir(path); !slices.Contains(args, folder) {
						args = append(args, folder)
					}
				}
				desynctool(t, tr.exit, &apart, args...)
				if apart.Kind != r.Kind || len(apart.Verdict) == 0 || len(r.Ladder) == 0 || tr.kind == "state" && apart.Verdict[0] != r.Verdict[0] {
					t.Errorf("folder by folder: %q, the folder of all %q", apart.Verdict, r.Verdict)
				}
			}
		})
	}
}

func (tr *triageTruth) check(t *testing.T, r *document.Report) {
	t.Helper()
	if r.Status != tr.status || string(r.Kind) != tr.kind {
		t.Errorf("%s, %q; expected %s, %q", r.Status, r.Kind, tr.status, tr.kind)
	}
	d := r.FirstDivergence
	switch {
	case (d != nil) != (tr.bad != ""):
		t.Fatalf("first divergence is %+v", d)
	case d == nil:
	default:
		if n := d.Bracket.Native; n == nil || n.Good != tr.good || n.Bad != tr.bad {
			t.Errorf("bracket %+v, expected %s to %s", n, tr.good, tr.bad)
		}
		if d.Bracket.Good == nil || *d.Bracket.Good >= d.Bracket.Bad {
			t.Errorf("bracket %+v", d.Bracket)
		}
		if (d.Tick != nil) != (tr.tick > 0) || d.Tick != nil && *d.Tick != tr.tick {
			t.Errorf("tick %v, expected %d", d.Tick, tr.tick)
		}
		if d.System != tr.system {
			t.Errorf("system %q, expected %q", d.System, tr.system)
		}
		if tr.archetypes != nil && !slices.Equal(d.Archetypes, tr.archetypes) {
			t.Errorf("archetypes %q, expected %q", d.Archetypes, tr.archetypes)
		}
	}
	var fields, rows []string
	for _, f := range r.Locus {
		fields = append(fields, strings.TrimSuffix(f.Archetype+" "+f.Key, " ")+" "+f.Component+"."+f.Field)
	}
	if r.Compared != nil {
		for _, only := range r.Compared.Rows {
			for _, key := range only.Keys {
				rows = append(rows, only.Archetype+" "+key+" "+only.Peer)
			}
		}
	}
	for _, want := range tr.fields {
		if !slices.Contains(fields, want) {
			t.Errorf("%q is not among %q", want, fields)
		}
	}
	if len(tr.archetypes) > 0 && len(tr.fields) > 1 && len(tr.fields) != len(fields) {
		t.Errorf("fields %q, expected %q", fields, tr.fields)
	}
	if !slices.Equal(rows, tr.rows) {
		t.Errorf("rows %q, expected %q", rows, tr.rows)
	}
	groups := make([][]string, len(tr.groups))
	for _, p := range r.Peers {
		if p.Group > 0 && p.Group <= len(groups) {
			groups[p.Group-1] = append(groups[p.Group-1], p.Name)
		}
	}
	if !slices.EqualFunc(groups, tr.groups, slices.Equal) {
		t.Errorf("groups %q, expected %q", groups, tr.groups)
	}
	inputs := ""
	if r.Inputs != nil && len(r.Inputs.Differences) > 0 {
		inputs = string(r.Inputs.Differences[0].Kind)
	}
	if inputs != tr.inputs {
		t.Errorf("inputs %q, expected %q", inputs, tr.inputs)
	}
	ladder := ""
	for _, g := range r.Ladder {
		ladder += g.Step + ": " + g.Found + ": " + g.Evidence + "\n"
	}
	for where, want := range map[string][]string{strings.Join(r.Verdict, "\n"): tr.verdict, ladder: tr.ladder} {
		for _, words := range want {
			if !strings.Contains(where, words) {
				t.Errorf("%q is not in\n%s", words, where)
			}
		}
	}
}

// bundle packs a folder.
func writeBundle(t *testing.T, path, dir string) {
	t.Helper()
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if strings.HasSuffix(path, ".zip") {
		z := zip.NewWriter(f)
		if err := z.AddFS(os.DirFS(dir)); err != nil {
			t.Fatal(err)
		}
		closed(t, z)
		return
	}
	g := gzip.NewWriter(f)
	w := tar.NewWriter(g)
	if err := w.AddFS(os.DirFS(dir)); err != nil {
		t.Fatal(err)
	}
	closed(t, w)
	closed(t, g)
}

func closed(t *testing.T, c io.Closer) {
	t.Helper()
	if err := c.Close(); err != nil {
		t.Fatal(err)
	}
}
