-- name: bundle.insert
INSERT INTO bundles (hash, name, bytes, kept, kept_bytes, state, received_at, sender, place) VALUES ($1, $2, $3, CASE WHEN $4 = $1 THEN '=' ELSE $4 END, $5, 'waiting', $6, $7, $8)
ON CONFLICT (hash) DO NOTHING RETURNING id

-- name: bundle.by-hash
SELECT id, hash, name, bytes, CASE WHEN kept = '=' THEN hash ELSE kept END, kept_bytes, state, why, received_at FROM bundles WHERE hash = $1

-- name: bundle.by-id
SELECT id, hash, name, bytes, CASE WHEN kept = '=' THEN hash ELSE kept END, kept_bytes, state, why, received_at FROM bundles WHERE id = $1

-- name: bundle.kept-again
UPDATE bundles SET kept = CASE WHEN $2 = hash THEN '=' ELSE $2 END, kept_bytes = $3 WHERE id = $1

-- name: bundle.state
UPDATE bundles SET state = $2, why = $3, sender = '', place = '' WHERE id = $1

-- name: bundle.file
SELECT name FROM bundles WHERE id = $1

-- name: bundle.rename
UPDATE bundles SET name = $3 WHERE id = $1 AND name = $2

-- name: bundle.peers
SELECT DISTINCT p.name FROM reports r JOIN report_peers p ON p.report_id = r.id WHERE r.bundle_id = $1

-- name: receipts.files
SELECT DISTINCT name FROM receipts WHERE bundle_id = $1

-- name: receipts.rename
UPDATE receipts SET name = $3 WHERE bundle_id = $1 AND name = $2

-- name: receipt.insert
INSERT INTO receipts (bundle_id, name, source, at) VALUES ($1, $2, $3, $4)

-- name: game.insert
INSERT INTO games (name) VALUES ($1) ON CONFLICT (name) DO UPDATE SET name = excluded.name RETURNING id

-- name: build.insert
INSERT INTO builds (game_id, name, day) VALUES ($1, $2, $3)
ON CONFLICT (game_id, name) DO UPDATE SET day =
	CASE WHEN builds.day = 0 OR excluded.day > 0 AND excluded.day < builds.day THEN excluded.day ELSE builds.day END
RETURNING id

-- name: build.by-id
SELECT name, day FROM builds WHERE id = $1

-- name: trait.insert
INSERT INTO traits (name, value) VALUES ($1, $2) ON CONFLICT (name, value) DO UPDATE SET name = excluded.name RETURNING id

-- name: trait.find
SELECT id FROM traits WHERE name = $1 AND value = $2

-- name: game.find
SELECT id FROM games WHERE name = $1

-- name: variant.find
SELECT id, group_id FROM variants WHERE game_id = $1 AND coarse = $2 AND strict = $3

-- name: variant.insert
INSERT INTO variants (game_id, coarse, strict, group_id, title, weak, reports, peers) VALUES ($1, $2, $3, $4, $5, $6, 0, 0)
ON CONFLICT (game_id, coarse, strict) DO UPDATE SET title = variants.title RETURNING id, group_id

-- name: variant.group
SELECT group_id FROM variants WHERE id = $1

-- name: print.insert
INSERT INTO variant_prints (variant_id, level, digest, name) VALUES ($1, $2, $3, $4) ON CONFLICT (variant_id, level) DO NOTHING

-- name: key.find
SELECT group_id FROM group_keys WHERE game_id = $1 AND coarse = $2

-- name: key.insert
INSERT INTO group_keys (game_id, coarse, group_id) VALUES ($1, $2, $3) ON CONFLICT (game_id, coarse) DO NOTHING

-- name: group.insert
INSERT INTO groups (code, game_id, title, state, weak, reports, peers, first_day, last_day, first_build, last_build, search)
VALUES ($1, $2, $3, 'open', $4, 0, 0, 0, 0, 0, 0, $5) ON CONFLICT (code) DO NOTHING RETURNING id

-- name: group.lock
SELECT id, code, state, fixed_in, weak, first_day, last_day, first_build, last_build FROM groups WHERE id = $1

