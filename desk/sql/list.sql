-- name: list.groups
SELECT g.id, g.code, g.game_id, m.name, g.title, g.name, g.state, coalesce(into_g.code, ''), g.fixed_in, g.came_back, g.weak, g.reports, g.peers,
	g.first_day, g.last_day, coalesce(f.name, ''), coalesce(l.name, '')
FROM (SELECT g.id AS id FROM groups g WHERE {{where}} ORDER BY {{order}}) AS few JOIN groups g ON g.id = few.id JOIN games m ON m.id = g.game_id
LEFT JOIN builds f ON f.id = g.first_build LEFT JOIN builds l ON l.id = g.last_build LEFT JOIN groups into_g ON into_g.id = g.merged_in
ORDER BY {{order}}

-- name: list.groups.found
WITH found AS MATERIALIZED (SELECT g.id AS id, {{rank}} AS place FROM groups g WHERE {{where}})
SELECT (SELECT count(*) FROM found), f.id FROM found f WHERE {{after}} ORDER BY f.place DESC, f.id DESC LIMIT {{limit}}

-- name: list.groups.count
SELECT count(*) FROM groups g WHERE {{where}}

-- name: list.games
SELECT id, name FROM games ORDER BY id

-- name: list.builds
SELECT id, game_id, name, day FROM builds ORDER BY id

-- name: list.traits
SELECT id, value FROM traits WHERE name = $1 ORDER BY id

-- name: list.days
SELECT v.group_id, d.day, sum(d.reports) FROM variants v JOIN variant_days d ON d.variant_id = v.id
WHERE v.group_id IN ({{ids}}) AND d.day > $1 AND d.reports > 0 GROUP BY v.group_id, d.day ORDER BY v.group_id, d.day

-- name: list.causes
SELECT v.group_id, t.value, sum(n.reports) FROM variants v JOIN variant_traits n ON n.variant_id = v.id JOIN traits t ON t.id = n.trait_id
WHERE v.group_id IN ({{ids}}) AND t.name = '.cause' AND n.reports > 0 GROUP BY v.group_id, t.value ORDER BY v.group_id, 3 DESC, t.value

-- name: list.game-days
SELECT of_id, reports FROM game_counts WHERE game_id = $1 AND name = 'day' AND reports > 0 ORDER BY of_id DESC

-- name: list.game-reports
SELECT game_id, reports FROM game_counts WHERE name = 'reports' AND of_id = 0

-- name: groups.build
g.id IN (SELECT v.group_id FROM variant_builds n JOIN variants v ON v.id = n.variant_id WHERE n.build_id IN ({{ids}}))

-- name: groups.trait
g.id IN (SELECT v.group_id FROM variant_traits n JOIN variants v ON v.id = n.variant_id WHERE n.trait_id IN ({{ids}}))

-- name: groups.reports
g.id IN (SELECT v.group_id FROM reports r JOIN variants v ON v.id = r.variant_id WHERE {{where}})

-- name: groups.peer.many
EXISTS (SELECT 1 FROM variants v JOIN reports r ON r.variant_id = v.id JOIN report_peers p ON p.report_id = r.id WHERE v.group_id = g.id AND p.name = {{value}})

-- name: reports.peer.count
SELECT count(*) FROM (SELECT 1 FROM report_peers p WHERE p.name = $1 LIMIT $2) AS few

-- name: reports.peer.many
EXISTS (SELECT 1 FROM report_peers p WHERE p.report_id = r.id AND p.name = {{value}})

-- name: list.reports
SELECT r.id, b.hash, b.name, r.match_no, r.status, m.name, coalesce(d.name, ''), r.seed, r.day, r.tick, r.peers, r.complete, r.verdict, r.tool, r.times, r.bundle_id,
	coalesce(g.code, ''), coalesce(v.title, '')
FROM reports r JOIN bundles b ON b.id = r.bundle_id JOIN games m ON m.id = r.game_id
LEFT JOIN builds d ON d.id = r.build_id LEFT JOIN variants v ON v.id = r.variant_id LEFT JOIN groups g ON g.id = v.group_id
WHERE {{where}} ORDER BY {{order}}

-- name: list.reports.count
SELECT count(*) FROM (SELECT 1 FROM reports r WHERE {{where}} LIMIT $1) AS few

-- name: list.reports.bundles
SELECT DISTINCT r.bundle_id FROM reports r WHERE {{where}} ORDER BY r.bundle_id

-- name: reports.groups
r.variant_id IN (SELECT v.id FROM variants v JOIN groups g ON g.id = v.group_id WHERE {{where}})

-- name: reports.trait
r.set_id IN (SELECT t.set_id FROM set_traits t WHERE t.trait_id IN ({{ids}}))

-- name: reports.trait.many
EXISTS (SELECT 1 FROM set_traits t WHERE t.set_id = r.set_id AND t.trait_id IN ({{ids}}))

-- name: reports.trait.count
SELECT count(*) FROM (SELECT 1 FROM reports r WHERE r.set_id IN (SELECT t.set_id FROM set_traits t WHERE t.trait_id IN ({{ids}})) LIMIT $1) AS few

-- name: reports.peer
r.id IN (SELECT p.report_id FROM report_peers p WHERE p.name = {{value}})

-- name: reports.file
r.bundle_id IN (SELECT c.bundle_id FROM receipts c WHERE c.name = {{value}})

-- name: reports.hash
r.bundle_id IN (SELECT b.id FROM bundles b WHERE b.hash >= {{value}} AND b.hash < {{end}})

-- name: reports.text
lower(r.verdict) LIKE {{value}} ESCAPE '\'

-- name: reports.ungrouped
r.variant_id = 0 AND r.status = 'diverged'
