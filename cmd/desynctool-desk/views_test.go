package main

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/desynctool/desynctool/bisect"
	"github.com/desynctool/desynctool/desk"
	"github.com/desynctool/desynctool/internal/testkit/pinned"
	"github.com/desynctool/desynctool/report/document"
)

// deskBug is a bug of the game arena, as its reports show it.
type deskBug struct {
	step, field, cause string
	builds             []string
	reports, firstDay  int // how many, and on which day of 2026 the first was played
	arm                bool
}

var deskBugs = []deskBug{
	{"Combat", "Health.hp i32", "rng-leak", []string{"1.4.0", "1.4.1", "1.4.2"}, 40, 1, false},
	{"Movement", "Position.x f64", "float", []string{"1.4.1", "1.4.2", "1.5.0"}, 17, 20, true},
	{"Pathfinding", "Unit.target entity", "iteration-order", []string{"1.4.2", "1.5.0"}, 9, 40, false},
	{"Economy", "Stockpile.wood u32", "", []string{"1.5.0"}, 3, 55, false},
	{"=SUM(A1:A9)", "<b>Evil</b>.\x1b[31mred", "", []string{"1.4.0"}, 1, 3, false},
}

// deskReport is a report of a bug.
func deskReport(b *deskBug, i int, random *rand.Rand) *document.Report {
	r := document.NoReport(document.Diverged, "")
	r.Error, r.Verdict = "", []string{"host and client diverged in tick 77, in " + b.step + "."}
	r.Kind = bisect.StateDiffers
	at := time.Date(2026, 1, b.firstDay+i, 10, 0, 0, 0, time.UTC)
	r.Session = document.Session{Game: "arena", Build: b.builds[i*len(b.builds)/b.reports], Seed: fmt.Sprintf("%016x", 7+i),
		Played: &document.Played{First: at.Format(time.RFC3339), Last: at.Add(time.Hour).Format(time.RFC3339), By: "the header"}}
	r.Peers = []document.TriagedPeer{{Name: "host", Group: 1}, {Name: "client", Group: 2}}
	tick := uint64(77)
	r.FirstDivergence = &document.FirstDivergence{Tick: &tick, Exact: true, Archetypes: []string{}}
	r.Ladder = []document.Rung{{Step: "tick", State: document.RungFound, Found: "77"}, {Step: "field", State: document.RungFound, Found: b.field}, {Step: "cause", State: document.RungOpen, Found: "not known"}}
	r.Send = []document.Request{{What: "a trace with the checksum after each system", For: []string{"cause"}}}
	for _, f := range [][2]string{{"kind", "arena state"}, {"step", b.step}, {"field", b.field}} {
		h := sha256.Sum256([]byte(f[0] + f[1]))
		r.Fingerprints = append(r.Fingerprints, document.Fingerprint{Level: document.Level(f[0]), Name: f[1], Digest: hex.EncodeToString(h[:8])})
	}
	r.Fingerprint = r.Fingerprints[2].Digest
	if b.cause != "" {
		r.Causes = []document.Cause{{Class: b.cause, Title: b.cause, Standing: "looks-like"}}
	}
	cpu := "x86-64"
	if b.arm {
		cpu = "arm64"
	}
	r.Stated = []document.Fact{{Name: "cpu", Values: map[string]string{"host": "x86-64", "client": cpu}}, {Name: "os", Values: map[string]string{"client": []string{"linux", "windows"}[random.IntN(2)]}}}
	return r
}

// viewedDesk makes a store in a folder, with a clock that does not move: reports of some bugs, one only claimed, one in
// sync, one bundle that waits. The first bug is closed, and comes back.
func viewedDesk(t *testing.T, dir string) {
	t.Helper()
	check := func(err error) {
		if t.Helper(); err != nil {
			t.Fatal(err)
		}
	}
	ctx := context.Background()
	s, err := desk.Open(ctx, dir, desk.Options{Create: true, Now: func() time.Time { return time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC) }})
	check(err)
	defer s.Close()
	n := 0
	add := func(complete int, list ...*document.Report) (group string) {
		n++
		h := sha256.Sum256(fmt.Append(nil, n))
		check(s.Write(ctx, func(tx *desk.Tx) error {
			name := fmt.Sprintf("upload-%d.zip", n)
			b, _, err := tx.Receive(ctx, desk.Bundle{Hash: hex.EncodeToString(h[:]), Name: name, Bytes: 1_000_000, Kept: "k", KeptBytes: 400_000}, desk.Receipt{Name: name, Source: "desk add"})
			if err != nil || len(list) == 0 {
				return err
			}
			var readings []desk.Reading
			for _, r := range list {
				readings = append(readings, desk.Reading{Report: r, Complete: complete})
			}
			changes, err := tx.Put(ctx, b.ID, "test", readings)
			if err == nil {
				group = changes[0].Group
			}
			return err
		}))
		return group
	}
	random := rand.New(rand.NewPCG(1, 2))
	var first string
	for k := range deskBugs {
		b := &deskBugs[k]
		for i := range b.reports {
			code := add(50+i%40, deskReport(b, i, random))
			if k == 0 {
				first = code
			}
		}
	}
	weak := deskReport(&deskBugs[0], 0, random)
	weak.Fingerprint, weak.Fingerprints, weak.Causes, weak.Kind = "", weak.Fingerprints[:1], nil, bisect.Claimed
	h := sha256.Sum256([]byte("message"))
	weak.Fingerprints = append(weak.Fingerprints, document.Fingerprint{Level: document.LevelMessage, Name: "out of sync at tick #", Digest: hex.EncodeToString(h[:8])})
	add(10, weak)
	fine := deskReport(&deskBugs[0], 1, random)
	fine.Status, fine.Fingerprints, fine.Fingerprint, fine.FirstDivergence = document.InSync, []document.Fingerprint{}, "", nil
	add(80, fine)
	e := &desk.Editor{Store: s, Who: "ann"}
	_, err = e.Note(ctx, first, "seen with two medics")
	check(err)
	_, err = e.CloseGroup(ctx, first, "1.4.3")
	check(err)
	back := deskReport(&deskBugs[0], 0, random)
	back.Session.Build, back.Session.Played.First = "1.5.0", "2026-02-27T10:00:00Z"
	add(90, back)
	add(0)
}

