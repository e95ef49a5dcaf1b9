-- name: examine.total
SELECT (SELECT count(*) FROM documents) + (SELECT count(*) FROM bundles WHERE kept <> '')

-- name: examine.bundles
SELECT id, hash, name, bytes, CASE WHEN kept = '=' THEN hash ELSE kept END, kept_bytes, state, why, received_at FROM bundles WHERE id > $1 ORDER BY id LIMIT $2

-- name: examine.read
SELECT 'bundle ' || b.hash FROM bundles b WHERE b.state = 'read' AND NOT EXISTS (SELECT 1 FROM reports r WHERE r.bundle_id = b.id) ORDER BY b.id

-- name: examine.undocumented
SELECT 'report ' || r.id FROM reports r WHERE NOT EXISTS (SELECT 1 FROM documents d WHERE d.report_id = r.id) ORDER BY r.id

-- name: examine.receipts
SELECT 'bundle ' || b.hash, 'receipts', count(r.id), min(b.times) FROM bundles b LEFT JOIN receipts r ON r.bundle_id = b.id
GROUP BY b.id, b.hash HAVING count(r.id) > min(b.times) OR count(r.id) < 200 AND count(r.id) < min(b.times) ORDER BY b.id

-- name: examine.sets
SELECT 'set of traits ' || s.id, 'traits', length(s.list) - length(replace(s.list, ',', '')) + 1, count(t.trait_id) FROM trait_sets s LEFT JOIN set_traits t ON t.set_id = s.id
GROUP BY s.id, s.list HAVING length(s.list) - length(replace(s.list, ',', '')) + 1 <> count(t.trait_id) ORDER BY s.id

-- name: examine.variants
SELECT 'variant ' || v.id, 'reports', v.reports, count(r.id) FROM variants v LEFT JOIN reports r ON r.variant_id = v.id
GROUP BY v.id, v.reports HAVING v.reports <> count(r.id) ORDER BY v.id

-- name: examine.variant-peers
SELECT 'variant ' || v.id, 'peers', v.peers, coalesce(sum(r.peers), 0) FROM variants v LEFT JOIN reports r ON r.variant_id = v.id
GROUP BY v.id, v.peers HAVING v.peers <> coalesce(sum(r.peers), 0) ORDER BY v.id

-- name: examine.variant-builds
SELECT 'variant ' || variant_id || ' in build ' || of_id, 'reports', sum(kept), sum(there) FROM (
	SELECT variant_id, build_id AS of_id, reports AS kept, 0 AS there FROM variant_builds
	UNION ALL SELECT variant_id, build_id, 0, count(*) FROM reports WHERE variant_id <> 0 AND build_id <> 0 GROUP BY variant_id, build_id
) x GROUP BY variant_id, of_id HAVING sum(kept) <> sum(there) ORDER BY variant_id, of_id

-- name: examine.variant-days
SELECT 'variant ' || variant_id || ' on day ' || of_id, 'reports', sum(kept), sum(there) FROM (
	SELECT variant_id, day AS of_id, reports AS kept, 0 AS there FROM variant_days
	UNION ALL SELECT variant_id, day, 0, count(*) FROM reports WHERE variant_id <> 0 AND day <> 0 GROUP BY variant_id, day
) x GROUP BY variant_id, of_id HAVING sum(kept) <> sum(there) ORDER BY variant_id, of_id

-- name: examine.variant-traits
SELECT 'variant ' || variant_id || ' with trait ' || of_id, 'reports', sum(kept), sum(there) FROM (
	SELECT variant_id, trait_id AS of_id, reports AS kept, 0 AS there FROM variant_traits
	UNION ALL SELECT s.variant_id, t.trait_id, 0, s.n FROM (
		SELECT variant_id, set_id, count(*) AS n FROM reports WHERE variant_id <> 0 AND set_id <> 0 GROUP BY variant_id, set_id
	) s JOIN set_traits t ON t.set_id = s.set_id
) x GROUP BY variant_id, of_id HAVING sum(kept) <> sum(there) ORDER BY variant_id, of_id

-- name: examine.groups
SELECT 'group ' || g.code, 'reports', g.reports, coalesce(sum(v.reports), 0) FROM groups g LEFT JOIN variants v ON v.group_id = g.id
GROUP BY g.id, g.code, g.reports HAVING g.reports <> coalesce(sum(v.reports), 0) ORDER BY g.id

-- name: examine.group-peers
SELECT 'group ' || g.code, 'peers', g.peers, coalesce(sum(v.peers), 0) FROM groups g LEFT JOIN variants v ON v.group_id = g.id
GROUP BY g.id, g.code, g.peers HAVING g.peers <> coalesce(sum(v.peers), 0) ORDER BY g.id

-- name: examine.group-first-day
SELECT 'group ' || g.code, 'first day', g.first_day, coalesce(min(d.day), 0) FROM groups g LEFT JOIN variants v ON v.group_id = g.id LEFT JOIN variant_days d ON d.variant_id = v.id AND d.reports > 0
GROUP BY g.id, g.code, g.first_day HAVING g.first_day <> coalesce(min(d.day), 0) ORDER BY g.id

-- name: examine.group-last-day
SELECT 'group ' || g.code, 'last day', g.last_day, coalesce(max(d.day), 0) FROM groups g LEFT JOIN variants v ON v.group_id = g.id LEFT JOIN variant_days d ON d.variant_id = v.id AND d.reports > 0
GROUP BY g.id, g.code, g.last_day HAVING g.last_day <> coalesce(max(d.day), 0) ORDER BY g.id

-- name: examine.game-counts
SELECT 'game ' || game_id || CASE WHEN of_id = 0 THEN '' ELSE ', ' || name || ' ' || of_id END, 'reports', sum(kept), sum(there) FROM (
	SELECT game_id, name, of_id, reports AS kept, 0 AS there FROM game_counts
	UNION ALL SELECT game_id, 'reports', 0, 0, count(*) FROM reports WHERE variant_id <> 0 GROUP BY game_id
	UNION ALL SELECT game_id, 'build', build_id, 0, count(*) FROM reports WHERE variant_id <> 0 AND build_id <> 0 GROUP BY game_id, build_id
	UNION ALL SELECT game_id, 'day', day, 0, count(*) FROM reports WHERE variant_id <> 0 AND day <> 0 GROUP BY game_id, day
	UNION ALL SELECT s.game_id, 'trait', t.trait_id, 0, s.n FROM (
		SELECT game_id, set_id, count(*) AS n FROM reports WHERE variant_id <> 0 AND set_id <> 0 GROUP BY game_id, set_id
	) s JOIN set_traits t ON t.set_id = s.set_id
) x GROUP BY game_id, name, of_id HAVING sum(kept) <> sum(there) ORDER BY game_id, name, of_id

-- name: examine.documents
SELECT r.id, r.variant_id, r.pinned, coalesce(v.strict, ''), r.status, coalesce(m.name, ''), coalesce(b.name, ''), r.seed, r.day, r.tick, r.peers, d.body
FROM documents d JOIN reports r ON r.id = d.report_id LEFT JOIN variants v ON v.id = r.variant_id LEFT JOIN games m ON m.id = r.game_id LEFT JOIN builds b ON b.id = r.build_id
WHERE d.report_id > $1 ORDER BY d.report_id LIMIT $2

-- name: examine.peers
SELECT report_id, name FROM report_peers WHERE report_id > $1 AND report_id <= $2 ORDER BY report_id

-- name: examine.events
SELECT id, at, who, what, group_id, about, undone FROM events ORDER BY id
