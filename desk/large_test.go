//go:build unix

package desk_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/desynctool/desynctool/desk"
	"github.com/desynctool/desynctool/desk/desktest"
)

// largeRows make the rows of many reports out of their numbers, as both databases do: few groups have many reports,
// most have few. {{n}} is how many reports there are, {{groups}} how many groups; $1 a document.
const largeRows = `
INSERT INTO games (id, name) VALUES (1, 'arena');
INSERT INTO builds (id, game_id, name, day) WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 39) SELECT i + 1, 1, '1.' || i || '.0', 20000 + 10 * i FROM n;
INSERT INTO traits (id, name, value) WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 47)
	SELECT i + 1, CASE i / 8 WHEN 0 THEN 'os' WHEN 1 THEN 'cpu' WHEN 2 THEN 'compiler' WHEN 3 THEN 'engine' WHEN 4 THEN '.kind' ELSE '.cause' END, CASE i % 8 WHEN 0 THEN '' ELSE 'value ' || (i % 8) END FROM n;
INSERT INTO groups (id, code, game_id, title, state, weak, reports, peers, first_day, last_day, first_build, last_build, search)
	WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < {{groups}} - 1)
	SELECT i + 1, CAST(10000000 + i * 37 AS TEXT), 1, 'arena state, system' || (i % 97) || ' part' || (i % 31), 'open', i % 10 = 0, 0, 0, 0, 0, 0, 0, 'arena state, system' || (i % 97) || ' part' || (i % 31) || ' ' || CAST(10000000 + i * 37 AS TEXT) FROM n;
INSERT INTO bundles (id, hash, name, bytes, kept, kept_bytes, state, received_at) WITH RECURSIVE n(i) AS (SELECT CAST(1 AS BIGINT) UNION ALL SELECT i + 1 FROM n WHERE i < {{n}})
	SELECT i, CAST(10000000 + (i * 7919) % 1000003 AS TEXT) || '-' || i, 'upload-' || i || '.zip', 100000, '=', 50000, 'read', 0 FROM n;
INSERT INTO trait_sets (id, list) WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 419) SELECT i + 1, CAST(i + 1 AS TEXT) FROM n;
INSERT INTO set_traits (set_id, trait_id) WITH RECURSIVE f(k) AS (SELECT 0 UNION ALL SELECT k + 1 FROM f WHERE k < 5) SELECT s.id, 8 * f.k + 1 FROM trait_sets s, f UNION ALL SELECT s.id, 8 * f.k + 2 + ((s.id - 1) / (f.k + 1)) % 7 FROM trait_sets s, f;
INSERT INTO receipts (id, bundle_id, name, source, at) SELECT id, id, name, 'desk add', 0 FROM bundles;
INSERT INTO reports (id, bundle_id, match_no, variant_id, pinned, status, game_id, build_id, set_id, seed, day, tick, peers, complete, verdict, tool, times)
	SELECT id, id, 1, g + 1 + CASE WHEN id % 3 = 0 AND g % 4 = 0 THEN {{groups}} ELSE 0 END, 1 = 0, 'diverged', 1, 1 + (g * 34) / {{groups}} + id % 6, id % 420 + 1, '0000000000000007', 20000 + 10 * ((g * 34) / {{groups}} + id % 6) + id % 17, 77, 2, (id * 31) % 101, 'host and client diverged in tick 77.', 'test', 1
	FROM (SELECT id, ((({{groups}} * ((id * 7919) % 1000003) / 1000003) * ((id * 7919) % 1000003) / 1000003) * ((id * 7919) % 1000003) / 1000003) AS g FROM bundles) AS b;
INSERT INTO variants (id, game_id, coarse, strict, group_id, title, weak, reports, peers) SELECT variant_id, 1, CAST((variant_id - 1) % {{groups}} AS TEXT), CAST(variant_id AS TEXT), (variant_id - 1) % {{groups}} + 1, 'arena state, x', (variant_id - 1) % {{groups}} % 10 = 0, count(*), 2 * count(*) FROM reports GROUP BY variant_id;
INSERT INTO variant_prints (variant_id, level, digest, name) SELECT id, 'kind', 'k', 'arena state' FROM variants UNION ALL SELECT id, 'archetype', 'a' || (group_id % 11), 'a' FROM variants UNION ALL SELECT id, 'component', 'c' || (group_id % 31), 'c' FROM variants UNION ALL SELECT id, 'step', 's' || (group_id % 97), 's' FROM variants WHERE NOT weak;
INSERT INTO report_peers (report_id, name) SELECT id, 'host' FROM reports UNION ALL SELECT id, 'player-' || ((id * 7919) % ({{n}} / 4 + 1)) FROM reports;
INSERT INTO documents (report_id, body) SELECT id, $1 FROM reports;
INSERT INTO variant_builds (variant_id, build_id, reports) SELECT variant_id, build_id, count(*) FROM reports GROUP BY variant_id, build_id;
INSERT INTO variant_days (variant_id, day, reports) SELECT variant_id, day, count(*) FROM reports GROUP BY variant_id, day;
INSERT INTO variant_traits (variant_id, trait_id, reports) SELECT r.variant_id, t.trait_id, count(*) FROM reports r JOIN set_traits t ON t.set_id = r.set_id GROUP BY r.variant_id, t.trait_id;
INSERT INTO game_counts (game_id, name, of_id, reports) SELECT 1, 'build', build_id, count(*) FROM reports GROUP BY build_id UNION ALL SELECT 1, 'day', day, count(*) FROM reports GROUP BY day UNION ALL SELECT 1, 'trait', t.trait_id, count(*) FROM reports r JOIN set_traits t ON t.set_id = r.set_id GROUP BY t.trait_id UNION ALL SELECT 1, 'reports', 0, count(*) FROM reports;
UPDATE groups SET reports = coalesce((SELECT sum(v.reports) FROM variants v WHERE v.group_id = groups.id), 0), peers = coalesce((SELECT sum(v.peers) FROM variants v WHERE v.group_id = groups.id), 0),
	first_day = coalesce((SELECT min(d.day) FROM variants v JOIN variant_days d ON d.variant_id = v.id WHERE v.group_id = groups.id), 0), last_day = coalesce((SELECT max(d.day) FROM variants v JOIN variant_days d ON d.variant_id = v.id WHERE v.group_id = groups.id), 0),
	first_build = coalesce((SELECT min(b.build_id) FROM variants v JOIN variant_builds b ON b.variant_id = v.id WHERE v.group_id = groups.id), 0), last_build = coalesce((SELECT max(b.build_id) FROM variants v JOIN variant_builds b ON b.variant_id = v.id WHERE v.group_id = groups.id), 0);
ANALYZE`