// TestDeskViews pins the output of the commands that ask a desk. -update writes the files again.
func TestDeskViews(t *testing.T) {
	t.Chdir(t.TempDir())
	viewedDesk(t, "desk")
	var codes []string
	out := deskRun(t, 0, "list", "--format", "csv")
	for _, line := range strings.Split(strings.TrimSpace(out), "\r\n")[1:] {
		codes = append(codes, line[:8])
	}
	for name, x := range map[string]struct {
		status int
		args   []string
	}{
		"list.txt":        {0, []string{"list"}},
		"list-next.txt":   {0, []string{"list", "state:any", "-n", "2"}},
		"list.md":         {0, []string{"list", "--format", "markdown"}},
		"list.csv":        {0, []string{"list", "--format", "csv"}},
		"list.json":       {0, []string{"list", "cause:float", "--format", "json"}},
		"none.txt":        {0, []string{"list", "game:openra"}},
		"reports.txt":     {0, []string{"list", "--reports", "build:>=1.5.0", "-n", "4"}},
		"reports.json":    {0, []string{"list", "--reports", "status:in-sync", "--format", "json"}},
		"group.txt":       {0, []string{"show", codes[0]}},
		"group-apart.txt": {0, []string{"show", codes[1][:6]}},
		"group.json":      {0, []string{"show", codes[1], "--format", "json"}},
		"group.md":        {0, []string{"show", codes[1], "--format", "markdown"}},
		"report.txt":      {0, []string{"show", "report", "41"}},
		"new.txt":         {0, []string{"new", "--since", "1.4.2"}},
		"new.csv":         {0, []string{"new", "--since", "1.4.2", "--format", "csv"}},
		"top.txt":         {0, []string{"top"}},
		"top.json":        {0, []string{"top", "-n", "1", "--format", "json"}},
		"stats.txt":       {0, []string{"stats"}},
		"stats.csv":       {0, []string{"stats", "--format", "csv"}},
		"check.txt":       {1, []string{"check", "--build", "1.5.0"}},
		"check.xml":       {1, []string{"check", "--build", "1.5.0", "--format", "junit"}},
		"check.json":      {3, []string{"check", "--build", "1.6.0", "--format", "json"}},
		"check-well.txt":  {0, []string{"check", "--build", "1.4.2", "--fail-on", "regression"}},
	} {
		got := deskRun(t, x.status, x.args...)
		pinned.File(t, filepath.Join(deskGolden, name), []byte(got))
	}
	if out := deskRun(t, 0, "show", weakCode(t), "--format", "text"); !strings.Contains(out, "Weak: too little is known") {
		t.Error(out)
	}
}

func weakCode(t *testing.T) string {
	return strings.Split(deskRun(t, 0, "list", "weak:yes", "--format", "csv"), "\r\n")[1][:8]
}

// TestDeskRefuses: an impossible request is one line with the reason.
func TestDeskRefuses(t *testing.T) {
	t.Chdir(t.TempDir())
	viewedDesk(t, "desk")
	for _, x := range []struct{ args, says string }{
		{"list biuld:1", "did you mean build"}, {"list -n 0", "expected 1 to 500"}, {"list --order size", "order"}, {"list --after x", "after x"},
		{"show ffff", "there is none"}, {"show report 9999", "there is none"}, {"new", "--since is missing"}, {"new --since summer", "no report has the build"},
		{"check", "--build is missing"}, {"check --build 1 --fail-on old", "expected new, regression or any"}, {"--store nowhere list", "there is no desk yet"},
	} {
		var out, errors bytes.Buffer
		status := run(strings.Fields(x.args), strings.NewReader(""), &out, &errors)
		if status != 2 || !strings.Contains(errors.String(), x.says) || strings.Count(errors.String(), "\n") != 1 || out.Len() > 0 {
			t.Errorf("%s: %d %q %q", x.args, status, errors.String(), out.String())
		}
	}
}

// deskGolden is where what is written is kept; the folder of the tests is another one.
var deskGolden = func() string {
	dir, err := filepath.Abs("testdata")
	if err != nil {
		panic(err)
	}
	return dir
}()

func deskRun(t *testing.T, status int, args ...string) string {
	t.Helper()
	var out, errors bytes.Buffer
	if got := run(args, strings.NewReader(""), &out, &errors); got != status {
		t.Fatalf("desk %v ends with %d: %s", args, got, &errors)
	}
	return out.String()
}
