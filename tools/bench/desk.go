//go:build unix

package main

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/desynctool/desynctool/bisect/refsim"
	"github.com/desynctool/desynctool/bisect/refsim/session"
	"github.com/desynctool/desynctool/desk"
	"github.com/desynctool/desynctool/internal/lists"
	"github.com/desynctool/desynctool/report/document"
	"github.com/desynctool/desynctool/report/triage"
	"github.com/desynctool/desynctool/tools/internal/try"
)

// deskOf determines which parts of the desk are measured.
type deskOf struct {
	bundles  int    // to add, read in this process; 0 for none
	isolated int    // to add, each read by a separate process
	uploads  int    // of 1 MB each
	queued   int    // bundles that one worker reads, and then two, if postgres is set
	reports  int    // synthetic ones to insert; 0 for none
	groups   int    // of the synthetic reports
	copies   int    // copies of each that the database creates; the others are inserted
	postgres string // address of an empty database to measure too; empty to measure only SQLite
}

// desk measures the store of reports.
func (b *bench) desk(of deskOf) {
	ctx := context.Background()
	fmt.Println("\n| What | Figure | Goal |")
	fmt.Println("|---|---|---|")
	if of.comes() {
		b.deskComes(of)
	}
	if of.reports == 0 {
		return
	}
	b.deskMany(ctx, filepath.Join(b.dir, "desk"), of)
	if of.postgres != "" {
		b.deskMany(ctx, of.postgres, of)
	}
}

// putOne inserts the reports of a bundle with its name as its content.
func putOne(ctx context.Context, tx *desk.Tx, name string, reports []*document.Report) {
	sum := sha256.Sum256([]byte(name))
	hash := hex.EncodeToString(sum[:])
	bundle, _, err := tx.Receive(ctx, desk.Bundle{Hash: hash, Name: name, Bytes: 1 << 20, Kept: hash, KeptBytes: 1 << 18}, desk.Receipt{Name: name, Source: "bench"})
	try.Check(err)
	readings := lists.Map(reports, func(r *document.Report) desk.Reading { return desk.Reading{Report: r, Complete: 50} })
	try.Get(tx.Put(ctx, bundle.ID, "bench", readings))
}

// inTransaction is how many synthetic reports one transaction inserts.
const inTransaction = 1000

// deskMany measures a store of many synthetic reports: the time to insert them, their size, and the time for lists,
// searches and the pages of groups.
func (b *bench) deskMany(ctx context.Context, where string, of deskOf) {
	s := try.Get(desk.Open(ctx, where, desk.Options{Create: true}))
	defer s.Close()
	var has int
	try.Check(s.DB().QueryRowContext(ctx, "SELECT COUNT(*) FROM reports").Scan(&has))
	if has == 0 {
		b.deskFill(ctx, s, of)
	} else {
		of.reports = has // from an earlier run
	}
	kind := s.Kind()
	try.Get(s.DB().ExecContext(ctx, "ANALYZE"))
	b.deskSize(ctx, s, where, of.reports)
	codes := codesOf(ctx, s)
	for _, q := range deskQueries(ctx, s, of, codes) {
		n := 60
		if q.what == "desk stats" { // it counts all rows
			n = 5
		}
		took, used := times(n, q.ask)
		of := ""
		if kind == desk.SQLite { // PostgreSQL uses a separate process
			of = fmt.Sprintf("; processor time %.1f ms, **%.1f ms**", ms(used[len(used)/2]), ms(used[len(used)*95/100]))
		}
		fmt.Printf("| %s: %s, median and 95th percentile | %.1f ms, **%.1f ms**%s | ≤ 100 ms |\n", kind, q.what, ms(took[len(took)/2]), ms(took[len(took)*95/100]), of)
	}
}

// deskQuery is a query of a desk page or command.
type deskQuery struct {
	what string
	ask  func()
}

