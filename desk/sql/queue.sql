-- name: bundle.claim
UPDATE bundles SET state = state WHERE id = $1 AND state = 'waiting'

-- name: bundle.claim-again
UPDATE bundles SET state = state WHERE id = $1 AND state = 'read' AND kept <> ''

-- name: bundle.triages
SELECT coalesce(max(times), 0) FROM reports WHERE bundle_id = $1 AND match_no = 1

-- name: bundle.try-again
UPDATE bundles SET state = 'waiting', why = '' WHERE id = $1 AND state = 'aside'

-- name: bundle.read
SELECT id, hash, name, bytes, CASE WHEN kept = '=' THEN hash ELSE kept END, kept_bytes, state, why, received_at FROM bundles WHERE state = $1 AND id > $2 ORDER BY id LIMIT $3

-- name: bundle.unread
SELECT id, hash, name, bytes, CASE WHEN kept = '=' THEN hash ELSE kept END, kept_bytes, state, why, received_at FROM bundles WHERE state = $1 AND state <> 'read' AND id > $2 ORDER BY id LIMIT $3

-- name: build.names
SELECT name, day FROM builds

-- name: report.groups
SELECT coalesce(g.code, '') FROM reports r LEFT JOIN variants v ON v.id = r.variant_id LEFT JOIN groups g ON g.id = v.group_id
WHERE r.bundle_id = $1 ORDER BY r.match_no
