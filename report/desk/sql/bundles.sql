-- name: bundle.list
SELECT id, hash, name, bytes, CASE WHEN kept = '=' THEN hash ELSE kept END, kept_bytes, state, why, received_at FROM bundles WHERE id < $1 ORDER BY id DESC LIMIT $2

-- name: bundle.list.unread
SELECT id, hash, name, bytes, CASE WHEN kept = '=' THEN hash ELSE kept END, kept_bytes, state, why, received_at FROM bundles WHERE id < $1 AND state = $3 AND state <> 'read' ORDER BY id DESC LIMIT $2

-- name: bundle.list.read
SELECT id, hash, name, bytes, CASE WHEN kept = '=' THEN hash ELSE kept END, kept_bytes, state, why, received_at FROM bundles WHERE id < $1 AND state = $3 ORDER BY id DESC LIMIT $2
