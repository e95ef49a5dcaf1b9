package spring_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/desynctool/desynctool/engines/spring"
	"github.com/desynctool/desynctool/snapshot"
)

const (
	hashesFile = "ClientGameState-1804289383-[600-602].txt"
	floatsFile = "ServerGameState-846930886-[600-602].txt"
)

func stateRead(t testing.TB, text string) *snapshot.World {
	t.Helper()
	w, err := spring.Read(strings.NewReader(text), int64(len(text)), "x")
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Validate(); err != nil {
		t.Fatal(err)
	}
	return w
}

func cell(w *snapshot.World, label, key, column string) string {
	for i := range w.Tables {
		table := &w.Tables[i]
		if table.Label != label {
			continue
		}
		for j := range table.Columns {
			for row := range table.Rows() {
				if c := &table.Columns[j]; c.Name() == column && table.Keys.At(row).String() == key {
					return c.At(row).String()
				}
			}
		}
	}
	return "no cell"
}

func tables(w *snapshot.World) (list []string) {
	for i := range w.Tables {
		list = append(list, fmt.Sprint(w.Tables[i].Class, " ", w.Tables[i].Label, " ", w.Tables[i].Rows()))
	}
	return list
}

// TestRecoilParts checks that the engine's frame N is at its end.
func TestRecoilParts(t *testing.T) {
	for _, name := range []string{hashesFile, floatsFile} {
		text := stateLoad(t, "recoil", name)
		list := parts(t, text)
		if len(list) != 2 {
			t.Fatal(list)
		}
		for i, number := range []uint64{600, 602} {
			p := list[i]
			want := snapshot.Point{Tick: number + 1, Native: fmt.Sprintf("frame %d", number), Relation: snapshot.EndOf}
			if p.Point != want || p.Seed != 0x0123456789abcdef || !strings.HasPrefix(text[p.Offset:], fmt.Sprintf("frame: %d,", number)) {
				t.Errorf("%+v", p)
			}
		}
		if last := list[1]; last.Offset+last.Size != int64(len(text)) {
			t.Errorf("%+v of %d bytes", last, len(text))
		}
		// The whole file of one frame contains data about itself that its part cannot.
		head := text[:list[1].Offset]
		w := stateRead(t, head)
		if w.Point != list[0].Point || w.Seed != list[0].Seed || w.Meta["map"] != "Test Map v1" || w.Meta["game"] != "Test Game 7" ||
			w.Meta["build"] != "105.1.1-1821-gaca6f20 BAR105" || w.Meta["game_id"] != "0123456789abcdeffedcba9876543210" {
			t.Errorf("%+v", w.Head)
		}
	}
}

