-- name: bundle.list
SELECT id, hash, name, bytes, CASE WHEN kept = '=' THEN hash ELSE kept END, kept_bytes, state, why, received_at FROM bundles WHERE id < $1 ORDER BY id DESC LIMIT $2

-- name: bundle.list.unread
SELECT id, hash, name, bytes, CASE WHEN kept = '=' THEN hash ELSE kept END, kept_bytes, state, why, received_at FROM bundles WHERE id < $1 AND state = $3 AND state <> 'read' ORDER BY id DESC LIMIT $2

-- name: bundle.list.read
SELECT id, hash, name, bytes, CASE WHEN kept = '=' THEN hash ELSE kept END, kept_bytes, state, why, received_at FROM bundles WHERE id < $1 AND state = $3 ORDER BY id DESC LIMIT $2

-- name: bundle.outcomes
SELECT r.bundle_id, r.status, coalesce(g.code, ''), coalesce(CASE WHEN g.name <> '' THEN g.name ELSE g.title END, ''), count(*), min(r.match_no)
FROM reports r LEFT JOIN variants v ON v.id = r.variant_id LEFT JOIN groups g ON g.id = v.group_id
WHERE r.bundle_id IN ({{ids}}) GROUP BY r.bundle_id, r.status, g.code, g.name, g.title ORDER BY r.bundle_id, min(r.match_no)