// deskQueries are all kinds of queries of a store, with different words each time.
func deskQueries(ctx context.Context, s *desk.Store, of deskOf, codes []string) []deskQuery {
	dice := rand.New(rand.NewPCG(1, 1))
	in := func(format string, n int) func() string {
		return func() string { return fmt.Sprintf(format, dice.IntN(n)) }
	}
	const systems, processors = "linux windows darwin", "amd64 arm64"
	one := func(words string) string { list := strings.Fields(words); return list[dice.IntN(len(list))] }
	groups := func(what string, words func() string) deskQuery { return deskQuery{what, filtered(ctx, s, words)} }
	reports := func(what string, words func() string) deskQuery {
		return deskQuery{what, func() { try.Get(s.Reports(ctx, try.Get(desk.ParseFilter(words())), desk.Page{})) }}
	}
	ordered := func(what string, by desk.Order) deskQuery {
		return deskQuery{what, func() { try.Get(s.Groups(ctx, desk.Filter{}, by, desk.Page{})) }}
	}
	var deep string // a page in the middle of the list
	return []deskQuery{
		ordered("list, by matches", desk.ByReports),
		ordered("list, last seen first", desk.ByLast),
		ordered("list, newest first", desk.ByFirst),
		{"list, a page in the middle", func() {
			for at := 0; deep == "" || at > 0 && at < of.groups/2; at += 500 {
				deep = try.Get(s.Groups(ctx, desk.Filter{}, desk.ByReports, desk.Page{After: deep, Limit: 500})).Next
			}
			try.Get(s.Groups(ctx, desk.Filter{}, desk.ByReports, desk.Page{After: deep}))
		}},
		groups("list of a state", func() string { return "state:" + one("open closed any") }),
		groups("list of a game", func() string { return "game:refsim" }),
		groups("list of one build", in("build:1.%d", builds)),
		groups("list of a build and later ones", in("build:>=1.%d", builds)),
		groups("list of days", func() string {
			day := time.Date(2025, 1, 1, 0, 0, 0, 0, time.UTC).AddDate(0, 0, dice.IntN(days))
			return fmt.Sprintf("since:%s until:%s", day.Format(time.DateOnly), day.AddDate(0, 0, 14).Format(time.DateOnly))
		}),
		groups("list of a platform", func() string { return "os:" + one(systems) }),
		groups("list of two facts and a state", func() string { return "os:" + one(systems) + " cpu:" + one(processors) + " state:open" }),
		groups("list of a kind", func() string { return "kind:state" }),
		groups("list of a peer that is in all matches", func() string { return "peer:" + one("host client") }),
		groups("list of a seed", in("seed:%016x", 1<<62)),
		groups("list of a file", in("file:report-%d.zip", of.reports/max(1, of.copies))),
		groups("search for a word", in("system%d", of.groups)),
		groups("search for a part of many words", in("ystem%d", 10)),
		groups("search for two words", in("combat system%d", of.groups)),
		groups("search for a word that nothing has", in("nothing%d", 1000)),
		{"page of a group", func() { try.Get(s.Group(ctx, codes[dice.IntN(len(codes))])) }},
		{"page of the largest group", func() { try.Get(s.Group(ctx, codes[0])) }},
		{"page of a report", func() { try.Get(s.Document(ctx, try.Get(s.ReportByName(ctx, fmt.Sprint(1+dice.IntN(of.reports)))).ID)) }},
		reports("reports, all", func() string { return "" }),
		reports("reports of a build", in("build:1.%d", builds)),
		reports("reports of a platform", func() string { return "os:" + one(systems) }),
		reports("reports of a group", func() string { return "group:" + codes[dice.IntN(len(codes))] }),
		reports("reports of a peer that is in all matches", func() string { return "peer:" + one("host client") }),
		reports("reports of a word", in("system%d", of.groups)),
		{"bundles", func() { try.Get(s.Bundles(ctx, desk.State(one("read waiting aside")), 0, 50)) }},
		{"desk new --since", func() { try.Get(s.NewSince(ctx, fmt.Sprintf("1.%d", builds-2), desk.Filter{})) }},
		{"desk top", func() { try.Get(s.Top(ctx, desk.Filter{}, 3)) }},
		{"desk stats", func() { try.Get(s.Stats(ctx)) }},
	}
}

// deskFill inserts synthetic reports, and lets the database copy them.
func (b *bench) deskFill(ctx context.Context, s *desk.Store, of deskOf) {
	base := b.realReport(ctx)
	kind := s.Kind()
	seeds := of.reports / max(1, of.copies)
	start, quarter := now(), time.Duration(0)
	for at := 0; at < seeds; {
		to := min(at+inTransaction, seeds)
		try.Check(s.Write(ctx, func(tx *desk.Tx) (err error) {
			defer try.Catch(&err)
			for i := at; i < to; i++ {
				putOne(ctx, tx, fmt.Sprintf("report-%d.zip", i), []*document.Report{synthetic(base, i, of.groups)})
			}
			return nil
		}))
		if at < seeds/4 && to >= seeds/4 {
			quarter = now() - start
		}
		at = to
		fmt.Fprintf(os.Stderr, "\r%s: %d of %d", kind, at, seeds)
	}
	fmt.Fprintln(os.Stderr)
	took := now() - start
	fmt.Printf("| %s: %d reports put in, %d a transaction | **%.0f** a second of this process's processor time | |\n", kind, seeds, inTransaction, float64(seeds)/took.Seconds())
	fmt.Printf("| %s: growth of that, between %d and %d | exponent **%.2f** | ≤ 1.05 |\n", kind, seeds/4, seeds, math.Log2(took.Seconds()/quarter.Seconds())/2)
	lists := listing(ctx, s)
	multiply(ctx, s.DB(), of.copies)
	all := listing(ctx, s)
	fmt.Printf("| %s: growth of the list, between %d and %d reports | exponent **%.2f** | ≤ 1.05 |\n", kind, seeds, of.reports, math.Log(float64(all)/float64(lists))/math.Log(float64(of.reports)/float64(seeds)))
}