// large fills an empty store with the rows of many reports.
func large(t testing.TB, s *desk.Store, reports int) {
	t.Helper()
	body, err := desk.Pack(diverged("Combat", "hp", "s", "1", "linux"))
	if err != nil {
		t.Fatal(err)
	}
	text := strings.NewReplacer("{{n}}", strconv.Itoa(reports), "{{groups}}", strconv.Itoa(max(reports/50, 1))).Replace(largeRows)
	for _, statement := range strings.Split(text, ";") {
		var args []any
		if strings.Contains(statement, "$1") {
			args = append(args, body)
		}
		if _, err := s.DB().Exec(statement, args...); err != nil {
			t.Fatal(statement, err)
		}
	}
}

// BenchmarkQueries times what pages of a desk ask, on a store of DESYNCTOOL_DESK_REPORTS reports (default 20,000) in a fiftieth of
// that many groups, of DESYNCTOOL_DESK_KIND if that is set: the 95th percentile of 60 different questions each, in ms.
func BenchmarkQueries(b *testing.B) {
	reports := 20_000
	if n, err := strconv.Atoi(os.Getenv("DESYNCTOOL_DESK_REPORTS")); err == nil {
		reports = n
	}
	for _, kind := range []desk.Kind{desk.SQLite, desk.Postgres} {
		if only := os.Getenv("DESYNCTOOL_DESK_KIND"); only != "" && only != string(kind) {
			continue
		}
		where := filepath.Join(b.TempDir(), "desk")
		if kind == desk.Postgres {
			where = desktest.Start(b).Database(b)
		}
		s, err := desk.Open(context.Background(), where, desk.Options{Create: true})
		if err != nil {
			b.Fatal(err)
		}
		defer s.Close()
		large(b, s, reports)
		ctx := context.Background()
		random := rand.New(rand.NewPCG(5, 6))
		var codes []string
		if list, err := s.Groups(ctx, desk.Filter{}, desk.ByReports, desk.Page{Limit: 500}); err != nil {
			b.Fatal(err)
		} else {
			for _, g := range list.Groups {
				codes = append(codes, g.Code)
			}
		}
		parse := func(words string) desk.Filter {
			f, err := desk.ParseFilter(words)
			if err != nil {
				b.Fatal(err)
			}
			return f
		}
		list := func(format string, of int) func(i int) error {
			return func(int) error {
				words := format
				if of > 0 {
					words = fmt.Sprintf(format, random.IntN(of))
				}
				_, err := s.Groups(ctx, parse(words), desk.Orders()[random.IntN(3)], desk.Page{})
				return err
			}
		}
		for _, q := range []struct {
			name string
			ask  func(i int) error
		}{
			{"list", list("state:open", 0)},
			{"list-game", list("game:arena", 0)},
			{"list-build", list("build:1.%d.0", 40)},
			{"list-since-build", list("build:>=1.%d.0", 40)},
			{"list-os", list(`fact:os="value %d"`, 8)},
			{"list-cause", list(`cause:"value %d"`, 8)},
			{"list-peer", list("peer:player-%d", 1000)},
			{"list-peer-all", list("peer:host", 0)},
			{"list-weak", list("weak:yes since:2025-01-01", 0)},
			{"search", list("system%d", 97)},
			{"search-two", list("system%d component", 97)},
			{"list-page", func(int) error {
				page, err := s.Groups(ctx, desk.Filter{}, desk.ByReports, desk.Page{Limit: 100})
				if err == nil {
					_, err = s.Groups(ctx, desk.Filter{}, desk.ByReports, desk.Page{After: page.Next})
				}
				return err
			}},
			{"group-large", func(i int) error { _, err := s.Group(ctx, codes[i%10]); return err }},
			{"group", func(int) error { _, err := s.Group(ctx, codes[random.IntN(len(codes))]); return err }},
			{"reports", func(int) error { _, err := s.Reports(ctx, parse("status:diverged"), desk.Page{}); return err }},
			{"reports-os", func(i int) error {
				_, err := s.Reports(ctx, parse(fmt.Sprintf(`fact:os="value %d"`, i%8)), desk.Page{})
				return err
			}},
			{"reports-group", func(i int) error { _, err := s.Reports(ctx, parse("group:"+codes[i]), desk.Page{}); return err }},
			{"reports-peer", func(i int) error {
				_, err := s.Reports(ctx, parse(fmt.Sprintf("peer:player-%d", i)), desk.Page{})
				return err
			}},
			{"new", func(int) error { _, err := s.NewSince(ctx, "1.36.0", desk.Filter{}); return err }},
			{"top", func(int) error { _, err := s.Top(ctx, desk.Filter{}, 3); return err }},
			{"stats", func(int) error { _, err := s.Stats(ctx); return err }},
			{"check", func(int) error {
				_, err := s.CheckBuild(ctx, "1.38.0", []desk.FailOn{desk.FailOnNew}, desk.Filter{})
				return err
			}},
		} {
			b.Run(fmt.Sprintf("%s/%s", s.Kind(), q.name), func(b *testing.B) {
				for b.Loop() {
					var took []time.Duration
					for i := range 60 {
						start := time.Now()
						if err := q.ask(i); err != nil {
							b.Fatal(err)
						}
						took = append(took, time.Since(start))
					}
					slices.Sort(took)
					b.ReportMetric(float64(took[56].Microseconds())/1000, "p95-ms")
					b.ReportMetric(float64(took[30].Microseconds())/1000, "p50-ms")
				}
			})
		}
	}
}