// TestRecoil pins the tables of the shape that Recoil's source has.
func TestRecoil(t *testing.T) {
	all := map[string][2]*snapshot.World{}
	for _, name := range []string{hashesFile, floatsFile} {
		list := frames(t, stateLoad(t, "recoil", name))
		all[name] = [2]*snapshot.World{stateRead(t, list[0]), stateRead(t, list[1])}
		want := []string{
			"archetype AllyTeam 2", "archetype CobThread 3", "archetype Feature 1", "archetype Game 1", "archetype LosMap 14",
			"archetype Model 2", "archetype ModelPiece 3", "archetype Projectile 1", "archetype Team 2", "archetype Unit 2",
			"archetype UnitCommand 2", "archetype UnitPiece 4", "archetype UnitToBeRemoved 1", "archetype UnitWeapon 2",
		}
		if diff := cmp.Diff(want, tables(all[name][0])); diff != "" {
			t.Error(diff)
		}
		want = append(append(want[:5:5], want[7:]...), "cache FrameChecksum 3")
		if diff := cmp.Diff(want, tables(all[name][1])); diff != "" {
			t.Error(diff)
		}
		for _, c := range []struct{ label, key, column, want string }{
			{"Game", "0", "Game.seed", "3026834777"},
			{"Game", "0", "math constants.PI", "3.1415927"},
			{"Game", "0", "math constants.INVPI#2", "0.31830987"},
			{"Game", "0", "Game.mapCheckSum", `"` + strings.Repeat("0f", 64) + `"`},
			{"Game", "0", "CobEngine.currentTime", "5"},
			{"Game", "0", "CobEngine.CobThreads", "3"},
			{"Game", "0", "CobEngine.WaitingThreads", "2"},
			{"Game", "0", "CobEngine.ids", `"3 12"`},
			{"Game", "0", "CobEngine.SleepingThreads", "0"},
			{"Game", "0", "CobEngine.wts|ids", `""`},
			{"Game", "0", "Game.heightmap checksum as uint32t", "3735928559"},
			{"Game", "0", "Game.smoothMesh checksum as uint32t", "3"},
			{"Model", "1", "Model.name", `"objects3d/tree.s3o"`},
			{"Model", "0", "Model.numPieces", "2"},
			{"Model", "0", "Model.height", "48.5"},
			{"ModelPiece", "0:1", "ModelPiece.parentName", `"base"`},
			{"ModelPiece", "1:0", "ModelPiece.parentName", `"(NULL)"`},
			{"Unit", "17206", "Unit.name", `"armcom"`},
			{"Unit", "17206", "Unit.heading", "-325"},
			{"Unit", "17206", "Unit.mapSquare", "4711"},
			{"Unit", "17206", "Unit.health", "1160.5"},
			{"Unit", "17206", "Unit.inBuildStance", "1"},
			{"Unit", "17206", "Unit.pieces", "2"},
			{"Unit", "17206", "commandAI.orderTarget->id", "-1"},
			{"Unit", "17206", "commandAI.commandQue.size()", "2"},
			{"Unit", "17206", "moveType.maxSpeed", "1.5"},
			{"Unit", "17206", "moveType.CGroundMoveType", "true"},
			{"Unit", "42", "moveType.CGroundMoveType", "absent"},
			{"Unit", "42", "CBuilder.curBuild", "17206"},
			{"Unit", "42", "CBuilder.curBuild#text", "absent"},
			{"Unit", "17206", "CBuilder.curBuild#text", `"(nullptr)"`},
			{"Unit", "17206", "CBuilder.tx1,tx2,tz1,tz2", `"0,4,0,8"`},
			{"UnitPiece", "17206:1", "UnitPiece.parentName", `"base"`},
			{"UnitPiece", "42:0", "UnitPiece.parentName", `"[null]"`},
			{"UnitPiece", "42:0", "UnitPiece.visible", "1"},
			{"UnitWeapon", "42:0", "UnitWeapon.name", `"gun"`},
			{"UnitCommand", "17206:0", "UnitCommand.commandID", "10"},
			{"UnitCommand", "17206:0", "UnitCommand.params[0]", "1234.57"},
			{"UnitCommand", "17206:0", "UnitCommand.params[2]", "1000000"},
			{"UnitCommand", "17206:1", "UnitCommand.commandID", "-45"},
			{"UnitCommand", "17206:1", "UnitCommand.options", "32"},
			{"UnitToBeRemoved", "9", "UnitToBeRemoved.name", `"corak"`},
			{"CobThread", "700", "CobThread.owner", "-1"},
			{"CobThread", "12", "CobThread.t.wt", "19980"},
			{"CobThread", "3", "CobThread.dead|gargage|waiting", `"0|0|1"`},
			{"Feature", "5", "Feature.reclaimLeft", "1"},
			{"Projectile", "77", "Projectile.checkCol", "1"},
			{"Team", "1", "Team.controller", `"AI: Bob, the (second)"`},
			{"Team", "0", "Team.energy", "1000.5"},
			{"LosMap", "1:6", "LosMap.hash", "4000000016"},
		} {
			if got := cell(all[name][0], c.label, c.key, c.column); got != c.want {
				t.Errorf("%s: %s %s %s: %s, want %s", name, c.label, c.key, c.column, got, c.want)
			}
		}
		if got := cell(all[name][1], "FrameChecksum", "601:1", "FrameChecksum.checksum"); got != `"00000001"` {
			t.Error(got)
		}
	}
	hashes, floats := all[hashesFile][0], all[floatsFile][0]
	for _, c := range []struct{ label, key, field, x string }{
		{"Unit", "17206", "Unit.pos", "17206"}, {"Projectile", "77", "Projectile.dir", "1"}, {"UnitPiece", "42:1", "UnitPiece.pos", "0"},
		{"ModelPiece", "0:1", "ModelPiece.scales#2", "-1"}, {"Unit", "17206", "CGroundMoveType.nextWayPoint", "8"},
	} {
		a, b := cell(hashes, c.label, c.key, c.field+".hash"), cell(floats, c.label, c.key, c.field+".hash")
		if a != b || a == "no cell" || cell(floats, c.label, c.key, c.field+".x") != c.x || cell(hashes, c.label, c.key, c.field+".x") != "no cell" {
			t.Errorf("%s %s: %s, %s", c.label, c.field, a, b)
		}
	}
	if got := cell(floats, "ModelPiece", "0:0", "ModelPiece.bposeMatrix.13"); got != "-2.5" {
		t.Error(got)
	}
}