// listing returns the median processor time of the list of groups in this process.
func listing(ctx context.Context, s *desk.Store) time.Duration {
	_, took := times(40, func() { try.Get(s.Groups(ctx, desk.Filter{}, desk.ByReports, desk.Page{})) })
	return took[len(took)/2]
}

// now returns the processor time of this process, which does not depend on other programs on the machine.
func now() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		panic(err) // the arguments are constants
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// multiply copies each report in a store until the store has it copies times, as bundles with different contents, names
// and seeds. The counts of variants and groups follow. A copy has the same build, day and machines as its report.
func multiply(ctx context.Context, db *sql.DB, copies int) {
	var bundles, reports int64
	try.Check(db.QueryRowContext(ctx, "SELECT (SELECT MAX(id) FROM bundles), (SELECT MAX(id) FROM reports)").Scan(&bundles, &reports))
	each := []string{
		"INSERT INTO bundles (id, hash, name, bytes, kept, kept_bytes, state, why, received_at) SELECT id + $B, SUBSTR(hash, 1, 60) || '$K', SUBSTR(name, 1, LENGTH(name) - 4) || '$K', bytes, kept, kept_bytes, state, why, received_at FROM bundles WHERE id <= $L",
		"INSERT INTO receipts (bundle_id, name, source, at) SELECT bundle_id + $B, SUBSTR(name, 1, LENGTH(name) - 4) || '$K', source, at FROM receipts WHERE bundle_id <= $L",
		"INSERT INTO reports (id, bundle_id, match_no, variant_id, pinned, status, game_id, build_id, set_id, seed, day, tick, peers, complete, verdict, tool, times) SELECT id + $R, bundle_id + $B, match_no, variant_id, pinned, status, game_id, build_id, set_id, SUBSTR(seed, 1, 12) || '$K', day, tick, peers, complete, verdict, tool, times FROM reports WHERE id <= $M",
		"INSERT INTO documents (report_id, body) SELECT report_id + $R, body FROM documents WHERE report_id <= $M",
		"INSERT INTO report_peers (report_id, name) SELECT report_id + $R, name FROM report_peers WHERE report_id <= $M",
	}
	for k := 1; k < copies; k++ {
		tx := try.Get(db.BeginTx(ctx, nil))
		fill := strings.NewReplacer("$B", fmt.Sprint(int64(k)*bundles), "$L", fmt.Sprint(bundles), "$R", fmt.Sprint(int64(k)*reports), "$M", fmt.Sprint(reports), "$K", fmt.Sprintf("g%03x", k))
		for _, statement := range each {
			if _, err := tx.ExecContext(ctx, fill.Replace(statement)); err != nil {
				try.Check(errors.Join(fmt.Errorf("%s: %w", statement, err), tx.Rollback()))
			}
		}
		try.Check(tx.Commit())
		fmt.Fprintf(os.Stderr, "\rcopy %d of %d", k, copies-1)
	}
	fmt.Fprintln(os.Stderr)
	for _, statement := range []string{
		"UPDATE variants SET reports = reports * $1, peers = peers * $1", "UPDATE groups SET reports = reports * $1, peers = peers * $1",
		"UPDATE variant_builds SET reports = reports * $1", "UPDATE variant_days SET reports = reports * $1", "UPDATE variant_traits SET reports = reports * $1",
		"UPDATE game_counts SET reports = reports * $1",
	} {
		if _, err := db.ExecContext(ctx, statement, copies); err != nil {
			panic(try.Failed("%s: %w", statement, err))
		}
	}
}

func filtered(ctx context.Context, s *desk.Store, words func() string) func() {
	return func() { try.Get(s.Groups(ctx, try.Get(desk.ParseFilter(words())), desk.ByReports, desk.Page{})) }
}

