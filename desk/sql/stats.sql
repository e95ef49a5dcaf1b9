-- name: stats.bundles
SELECT state, count(*), coalesce(sum(bytes), 0), coalesce(sum(kept_bytes), 0) FROM bundles GROUP BY state ORDER BY state

-- name: stats.receipts
SELECT count(*) FROM receipts

-- name: stats.reports
SELECT status, count(*) FROM reports GROUP BY status ORDER BY status

-- name: stats.groups
SELECT state, count(*) FROM groups WHERE reports > 0 OR state = 'merged' GROUP BY state ORDER BY state

-- name: stats.weak
SELECT count(*) FROM groups WHERE weak AND reports > 0

-- name: stats.games
SELECT m.name, count(g.id), coalesce(sum(g.reports), 0) FROM games m JOIN groups g ON g.game_id = m.id WHERE g.reports > 0 GROUP BY m.name ORDER BY 3 DESC, m.name

-- name: stats.builds
SELECT b.name, b.day, c.reports FROM game_counts c JOIN builds b ON b.id = c.of_id WHERE c.name = 'build' AND c.reports > 0 ORDER BY b.id

-- name: stats.days
SELECT of_id, sum(reports) FROM game_counts WHERE name = 'day' AND reports > 0 GROUP BY of_id ORDER BY of_id

-- name: stats.os
SELECT t.value, sum(c.reports) FROM game_counts c JOIN traits t ON t.id = c.of_id WHERE c.name = 'trait' AND c.reports > 0 AND t.name = 'os' AND t.value <> '' GROUP BY t.value ORDER BY 2 DESC, t.value

-- name: stats.unread
SELECT count(*) FROM bundles WHERE state = $1 AND state <> 'read'

-- name: stats.of-build
SELECT count(*) FROM reports WHERE build_id IN ({{ids}})

-- name: top.groups
SELECT g.id, g.game_id, g.fixed_in, g.came_back, g.reports, g.first_day, coalesce(f.name, '') FROM groups g LEFT JOIN builds f ON f.id = g.first_build WHERE {{where}}

-- name: top.days
SELECT v.group_id, d.day, sum(d.reports) FROM variant_days d JOIN variants v ON v.id = d.variant_id WHERE v.game_id = $1 AND d.day > $2 AND d.reports > 0 GROUP BY v.group_id, d.day

-- name: top.complete
SELECT v.group_id, max((SELECT max(r.complete) FROM reports r WHERE r.variant_id = v.id)) FROM variants v WHERE v.group_id IN ({{ids}}) AND v.reports > 0 GROUP BY v.group_id