// TestValues pins what a value becomes by its key and shape.
func TestValues(t *testing.T) {
	for _, c := range []struct{ line, want string }{
		{"health: 1160.888184", "Unit.health f32 1160.8882"},
		{"health: 1150353408", "Unit.health f32 1160"}, // bits
		{"health: 1150353408 <1160>", "Unit.health f32 1160"},
		{"health: 1150353408 <1161>", `Unit.health#text string "1150353408 <1161>"`},
		{"health: 2143289344 <nan>", "Unit.health f32 nan(0x7fc00000)"},
		{"health: -1", "Unit.health#int i64 -1"},
		{"health: 1160.888185", `Unit.health#text string "1160.888185"`}, // of no f32
		{"health: 440.601563", "Unit.health f32 440.60156"},              // 440.6015625 rounded up
		{"health: 440.601562", "Unit.health f32 440.60156"},
		{"health: -0.000000", "Unit.health f32 -0"},
		{"health: 00.5", `Unit.health#text string "00.5"`},
		{"health: 1e+20", "Unit.health f32 100000000000000000000"},
		{"health: inf", "Unit.health f32 inf"},
		{"health: x", `Unit.health#text string "x"`},
		{"health: \xff", `Unit.health#text string "\xff"`},
		{"pos: <1.5, -2.000000, 3>", "Unit.pos.x f32 1.5; Unit.pos.y f32 -2; Unit.pos.z f32 3"},
		{"pos: <1.5>", "Unit.pos.x f32 1.5"},
		{"pos: <1.5, x>", `Unit.pos#text string "<1.5, x>"`},
		{"pos: <>", `Unit.pos#text string "<>"`},
		{"pos: <", `Unit.pos#text string "<"`},
		{"pos: <" + strings.Repeat("1,", 16) + "1>", `Unit.pos#text string "<` + strings.Repeat("1,", 16) + `1>"`},
		{"pos: 4294967295", "Unit.pos.hash u32 4294967295"},
		{"pos: 4294967296", "Unit.pos#int i64 4294967296"},
		{"pos: <7", "Unit.pos.hash u32 7"},
		{"pos: 7 <1,2>", "Unit.pos.hash u32 7; Unit.pos.x f32 1; Unit.pos.y f32 2"},
		{"pos: <7 <1,2>", "Unit.pos.hash u32 7; Unit.pos.x f32 1; Unit.pos.y f32 2"},
		{"foo: -3", "Unit.foo i64 -3"},
		{"foo: 007", `Unit.foo#text string "007"`},
		{"foo: 9223372036854775809", `Unit.foo#text string "9223372036854775809"`},
		{"foo: 0.5", "Unit.foo#number f32 0.5"},
		{"foo 3", "Unit.foo i64 3"},
		{"foo:3, bar: 4\t\tbaz: 5", "Unit.bar i64 4; Unit.baz i64 5; Unit.foo i64 3"},
		{"foo:", "Unit.foo bool true"},
		{"The unit is CBuilder:", "Unit.CBuilder bool true"},
		{"name: a, b: c", `Unit.name string "a, b: c"`},
	} {
		text := "frame: 1, seed: 0\n\tunits: 1\n\t\tunitID: 1\n\t\t\t" + c.line + "\n\tteams: 0\n"
		unit := stateRead(t, text).Table(snapshot.Archetype, "Unit")
		var got []string
		for i := range unit.Columns {
			col := &unit.Columns[i]
			got = append(got, fmt.Sprint(col.Name(), " ", col.Type, " ", col.At(0)))
		}
		if s := strings.Join(got, "; "); s != c.want {
			t.Errorf("%s: %s, want %s", c.line, s, c.want)
		}
	}
}