// codesOf returns the codes of the 500 groups with the most matches.
func codesOf(ctx context.Context, s *desk.Store) (codes []string) {
	list := try.Get(s.Groups(ctx, desk.Filter{}, desk.ByReports, desk.Page{Limit: 500}))
	for i := range list.Groups {
		codes = append(codes, list.Groups[i].Code)
	}
	return codes
}

// deskSize prints how many bytes a report takes in the database.
func (b *bench) deskSize(ctx context.Context, s *desk.Store, where string, reports int) {
	var size int64
	if s.Kind() == desk.Postgres {
		try.Check(s.DB().QueryRowContext(ctx, "SELECT pg_database_size(current_database())").Scan(&size))
	} else {
		files := try.Get(filepath.Glob(filepath.Join(where, desk.DatabaseName+"*")))
		for _, f := range files {
			info := try.Get(os.Stat(f))
			size += info.Size()
		}
	}
	fmt.Printf("| %s: bytes a report, document included, bundle not | **%d** | ≤ 2048 |\n", s.Kind(), size/int64(reports))
}

// times calls f n times. It returns how long the calls took and the processor time of this process, both sorted
// ascending. A first call is not counted.
func times(n int, f func()) (took, used []time.Duration) {
	for i := range n + 1 {
		start, cpu := time.Now(), now()
		f()
		if i > 0 {
			took, used = append(took, time.Since(start)), append(used, now()-cpu)
		}
	}
	slices.Sort(took)
	slices.Sort(used)
	return took, used
}

func ms(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }

// builds is the number of builds in synthetic reports, days the number of days on which they were played.
const builds, days = 60, 365

// realReport triages a session of the reference game.
func (b *bench) realReport(ctx context.Context) []byte {
	dir := filepath.Join(b.dir, "base")
	defer os.RemoveAll(dir)
	f := try.Get(session.ParseFault("map-order/Combat@30:client"))
	o := session.Options{Config: refsim.Config{Seed: 7, Entities: 150}, Ticks: 120, SnapshotEvery: 60, Faults: []session.Fault{f}}
	try.Get(session.RecordTo(dir, o, session.TraceSystem))
	var r triage.Reader
	reports := try.Get(r.Read(ctx, dir, "base"))
	return try.Get(json.Marshal(reports[0]))
}

// synthetic returns the ith report: the real one with a different seed, tick, entities and values, build, day, platform
// and place. Each group has one of the first reports, and a few groups have most of the others.
func synthetic(base []byte, i, groups int) *document.Report {
	dice := rand.New(rand.NewPCG(uint64(i), 3))
	g := i
	if i >= groups {
		g = int(float64(groups) * math.Pow(dice.Float64(), 4))
	}
	r := &document.Report{}
	if err := json.Unmarshal(base, r); err != nil {
		panic(err) // it was encoded here
	}
	r.Session.Seed, r.Session.Build = fmt.Sprintf("%016x", dice.Uint64()), fmt.Sprintf("1.%d", i*builds/(1+i+dice.IntN(1+i)))
	day := time.Date(2025, 1, 1, 0, 0, 0, 0, time.UTC).AddDate(0, 0, dice.IntN(days))
	r.Session.Played = &document.Played{First: day.Format(time.RFC3339), Last: day.Format(time.RFC3339)}
	if d := r.FirstDivergence; d != nil && d.Tick != nil {
		tick := dice.Uint64N(100_000)
		d.Tick = &tick
	}
	for k := range r.Locus {
		r.Locus[k].Key = fmt.Sprint(dice.IntN(100_000))
		for peer := range r.Locus[k].Values {
			r.Locus[k].Values[peer] = fmt.Sprint(dice.IntN(1_000_000))
		}
	}
	for k := range r.Fingerprints {
		f := &r.Fingerprints[k]
		if f.Level == document.LevelKind {
			continue
		}
		f.Name = fmt.Sprintf("%s system%d", strings.Fields(f.Name)[0], g)
		sum := sha256.Sum256([]byte(string(f.Level) + f.Name))
		f.Digest = hex.EncodeToString(sum[:8])
	}
	systems := []string{"linux", "windows", "windows", "windows", "darwin"}
	// These parts can be computed again if the bundle is stored. docs/performance.md contains their sizes.
	r.Tree, r.Map, r.Heat, r.Timeline, r.Orders = nil, nil, nil, nil, []document.TriagedOrder{}
	r.Stated = []document.Fact{
		{Name: "os", Values: map[string]string{"host": systems[dice.IntN(len(systems))], "client": systems[dice.IntN(len(systems))]}},
		{Name: "cpu", Values: map[string]string{"host": "amd64", "client": []string{"amd64", "amd64", "arm64"}[(g+dice.IntN(2))%3]}},
	}
	return r
}