-- name: group.lock.postgres
SELECT id, code, state, fixed_in, weak, first_day, last_day, first_build, last_build FROM groups WHERE id = $1 FOR UPDATE

-- name: group.add
UPDATE groups SET reports = reports + 1, peers = peers + $2, first_day = $3, last_day = $4, first_build = $5, last_build = $6, weak = $7 WHERE id = $1

-- name: group.came-back
UPDATE groups SET state = 'open', came_back = $2 WHERE id = $1

-- name: variant.add
UPDATE variants SET reports = reports + $2, peers = peers + $3 WHERE id = $1

-- name: variant.build.add
INSERT INTO variant_builds (variant_id, build_id, reports) VALUES ($1, $2, $3)
ON CONFLICT (variant_id, build_id) DO UPDATE SET reports = variant_builds.reports + excluded.reports

-- name: variant.day.add
INSERT INTO variant_days (variant_id, day, reports) VALUES ($1, $2, $3)
ON CONFLICT (variant_id, day) DO UPDATE SET reports = variant_days.reports + excluded.reports

-- name: variant.trait.add
INSERT INTO variant_traits (variant_id, trait_id, reports) VALUES ($1, $2, $3)
ON CONFLICT (variant_id, trait_id) DO UPDATE SET reports = variant_traits.reports + excluded.reports

-- name: variant.builds.empty
DELETE FROM variant_builds WHERE variant_id = $1 AND reports = 0

-- name: variant.days.empty
DELETE FROM variant_days WHERE variant_id = $1 AND reports = 0

-- name: variant.traits.empty
DELETE FROM variant_traits WHERE variant_id = $1 AND reports = 0

-- name: game.count.add
INSERT INTO game_counts (game_id, name, of_id, reports) VALUES ($1, $2, $3, $4)
ON CONFLICT (game_id, name, of_id) DO UPDATE SET reports = game_counts.reports + excluded.reports

-- name: report.old
SELECT id, variant_id, pinned, game_id, build_id, day, peers, times FROM reports WHERE bundle_id = $1 AND match_no = $2

-- name: report.beyond
SELECT match_no FROM reports WHERE bundle_id = $1 AND match_no > $2 ORDER BY match_no

-- name: report.insert
INSERT INTO reports (bundle_id, match_no, variant_id, pinned, status, game_id, build_id, set_id, seed, day, tick, peers, complete, verdict, tool, times)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, 1) RETURNING id

-- name: report.update
UPDATE reports SET variant_id = $2, status = $3, game_id = $4, build_id = $5, set_id = $6, seed = $7, day = $8, tick = $9, peers = $10, complete = $11, verdict = $12, tool = $13, times = times + 1
WHERE id = $1

-- name: report.delete
DELETE FROM reports WHERE id = $1

-- name: document.put
INSERT INTO documents (report_id, body) VALUES ($1, $2) ON CONFLICT (report_id) DO UPDATE SET body = excluded.body

-- name: document.delete
DELETE FROM documents WHERE report_id = $1

-- name: report.traits
SELECT t.trait_id FROM reports r JOIN set_traits t ON t.set_id = r.set_id WHERE r.id = $1

-- name: set.find
SELECT id FROM trait_sets WHERE list = $1

-- name: set.insert
INSERT INTO trait_sets (list) VALUES ($1) ON CONFLICT (list) DO UPDATE SET list = excluded.list RETURNING id

-- name: set.trait.insert
INSERT INTO set_traits (set_id, trait_id) VALUES ($1, $2) ON CONFLICT (set_id, trait_id) DO NOTHING

-- name: report.peers.delete
DELETE FROM report_peers WHERE report_id = $1

-- name: report.peer.insert
INSERT INTO report_peers (report_id, name) VALUES ($1, $2) ON CONFLICT (report_id, name) DO NOTHING

-- name: event.insert
INSERT INTO events (at, who, what, group_id, about) VALUES ($1, $2, $3, $4, $5) RETURNING id

-- name: variant.weak
SELECT weak FROM variants WHERE id = $1

-- name: document.get
SELECT body FROM documents WHERE report_id = $1

-- name: group.add-search
UPDATE groups SET search = substr(search || ' ' || $2, 1, $3) WHERE id = $1
